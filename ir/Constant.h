// SPDX-License-Identifier: Apache-2.0
// Tensors known at compile time: weights and small constants.
#pragma once

#include "ir/Type.h"
#include <memory>

namespace dlc {

/// Bytes that outlive all who refer to them: a heap block or a mapped file.
class ConstantBytes {
public:
  virtual ~ConstantBytes() = default;
  virtual llvm::ArrayRef<uint8_t> bytes() const = 0;
  static std::shared_ptr<const ConstantBytes> own(std::vector<uint8_t> bytes);
};

/// A static tensor and its bytes, little endian, in the type's layout. Cheap to
/// copy: bytes are shared. A splat stores one element and repeats it.
class Constant {
public:
  Constant() = default;
  Constant(TensorType type, std::shared_ptr<const ConstantBytes> bytes,
           bool splat = false);
  static Constant fromBytes(TensorType type, std::vector<uint8_t> bytes);
  /// Values rounded to the type (semantics of cast).
  static Constant fromFloats(TensorType type, llvm::ArrayRef<double> values);
  static Constant fromInts(TensorType type, llvm::ArrayRef<int64_t> values);
  static Constant scalar(DataType element, double value);
  static Constant splat(TensorType type, double value);

  const TensorType &type() const { return tensorType; }
  int64_t elements() const; ///< of the tensor
  bool isSplat() const { return splatFlag; }
  /// Raw bytes: one element for a splat, the whole tensor otherwise.
  llvm::ArrayRef<uint8_t> rawBytes() const;
  /// All bytes, a splat expanded.
  std::vector<uint8_t> expandedBytes() const;
  /// Element by linear index in memory; exact for types up to f64 / i53.
  double floatAt(int64_t i) const;
  int64_t intAt(int64_t i) const;
  /// The one value of all elements, if they are all the same (bit for bit) and
  /// a double holds it.
  std::optional<double> uniformValue() const;
  std::vector<int64_t> toInts() const;
  std::vector<double> toFloats() const;
  /// Same type and same bytes.
  friend bool operator==(const Constant &a, const Constant &b);
  /// 64-bit hash of type and content, computed once, the same on every machine.
  uint64_t hash() const;

private:
  TensorType tensorType;
  std::shared_ptr<const ConstantBytes> data;
  bool splatFlag = false;
  struct HashCache;
  std::shared_ptr<HashCache> hashCache; // shared by copies
};

/// One element between storage and double or integer. Stores have the semantics
/// of cast: floats round to nearest even, f8 saturates, integers saturate from
/// floats and wrap from integers, bool is "not zero".
double loadFloat(DataType type, const uint8_t *p, int64_t i);
void storeFloat(DataType type, uint8_t *p, int64_t i, double v);
int64_t loadInt(DataType type, const uint8_t *p, int64_t i);
void storeInt(DataType type, uint8_t *p, int64_t i, int64_t v);

} // namespace dlc
