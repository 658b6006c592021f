// SPDX-License-Identifier: Apache-2.0
// Pooling and depthwise convolution: a few taps per element of the output.
#include "codegen/Contraction.h"
#include "codegen/SpaceMap.h"
#include "codegen/emitters/Emitters.h"
#include "codegen/emitters/WindowView.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
/// Prints `struct Window` of codegen/device/window.cuh.
class Printer {
public:
  Printer(KernelBuilder &kernel, const Op &hero)
      : kernel(kernel), hero(hero), view(hero), type(hero.result()->type()),
        size(type.elementCount()) {
    const int64_t inner = innermostDimension(type);
    if (inner >= 0 && view.keepsLanes(inner))
      vector = kernel.unit().vectorWidth(type.shape[inner],
                                         kernel.context().symbols);
    accumulator = vector > 1 ? "acc[e]" : "acc[0]";
  }
  llvm::Error print();
  /// Blocks that give each thread one step.
  Dim blocks() const { return ceilDiv(size, kernel.threads * vector); }
  int64_t vector = 1;

private:
  bool pools(PoolKind kind) const {
    auto pool = llvm::dyn_cast<PoolOp>(&hero);
    return pool && pool.kind() == kind;
  }
  void printSizes();
  void printPoint();
  llvm::Error printTap();
  llvm::Error printApply();
  /// Coordinates of the output's element, kept in Point.
  Coordinates point(BodyPrinter &printer);
  /// The accumulator with the tap's element x.
  std::string combined(BodyPrinter &printer, const WindowView::Tap &tap);
  /// The hero's result from the accumulator.
  std::string result(const Coordinates &at);

  KernelBuilder &kernel;
  const Op &hero;
  WindowView view;
  const TensorType &type; ///< of the hero's result
  Dim size;               ///< its elements
  std::string accumulator;
};

llvm::Error Printer::print() {
  kernel.functors += "struct Window {\n";
  printSizes();
  printPoint();
  if (llvm::Error e = printTap())
    return e;
  if (llvm::Error e = printApply())
    return e;
  kernel.functors += "};\n";
  return llvm::Error::success();
}

void Printer::printSizes() {
  const Dim taps = view.taps();
  std::string &out = kernel.functors;
  out += "  using Acc = " + computeName(type.element).str() + ";\n";
  kernel.addConstant("int", "kVector", llvm::Twine(vector));
  kernel.addConstant("int", "kTaps",
                     llvm::Twine(taps.isConstant() ? taps.constant() : 0));
  kernel.addSize("taps", taps);
  kernel.addSize("size", size);
  out += std::string("  static DLC_DEVICE Acc init() { return ") +
         (pools(PoolKind::Max) ? "scalar::lowest<Acc>()" : "Acc(0)") + "; }\n";
}

/// The coordinates of element i of memory.
void Printer::printPoint() {
  IndexPrinter &index = kernel.index();
  const Dim i = index.declare("%i", size, [] { return "i"; });
  const llvm::SmallVector<int64_t, 6> order = type.layout.order(type.rank());
  Shape box;
  for (int64_t d : order)
    box.push_back(type.shape[d]);
  std::string members, constructor;
  for (auto [d, coordinate] : llvm::zip(order, delinearize(i, box))) {
    if (type.shape[d].isConstant(1))
      continue;
    const std::string name = "i" + std::to_string(d);
    members += "    Index " + name + ";\n";
    constructor += "      " + name + " = " + index.print(coordinate) + ";\n";
  }
  kernel.functors += "  struct Point {\n" + members +
                     "    DLC_DEVICE Point(const P &p, Index i) {\n" +
                     constructor + "    }\n  };\n";
}

