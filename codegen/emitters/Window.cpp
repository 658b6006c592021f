// SPDX-License-Identifier: Apache-2.0
// Pooling and depthwise convolution: a few taps per element of the output.
#include "codegen/Contraction.h"
#include "codegen/emitters/Emitters.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
/// A hero as taps: for each the place of the input's element.
struct WindowView {
  Shape taps;                              ///< the window's extents
  llvm::SmallVector<IndexRange, 4> inside; ///< of a tap
  Coordinates input;                       ///< at the tap
  std::optional<Coordinates> filter;       ///< of a convolution
};

/// Cells of dimension d that a window at `start` covers in [low, high).
Dim covered(const Dim &start, int64_t window, int64_t dilation, const Dim &low,
            const Dim &high) {
  return max(min(ceilDiv(high - start, dilation), window) -
                 max(ceilDiv(low - start, dilation), 0),
             0);
}

class Printer {
public:
  Printer(KernelBuilder &kernel, const Op &hero) : kernel(kernel), hero(hero) {}
  llvm::Error print();
  int64_t vector = 1;
  Dim size;

private:
  /// Coordinates of the output's element, kept in Point.
  Coordinates point(BodyPrinter &printer);
  WindowView viewTap(const Coordinates &at, const Dim &tap) const;
  std::string result(const Coordinates &at);
  int64_t chooseVector() const;
  llvm::Error printTap();
  llvm::Error printApply();

  KernelBuilder &kernel;
  const Op &hero;
};

const TensorType &resultType(const Op &hero) { return hero.result()->type(); }

int64_t Printer::chooseVector() const {
  // Lanes along the innermost dimension in memory, where the window is one
  // element wide.
  const TensorType &type = resultType(hero);
  int64_t inner = innermostDimension(type);
  if (inner < 0)
    return 1;
  if (hero.kind() == OpKind::Pool) {
    auto pool = llvm::cast<PoolOp>(&hero);
    if (pool.window()[inner] != 1 || pool.strides()[inner] != 1 ||
        pool.padLow()[inner] != 0 || pool.padHigh()[inner] != 0)
      return 1;
  } else if (inner != 1 ||
             hero.operand(0)->type().dim(1) != hero.operand(1)->type().dim(0)) {
    return 1;
  }
  int64_t v = 16 / kernel.unit().streamedBytes();
  while (v > 1 && !isMultipleOf(type.shape[inner], v, kernel.context().symbols))
    v /= 2;
  return v;
}

Coordinates Printer::point(BodyPrinter &printer) {
  const TensorType &type = resultType(hero);
  IndexPrinter &index = kernel.index();
  int64_t inner = innermostDimension(type);
  Coordinates at;
  for (int64_t d = 0; d < type.rank(); d++) {
    if (type.shape[d].isConstant(1)) {
      at.index.push_back(0);
      continue;
    }
    std::string name = "i" + std::to_string(d), text = "q." + name;
    bool lanes = d == inner && vector > 1;
    Dim c = index.declare("%" + name, type.shape[d] - (lanes ? vector - 1 : 0),
                          [text] { return text; });
    if (lanes)
      index.requireMultiple("%" + name, vector);
    at.index.push_back(lanes ? c + printer.lane() : c);
  }
  return at;
}

WindowView Printer::viewTap(const Coordinates &at, const Dim &tap) const {
  WindowView v;
  const Shape &in = hero.operand(0)->type().shape;
  v.input.index = at.index;
  auto slide = [&](size_t d, int64_t stride, int64_t low, int64_t dilation,
                   const Dim &t) {
    Dim where = at.index[d] * stride - low + t * dilation;
    v.input.index[d] = where;
    v.inside.push_back({where, 0, in[d]});
  };
  if (hero.kind() == OpKind::Pool) {
    auto pool = llvm::cast<PoolOp>(&hero);
    for (int64_t w : pool.window())
      v.taps.push_back(w);
    Shape t = delinearize(tap, v.taps);
    for (size_t d = 0; d < in.size(); d++)
      slide(d, pool.strides()[d], pool.padLow()[d], pool.dilations()[d], t[d]);
    return v;
  }
  auto conv = llvm::cast<ConvOp>(&hero);
  const Shape &filter = conv.filter()->type().shape;
  v.taps.assign(filter.begin() + 2, filter.end());
  Shape t = delinearize(tap, v.taps);
  Dim perGroup = floorDiv(filter[0], conv.groups());
  v.input.index[1] = floorDiv(at.index[1], perGroup);
  for (size_t d = 0; d < t.size(); d++)
    slide(2 + d, conv.strides()[d], conv.padLow()[d], conv.dilations()[d],
          t[d]);
  v.filter = Coordinates{{at.index[1], 0}, {}, {}};
  v.filter->index.append(t.begin(), t.end());
  return v;
}

