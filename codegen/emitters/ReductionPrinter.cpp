// SPDX-License-Identifier: Apache-2.0
// Prints the functors of codegen/device/reduction.cuh.
#include "codegen/emitters/ReductionPrinter.h"
#include "codegen/SpaceMap.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
/// A reduction as a member of struct Scalars and of a pass's struct Acc.
struct Accumulator {
  std::string name, type, init, function;
};
} // namespace

static std::string nameOf(size_t hero) { return "h" + std::to_string(hero); }

static Accumulator accumulatorOf(const Op &hero, size_t index) {
  const std::string name = nameOf(index),
                    type = computeName(hero.result()->type().element).str();
  switch (llvm::cast<ReduceOp>(&hero).kind()) {
  case ReduceKind::Sum:
    return {name, type, type + "(0)", "scalar::add"};
  case ReduceKind::Prod:
    return {name, type, type + "(1)", "scalar::mul"};
  case ReduceKind::Max:
    return {name, type, "scalar::lowest<" + type + ">()", "scalar::max"};
  case ReduceKind::Min:
    return {name, type, "scalar::highest<" + type + ">()", "scalar::min"};
  case ReduceKind::Any:
    return {name, type, "false", "scalar::or_"};
  case ReduceKind::All:
    return {name, type, "true", "scalar::and_"};
  }
  return {};
}

/// `print` of each, in order.
static std::string
each(llvm::ArrayRef<Accumulator> accumulators, llvm::StringRef separator,
     llvm::function_ref<std::string(const Accumulator &)> print) {
  std::string text;
  for (const Accumulator &a : accumulators)
    text += (text.empty() ? "" : separator.str()) + print(a);
  return text;
}

llvm::Error ReductionPrinter::print() {
  if (llvm::Error e = printScalars())
    return e;
  for (unsigned pass = 0; pass < view.passes; pass++)
    if (llvm::Error e = printPass(pass))
      return e;
  return printBody();
}

llvm::Error ReductionPrinter::printScalars() {
  kernel.functors += "struct Scalars {\n";
  for (auto [i, hero] : llvm::enumerate(view.heroes)) {
    const DataType type = hero->result()->type().element;
    if (!hasDeviceType(type))
      return refuse("no reduction of " + stringify(type) + " elements");
    kernel.functors += "  " + computeName(type).str() + " " + nameOf(i) + ";\n";
  }
  kernel.functors += "};\ntemplate <int K> struct Pass;\n";
  return llvm::Error::success();
}

Coordinates ReductionPrinter::element(BodyPrinter &printer) const {
  const Dim row = printer.coordinate("row", view.rows);
  const Dim r = printer.firstLane("r", view.size);
  return view.element(row, r, printer.lane());
}

void ReductionPrinter::provideResults(BodyPrinter &printer,
                                      const Coordinates &element,
                                      unsigned pass) const {
  printer.hero = [this, element, pass](
                     const Op &op, unsigned,
                     const Coordinates &where) -> std::optional<std::string> {
    const size_t i = size_t(llvm::find(view.heroes, &op) - view.heroes.begin());
    if (i == view.heroes.size() || view.passOf[i] >= pass ||
        !SpaceMap::same(view.resultOf(op, element), where,
                        op.result()->type().shape, kernel.index()))
      return std::nullopt;
    return "s." + nameOf(i);
  };
}

llvm::Error ReductionPrinter::printPass(unsigned pass) {
  std::vector<Accumulator> accumulators;
  BodyPrinter printer(kernel, vector);
  const Coordinates at = element(printer);
  provideResults(printer, at, pass);
  for (auto [i, hero] : llvm::enumerate(view.heroes)) {
    if (view.passOf[i] != pass)
      continue;
    const Accumulator a = accumulatorOf(*hero, i);
    const std::string x = printer.value(hero->operand(0), at),
                      member = "acc." + a.name;
    printer.statement(member + " = " + a.function + "(" + member + ", " + x +
                      ");");
    accumulators.push_back(a);
  }
  auto list = [&](llvm::StringRef separator, auto print) {
    return each(accumulators, separator, print);
  };
  std::string &out = kernel.functors;
  out += "template <> struct Pass<" + std::to_string(pass) +
         "> {\n  struct Acc {\n" +
         list("",
              [](const Accumulator &a) {
                return "    " + a.type + " " + a.name + ";\n";
              }) +
         "  };\n  static DLC_DEVICE Acc init() { return {" +
         list(", ", [](const Accumulator &a) { return a.init; }) + "}; }\n";
  kernel.addLanesFunction("void add(const P &p, Index row, Index r, const "
                          "Scalars &s, Acc &acc)",
                          printer.take(4));
  kernel.addFunction("Acc combine(const Acc &a, const Acc &b)",
                     "    return {" + list(", ", [](const Accumulator &a) {
                       return a.function + "(a." + a.name + ", b." + a.name +
                              ")";
                     }) + "};\n");
  kernel.addFunction("void finish(const Acc &acc, Scalars &s)",
                     list("", [](const Accumulator &a) {
                       return "    s." + a.name + " = acc." + a.name + ";\n";
                     }));
  out += "};\n";
  return printer.takeError();
}

llvm::Expected<std::string> ReductionPrinter::stores(bool perRow) {
  BodyPrinter printer(kernel, perRow ? 1 : vector);
  const Coordinates at =
      perRow ? view.element(printer.coordinate("row", view.rows), 0, 0)
             : element(printer);
  provideResults(printer, at, view.passes);
  SpaceMap map;
  map.anchor(view.operand, at);
  for (const Op *hero : view.heroes)
    map.anchor(hero->result(), view.resultOf(*hero, at));
  const Unit &unit = kernel.unit();
  for (unsigned i = 0; i < unit.numResults(); i++) {
    llvm::Expected<Coordinates> place = map.result(unit, i, "reduction");
    if (!place)
      return place.takeError();
    if (view.isPerRow(unit.resultType(i)) == perRow)
      printer.store(i, *place);
  }
  std::string text = printer.take(4);
  if (llvm::Error e = printer.takeError())
    return e;
  return text;
}

llvm::Error ReductionPrinter::printBody() {
  llvm::Expected<std::string> elements = stores(/*perRow=*/false);
  if (!elements)
    return elements.takeError();
  llvm::Expected<std::string> row = stores(/*perRow=*/true);
  if (!row)
    return row.takeError();
  auto flag = [](bool value) { return value ? "true" : "false"; };
  kernel.functors += "struct Body {\n  static constexpr int kPasses = " +
                     std::to_string(view.passes) +
                     ", kVector = " + std::to_string(vector) +
                     ";\n  static constexpr bool kStoresElements = " +
                     flag(view.storesElements) +
                     ", kStoresRows = " + flag(view.storesRows) + ";\n";
  kernel.addSize("rows", view.rows);
  kernel.addSize("size", view.size);
  kernel.addLanesFunction("void store_elements(const P &p, Index row, Index r, "
                          "const Scalars &s)",
                          *elements);
  kernel.addFunction("void store_row(const P &p, Index row, const Scalars &s)",
                     *row);
  kernel.functors += "};\n";
  return llvm::Error::success();
}