Coordinates Printer::point(BodyPrinter &printer) {
  IndexPrinter &index = kernel.index();
  const int64_t inner = innermostDimension(type);
  Coordinates at;
  for (int64_t d = 0; d < type.rank(); d++) {
    if (type.shape[d].isConstant(1)) {
      at.index.push_back(0);
      continue;
    }
    const std::string name = "i" + std::to_string(d), text = "q." + name;
    const bool lanes = d == inner && vector > 1;
    Dim c = index.declare("%" + name, type.shape[d] - (lanes ? vector - 1 : 0),
                          [text] { return text; });
    if (lanes)
      index.requireMultiple("%" + name, vector);
    at.index.push_back(lanes ? c + printer.lane() : c);
  }
  return at;
}

std::string Printer::combined(BodyPrinter &printer,
                              const WindowView::Tap &tap) {
  const std::string x = printer.value(hero.operand(0), tap.input);
  if (tap.filter)
    return "multiply_add(" + x + ", " +
           printer.value(hero.operand(1), *tap.filter) + ", " + accumulator +
           ")";
  return (pools(PoolKind::Max) ? "scalar::max(" : "scalar::add(") +
         accumulator + ", " + x + ")";
}

llvm::Error Printer::printTap() {
  BodyPrinter printer(kernel, vector);
  const Coordinates at = point(printer);
  const WindowView::Tap tap =
      view.tap(at, printer.coordinate("t", view.taps()));
  bool perLane = false;
  const std::string inside = printer.rangesText(tap.inside, perLane);
  DLC_CHECK(!perLane) << "the window moves along the lanes";
  // The places are inside from here on.
  printer.statement(accumulator + " = " + combined(printer, tap) + ";");
  const std::string guard =
      inside.empty() ? "" : "    if (!(" + inside + "))\n      return;\n";
  kernel.addLanesFunction(
      "void tap(const P &p, const Point &q, Index t, Acc (&acc)[V])",
      guard + printer.take(4));
  return printer.takeError();
}

std::string Printer::result(const Coordinates &at) {
  if (!pools(PoolKind::Average))
    return accumulator;
  const std::string compute = computeName(type.element).str();
  return "scalar::div<" + compute + ">(" + accumulator + ", " + compute + "(" +
         kernel.index().print(view.averaged(at)) + "))";
}

llvm::Error Printer::printApply() {
  BodyPrinter printer(kernel, vector);
  const Dim i = printer.firstLane("i", size);
  Coordinates at = point(printer);
  if (type.layout.isPermutation()) {
    at.linear = i + printer.lane();
    at.layout = type.layout;
  }
  printer.hero = heroAt(hero, at, kernel.index(), [&] { return result(at); });
  SpaceMap space;
  space.anchor(hero.result(), at);
  const Unit &unit = kernel.unit();
  for (unsigned k = 0; k < unit.numResults(); k++) {
    llvm::Expected<Coordinates> element = space.result(unit, k, "window");
    if (!element)
      return element.takeError();
    printer.store(k, *element);
  }
  kernel.addLanesFunction(
      "void apply(const P &p, const Point &q, Index i, const Acc (&acc)[V])",
      printer.take(4));
  return printer.takeError();
}
} // namespace

llvm::Expected<Emission> WindowEmitter::emit(const Unit &unit,
                                             const EmitContext &context) const {
  if (unit.heroes().size() != 1)
    return refuse("");
  const Op &hero = *unit.heroes()[0];
  const bool pools = hero.kind() == OpKind::Pool;
  if (!pools && !WindowView::isDepthwise(hero))
    return refuse("");
  KernelBuilder kernel(unit, context);
  kernel.include("fusion");
  kernel.include("window");
  Printer printer(kernel, hero);
  if (llvm::Error e = printer.print())
    return e;
  const std::string config = "v" + std::to_string(printer.vector);
  Emission made;
  made.steps.push_back(kernel.finish(
      pools ? "pool" : "depthwise", kernel.types(), config,
      "  WindowTile<Window>::run(p);\n", {limitBlocks(printer.blocks())}));
  made.report = "window " + config;
  return made;
}