llvm::Error Printer::print() {
  vector = chooseVector();
  const TensorType &type = resultType(hero);
  size = type.elementCount();
  std::string compute = computeName(type.element).str();
  IndexPrinter &index = kernel.index();

  WindowView v = viewTap({Shape(type.rank(), Dim(0)), {}, {}}, 0);
  Dim taps = elementCount(v.taps);
  std::string &out = kernel.functors;
  auto number = [&](const char *name, const Dim &d) {
    out += std::string("  static DLC_DEVICE Index ") + name +
           "(const P &p) { return " + index.print(d) + "; }\n";
  };
  bool isMax = false;
  if (hero.kind() == OpKind::Pool)
    isMax = llvm::cast<PoolOp>(&hero).kind() == PoolKind::Max;
  out += "struct Window {\n  using Acc = " + compute +
         ";\n  static constexpr int kVector = " + std::to_string(vector) +
         ";\n  static constexpr int kTaps = " +
         (taps.isConstant() ? std::to_string(taps.constant()) : "0") + ";\n";
  number("taps", taps);
  number("size", size);
  out += "  static DLC_DEVICE Acc init() { return " +
         (isMax ? "scalar::lowest<Acc>()" : std::string("Acc(0)")) + "; }\n";

  // The coordinates of element i of memory.
  std::string members, constructor;
  index.declare("%i", size, [] { return "i"; });
  llvm::SmallVector<int64_t, 6> order = type.layout.order(type.rank());
  Shape box;
  for (int64_t d : order)
    box.push_back(type.shape[d]);
  Shape decoded = delinearize(Dim::symbol("%i"), box);
  for (int64_t k = 0; k < type.rank(); k++) {
    if (box[k].isConstant(1))
      continue;
    std::string name = "i" + std::to_string(order[k]);
    members += "    Index " + name + ";\n";
    constructor += "      " + name + " = " + index.print(decoded[k]) + ";\n";
  }
  out += "  struct Point {\n" + members +
         "    DLC_DEVICE Point(const P &p, Index i) {\n" + constructor +
         "    }\n  };\n";
  if (llvm::Error e = printTap())
    return e;
  if (llvm::Error e = printApply())
    return e;
  out += "};\n";
  return llvm::Error::success();
}

llvm::Error Printer::printTap() {
  BodyPrinter printer(kernel, vector);
  Coordinates at = point(printer);
  Dim taps = elementCount(viewTap(at, 0).taps);
  Dim t = printer.coordinate("t", taps);
  WindowView v = viewTap(at, t);
  bool perLane = false;
  std::string inside = printer.rangesText(v.inside, perLane);
  DLC_CHECK(!perLane) << "the window moves along the lanes";
  // The places are inside from here on.
  std::string x = printer.value(hero.operand(0), v.input);
  std::string acc = vector > 1 ? "acc[e]" : "acc[0]";
  std::string combined = "scalar::add(" + acc + ", " + x + ")";
  if (v.filter)
    combined = "multiply_add(" + x + ", " +
               printer.value(hero.operand(1), *v.filter) + ", " + acc + ")";
  else if (llvm::cast<PoolOp>(&hero).kind() == PoolKind::Max)
    combined = "scalar::max(" + acc + ", " + x + ")";
  printer.statement(acc + " = " + combined + ";");
  kernel.functors +=
      "  template <int V>\n  static DLC_DEVICE void tap(const P &p, const "
      "Point "
      "&q, Index t, Acc (&acc)[V]) {\n" +
      (inside.empty() ? "" : "    if (!(" + inside + "))\n      return;\n") +
      printer.take(4) + "  }\n";
  return printer.takeError();
}

