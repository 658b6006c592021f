// SPDX-License-Identifier: Apache-2.0
// Evaluates graphs on the CPU: the oracle of every test, and constant folding.
#pragma once

#include "ir/Ops.h"

namespace dlc::reference {

/// A dense row-major host tensor with a static shape. Copies share their bytes
/// until one of them is written.
class Tensor {
public:
  Tensor() : Tensor(DataType::F32, {}) {}
  Tensor(DataType element, std::vector<int64_t> shape); ///< zeros
  /// Layout undone. Borrows the constant's bytes where they are row-major.
  static Tensor fromConstant(const Constant &c);
  Constant toConstant() const; ///< row-major
  DataType element() const { return type; }
  const std::vector<int64_t> &shape() const { return dims; }
  int64_t rank() const { return int64_t(dims.size()); }
  int64_t elements() const { return count; }
  uint8_t *data(); ///< the tensor's own bytes: copied first where shared
  const uint8_t *data() const { return start; }
  int64_t byteSize() const { return dlc::byteSize(type, count); }
  double floatAt(int64_t i) const { return loadFloat(type, start, i); }
  int64_t intAt(int64_t i) const { return loadInt(type, start, i); }
  void setFloat(int64_t i, double v) { storeFloat(type, data(), i, v); }
  void setInt(int64_t i, int64_t v) { storeInt(type, data(), i, v); }
  template <class T> T *as() { return reinterpret_cast<T *>(data()); }
  template <class T> const T *as() const {
    return reinterpret_cast<const T *>(start);
  }
  /// The same elements in another shape; counts must agree.
  Tensor withShape(std::vector<int64_t> shape) const;
  /// Elements rounded to another type: floats to floats, integers to integers.
  Tensor converted(DataType to) const;

private:
  DataType type;
  std::vector<int64_t> dims;
  int64_t count;
  const uint8_t *start;
  std::shared_ptr<std::vector<uint8_t>> own; // null where borrowed
  std::shared_ptr<const Constant> borrowed;  // keeps `start` alive
};

enum class Precision {
  AsTyped, ///< each op computes in computeType of its element type and rounds
           ///< its result
  Double   ///< floating-point values are f64 throughout: what results are
           ///< compared with. A cast still rounds to its type.
};

/// Values of symbols by name.
using SymbolValues = std::map<std::string, int64_t>;

/// Results of one op on given inputs (null for an absent operand). Symbols of
/// its attributes are looked up in `symbols`.
llvm::Expected<std::vector<Tensor>>
evaluateOp(const Op &op, llvm::ArrayRef<const Tensor *> inputs,
           Precision precision, const SymbolValues &symbols);

/// Runs a graph. Symbols are bound from the inputs' shapes; a mismatch between
/// an input and its type is an error that names the input. Values are freed
/// after their last use.
llvm::Expected<std::vector<Tensor>>
evaluate(const Graph &graph, std::vector<Tensor> inputs,
         Precision precision = Precision::AsTyped);

/// May `op` be replaced by what evaluateOp gives on constant operands, with the
/// same bits on every machine? False for f64 functions that differ between
/// math libraries, and for what is no value.
bool isFoldable(const Op &op);

} // namespace dlc::reference
