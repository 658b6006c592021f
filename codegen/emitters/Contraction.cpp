// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions with prologue and epilogue.
#include "codegen/TypicalSize.h"
#include "codegen/emitters/ContractionPrinter.h"
#include "codegen/emitters/Emitters.h"
#include "codegen/tiling/ContractionTiling.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
using Math = ContractionProblem::Math;

bool mayRoundToTf32(const Op &hero) {
  return hero.attribute(tf32AttrOf(hero)) == Attribute(true);
}

Math mathOf(DataType in, const Op &hero) {
  switch (in) {
  case DataType::F16:
    return Math::F16;
  case DataType::BF16:
    return Math::BF16;
  case DataType::F32:
    return mayRoundToTf32(hero) ? Math::TF32 : Math::F32;
  case DataType::F64:
    return Math::F64;
  case DataType::I8:
    return Math::S8;
  default:
    return Math::Integer;
  }
}

/// What the epilogue reads for every result, beside a few values per column.
int64_t epilogueBytes(const Unit &unit) {
  // An operand of the product may have as many elements, too.
  auto isEpilogue = [&](const Use &use) {
    return llvm::is_contained(unit.parts().epilogue, use.op);
  };
  const Dim results = unit.resultType(0).elementCount();
  int64_t bytes = 0;
  for (unsigned i = 0; i < unit.body().numInputs(); i++) {
    const Value *v = unit.body().input(i);
    if (v->type().elementCount() == results &&
        llvm::any_of(v->uses(), isEpilogue))
      bytes += bitWidth(v->type().element) / 8;
  }
  return bytes;
}

/// The problem that has been printed.
ContractionProblem problemOf(const ContractionPrinter &printer,
                             const Unit &unit, const EmitContext &context,
                             const std::optional<MappedOperands> &maps) {
  auto typical = [&](const Dim &d) { return typicalSize(d, context.symbols); };
  const ContractionView &view = printer.view;
  ContractionProblem p;
  p.math = mathOf(printer.in, printer.hero);
  p.batch = typical(view.batch);
  p.m = typical(view.m);
  p.n = typical(view.n);
  p.k = typical(view.k);
  p.fixedK = view.k.isConstant();
  p.elementBytes = bitWidth(printer.in) / 8;
  p.accumulatorBytes = bitWidth(printer.acc) / 8;
  p.resultBytes = bitWidth(unit.resultType(0).element) / 8;
  p.vectorA = int(printer.vectorA);
  p.vectorB = int(printer.vectorB);
  p.vectorC = int(printer.vectorC);
  p.transposedB = printer.transposedB;
  if (printer.hero.kind() != OpKind::MatMul)
    p.bytesA = typical(view.a->type().storageBytes());
  p.epilogueBytes = epilogueBytes(unit);
  p.workspaceAllowed = false;
  p.mapped = maps.has_value();
  if (maps)
    p.taps = maps->taps;
  return p;
}

Dim blocksOf(const ContractionView &view, const ContractionTiling &tiling,
             const Target &target) {
  Dim tiles =
      view.batch * ceilDiv(view.m, tiling.bm) * ceilDiv(view.n, tiling.bn);
  return tiling.isPersistent() ? min(tiles, int64_t(target.multiprocessors))
                               : tiles * int64_t(tiling.splitK);
}

std::string report(const ContractionPrinter &printer,
                   const ContractionTiling &tiling) {
  const std::string name = "contraction " + tiling.name() + ", ";
  if (tiling.tma)
    return name + "tensor maps";
  return name + "vectors " + std::to_string(printer.vectorA) + " " +
         std::to_string(printer.vectorB) + " " +
         std::to_string(printer.vectorC) +
         (printer.transposedB ? ", B along n" : "") +
         (printer.split ? ", weights in two parts" : "");
}

/// The kernel into which the problem has been printed.
Emission finish(KernelBuilder &kernel, const ContractionPrinter &printer,
                const ContractionProblem &problem,
                const ContractionTiling &tiling, const EmitContext &context) {
  const ContractionView &view = printer.view;
  kernel.threads = tiling.threads();
  kernel.minBlocks = tiling.minBlocks();
  kernel.smemBytes = tiling.sharedBytes(problem);
  if (tiling.split == ContractionTiling::Split::Cluster)
    kernel.cluster = tiling.splitK;
  kernel.functors += "using Config = " + tiling.config() + ";\n";
  const std::string tile = tiling.tma ? "TmaContraction" : "ContractionTile";
  Emission made;
  made.steps.push_back(kernel.finish(
      printer.hero.mnemonic(), kernel.types(), tiling.name(),
      "  " + tile + "<Problem, Config>::run(p, blockIdx.x, smem);\n",
      {blocksOf(view, tiling, context.target)}));
  made.microseconds = tiling.microseconds;
  made.flops =
      2 * typicalSize(view.batch * view.m * view.n * view.k, context.symbols);
  made.report = report(printer, tiling);
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
  ContractionPrinter printer(kernel, hero);
  if (llvm::Error e = printer.print())
    return e;
  std::optional<MappedOperands> maps;
  if (!printer.split && printer.vectorC > 1 && printer.acc == DataType::F32)
    maps = mapOperands(kernel, hero, printer.view);
  const ContractionProblem problem = problemOf(printer, unit, context, maps);
  const ContractionTiling tiling =
      chooseContractionTiling(problem, context.target);
  if (!tiling.tma)
    return finish(kernel, printer, problem, tiling, context);
  // Another kernel, with other parameters.
  KernelBuilder mapped(unit, context);
  mapped.include("contraction_tma");
  ContractionPrinter again(mapped, hero);
  maps->setTile(tiling.bm, tiling.bn);
  if (llvm::Error e = again.print(*maps))
    return e;
  return finish(mapped, again, problem, tiling, context);
}
