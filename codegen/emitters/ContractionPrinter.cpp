// SPDX-License-Identifier: Apache-2.0
// Prints `struct Problem` of contraction.cuh and contraction_tma.cuh.
#include "codegen/emitters/ContractionPrinter.h"

using namespace dlc;
using namespace dlc::codegen;

static DataType accumulator(const Op &hero) {
  DataType in = hero.operand(0)->type().element;
  if (isFloat(in))
    return computeType(in);
  return bitWidth(in) == 64 || hero.result()->type().element == DataType::I64
             ? DataType::I64
             : DataType::I32;
}

ContractionPrinter::ContractionPrinter(KernelBuilder &kernel, const Op &hero)
    : hero(hero), view(viewContraction(hero)),
      in(hero.operand(0)->type().element), acc(accumulator(hero)),
      split(splitWeights(hero, view, kernel.unit(), kernel.context().target)),
      kernel(kernel) {
  if (!split)
    return;
  in = split->element;
  view.a = split->a;
  view.k = view.k * 2;
}

llvm::Error ContractionPrinter::print() {
  printSizes();
  if (llvm::Error e = printA())
    return e;
  if (llvm::Error e = printB())
    return e;
  if (llvm::Error e = printApply())
    return e;
  kernel.functors += "};\n";
  return llvm::Error::success();
}

llvm::Error ContractionPrinter::print(const MappedOperands &maps) {
  printSizes();
  printMap("A", maps.a);
  printMap("B", maps.b);
  kernel.functors +=
      "  static constexpr Source kSourceA = Source::" + maps.sourceA +
      ", kSourceB = Source::" + maps.sourceB + ";\n";
  kernel.addFlag("kConstantB", kernel.isWeight(maps.b.buffer.index));
  if (!maps.window.empty())
    printWindow(maps.window);
  if (llvm::Error e = printPrepare())
    return e;
  kernel.functors += "};\n";
  return llvm::Error::success();
}

void ContractionPrinter::printSizes() {
  kernel.functors += "struct Problem {\n  using In = " + storageName(in).str() +
                     ";\n  using Acc = " + storageName(acc).str() + ";\n";
  kernel.addSize("batch", view.batch);
  kernel.addSize("m", view.m);
  kernel.addSize("n", view.n);
  kernel.addSize("k", view.k);
}

//===--- Operands ---------------------------------------------------------===//

void ContractionPrinter::printMap(llvm::StringRef side,
                                  const TensorMapRef &map) {
  const std::string number = std::to_string(kernel.tensorMap(map)),
                    type =
                        kernel.unit().inputs()[map.buffer.index]->type().str();
  kernel.functors +=
      "  // " + side.str() + ", p.map[" + number + "]: " + type + "\n";
}

void ContractionPrinter::printWindow(llvm::ArrayRef<Dim> window) {
  std::string members;
  for (const Dim &d : window)
    members +=
        (members.empty() ? "int(" : ", int(") + kernel.index().print(d) + ")";
  kernel.addFunction("Window window(const P &p)",
                     "    return {" + members + "};\n");
}

llvm::Error ContractionPrinter::printA() {
  OperandPrinter a(kernel, "A");
  Dim b = a.batch(view.batch), m = a.row(view.m);
  a.element(view.k);
  auto place = [&](const Dim &k, const Dim &lane) {
    return view.placeA(b, m, split ? mod(k, split->depth) : k, lane);
  };
  vectorA = a.vectorWidth(view.a, place, view.runA);
  kernel.addConstant("int", "kVectorA", llvm::Twine(vectorA));
  return a.print(view.a, place, vectorA, in, kernel.functors);
}

void ContractionPrinter::printCopiesOfB(bool constant) {
  kernel.addConstant("int", "kVectorB", llvm::Twine(vectorB));
  kernel.addFlag("kTransposedB", transposedB);
  kernel.addFlag("kConstantB", constant);
}

void ContractionPrinter::printParts() {
  const int64_t depth = view.k.constant();
  for (vectorB = 8; depth % vectorB;)
    vectorB /= 2;
  printCopiesOfB(/*constant=*/true);
  kernel.functors +=
      "  struct RowB {\n    Index s0;\n    DLC_DEVICE RowB(const P &p, Index "
      "b, Index row) {\n      s0 = row * " +
      std::to_string(depth) + ";\n    }\n  };\n";
  kernel.addFunction("const " + storageName(in).str() +
                         " *address(const P &p, const RowB &r, Index k)",
                     "    return " + kernel.weight(split->parts) +
                         " + r.s0 + k;\n");
}

bool ContractionPrinter::isConstantB(
    const OperandPrinter::PlaceOf &place) const {
  BodyPrinter printer(kernel, 1);
  std::optional<BodyPrinter::Address> where =
      printer.address(view.b, place(0, 0).at, {});
  return where && kernel.isWeight(where->input);
}

llvm::Error ContractionPrinter::printB() {
  if (split) {
    printParts();
    return llvm::Error::success();
  }
  // Along k if that is contiguous, else along n.
  OperandPrinter b(kernel, "B");
  Dim batch = b.batch(view.batch), n = b.row(view.n);
  b.element(view.k);
  OperandPrinter::PlaceOf place = [&](const Dim &k, const Dim &lane) {
    return view.placeB(batch, n, k, lane, false);
  };
  vectorB = b.vectorWidth(view.b, place, view.k);
  if (vectorB == 1) {
    Dim k = b.row(view.k);
    b.element(view.n);
    OperandPrinter::PlaceOf along = [&, k](const Dim &n, const Dim &lane) {
      return view.placeB(batch, n, k, lane, true);
    };
    vectorB = b.vectorWidth(view.b, along, view.n);
    transposedB = vectorB > 1;
    if (transposedB) {
      place = along;
    } else {
      b.row(view.n);
      b.element(view.k);
    }
  }
  printCopiesOfB(isConstantB(place));
  return b.print(view.b, place, vectorB, in, kernel.functors);
}

//===--- Results ----------------------------------------------------------===//

EpiloguePrinter ContractionPrinter::epilogue() {
  EpiloguePrinter printer(kernel, hero, view.batch, view.m, view.n, view.result,
                          acc);
  vectorC = printer.vectorWidth();
  return printer;
}

llvm::Error ContractionPrinter::printApply() {
  std::string text;
  if (llvm::Error e = epilogue().print(vectorC, text))
    return e;
  kernel.addConstant("int", "kVectorC", llvm::Twine(vectorC));
  kernel.addFlag("kStoreAlongM", vectorC == 1 && hero.kind() != OpKind::MatMul);
  kernel.addLanesFunction("void apply(const P &p, Index b, Index m, Index n, "
                          "const Acc (&v)[V])",
                          text);
  return llvm::Error::success();
}

llvm::Error ContractionPrinter::printPrepare() {
  std::string text, loads;
  if (llvm::Error e = epilogue().print(vectorC, text, &loads))
    return e;
  kernel.addConstant("int", "kVectorC", llvm::Twine(vectorC));
  kernel.addLanesFunction("auto prepare(const P &p, Index b, Index m, Index n)",
                          loads + "    return [=, &p](const Acc (&v)[V]) {\n" +
                              text + "    };\n");
  return llvm::Error::success();
}
