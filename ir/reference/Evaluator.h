// SPDX-License-Identifier: Apache-2.0
// Evaluates graphs on the CPU: the oracle of every test, and constant folding.
#pragma once

#include "ir/Ops.h"

namespace dlc::reference {

/// A dense row-major host tensor with a static shape.
class Tensor {
public:
  Tensor() = default;
  Tensor(DataType element, std::vector<int64_t> shape); ///< zeros
  static Tensor fromConstant(const Constant &c);        ///< layout undone
  Constant toConstant() const;                          ///< row-major
  DataType element() const { return type; }
  const std::vector<int64_t> &shape() const { return dims; }
  int64_t rank() const { return int64_t(dims.size()); }
  int64_t elements() const { return count; }
  uint8_t *data() { return bytes.data(); }
  const uint8_t *data() const { return bytes.data(); }
  int64_t byteSize() const { return int64_t(bytes.size()); }
  double floatAt(int64_t i) const { return loadFloat(type, bytes.data(), i); }
  int64_t intAt(int64_t i) const { return loadInt(type, bytes.data(), i); }
  void setFloat(int64_t i, double v) { storeFloat(type, bytes.data(), i, v); }
  void setInt(int64_t i, int64_t v) { storeInt(type, bytes.data(), i, v); }
  template <class T> T *as() { return reinterpret_cast<T *>(bytes.data()); }
  template <class T> const T *as() const { return reinterpret_cast<const T *>(bytes.data()); }

private:
  DataType type = DataType::F32;
  std::vector<int64_t> dims;
  int64_t count = 1;
  std::vector<uint8_t> bytes;
};

enum class Precision {
  AsTyped, ///< each op computes in computeType of its element type and rounds its result
  Double   ///< floating-point values are f64 throughout: what results are compared with
};

/// Results of one op on given inputs (null for an absent operand). Symbols of
/// its attributes are looked up in `symbols`.
llvm::Expected<std::vector<Tensor>> evaluateOp(const Op &op, llvm::ArrayRef<const Tensor *> inputs,
                                               Precision precision, const std::map<std::string, int64_t> &symbols);

/// Runs a graph. Symbols are bound from the inputs' shapes; a mismatch between
/// an input and its type is an error that names the input. Values are freed
/// after their last use.
llvm::Expected<std::vector<Tensor>> evaluate(const Graph &graph, std::vector<Tensor> inputs,
                                             Precision precision = Precision::AsTyped);

} // namespace dlc::reference
