// SPDX-License-Identifier: Apache-2.0
// Host tensors of the reference.
#include "ir/reference/Evaluator.h"

#include <cstring>

namespace dlc::reference {

static int64_t countOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t d : shape) {
    DLC_CHECK(d >= 0 && !__builtin_mul_overflow(count, d, &count))
        << "dimension " << d;
  }
  return count;
}

Tensor::Tensor(DataType element, std::vector<int64_t> shape)
    : type(element), dims(std::move(shape)), count(countOf(dims)),
      own(std::make_shared<std::vector<uint8_t>>(byteSize())) {
  start = own->data();
}

Tensor Tensor::fromConstant(const Constant &c) {
  const TensorType &type = c.type();
  std::vector<int64_t> shape;
  for (const Dim &d : type.shape)
    shape.push_back(d.constant());
  // A mapped file may place numbers at odd addresses; those are copied.
  bool aligned = reinterpret_cast<uintptr_t>(c.rawBytes().data()) % 8 == 0;
  if (type.layout.isRowMajor() && !c.isSplat() && aligned) {
    Tensor t(type.element, {});
    t.dims = std::move(shape);
    t.count = countOf(t.dims);
    DLC_CHECK(int64_t(c.rawBytes().size()) >= t.byteSize());
    t.own = nullptr;
    t.borrowed = std::make_shared<Constant>(c);
    t.start = c.rawBytes().data();
    return t;
  }
  Tensor t(type.element, std::move(shape));
  if (t.count == 0)
    return t;
  uint8_t *bytes = t.data();
  if (type.layout.isRowMajor() && !c.isSplat()) {
    std::memcpy(bytes, c.rawBytes().data(), t.byteSize());
    return t;
  }
  if (c.isSplat()) {
    if (isFloat(type.element)) {
      for (int64_t i = 0; i < t.count; i++)
        storeFloat(type.element, bytes, i, c.floatAt(0));
    } else {
      for (int64_t i = 0; i < t.count; i++)
        storeInt(type.element, bytes, i, c.intAt(0));
    }
    return t;
  }
  std::vector<int64_t> index(t.rank());
  for (int64_t i = 0; i < t.count; i++) {
    Shape at(index.begin(), index.end());
    int64_t from = type.layout.offset(type.shape, at).constant();
    if (isFloat(type.element))
      storeFloat(type.element, bytes, i, c.floatAt(from));
    else
      storeInt(type.element, bytes, i, c.intAt(from));
    for (int64_t d = t.rank() - 1; d >= 0 && ++index[d] == t.dims[d]; d--)
      index[d] = 0;
  }
  return t;
}

Constant Tensor::toConstant() const {
  Shape shape(dims.begin(), dims.end());
  return Constant::fromBytes(TensorType(type, shape),
                             std::vector<uint8_t>(start, start + byteSize()));
}

uint8_t *Tensor::data() {
  if (!own || own.use_count() > 1) {
    own = std::make_shared<std::vector<uint8_t>>(start, start + byteSize());
    borrowed = nullptr;
    start = own->data();
  }
  return own->data();
}

Tensor Tensor::withShape(std::vector<int64_t> shape) const {
  Tensor t = *this;
  DLC_CHECK(countOf(shape) == count);
  t.dims = std::move(shape);
  return t;
}

Tensor Tensor::converted(DataType to) const {
  if (to == type)
    return *this;
  Tensor t(to, dims);
  uint8_t *bytes = t.data();
  if (type == DataType::F32 && to == DataType::F64) {
    for (int64_t i = 0; i < count; i++)
      reinterpret_cast<double *>(bytes)[i] = as<float>()[i];
  } else if (type == DataType::F64 && to == DataType::F32) {
    for (int64_t i = 0; i < count; i++)
      reinterpret_cast<float *>(bytes)[i] = float(as<double>()[i]);
  } else if (isFloat(type)) {
    for (int64_t i = 0; i < count; i++)
      storeFloat(to, bytes, i, loadFloat(type, start, i));
  } else {
    for (int64_t i = 0; i < count; i++)
      storeInt(to, bytes, i, loadInt(type, start, i));
  }
  return t;
}

} // namespace dlc::reference
