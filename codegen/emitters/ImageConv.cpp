// SPDX-License-Identifier: Apache-2.0
// Convolutions of images, and the max pool behind them.
#include "codegen/emitters/ImageConv.h"
#include "codegen/SplitWeights.h"
#include "codegen/TypicalSize.h"
#include "codegen/emitters/Emitters.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
/// Everything but the images' count; nothing for a convolution of another kind.
std::optional<ImageConvProblem> viewImageConv(const Op &op) {
  auto conv = llvm::dyn_cast<ConvOp>(&op);
  if (!conv || conv.input()->type().rank() != 4 || conv.groups() != 1)
    return std::nullopt;
  const Shape &in = conv.input()->type().shape,
              &filter = conv.filter()->type().shape,
              &out = op.result()->type().shape;
  ImageConvProblem p;
  auto axis = [&](ImageAxis &a, size_t d) {
    std::optional<int64_t> x = in[2 + d].tryConstant(),
                           w = filter[2 + d].tryConstant(),
                           y = out[2 + d].tryConstant();
    if (!x || !w || !y || conv.dilations()[d] != 1 || *y < 1 || *x < 1)
      return false;
    a = {*x, *w, conv.strides()[d], conv.padLow()[d], *y, 1, 1, 0, *y};
    return a.low >= 0 && a.stride <= 8;
  };
  std::optional<int64_t> channels = in[1].tryConstant(),
                         outputs = filter[0].tryConstant();
  if (!axis(p.y, 0) || !axis(p.x, 1) || !channels || !outputs ||
      *channels > 4 || *outputs % 8 || p.y.filter * p.x.filter < 4)
    return std::nullopt;
  p.channels = *channels;
  p.outputs = *outputs;
  return p;
}

/// Adds the window of a max pool over the convolution's result.
bool addPool(ImageConvProblem &p, const Op &op) {
  auto pool = llvm::dyn_cast<PoolOp>(&op);
  if (!pool || pool.kind() != PoolKind::Max)
    return false;
  const Shape &out = op.result()->type().shape;
  for (size_t d = 0; d < 4; d++)
    if (pool.dilations()[d] != 1 ||
        (d < 2 && (pool.window()[d] != 1 || pool.strides()[d] != 1)))
      return false;
  auto axis = [&](ImageAxis &a, size_t d) {
    a.window = pool.window()[d];
    a.step = pool.strides()[d];
    a.windowLow = pool.padLow()[d];
    a.pooled = out[d].tryConstant().value_or(0);
    return a.isPooled() && a.pooled > 0 && a.windowLow >= 0;
  };
  return axis(p.y, 2) && axis(p.x, 3);
}

DataType operandType(const Op &conv) {
  const Value *input = conv.operand(0);
  if (const Value *narrow = widenedFrom(input))
    return narrow->type().element;
  return input->type().element;
}

class Printer {
public:
  Printer(KernelBuilder &kernel, const Op &conv, const Op *pool,
          ImageConvProblem problem)
      : problem(problem), kernel(kernel), conv(conv), pool(pool),
        view(viewContraction(conv)), in(operandType(conv)) {}

  /// Of the filter, as the kernel wants it; or the sentence why not.
  llvm::Error readFilter();
  llvm::Error print(const ImageConvTiling &tiling);
  ImageConvProblem problem;

private:
  llvm::Error printValue();
  llvm::Error printResult();
  Constant arranged(const ImageConvTiling &tiling) const;

  KernelBuilder &kernel;
  const Op &conv;
  const Op *pool;
  ContractionView view;
  DataType in;
  const Value *input = nullptr; ///< of 16 bits
  struct Place {
    int64_t channel, y, x;
  };
  std::vector<Place> places;  ///< of k
  std::vector<float> weights; ///< [output][part][k]
};

