// SPDX-License-Identifier: Apache-2.0
// What the evaluation of one op sees, and the list of evaluators.
#pragma once

#include "ir/reference/Evaluator.h"

namespace dlc::reference {

using Tensors = std::vector<Tensor>;
using llvm::Error;
using llvm::Expected;

/// How values are kept between ops.
struct Settings {
  Precision precision = Precision::AsTyped;
  /// Inside a fusion: narrow floats stay f32 until they leave the body.
  bool wide = false;

  /// Type of a value between ops whose type in the IR is `t`.
  DataType stored(DataType t) const;
  /// Type in which ops compute; one that C++ has.
  DataType working(DataType t) const;
};

/// An op, its operands in working types, and the symbols known so far.
/// Evaluators return results in any type of the same class (float, signed ...);
/// the caller rounds them to the stored type, once.
class Context {
public:
  Context(const Op &op, llvm::ArrayRef<const Tensor *> inputs,
          const Settings &settings, const SymbolValues &symbols)
      : op(op), settings(settings), symbols(symbols), inputs(inputs) {}

  const Op &op;
  const Settings &settings;
  const SymbolValues &symbols;

  unsigned numInputs() const { return unsigned(inputs.size()); }
  bool has(unsigned i) const { return i < inputs.size() && inputs[i]; }
  const Tensor &input(unsigned i) const {
    DLC_CHECK(has(i)) << op.mnemonic() << ": operand " << i << " is absent";
    return *inputs[i];
  }
  /// The op's element type in the IR, and that in which it is computed.
  DataType resultType(unsigned i = 0) const {
    return op.result(i)->type().element;
  }
  DataType working(unsigned i = 0) const {
    return settings.working(resultType(i));
  }
  Expected<int64_t> value(const Dim &d) const;
  Expected<std::vector<int64_t>> values(llvm::ArrayRef<Dim> dims) const;

  /// "node "x" (Op): mnemonic: text".
  Error error(const llvm::Twine &text) const;

private:
  llvm::ArrayRef<const Tensor *> inputs;
};

/// "[2,3]".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// NumPy broadcast of shapes; an error that names both.
Expected<std::vector<int64_t>> broadcastShapes(const Context &c,
                                               llvm::ArrayRef<int64_t> a,
                                               llvm::ArrayRef<int64_t> b);

/// Calls fn(T()) for the C++ type of a working element type.
template <class Fn> auto dispatch(DataType t, Fn &&fn) {
  switch (t) {
  case DataType::F64:
    return fn(double());
  case DataType::F32:
    return fn(float());
  case DataType::I64:
    return fn(int64_t());
  case DataType::I32:
    return fn(int32_t());
  case DataType::I16:
    return fn(int16_t());
  case DataType::I8:
    return fn(int8_t());
  case DataType::U64:
    return fn(uint64_t());
  case DataType::U32:
    return fn(uint32_t());
  case DataType::U16:
    return fn(uint16_t());
  case DataType::U8:
    return fn(uint8_t());
  case DataType::Bool:
    return fn(bool());
  default:
    break;
  }
  DLC_CHECK(false) << stringify(t) << " is not a type that ops compute in";
  __builtin_unreachable();
}
/// The same for the two floating-point types.
template <class Fn> auto dispatchFloat(DataType t, Fn &&fn) {
  DLC_CHECK(isFloat(t)) << stringify(t) << " is no floating-point type";
  return t == DataType::F64 ? fn(double()) : fn(float());
}

/// Runs a region or graph; `inputs` are in stored types. `symbols` gains those
/// that the inputs' shapes and the results of ops bind.
Expected<Tensors> runGraph(const Graph &graph, Tensors inputs,
                           const Settings &settings, SymbolValues &symbols);

Expected<Tensors> evaluatePointwise(const Context &c);
#define DLC_OP_EVALUATOR(Name)                                                 \
  Expected<Tensors> evaluate##Name(const Context &c);
#define DLC_OP_EVALUATORS
#include "ir/Ops.inc"
#undef DLC_OP_EVALUATOR

} // namespace dlc::reference