std::string Printer::result(const Coordinates &at) {
  std::string acc = vector > 1 ? "acc[e]" : "acc[0]";
  if (hero.kind() != OpKind::Pool)
    return acc;
  auto pool = llvm::cast<PoolOp>(&hero);
  if (pool.kind() != PoolKind::Average)
    return acc;
  const Shape &in = hero.operand(0)->type().shape;
  Dim count = 1;
  for (size_t d = 0; d < in.size(); d++) {
    int64_t low = pool.padLow()[d], high = pool.padHigh()[d];
    int64_t extra = pool.ceilExtra().empty() ? 0 : pool.ceilExtra()[d];
    Dim start = at.index[d] * pool.strides()[d] - low;
    if (low == 0 && high == 0)
      count = count * pool.window()[d];
    else if (pool.countIncludePad())
      count = count * (extra == 0 ? Dim(pool.window()[d])
                                  : covered(start, pool.window()[d],
                                            pool.dilations()[d], -low,
                                            in[d] + high - extra));
    else
      count = count *
              covered(start, pool.window()[d], pool.dilations()[d], 0, in[d]);
  }
  std::string compute = computeName(resultType(hero).element).str();
  return "scalar::div<" + compute + ">(" + acc + ", " + compute + "(" +
         kernel.index().print(count) + "))";
}

llvm::Error Printer::printApply() {
  BodyPrinter printer(kernel, vector);
  Dim i = printer.coordinate("i", size - (vector - 1));
  if (vector > 1)
    kernel.index().requireMultiple("%i", vector);
  Coordinates at = point(printer);
  if (const Layout &layout = resultType(hero).layout; layout.isPermutation()) {
    at.linear = i + printer.lane();
    at.layout = layout;
  }
  SpaceMap space;
  space.anchor(hero.result(), at);
  printer.hero = [&](const Op &op, unsigned,
                     const Coordinates &where) -> std::optional<std::string> {
    if (&op != &hero ||
        !SpaceMap::same(at, where, resultType(hero).shape, kernel.index()))
      return std::nullopt;
    return result(at);
  };
  const Unit &unit = kernel.unit();
  for (unsigned k = 0; k < unit.numResults(); k++) {
    std::optional<Coordinates> element = space.at(unit.body().outputs()[k]);
    if (!element)
      return refuse("a result of shape " + unit.resultType(k).str() +
                    " does not follow the window's");
    printer.store(k, *element);
  }
  kernel.functors +=
      "  template <int V>\n  static DLC_DEVICE void apply(const P &p, const "
      "Point &q, Index i, const Acc (&acc)[V]) {\n" +
      printer.take(4) + "  }\n";
  return printer.takeError();
}

bool isDepthwise(const Op &op) {
  if (op.kind() != OpKind::Conv)
    return false;
  auto conv = llvm::cast<ConvOp>(&op);
  return conv.groups() > 1 && conv.filter()->type().dim(1).isConstant(1);
}

} // namespace

llvm::Expected<Emission> WindowEmitter::emit(const Unit &unit,
                                             const EmitContext &context) const {
  if (unit.heroes().size() != 1)
    return refuse("");
  const Op &hero = *unit.heroes()[0];
  if (hero.kind() != OpKind::Pool && !isDepthwise(hero))
    return refuse("");
  KernelBuilder kernel(unit, context);
  kernel.include("fusion");
  kernel.include("window");
  Printer printer(kernel, hero);
  if (llvm::Error e = printer.print())
    return e;
  const std::string config = "v" + std::to_string(printer.vector);
  const Dim blocks = ceilDiv(printer.size, kernel.threads * printer.vector);
  Emission made;
  made.steps.push_back(kernel.finish(
      hero.kind() == OpKind::Pool ? "pool" : "depthwise", kernel.types(),
      config, "  WindowTile<Window>::run(p);\n", {limitBlocks(blocks)}));
  made.report = "window " + config;
  return made;
}