llvm::Error Printer::readFilter() {
  const int64_t depth = view.k.constant(), outputs = problem.outputs;
  for (int64_t k = 0; k < depth; k++) {
    const Shape at = view.placeB(0, 0, k, 0, false).at.index;
    places.push_back({at[1].constant(), at[2].constant(), at[3].constant()});
  }
  input = view.a;
  if (std::optional<SplitWeights> split =
          splitWeights(conv, view, kernel.unit(), kernel.context().target)) {
    input = split->a;
    problem.parts = 2;
    weights.resize(size_t(outputs * 2 * depth));
    for (size_t i = 0; i < weights.size(); i++)
      weights[i] = float(split->parts.floatAt(int64_t(i)));
    return llvm::Error::success();
  }
  if (input->type().element != in || view.b->type().element != in)
    return refuse("its weights cannot be two numbers of 16 bits");
  const Constant *filter = constantGiven(view.b, kernel.unit());
  if (!filter)
    return refuse("its filter is not a constant of the model");
  const TensorType &type = view.b->type();
  for (int64_t o = 0; o < outputs; o++)
    for (const Place &p : places) {
      std::optional<int64_t> at =
          type.layout
              .offset(type.shape, {Dim(o), Dim(p.channel), Dim(p.y), Dim(p.x)})
              .tryConstant();
      DLC_CHECK(at) << "a constant's elements have known places";
      weights.push_back(float(filter->floatAt(filter->isSplat() ? 0 : *at)));
    }
  return llvm::Error::success();
}

/// [tile of outputs][step][tap of its two][output][pixel, channel].
Constant Printer::arranged(const ImageConvTiling &tiling) const {
  const int64_t bm = tiling.bm, steps = problem.steps(),
                per = problem.perChunk(), depth = int64_t(places.size()),
                tiles = (problem.outputs + bm - 1) / bm;
  const int64_t bytes = bitWidth(in) / 8;
  std::vector<uint8_t> data(size_t(tiles * steps * 2 * bm * 8 * bytes));
  for (int64_t o = 0; o < problem.outputs; o++)
    for (int64_t part = 0; part < problem.parts; part++)
      for (int64_t k = 0; k < depth; k++) {
        const Place &p = places[size_t(k)];
        const int64_t tap = p.x / per;
        const int64_t step =
            (part * problem.y.filter + p.y) * problem.pairs() + tap / 2;
        storeFloat(in, data.data(),
                   (((o / bm * steps + step) * 2 + tap % 2) * bm + o % bm) * 8 +
                       p.x % per * problem.paddedChannels() + p.channel,
                   weights[size_t((o * problem.parts + part) * depth + k)]);
      }
  return Constant::fromBytes(
      TensorType(in, {Dim(tiles * steps * 2 * bm), Dim(8)}), std::move(data));
}

llvm::Error Printer::printValue() {
  BodyPrinter printer(kernel, 1);
  const Shape &shape = conv.operand(0)->type().shape;
  Coordinates at;
  const char *names[] = {"n", "c", "y", "x"};
  for (size_t d = 0; d < 4; d++)
    at.index.push_back(printer.coordinate(names[d], shape[d]));
  const std::string type = storageName(in).str(), x = printer.value(input, at);
  kernel.addFunction("In value(const P &p, Index n, Index c, Index y, Index x)",
                     printer.take(4) + "    return convert<In>(" + x + ");\n");
  return printer.takeError();
}

llvm::Error Printer::printResult() {
  const Unit &unit = kernel.unit();
  const Value *last = pool ? pool->operand(0) : unit.body().outputs()[0];
  BodyPrinter printer(kernel, 1);
  const Shape &shape = conv.result()->type().shape;
  Coordinates at;
  const char *names[] = {"n", "o", "y", "x"};
  for (size_t d = 0; d < 4; d++)
    at.index.push_back(printer.coordinate(names[d], shape[d]));
  SpaceMap space;
  space.anchor(conv.result(), at);
  printer.hero = heroAt(conv, at, kernel.index(), [] { return "sum"; });
  std::optional<Coordinates> element = space.at(last);
  if (last->type().shape != shape || !element ||
      !SpaceMap::same(at, *element, shape, kernel.index()))
    return refuse("its result is stored as another shape");
  const std::string x = printer.value(last, *element);
  kernel.addFunction(
      "Out result(const P &p, Index n, Index o, Index y, Index x, float sum)",
      printer.take(4) + "    return convert<Out>(" + x + ");\n");
  return printer.takeError();
}

