// SPDX-License-Identifier: Apache-2.0
// Loop fusions: pointwise ops, views and gathers over one iteration space.
#include "codegen/BodyPrinter.h"
#include "codegen/emitters/Emitters.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
struct Config {
  int64_t vector = 1; ///< elements per thread at a time
  bool rows = false;  ///< vectors never cross the innermost extent
  unsigned threads = 256;

  std::string str() const { return "v" + std::to_string(vector); }
};

/// 16 bytes of the widest element, where all outputs are written in vectors.
Config configure(const Unit &unit, const EmitContext &context) {
  const TensorType &space = unit.resultType(0);
  if (space.rank() == 0 || space.elementCount().isConstant(1))
    return {};
  const int64_t widest = 16 / unit.streamedBytes();
  const int64_t inRows =
      unit.vectorWidth(space.shape[innermostDimension(space)], context.symbols);
  // At least half of the width: rows decode once for all lanes.
  if (inRows > 1 && inRows * 2 >= widest)
    return {inRows, true};
  return {widest, false};
}

llvm::Error checkResults(const Unit &unit) {
  const TensorType &space = unit.resultType(0);
  for (unsigned i = 0; i < unit.numResults(); i++) {
    const TensorType &type = unit.resultType(i);
    if (type.shape != space.shape)
      return refuse("the results of a loop have one shape, found " +
                    space.str() + " and " + type.str());
    if (!type.layout.isUnsplit())
      return refuse("a result stored as " + type.str());
  }
  return llvm::Error::success();
}

llvm::Error printBody(KernelBuilder &kernel, const Config &config) {
  const Unit &unit = kernel.unit();
  const TensorType &space = unit.resultType(0);
  kernel.functors = "struct Body {\n";
  kernel.addConstant("int", "kVector", llvm::Twine(config.vector));
  kernel.addSize("size", space.elementCount());
  BodyPrinter printer(kernel, config.vector);
  printer.nameSums = true;
  // Vectors at rows of any length are scalar at their tail, V = 1.
  Dim base = printer.coordinate("i", space.elementCount());
  if (config.vector > 1)
    kernel.index().requireMultiple("%i", config.vector);
  Coordinates at = printer.decode(space, base, config.rows);
  for (unsigned i = 0; i < unit.numResults(); i++)
    printer.store(i, at);
  kernel.addLanesFunction("void apply(const P &p, Index i)", printer.take());
  kernel.functors += "};\n";
  return printer.takeError();
}
} // namespace

llvm::Expected<Emission>
PointwiseEmitter::emit(const Unit &unit, const EmitContext &context) const {
  if (!unit.isLoop())
    return refuse("");
  if (llvm::Error e = checkResults(unit))
    return e;
  const Config config = configure(unit, context);
  KernelBuilder kernel(unit, context);
  kernel.include("pointwise");
  kernel.threads = config.threads;
  if (llvm::Error e = printBody(kernel, config))
    return e;
  const Op *sole = unit.soleOp();
  const Dim blocks = ceilDiv(unit.resultType(0).elementCount(),
                             int64_t(config.threads) * config.vector);
  Emission made;
  made.steps.push_back(kernel.finish(
      sole ? sole->mnemonic() : "loop", kernel.types(), config.str(),
      "  pointwise<Body, Index>(p);\n", {limitBlocks(blocks)}));
  made.report = "pointwise " + config.str();
  return made;
}
