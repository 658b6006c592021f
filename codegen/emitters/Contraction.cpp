// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions with prologue and epilogue.
#include "codegen/Contraction.h"
#include "codegen/tiling/ContractionTiling.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
class ContractionEmitter : public Emitter {
public:
  llvm::StringRef name() const override { return "contraction"; }
  llvm::Expected<Emission> emit(const Unit &unit,
                                const EmitContext &context) const override;
};

bool isContraction(const Op &op) {
  return op.kind() == OpKind::MatMul || op.kind() == OpKind::Conv ||
         op.kind() == OpKind::ConvTranspose;
}

DataType accumulator(const Op &hero) {
  DataType in = hero.operand(0)->type().element;
  if (isFloat(in))
    return computeType(in);
  return bitWidth(in) == 64 || hero.result()->type().element == DataType::I64
             ? DataType::I64
             : DataType::I32;
}

/// Prints one contraction.
class Printer {
public:
  Printer(KernelBuilder &kernel, const Op &hero)
      : kernel(kernel), hero(hero), view(viewContraction(hero)),
        in(hero.operand(0)->type().element), acc(accumulator(hero)) {}
  llvm::Error print();

  KernelBuilder &kernel;
  const Op &hero;
  ContractionView view;
  DataType in, acc;
  int64_t vectorA = 1, vectorB = 1, vectorC = 1;
  bool transposedB = false, constantB = false, storeAlongM = false;

private:
  llvm::Error printA();
  llvm::Error printB();
  llvm::Error printEpilogue();
  llvm::Error printStores(int64_t vector, bool test, std::string &text);
};

llvm::Error Printer::print() {
  IndexPrinter &index = kernel.index();
  std::string &out = kernel.functors;
  out += "struct Problem {\n  using In = " + storageName(in).str() +
         ";\n  using Acc = " + storageName(acc).str() + ";\n";
  auto extent = [&](const char *name, const Dim &d) {
    out += std::string("  static DLC_DEVICE Index ") + name +
           "(const P &p) { return " + index.print(d) + "; }\n";
  };
  extent("batch", view.batch);
  extent("m", view.m);
  extent("n", view.n);
  extent("k", view.k);
  if (llvm::Error e = printA())
    return e;
  if (llvm::Error e = printB())
    return e;
  if (llvm::Error e = printEpilogue())
    return e;
  out += "};\n";
  return llvm::Error::success();
}

llvm::Error Printer::printA() {
  OperandPrinter a(kernel, "A");
  Dim b = a.batch(view.batch), m = a.row(view.m);
  a.element(view.k);
  auto place = [&](const Dim &k, const Dim &lane) {
    return view.placeA(b, m, k, lane);
  };
  vectorA = a.vectorWidth(view.a, place, view.runA);
  kernel.functors +=
      "  static constexpr int kVectorA = " + std::to_string(vectorA) + ";\n";
  return a.print(view.a, place, vectorA, in, kernel.functors);
}

llvm::Error Printer::printB() {
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
  // Weights are fetched before the kernels before have ended.
  BodyPrinter printer(kernel, 1);
  std::optional<BodyPrinter::Address> where =
      printer.address(view.b, place(0, 0).at, {});
  constantB = where && kernel.isWeight(where->input);
  kernel.functors +=
      "  static constexpr int kVectorB = " + std::to_string(vectorB) +
      ";\n  static constexpr bool kTransposedB = " +
      (transposedB ? "true" : "false") +
      ";\n  static constexpr bool kConstantB = " +
      (constantB ? "true" : "false") + ";\n";
  return b.print(view.b, place, vectorB, in, kernel.functors);
}

/// The epilogue with V lanes along n; a test only asks whether all results are
/// stored in vectors.
llvm::Error Printer::printStores(int64_t vector, bool test, std::string &text) {
  BodyPrinter printer(kernel, vector);
  Dim b = printer.coordinate("b", view.batch);
  Dim m = printer.coordinate("m", view.m);
  Dim n = printer.coordinate("n", view.n - (vector - 1));
  if (vector > 1)
    kernel.index().requireMultiple("%n", vector);
  Coordinates at = view.result(b, m, n + printer.lane());
  SpaceMap space;
  space.anchor(hero.result(), at);
  printer.hero = [&](const Op &op, unsigned,
                     const Coordinates &where) -> std::optional<std::string> {
    if (&op != &hero ||
        !SpaceMap::same(at, where, hero.result()->type().shape, kernel.index()))
      return std::nullopt;
    std::string v = vector > 1 ? "v[e]" : "v[0]";
    DataType result = hero.result()->type().element;
    if (computeType(result) != acc)
      v = "scalar::cast<" + computeName(result).str() + ">(" + v + ")";
    return v;
  };
  const Unit &unit = kernel.unit();
  for (unsigned i = 0; i < unit.numResults(); i++) {
    std::optional<Coordinates> element = space.at(unit.body().outputs()[i]);
    if (!element)
      return refuse("a result of shape " + unit.resultType(i).str() +
                    " does not follow the contraction's");
    if (vector > 1 && test &&
        !printer.contiguous(printer.offset(unit.resultType(i), *element),
                            vector))
      return refuse("not contiguous");
    if (!test)
      printer.store(i, *element);
  }
  if (!test)
    text = printer.take(4);
  return printer.takeError();
}

llvm::Error Printer::printEpilogue() {
  const Unit &unit = kernel.unit();
  int64_t bytes = 1;
  for (unsigned i = 0; i < unit.numResults(); i++)
    bytes = std::max<int64_t>(bytes, bitWidth(unit.resultType(i).element) / 8);
  std::string text;
  vectorC = std::min<int64_t>(8, 16 / bytes);
  for (; vectorC > 1; vectorC /= 2) {
    if (!isMultipleOf(view.n, vectorC, kernel.context().symbols))
      continue;
    llvm::Error e = printStores(vectorC, true, text);
    if (!e)
      break;
    llvm::consumeError(std::move(e));
  }
  storeAlongM = vectorC == 1 && hero.kind() != OpKind::MatMul;
  if (llvm::Error e = printStores(vectorC, false, text))
    return e;
  kernel.functors +=
      "  static constexpr int kVectorC = " + std::to_string(vectorC) +
      ";\n  static constexpr bool kStoreAlongM = " +
      (storeAlongM ? "true" : "false") +
      ";\n  template <int V>\n  static DLC_DEVICE void apply(const P &p, Index "
      "b, Index m, Index n, const Acc (&v)[V]) {\n" +
      text + "  }\n";
  return llvm::Error::success();
}
} // namespace
