// SPDX-License-Identifier: Apache-2.0
// Prints `struct Problem`: what the templates of index ops are told.
#include "codegen/emitters/ProblemPrinter.h"

using namespace dlc;
using namespace dlc::codegen;

void ProblemPrinter::type(llvm::StringRef name, llvm::StringRef type) {
  text += ("  using " + name + " = " + type + ";\n").str();
}

void ProblemPrinter::constant(llvm::StringRef type, llvm::StringRef name,
                              const llvm::Twine &value) {
  text +=
      ("  static constexpr " + type + " " + name + " = " + value + ";\n").str();
}

void ProblemPrinter::function(llvm::StringRef result, llvm::StringRef name,
                              llvm::StringRef arguments,
                              const llvm::Twine &expression) {
  text += ("  static DLC_DEVICE " + result + " " + name + "(" + arguments +
           ") {\n    return " + expression + ";\n  }\n")
              .str();
}

void ProblemPrinter::size(llvm::StringRef name, const Dim &value) {
  function("Index", name, "const P &p", kernel.index().print(value));
}

void ProblemPrinter::sizes(llvm::StringRef name, llvm::ArrayRef<Dim> values) {
  std::string choice;
  for (size_t d = 0; d + 1 < values.size(); d++)
    choice += "d == " + std::to_string(d) + " ? Index(" +
              kernel.index().print(values[d]) + ") : ";
  choice += "Index(" +
            (values.empty() ? "1" : kernel.index().print(values.back())) + ")";
  function("Index", name, "const P &p, int d", choice);
}

void ProblemPrinter::pointer(llvm::StringRef element, llvm::StringRef name,
                             const llvm::Twine &expression, bool write) {
  function(((write ? "" : "const ") + element + " *").str(), name, "const P &p",
           expression);
}

AxisSplit codegen::splitAt(llvm::ArrayRef<Dim> shape, int64_t axis) {
  return {elementCount(shape.take_front(axis)), shape[axis],
          elementCount(shape.drop_front(axis + 1))};
}

llvm::Error codegen::requireRowMajor(const Unit &unit) {
  auto check = [](const TensorType &type, llvm::StringRef what) -> llvm::Error {
    if (!type.layout.isRowMajor())
      return refuse(what + " is stored as " + type.layout.str(type.rank()) +
                    ", row-major was expected");
    if (!hasDeviceType(type.element))
      return refuse("no device type for " + stringify(type.element));
    return llvm::Error::success();
  };
  for (Value *v : unit.inputs())
    if (v)
      if (llvm::Error e = check(v->type(), "an operand"))
        return e;
  for (unsigned i = 0; i < unit.numResults(); i++)
    if (llvm::Error e = check(unit.resultType(i), "a result"))
      return e;
  return llvm::Error::success();
}

Dim codegen::blocksFor(const Dim &items, int64_t perBlock) {
  return min(ceilDiv(items, perBlock), Dim(1 << 20));
}

llvm::ArrayRef<Dim> codegen::subshape(llvm::ArrayRef<Dim> shape, int64_t from,
                                      int64_t to) {
  return shape.slice(from, to - from);
}
