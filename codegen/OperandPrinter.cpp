// SPDX-License-Identifier: Apache-2.0
// Prints how a contraction reads an operand: rows, and elements along a row.
#include "codegen/OperandPrinter.h"

#include "llvm/ADT/StringExtras.h"

using namespace dlc;
using namespace dlc::codegen;

Dim OperandPrinter::batch(const Dim &extent) {
  batchExtent = extent;
  return kernel.index().declare("%b", extent, [] { return "b"; });
}
Dim OperandPrinter::row(const Dim &extent) {
  rowExtent = extent;
  return kernel.index().declare("%row", extent, [] { return "row"; });
}
Dim OperandPrinter::element(const Dim &extent) {
  elementExtent = extent;
  return kernel.index().declare("%k", extent, [] { return "k"; });
}

int64_t OperandPrinter::vectorWidth(const Value *operand, const PlaceOf &place,
                                    const Dim &run) {
  int64_t bytes = bitWidth(operand->type().element) / 8;
  const SymbolTable &symbols = kernel.context().symbols;
  for (int64_t width = 16 / bytes; width > 1 && width * bytes >= 4;
       width /= 2) {
    if (!isMultipleOf(run, width, symbols) ||
        !isMultipleOf(elementExtent, width, symbols))
      continue;
    BodyPrinter printer(kernel, width);
    Dim k = kernel.index().declare("%k", elementExtent - (width - 1),
                                   [] { return "k"; });
    kernel.index().requireMultiple("%k", width);
    Place p = place(k, printer.lane());
    std::optional<BodyPrinter::Address> a =
        printer.address(operand, p.at, p.ranges);
    if (a && !a->guardPerLane && printer.contiguous(a->offset, width))
      return width;
  }
  return 1;
}

/// Does every symbol of `d` that is a coordinate belong to the row?
static bool isRowOnly(const Dim &d, bool &any) {
  bool only = true;
  d.forEachSymbol([&](llvm::StringRef s) {
    if (s == "%row" || s == "%b")
      any = true;
    else if (s.starts_with("%"))
      only = false;
  });
  return only;
}

llvm::Error OperandPrinter::print(const Value *operand, const PlaceOf &place,
                                  int64_t vector, DataType in,
                                  std::string &functors) {
  std::string members, constructor;
  std::map<std::string, std::string> states;
  IndexPrinter &index = kernel.index();
  // An expression of the row, kept in its state.
  auto state = [&](const Dim &d) {
    auto [it, fresh] = states.try_emplace(d.str(), "");
    if (fresh) {
      std::string name = "s" + std::to_string(states.size() - 1);
      it->second = "%" + side + name;
      members += "    Index " + name + ";\n";
      index.declare("%b", batchExtent, [] { return "b"; });
      index.declare("%row", rowExtent, [] { return "row"; });
      constructor += "      " + name + " = " + index.print(d) + ";\n";
    }
    std::string text = "r." + it->second.substr(2);
    return index.declareAny(it->second, [text] { return text; });
  };
  // In the functions along the row, the row itself is part of its state.
  auto enterRow = [&] {
    auto member = [&](llvm::StringRef symbol, const Dim &extent,
                      std::string name) {
      auto done = std::make_shared<bool>(false);
      index.declare(symbol, extent, [=, &members, &constructor] {
        std::string line = "    Index " + name + ";\n";
        if (members.find(line) == std::string::npos) {
          members += line;
          constructor += "      this->" + name + " = " + name + ";\n";
        }
        return "r." + name;
      });
    };
    member("%b", batchExtent, "b");
    member("%row", rowExtent, "row");
  };
  BodyPrinter printer(kernel, vector);
  printer.hoist = [&](const Dim &d) {
    Dim once = 0, rest = 0;
    bool any = false;
    llvm::SmallVector<Dim, 4> terms{d};
    if (d.kind() == Dim::Kind::Add)
      terms.assign(d.operands().begin(), d.operands().end());
    for (const Dim &t : terms)
      if (bool ofRow = false;
          isRowOnly(t, ofRow) && (ofRow || t.isConstant())) {
        once = once + t;
        any |= ofRow;
      } else {
        rest = rest + t;
      }
    if (!any)
      return d;
    Dim s = state(once);
    enterRow();
    return s + rest;
  };

  std::string name = "Row" + side;
  std::string type = storageName(in).str();
  index.declare("%k", elementExtent - (vector - 1), [] { return "k"; });
  if (vector > 1)
    index.requireMultiple("%k", vector);
  index.declare("%b", batchExtent, [] { return "b"; });
  index.declare("%row", rowExtent, [] { return "row"; });
  Dim k = Dim::symbol("%k");
  Place p = place(k, vector > 1 ? printer.lane() : Dim(0));
  enterRow();
  std::string function;
  if (vector > 1) {
    std::optional<BodyPrinter::Address> a =
        printer.address(operand, p.at, p.ranges);
    DLC_CHECK(a) << "an operand that moved has an address";
    std::optional<Dim> first = printer.contiguous(a->offset, vector);
    DLC_CHECK(first) << "an operand's vectors are contiguous";
    std::string where =
        kernel.input(a->input) + " + " + printer.offsetText(*first);
    function =
        "  static DLC_DEVICE const " + type + " *address(const P &p, const " +
        name + " &r, Index k) {\n" + printer.take(4) + "    return " +
        (a->guard.empty() ? where : a->guard + " ? " + where + " : nullptr") +
        ";\n  }\n";
  } else {
    std::string x = printer.valueWhere(operand, p.at, p.ranges);
    function = "  static DLC_DEVICE " + type + " value(const P &p, const " +
               name + " &r, Index k) {\n" + printer.take(4) +
               "    return convert<" + type + ">(" + x + ");\n  }\n";
  }
  functors += "  struct " + name + " {\n" + members + "    DLC_DEVICE " + name +
              "(const P &p, Index b, Index row) {\n" + constructor +
              "    }\n  };\n" + function;
  return printer.takeError();
}
