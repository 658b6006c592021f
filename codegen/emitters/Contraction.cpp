// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions with prologue and epilogue.
#include "codegen/EpiloguePrinter.h"
#include "codegen/SplitWeights.h"
#include "codegen/TypicalSize.h"
#include "codegen/emitters/ContractionMaps.h"
#include "codegen/emitters/Emitters.h"
#include "codegen/tiling/ContractionTiling.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
DataType accumulator(const Op &hero) {
  DataType in = hero.operand(0)->type().element;
  if (isFloat(in))
    return computeType(in);
  return bitWidth(in) == 64 || hero.result()->type().element == DataType::I64
             ? DataType::I64
             : DataType::I32;
}

bool mayRoundToTf32(const Op &hero) {
  switch (hero.kind()) {
  case OpKind::MatMul:
    return llvm::cast<MatMulOp>(&hero).tf32();
  case OpKind::Conv:
    return llvm::cast<ConvOp>(&hero).tf32();
  default:
    return llvm::cast<ConvTransposeOp>(&hero).tf32();
  }
}

/// Prints one contraction.
class Printer {
public:
  Printer(KernelBuilder &kernel, const Op &hero)
      : kernel(kernel), hero(hero), view(viewContraction(hero)),
        in(hero.operand(0)->type().element), acc(accumulator(hero)),
        split(
            splitWeights(hero, view, kernel.unit(), kernel.context().target)) {
    if (!split)
      return;
    in = split->element;
    view.a = split->a;
    view.k = view.k * 2;
  }
  llvm::Error print();
  /// The same for contraction_tma.cuh.
  llvm::Error print(const MappedOperands &maps);

  KernelBuilder &kernel;
  const Op &hero;
  ContractionView view;
  DataType in, acc;
  std::optional<SplitWeights> split; // k runs over both parts
  int64_t vectorA = 1, vectorB = 1, vectorC = 1;
  bool transposedB = false, constantB = false, storeAlongM = false;

private:
  void printSizes();
  llvm::Error printA();
  llvm::Error printB();
  void printParts();
  void printCopiesOfB();
  llvm::Error printEpilogue(bool mapped);
};

void Printer::printSizes() {
  kernel.functors += "struct Problem {\n  using In = " + storageName(in).str() +
                     ";\n  using Acc = " + storageName(acc).str() + ";\n";
  kernel.addSize("batch", view.batch);
  kernel.addSize("m", view.m);
  kernel.addSize("n", view.n);
  kernel.addSize("k", view.k);
}

llvm::Error Printer::print() {
  printSizes();
  if (llvm::Error e = printA())
    return e;
  if (llvm::Error e = printB())
    return e;
  if (llvm::Error e = printEpilogue(false))
    return e;
  kernel.functors += "};\n";
  return llvm::Error::success();
}

llvm::Error Printer::print(const MappedOperands &maps) {
  printSizes();
  std::string &out = kernel.functors;
  auto operand = [&](const char *name, const TensorMapRef &map) {
    out += std::string("  // ") + name + ", p.map[" +
           std::to_string(kernel.tensorMap(map)) +
           "]: " + kernel.unit().inputs()[map.buffer.index]->type().str() +
           "\n";
  };
  operand("A", maps.a);
  operand("B", maps.b);
  out += "  static constexpr Source kSourceA = Source::" + maps.sourceA +
         ", kSourceB = Source::" + maps.sourceB + ";\n";
  // Weights are fetched before the kernels before have ended.
  constantB = kernel.isWeight(maps.b.buffer.index);
  kernel.addFlag("kConstantB", constantB);
  if (!maps.window.empty()) {
    out += "  static DLC_DEVICE Window window(const P &p) {\n    return {";
    for (const Dim &d : maps.window)
      out += (&d == &maps.window[0] ? "int(" : ", int(") +
             kernel.index().print(d) + ")";
    out += "};\n  }\n";
  }
  if (llvm::Error e = printEpilogue(true))
    return e;
  out += "};\n";
  return llvm::Error::success();
}

