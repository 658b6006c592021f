// SPDX-License-Identifier: Apache-2.0
// First layers: images of three channels become images of four.
#include "codegen/PackChannels.h"

#include "codegen/Unit.h"
#include "ir/Builder.h"
#include "llvm/ADT/DenseMap.h"

using namespace dlc;
using namespace dlc::codegen;

/// `c` with zeros along dimension 1 up to `channels`.
static Constant padChannels(const Constant &c, int64_t channels) {
  const TensorType &from = c.type();
  TensorType to = from;
  to.shape[1] = channels;
  to.layout = Layout::channelsLast(from.rank());
  std::vector<uint8_t> source = c.expandedBytes();
  int64_t bytes = bitWidth(from.element) / 8;
  std::vector<uint8_t> result(size_t(to.storageBytes().constant()));
  int64_t outer = from.shape[0].constant(), own = from.shape[1].constant();
  int64_t taps = 1;
  for (int64_t d = 2; d < from.rank(); d++)
    taps *= from.shape[d].constant();
  Shape strides = from.layout.strides(from.shape);
  for (int64_t m = 0; m < outer; m++)
    for (int64_t k = 0; k < own; k++)
      for (int64_t t = 0; t < taps; t++) {
        int64_t rest = t,
                at = m * strides[0].constant() + k * strides[1].constant();
        for (int64_t d = from.rank() - 1; d >= 2; d--) {
          at += rest % from.shape[d].constant() * strides[d].constant();
          rest /= from.shape[d].constant();
        }
        std::copy_n(source.begin() + at * bytes, bytes,
                    result.begin() + ((m * taps + t) * channels + k) * bytes);
      }
  return Constant::fromBytes(to, std::move(result));
}

/// The fusion that computes `value` of `body`, padded and channels-last, and
/// its result.
static Value *emitImage(Op &fusion, Graph &body, Value *value,
                        int64_t channels) {
  Graph &graph = *fusion.parent();
  const TensorType &type = value->type();
  // The ops that lead to it, and what they read.
  llvm::DenseMap<const Value *, bool> needed{{value, true}};
  std::vector<const Op *> ops;
  for (auto it = body.ops().rbegin(); it != body.ops().rend(); ++it) {
    bool used = false;
    for (unsigned i = 0; i < it->numResults(); i++)
      used |= needed.count(it->result(i)) != 0;
    if (!used)
      continue;
    if (!isPrintable(*it))
      return nullptr;
    ops.push_back(&*it);
    for (Value *v : it->operands())
      if (v)
        needed[v] = true;
  }
  llvm::SmallVector<Value *, 2> operands;
  TensorType wide = type;
  wide.shape[1] = channels;
  wide.layout = Layout::channelsLast(type.rank());
  std::vector<Dim> space(wide.shape.begin(), wide.shape.end());
  for (unsigned i = 0; i < body.numInputs(); i++)
    if (needed.count(body.input(i)))
      operands.push_back(fusion.operand(i));
  Op *made = FusionOp::make(fusion.location(), operands, FusionKind::Loop, {},
                            space, {});
  Graph &inner = made->region(0);
  llvm::DenseMap<const Value *, Value *> map;
  for (unsigned i = 0; i < body.numInputs(); i++)
    if (needed.count(body.input(i)))
      map[body.input(i)] = inner.addInput(body.input(i)->type());
  for (const Op *op : llvm::reverse(ops)) {
    std::vector<Attribute> attributes;
    for (unsigned i = 0; i < op->numAttributes(); i++)
      attributes.push_back(op->attribute(i));
    llvm::SmallVector<Value *, 2> mapped;
    for (Value *v : op->operands())
      mapped.push_back(v ? map[v] : nullptr);
    Op *clone = Op::create(op->kind(), mapped, std::move(attributes),
                           {op->result()->type()}, op->location());
    inner.insert(inner.end(), clone);
    map[op->result()] = clone->result();
  }
  Builder builder(inner);
  builder.location = fusion.location();
  std::vector<Dim> low(type.rank(), Dim(0)), high(type.rank(), Dim(0));
  high[1] = Dim(channels) - type.shape[1];
  auto pad = builder.create<PadOp>(map[value], nullptr, low, high);
  pad.result()->setType(wide);
  inner.setOutputs({pad.result()});
  made->setResultTypes({wide});
  graph.insert(Graph::OpList::iterator(fusion), made);
  return made->result();
}

static bool packOne(Op &op) {
  auto fusion = llvm::cast<FusionOp>(&op);
  if (fusion.kind() != FusionKind::Contraction || fusion.heroes().size() != 1)
    return false;
  Graph &body = fusion.body();
  Op *hero = &*std::next(body.ops().begin(), fusion.heroes()[0]);
  if (hero->kind() != OpKind::Conv)
    return false;
  auto conv = llvm::cast<ConvOp>(hero);
  const TensorType &input = conv.input()->type();
  std::optional<int64_t> channels = input.dim(1).tryConstant();
  if (!channels || *channels < 3 || *channels > 7 || *channels % 4 == 0 ||
      conv.groups() != 1 || bitWidth(input.element) < 16)
    return false;
  Value *filter = conv.filter();
  if (filter->definingOp() || filter->uses().size() != 1)
    return false;
  const Op *source = op.operand(filter->index())->definingOp();
  if (!source || source->kind() != OpKind::Constant ||
      !filter->type().layout.isPermutation())
    return false;

  int64_t wide = (*channels + 3) / 4 * 4;
  Value *image = emitImage(op, body, conv.input(), wide);
  if (!image)
    return false;
  Builder builder(*op.parent());
  builder.setInsertionPoint(&op);
  builder.location = source->location();
  Value *weights = builder.constant(
      padChannels(llvm::cast<ConstantOp>(source).value(), wide));
  llvm::SmallVector<Value *, 6> operands(op.operands().begin(),
                                         op.operands().end());
  operands.push_back(image);
  operands.push_back(weights);
  op.setOperands(operands);
  hero->setOperand(0, body.addInput(image->type()));
  hero->setOperand(1, body.addInput(weights->type()));
  return true;
}

unsigned codegen::packChannels(Graph &graph) {
  unsigned count = 0;
  for (Op &op : graph.ops())
    if (op.kind() == OpKind::Fusion)
      count += packOne(op);
  return count;
}
