// SPDX-License-Identifier: Apache-2.0
// Prints what happens to rows of a hero's result: the epilogue and the stores.
#include "codegen/EpiloguePrinter.h"

using namespace dlc;
using namespace dlc::codegen;

/// The epilogue with V lanes along n; a test only asks whether all results are
/// stored in vectors.
llvm::Error EpiloguePrinter::printStores(int64_t vector, bool test,
                                         std::string &text,
                                         std::string *loads) {
  BodyPrinter printer(kernel, vector);
  printer.keepStored = loads != nullptr;
  Dim atB = printer.coordinate("b", batch);
  Dim atM = printer.coordinate("m", m);
  Dim atN = printer.firstLane("n", n);
  Coordinates at = result(atB, atM, atN + printer.lane());
  SpaceMap space;
  space.anchor(hero.result(), at);
  printer.hero = heroAt(hero, at, kernel.index(), [&]() -> std::string {
    std::string v = vector > 1 ? "v[e]" : "v[0]";
    DataType type = hero.result()->type().element;
    if (computeType(type) != computed)
      v = "scalar::cast<" + computeName(type).str() + ">(" + v + ")";
    return v;
  });
  const Unit &unit = kernel.unit();
  for (unsigned i = 0; i < unit.numResults(); i++) {
    llvm::Expected<Coordinates> element =
        space.result(unit, i, hero.mnemonic());
    if (!element)
      return element.takeError();
    if (vector > 1 && test &&
        !printer.contiguous(printer.offset(unit.resultType(i), *element),
                            vector))
      return refuse("not contiguous");
    if (!test)
      printer.store(i, *element);
  }
  if (!test && loads)
    *loads = printer.takeLoads(4);
  if (!test)
    text = printer.take(loads ? 6 : 4);
  return printer.takeError();
}

int64_t EpiloguePrinter::vectorWidth() {
  const Unit &unit = kernel.unit();
  int64_t bytes = 1;
  for (unsigned i = 0; i < unit.numResults(); i++)
    bytes = std::max<int64_t>(bytes, bitWidth(unit.resultType(i).element) / 8);
  std::string text;
  int64_t vector = std::min<int64_t>(8, 16 / bytes);
  for (; vector > 1; vector /= 2) {
    if (!isMultipleOf(n, vector, kernel.context().symbols))
      continue;
    llvm::Error e = printStores(vector, true, text, nullptr);
    if (!e)
      break;
    llvm::consumeError(std::move(e));
  }
  return vector;
}

llvm::Error EpiloguePrinter::print(int64_t vector, std::string &text,
                                   std::string *loads) {
  return printStores(vector, false, text, loads);
}