llvm::Error Printer::printA() {
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

void Printer::printCopiesOfB() {
  kernel.addConstant("int", "kVectorB", llvm::Twine(vectorB));
  kernel.addFlag("kTransposedB", transposedB);
  kernel.addFlag("kConstantB", constantB);
}

void Printer::printParts() {
  constantB = true;
  const std::string depth = std::to_string(view.k.constant());
  for (vectorB = 8; view.k.constant() % vectorB;)
    vectorB /= 2;
  printCopiesOfB();
  kernel.functors +=
      "  struct RowB {\n    Index s0;\n    DLC_DEVICE RowB(const P &p, Index "
      "b, "
      "Index row) {\n      s0 = row * " +
      depth + ";\n    }\n  };\n  static DLC_DEVICE const " +
      storageName(in).str() +
      " *address(const P &p, const RowB &r, Index k) {\n    return " +
      kernel.weight(split->parts) + " + r.s0 + k;\n  }\n";
}

llvm::Error Printer::printB() {
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
  BodyPrinter printer(kernel, 1);
  std::optional<BodyPrinter::Address> where =
      printer.address(view.b, place(0, 0).at, {});
  constantB = where && kernel.isWeight(where->input);
  printCopiesOfB();
  return b.print(view.b, place, vectorB, in, kernel.functors);
}

llvm::Error Printer::printEpilogue(bool mapped) {
  EpiloguePrinter epilogue(kernel, hero, view.batch, view.m, view.n,
                           view.result, acc);
  vectorC = epilogue.vectorWidth();
  storeAlongM = vectorC == 1 && hero.kind() != OpKind::MatMul;
  std::string text, loads;
  if (llvm::Error e = epilogue.print(vectorC, text, mapped ? &loads : nullptr))
    return e;
  kernel.addConstant("int", "kVectorC", llvm::Twine(vectorC));
  if (mapped) {
    kernel.addLanesFunction(
        "auto prepare(const P &p, Index b, Index m, Index n)",
        loads + "    return [=, &p](const Acc (&v)[V]) {\n" + text +
            "    };\n");
    return llvm::Error::success();
  }
  kernel.addFlag("kStoreAlongM", storeAlongM);
  kernel.addLanesFunction("void apply(const P &p, Index b, Index m, Index n, "
                          "const Acc (&v)[V])",
                          text);
  return llvm::Error::success();
}

/// What the epilogue reads for every result, beside a few values per column.
int64_t epilogueBytes(const Unit &unit) {
  int64_t bytes = 0;
  for (const Value *v : unit.inputs())
    if (v && v->type().elementCount() == unit.resultType(0).elementCount())
      bytes += bitWidth(v->type().element) / 8;
  return bytes;
}

ContractionTiling chooseTiling(const Printer &printer, const Unit &unit,
                               const EmitContext &context,
                               const std::optional<MappedOperands> &maps) {
  ContractionProblem p;
  using Math = ContractionProblem::Math;
  p.math = printer.in == DataType::F16    ? Math::F16
           : printer.in == DataType::BF16 ? Math::BF16
           : printer.in == DataType::F32
               ? (mayRoundToTf32(printer.hero) ? Math::TF32 : Math::F32)
           : printer.in == DataType::F64 ? Math::F64
           : printer.in == DataType::I8  ? Math::S8
                                         : Math::Integer;
  p.batch = typicalSize(printer.view.batch, context.symbols);
  p.m = typicalSize(printer.view.m, context.symbols);
  p.n = typicalSize(printer.view.n, context.symbols);
  p.k = typicalSize(printer.view.k, context.symbols);
  p.elementBytes = bitWidth(printer.in) / 8;
  p.accumulatorBytes = bitWidth(printer.acc) / 8;
  p.resultBytes = bitWidth(unit.resultType(0).element) / 8;
  p.vectorA = int(printer.vectorA);
  p.vectorB = int(printer.vectorB);
  p.vectorC = int(printer.vectorC);
  p.transposedB = printer.transposedB;
  if (printer.hero.kind() != OpKind::MatMul)
    p.bytesA =
        typicalSize(printer.view.a->type().storageBytes(), context.symbols);
  p.workspaceAllowed = false;
  p.mapped = maps.has_value();
  if (maps)
    p.taps = maps->taps;
  p.fixedK = printer.view.k.isConstant();
  p.epilogueBytes = epilogueBytes(unit);
  return chooseContractionTiling(p, context.target);
}

/// The kernel of the problem that has been printed.
Emission finish(Printer &printer, const ContractionTiling &tiling,
                const std::string &tile, const EmitContext &context) {
  KernelBuilder &kernel = printer.kernel;
  const ContractionView &view = printer.view;
  kernel.threads = tiling.threads();
  kernel.minBlocks = tiling.minBlocks();
  ContractionProblem bytes;
  bytes.elementBytes = bitWidth(printer.in) / 8;
  bytes.accumulatorBytes = bitWidth(printer.acc) / 8;
  kernel.smemBytes = tiling.sharedBytes(bytes);
  if (tiling.split == ContractionTiling::Split::Cluster)
    kernel.cluster = tiling.splitK;
  kernel.functors += "using Config = " + tiling.config() + ";\n";
  Dim tiles =
      view.batch * ceilDiv(view.m, tiling.bm) * ceilDiv(view.n, tiling.bn);
  Dim grid = tiling.isPersistent()
                 ? min(tiles, int64_t(context.target.multiprocessors))
                 : tiles * int64_t(tiling.splitK);
  Emission made;
  made.steps.push_back(kernel.finish(
      printer.hero.mnemonic(), kernel.types(), tiling.name(),
      "  " + tile + "<Problem, Config>::run(p, blockIdx.x, smem);\n", {grid}));
  made.microseconds = tiling.microseconds;
  made.flops =
      2 * typicalSize(view.batch * view.m * view.n * view.k, context.symbols);
  made.report = "contraction " + tiling.name() + ", ";
  if (tiling.tma)
    made.report += "tensor maps";
  else
    made.report += "vectors " + std::to_string(printer.vectorA) + " " +
                   std::to_string(printer.vectorB) + " " +
                   std::to_string(printer.vectorC) +
                   (printer.transposedB ? ", B along n" : "") +
                   (printer.split ? ", weights in two parts" : "");
  return made;
}

} // namespace

