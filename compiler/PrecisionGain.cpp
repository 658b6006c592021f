// SPDX-License-Identifier: Apache-2.0
// Estimates what lower precision would gain: the kernels stay, their types
// change, and the cost model prices them again.
#include "compiler/PrecisionGain.h"

#include "codegen/CostModel.h"
#include "ir/FusionBody.h"

namespace dlc {

static bool isF32Product(const Op &op) {
  return isContraction(op) && op.operand(0)->type().element == DataType::F32;
}

template <class Fn> static void forEachOp(Graph &graph, Fn fn) {
  for (Op &op : graph.ops()) {
    fn(op);
    for (unsigned i = 0; i < op.numRegions(); i++)
      forEachOp(op.region(i), fn);
  }
}

/// The kernels of a graph and of its branches and loops, each counted once.
static void collectFusions(Graph &graph, std::vector<Op *> &fusions) {
  for (Op &op : graph.ops()) {
    if (op.kind() == OpKind::Fusion)
      fusions.push_back(&op);
    else
      for (unsigned i = 0; i < op.numRegions(); i++)
        collectFusions(op.region(i), fusions);
  }
}

/// Lets the products of a fusion round to tf32; returns whether it has any.
static bool allowTf32(FusionOp fusion) {
  bool multiplies = false;
  for (Op &op : fusion.body().ops())
    if (isF32Product(op)) {
      op.setAttribute(tf32AttrOf(op), true);
      multiplies = true;
    }
  return multiplies;
}

namespace {
/// The first half of the bytes of an f32 tensor: as many as it has in f16.
/// Prices depend on sizes and not on values.
class FirstHalf : public ConstantBytes {
public:
  explicit FirstHalf(Constant whole) : whole(std::move(whole)) {}
  llvm::ArrayRef<uint8_t> bytes() const override {
    return whole.rawBytes().take_front(whole.rawBytes().size() / 2);
  }

private:
  Constant whole;
};
} // namespace

static Constant narrowed(const Constant &c) {
  TensorType type = c.type().withElement(DataType::F16);
  if (std::optional<double> v = c.uniformValue())
    return Constant::splat(type, *v);
  return Constant(type, std::make_shared<FirstHalf>(c));
}

/// Gives constant factors the layout that AssignLayouts would.
static void layWeights(FusionOp fusion, const codegen::CostModel &costs,
                       const Target &target) {
  for (Op &op : fusion.body().ops()) {
    auto matmul = llvm::dyn_cast<MatMulOp>(&op);
    if (!matmul || matmul.rhs()->definingOp())
      continue;
    Value *inner = matmul.rhs(), *outer = fusion->operand(inner->index());
    if (!outer->definingOp<ConstantOp>())
      continue;
    Op *alone = op.clone([&](Value *v) { return v == inner ? outer : v; });
    TensorType type = outer->type();
    type.layout = costs.preferredLayout(*alone, MatMulOp::rhsOperand, target);
    delete alone;
    outer->setType(type);
    inner->setType(type);
  }
}

/// f16 for f32, weights of products as 16-bit products read them.
static void narrow(Graph &graph, const codegen::CostModel &costs,
                   const Target &target) {
  auto narrowType = [](Value *v) {
    if (v->type().element == DataType::F32)
      v->setType(v->type().withElement(DataType::F16));
  };
  auto narrowInputs = [&](Graph &g) {
    for (unsigned i = 0; i < g.numInputs(); i++)
      narrowType(g.input(i));
  };
  narrowInputs(graph);
  forEachOp(graph, [&](Op &op) {
    for (unsigned i = 0; i < op.numRegions(); i++)
      narrowInputs(op.region(i));
    for (unsigned i = 0; i < op.numResults(); i++)
      narrowType(op.result(i));
    for (unsigned i = 0; i < op.numAttributes(); i++) {
      const Attribute &a = op.attribute(i);
      if (const auto *c = std::get_if<Constant>(&a);
          c && c->type().element == DataType::F32)
        op.setAttribute(i, narrowed(*c));
      else if (const auto *t = std::get_if<DataType>(&a);
               t && *t == DataType::F32)
        op.setAttribute(i, DataType::F16);
    }
  });
  forEachOp(graph, [&](Op &op) {
    if (op.kind() == OpKind::Fusion)
      layWeights(FusionOp(&op), costs, target);
  });
}

std::optional<PrecisionGain> estimatePrecisionGain(const Module &module,
                                                   const Target &target) {
  std::unique_ptr<Module> copy = module.clone();
  std::vector<Op *> fusions;
  collectFusions(copy->main(), fusions);
  codegen::CostModel costs(module.symbols);
  auto price = [&](Op *fusion) {
    llvm::Expected<Estimate> e = costs.price(FusionOp(fusion), target);
    if (e)
      return e->microseconds;
    // Lowering takes it apart, at any precision.
    llvm::consumeError(e.takeError());
    return 0.0;
  };
  double fp32 = 0, tf32 = 0, fp16 = 0;
  bool multiplies = false;
  for (Op *fusion : fusions) {
    double exact = price(fusion);
    bool product = allowTf32(FusionOp(fusion));
    fp32 += exact;
    tf32 += product ? price(fusion) : exact;
    multiplies |= product;
  }
  if (!multiplies)
    return std::nullopt;
  narrow(copy->main(), costs, target);
  for (Op *fusion : fusions)
    fp16 += price(fusion);
  if (fp32 <= 0 || tf32 <= 0 || fp16 <= 0)
    return std::nullopt;
  return PrecisionGain{target.name, fp32 / tf32, fp32 / fp16};
}

} // namespace dlc