llvm::Error Printer::print(const ImageConvTiling &tiling) {
  const TensorType &result = kernel.unit().resultType(0);
  std::string &out = kernel.functors;
  out += "struct Problem {\n  using In = " + storageName(in).str() +
         ";\n  using Out = " + storageName(result.element).str() + ";\n";
  kernel.addSize("images", result.shape[0]);
  if (llvm::Error e = printValue())
    return e;
  kernel.addFunction("const In *weights(const P &p)",
                     "    return " + kernel.weight(arranged(tiling)) + ";\n");
  if (llvm::Error e = printResult())
    return e;
  out += "  static DLC_DEVICE Out *output(const P &p) { return " +
         kernel.result(0) + "; }\n};\nusing Geometry = " + problem.geometry() +
         ";\nusing Config = " + tiling.config() + ";\n";
  return llvm::Error::success();
}

bool isHalf(DataType type) {
  return type == DataType::F16 || type == DataType::BF16;
}

/// Bytes that one element of the image takes, of all inputs that are read.
int64_t inputBytes(const Unit &unit, const Op &conv) {
  int64_t bytes = 0;
  for (const Value *v : unit.inputs())
    if (v && v->type().elementCount() == conv.operand(0)->type().elementCount())
      bytes += bitWidth(v->type().element) / 8;
  return bytes;
}

Emission finish(KernelBuilder &kernel, const ImageConvProblem &p,
                const ImageConvTiling &tiling) {
  kernel.threads = unsigned(tiling.threads());
  kernel.minBlocks = unsigned(tiling.minBlocks);
  kernel.smemBytes = unsigned(tiling.sharedBytes(p));
  Emission made;
  made.steps.push_back(kernel.finish(
      "conv", kernel.types(), "image" + tiling.name(),
      "  ImageConv<Problem, Geometry, Config>::run(p, blockIdx.x, smem);\n",
      {kernel.unit().resultType(0).shape[0] * tiling.blocksPerImage(p)}));
  made.microseconds = tiling.microseconds;
  made.flops = 2 * p.images * p.y.out * p.x.out * p.outputs * p.channels *
               p.y.filter * p.x.filter;
  made.report = "image convolution " + tiling.name() +
                (p.y.step > 1 || p.x.step > 1 ? ", pooled" : "") +
                (p.parts > 1 ? ", weights in two parts" : "");
  return made;
}
} // namespace

llvm::Expected<Emission>
ImageConvEmitter::emit(const Unit &unit, const EmitContext &context) const {
  llvm::ArrayRef<Op *> heroes = unit.heroes();
  const Target &target = context.target;
  if (heroes.empty() || heroes.size() > 2 || target.isHost())
    return refuse("");
  const Op &conv = *heroes[0];
  const Op *pool = heroes.size() > 1 ? heroes[1] : nullptr;
  std::optional<ImageConvProblem> problem = viewImageConv(conv);
  if (!problem)
    return refuse("");
  if (pool &&
      (!addPool(*problem, *pool) || unit.body().outputs()[0] != pool->result()))
    return refuse("its pool is of another kind");
  const DataType in = operandType(conv);
  const TensorType &result = unit.resultType(0);
  if (!isHalf(in) || unit.numResults() != 1 || !isHalf(result.element) ||
      result.layout != Layout::channelsLast(4))
    return refuse("");
  problem->isBf16 = in == DataType::BF16;
  problem->images = typicalSize(result.shape[0], context.symbols);
  problem->inputBytes = inputBytes(unit, conv);
  KernelBuilder kernel(unit, context);
  kernel.include("fusion");
  kernel.include("image_conv");
  Printer printer(kernel, conv, pool, *problem);
  if (llvm::Error e = printer.readFilter())
    return e;
  std::optional<ImageConvTiling> tiling =
      chooseImageConvTiling(printer.problem, target);
  if (!tiling)
    return refuse("no tile of it fits");
  if (llvm::Error e = printer.print(*tiling))
    return e;
  return finish(kernel, printer.problem, *tiling);
}

bool codegen::isImageConv(const Op &op, const Target &target) {
  std::optional<ImageConvProblem> p = viewImageConv(op);
  if (!p || target.isHost())
    return false;
  const Op *filter = op.operand(1)->definingOp();
  const DataType in = operandType(op), weights = op.operand(1)->type().element;
  if (!filter || filter->kind() != OpKind::Constant || !isHalf(in))
    return false;
  if (weights == DataType::F32) {
    if (!holdsParts(llvm::cast<ConstantOp>(filter).value(), in))
      return false;
    p->parts = 2;
  } else if (weights != in || op.operand(0)->type().element != in) {
    return false;
  }
  p->isBf16 = in == DataType::BF16;
  return chooseImageConvTiling(*p, target).has_value();
}