llvm::Expected<Emission>
ContractionEmitter::emit(const Unit &unit, const EmitContext &context) const {
  if (unit.heroes().size() != 1 || !isContraction(*unit.heroes()[0]))
    return refuse("");
  const Op &hero = *unit.heroes()[0];
  if (!hasDeviceType(hero.operand(0)->type().element))
    return refuse("no contraction of " +
                  stringify(hero.operand(0)->type().element) + " elements");
  KernelBuilder kernel(unit, context);
  kernel.include("contraction");
  Printer printer(kernel, hero);
  if (llvm::Error e = printer.print())
    return e;
  std::optional<MappedOperands> maps;
  if (!printer.split && printer.vectorC > 1 && printer.acc == DataType::F32)
    maps = mapOperands(kernel, hero, printer.view);
  ContractionTiling tiling = chooseTiling(printer, unit, context, maps);
  if (!tiling.tma)
    return finish(printer, tiling, "ContractionTile", context);
  // Another kernel, with other parameters.
  KernelBuilder mapped(unit, context);
  mapped.include("contraction_tma");
  Printer again(mapped, hero);
  maps->setTile(tiling.bm, tiling.bn);
  if (llvm::Error e = again.print(*maps))
    return e;
  return finish(again, tiling, "TmaContraction", context);
}
