// SPDX-License-Identifier: Apache-2.0
// Loop fusions: pointwise ops, views and gathers over one iteration space.
#include "codegen/BodyPrinter.h"

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
  Config c;
  const TensorType &space = unit.resultType(0);
  c.vector = 16 / unit.streamedBytes();
  if (space.rank() == 0 || space.elementCount().isConstant(1)) {
    c.vector = 1;
    return c;
  }
  int64_t inner = innermostDimension(space);
  for (int64_t v = c.vector; v > 1; v /= 2)
    if (isMultipleOf(space.shape[inner], v, context.symbols)) {
      // At least half of the width: rows decode once for all lanes.
      if (v * 2 >= c.vector) {
        c.vector = v;
        c.rows = true;
      }
      break;
    }
  return c;
}

class PointwiseEmitter : public Emitter {
public:
  llvm::StringRef name() const override { return "pointwise"; }

  llvm::Expected<Emission> emit(const Unit &unit,
                                const EmitContext &context) const override {
    if (!unit.isLoop())
      return refuse("");
    const TensorType &space = unit.resultType(0);
    for (unsigned i = 0; i < unit.numResults(); i++) {
      const TensorType &type = unit.resultType(i);
      if (type.shape != space.shape)
        return refuse("the results of a loop have one shape, found " +
                      space.str() + " and " + type.str());
      if (!type.layout.isUnsplit())
        return refuse("a result stored as " + type.str());
    }
    Config config = configure(unit, context);
    KernelBuilder kernel(unit, context);
    kernel.include("pointwise");
    kernel.threads = config.threads;
    kernel.functors =
        "struct Body {\n  static constexpr int kVector = " +
        std::to_string(config.vector) +
        ";\n  static DLC_DEVICE Index size(const P &p) { return " +
        kernel.index().print(space.elementCount()) + "; }\n";
    if (llvm::Error e = printApply(kernel, config, unit))
      return e;
    kernel.functors += "};\n";

    Emission made;
    Dim blocks =
        ceilDiv(space.elementCount(), int64_t(config.threads) * config.vector);
    made.steps.push_back(kernel.finish(kindOf(unit), kernel.types(),
                                       config.str(),
                                       "  pointwise<Body, Index>(p);\n",
                                       {min(blocks, (int64_t(1) << 31) - 1)}));
    made.report = "pointwise " + config.str();
    return made;
  }

private:
  static llvm::StringRef kindOf(const Unit &unit) {
    return unit.soleOp() ? unit.soleOp()->mnemonic() : "loop";
  }

  static llvm::Error printApply(KernelBuilder &kernel, const Config &config,
                                const Unit &unit) {
    BodyPrinter printer(kernel, config.vector);
    printer.nameSums = true;
    const TensorType &space = unit.resultType(0);
    // Vectors at rows of any length are scalar at their tail, V = 1.
    Dim base = printer.coordinate("i", space.elementCount());
    if (config.vector > 1)
      kernel.index().requireMultiple("%i", config.vector);
    Coordinates at = printer.decode(space, base, config.rows);
    for (unsigned i = 0; i < unit.numResults(); i++)
      printer.store(i, at);
    kernel.functors += "  template <int V>\n  static DLC_DEVICE void "
                       "apply(const P &p, Index i) {\n" +
                       printer.take() + "  }\n";
    return printer.takeError();
  }
};
} // namespace

namespace dlc::codegen {
const Emitter &makePointwiseEmitter() {
  static const PointwiseEmitter emitter;
  return emitter;
}
} // namespace dlc::codegen
