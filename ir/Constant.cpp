// SPDX-License-Identifier: Apache-2.0
// Tensors known at compile time.
#include "ir/Constant.h"

#include "ir/Check.h"
#include "llvm/Support/xxhash.h"
#include <atomic>
#include <cstring>

namespace dlc {

struct Constant::HashCache {
  std::atomic<uint64_t> value{0}; ///< 0: not computed
};

namespace {

class OwnedBytes : public ConstantBytes {
public:
  explicit OwnedBytes(std::vector<uint8_t> data) : data(std::move(data)) {}
  llvm::ArrayRef<uint8_t> bytes() const override { return data; }

private:
  std::vector<uint8_t> data;
};

/// Elements in memory, padding included.
int64_t storedElements(const TensorType &type) {
  return type.layout.storageElements(type.shape).constant();
}

} // namespace

std::shared_ptr<const ConstantBytes>
ConstantBytes::own(std::vector<uint8_t> bytes) {
  return std::make_shared<OwnedBytes>(std::move(bytes));
}

Constant::Constant(TensorType type, std::shared_ptr<const ConstantBytes> bytes,
                   bool splat)
    : tensorType(std::move(type)), data(std::move(bytes)), splatFlag(splat),
      hashCache(std::make_shared<HashCache>()) {
  DLC_CHECK(tensorType.isStatic()) << "constant of type " << tensorType;
  int64_t expected =
      byteSize(tensorType.element, splat ? 1 : storedElements(tensorType));
  DLC_CHECK(int64_t(data->bytes().size()) == expected)
      << data->bytes().size() << " bytes for a constant of type " << tensorType
      << ", expected " << expected;
}

Constant Constant::fromBytes(TensorType type, std::vector<uint8_t> bytes) {
  return Constant(std::move(type), ConstantBytes::own(std::move(bytes)));
}

Constant Constant::fromFloats(TensorType type, llvm::ArrayRef<double> values) {
  std::vector<uint8_t> bytes(byteSize(type.element, int64_t(values.size())));
  for (size_t i = 0; i != values.size(); ++i)
    storeFloat(type.element, bytes.data(), int64_t(i), values[i]);
  return fromBytes(std::move(type), std::move(bytes));
}

Constant Constant::fromInts(TensorType type, llvm::ArrayRef<int64_t> values) {
  std::vector<uint8_t> bytes(byteSize(type.element, int64_t(values.size())));
  for (size_t i = 0; i != values.size(); ++i)
    storeInt(type.element, bytes.data(), int64_t(i), values[i]);
  return fromBytes(std::move(type), std::move(bytes));
}

Constant Constant::scalar(DataType element, double value) {
  return splat(TensorType(element, {}), value);
}

Constant Constant::splat(TensorType type, double value) {
  std::vector<uint8_t> bytes(byteSize(type.element, 1));
  storeFloat(type.element, bytes.data(), 0, value);
  return Constant(std::move(type), ConstantBytes::own(std::move(bytes)),
                  /*splat=*/true);
}

int64_t Constant::elements() const {
  return tensorType.elementCount().constant();
}

llvm::ArrayRef<uint8_t> Constant::rawBytes() const { return data->bytes(); }

std::vector<uint8_t> Constant::expandedBytes() const {
  llvm::ArrayRef<uint8_t> raw = rawBytes();
  if (!splatFlag)
    return raw.vec();
  int64_t count = storedElements(tensorType);
  std::vector<uint8_t> bytes(byteSize(tensorType.element, count));
  if (bitWidth(tensorType.element) >= 8) {
    for (size_t i = 0; i != bytes.size(); i += raw.size())
      std::memcpy(bytes.data() + i, raw.data(), raw.size());
    return bytes;
  }
  for (int64_t i = 0; i != count; ++i)
    storeInt(tensorType.element, bytes.data(), i,
             loadInt(tensorType.element, raw.data(), 0));
  return bytes;
}

double Constant::floatAt(int64_t i) const {
  return loadFloat(tensorType.element, rawBytes().data(), splatFlag ? 0 : i);
}

int64_t Constant::intAt(int64_t i) const {
  return loadInt(tensorType.element, rawBytes().data(), splatFlag ? 0 : i);
}

/// Are all stored elements the same bits? Real weights differ at once.
static bool isUniform(const Constant &c) {
  if (c.isSplat())
    return true;
  int64_t count = storedElements(c.type());
  if (count <= 1)
    return count == 1;
  llvm::ArrayRef<uint8_t> raw = c.rawBytes();
  DataType element = c.type().element;
  if (size_t size = bitWidth(element) / 8)
    return std::memcmp(raw.data(), raw.data() + size, raw.size() - size) == 0;
  for (int64_t i = 1; i != count; ++i)
    if (c.intAt(i) != c.intAt(0))
      return false;
  return true;
}

/// The bytes of element 0; of a 4-bit type its value alone.
static llvm::SmallVector<uint8_t, 8> firstElement(const Constant &c) {
  unsigned bits = bitWidth(c.type().element);
  if (bits < 8)
    return {uint8_t(c.rawBytes()[0] & 15)};
  llvm::ArrayRef<uint8_t> raw = c.rawBytes().take_front(bits / 8);
  return {raw.begin(), raw.end()};
}

std::optional<double> Constant::uniformValue() const {
  if (!data || !isUniform(*this) || elements() == 0)
    return std::nullopt;
  double value = floatAt(0);
  // 2^53 is what 2^53 + 1 becomes too.
  if (isInteger(tensorType.element) && bitWidth(tensorType.element) == 64 &&
      std::abs(value) >= 0x1p53)
    return std::nullopt;
  return value;
}

std::vector<int64_t> Constant::toInts() const {
  DLC_CHECK(tensorType.layout.isPermutation()) << tensorType;
  std::vector<int64_t> values(elements());
  for (size_t i = 0; i != values.size(); ++i)
    values[i] = intAt(int64_t(i));
  return values;
}

std::vector<double> Constant::toFloats() const {
  DLC_CHECK(tensorType.layout.isPermutation()) << tensorType;
  std::vector<double> values(elements());
  for (size_t i = 0; i != values.size(); ++i)
    values[i] = floatAt(int64_t(i));
  return values;
}

bool operator==(const Constant &a, const Constant &b) {
  if (a.tensorType != b.tensorType)
    return false;
  if (a.data == b.data && a.splatFlag == b.splatFlag)
    return true;
  if (!a.data || !b.data)
    return false;
  if (a.splatFlag == b.splatFlag)
    return a.rawBytes() == b.rawBytes();
  if (a.elements() == 0)
    return true;
  return isUniform(a) && isUniform(b) && firstElement(a) == firstElement(b);
}

uint64_t Constant::hash() const {
  if (!data)
    return 0;
  if (uint64_t known = hashCache->value.load(std::memory_order_relaxed))
    return known;
  // A splat and the same values spelled out are equal, so both hash as one
  // element.
  std::vector<uint8_t> text;
  std::string typeText = tensorType.str();
  text.assign(typeText.begin(), typeText.end());
  uint64_t content;
  if (elements() == 0)
    content = 0;
  else if (isUniform(*this))
    content = llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(firstElement(*this)));
  else
    content = llvm::xxh3_64bits(rawBytes());
  for (int i = 0; i != 8; ++i)
    text.push_back(uint8_t(content >> (8 * i)));
  uint64_t result = llvm::xxh3_64bits(text) | 1; // never 0
  hashCache->value.store(result, std::memory_order_relaxed);
  return result;
}

} // namespace dlc
