// SPDX-License-Identifier: Apache-2.0
// Modules as text.
#include "ir/Text.h"

#include "ir/text/Literal.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace dlc {

namespace {

bool isName(llvm::StringRef s) {
  return !s.empty() && (llvm::isAlpha(s[0]) || s[0] == '_') &&
         llvm::all_of(s, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '.';
         });
}

void printQuoted(llvm::StringRef s, llvm::raw_ostream &os) {
  os << '"';
  os.write_escaped(s, /*UseHexEscapes=*/true) << '"';
}

/// The names of the values of one graph.
class Names {
public:
  explicit Names(const Graph &graph) {
    for (unsigned i = 0; i != graph.numInputs(); ++i) {
      const Value *v = graph.input(i);
      names[v] = isName(v->name) && taken.insert(v->name).second
                     ? v->name
                     : fresh("arg", nextArg);
    }
    for (const Op &op : graph.ops())
      for (unsigned i = 0; i != op.numResults(); ++i) {
        const Value *v = op.result(i);
        names[v] = isName(v->name) && taken.insert(v->name).second
                       ? v->name
                       : std::to_string(nextNumber++);
      }
  }
  std::string operator[](const Value *v) const {
    if (!v)
      return "_";
    auto it = names.find(v);
    return it == names.end() ? "%?" : "%" + it->second;
  }

private:
  std::string fresh(llvm::StringRef stem, unsigned &counter) {
    std::string name;
    do
      name = stem.str() + std::to_string(counter++);
    while (!taken.insert(name).second);
    return name;
  }
  llvm::DenseMap<const Value *, std::string> names;
  llvm::StringSet<> taken;
  unsigned nextArg = 0, nextNumber = 0;
};

class Printer {
public:
  Printer(llvm::raw_ostream &os, const PrintOptions &options)
      : os(os), options(options) {}

  void printModule(const Module &module) {
    os << "module ";
    if (!module.name.empty()) {
      printQuoted(module.name, os);
      os << " ";
    }
    os << "{\n";
    for (const auto &[name, symbol] : module.symbols)
      printSymbol(symbol);
    for (const Constraint &c : module.constraints) {
      os << "  constraint " << c.left
         << (c.relation == Relation::Equal ? " == " : " <= ") << c.right << " ";
      printQuoted(c.sentence, os);
      os << "\n";
    }
    const Graph &graph = module.main();
    os << "  graph @" << (isName(graph.name) ? graph.name : "main");
    Names names(graph);
    printInputs(graph, names);
    os << " -> (";
    llvm::ListSeparator comma;
    for (auto [i, v] : llvm::enumerate(graph.outputs())) {
      os << comma << names[v];
      if (i < graph.outputNames.size()) {
        os << " as ";
        printQuoted(graph.outputNames[i], os);
      }
    }
    os << ") {\n";
    for (const Op &op : graph.ops())
      printOp(op, names, 4);
    os << "  }\n}\n";
  }

  void printOp(const Op &op, const Names &names, unsigned indent) {
    os.indent(indent);
    llvm::ListSeparator results;
    for (unsigned i = 0; i != op.numResults(); ++i)
      os << results << names[op.result(i)];
    os << (op.numResults() ? " = " : "") << op.mnemonic();
    if (!opInfo(op.kind()).operands.empty()) {
      llvm::ListSeparator operands;
      os << "(";
      for (Value *v : op.operands())
        os << operands << names[v];
      os << ")";
    }
    printAttributes(op);
    for (unsigned i = 0; i != op.numRegions(); ++i)
      printRegion(opInfo(op.kind()).regions[i], op.region(i), indent);
    for (unsigned i = 0; i != op.numResults(); ++i)
      os << (i ? ", " : " : ") << op.result(i)->type();
    if (options.locations && !op.location().nodes().empty()) {
      llvm::ListSeparator comma;
      os << " loc(";
      for (const std::string &node : op.location().nodes()) {
        os << comma;
        printQuoted(node, os);
      }
      os << ")";
    }
    os << "\n";
  }

private:
  void printSymbol(const Symbol &s) {
    os << "  symbol ";
    printQuoted(s.name, os);
    os << " range(" << s.lower << ", ";
    if (s.upper)
      os << *s.upper << ")";
    else
      os << "*)";
    if (s.divisor != 1)
      os << " multiple(" << s.divisor << ")";
    if (s.home == SymbolHome::DeviceCell)
      os << " cell";
    if (s.bound)
      os << " bound(" << *s.bound << ")";
    os << "\n";
  }

  void printInputs(const Graph &graph, const Names &names) {
    llvm::ListSeparator comma;
    os << "(";
    for (unsigned i = 0; i != graph.numInputs(); ++i) {
      const Value *v = graph.input(i);
      std::string name = names[v];
      os << comma << name;
      if (!v->name.empty() && name != "%" + v->name) {
        os << " as ";
        printQuoted(v->name, os);
      }
      os << ": " << v->type();
    }
    os << ")";
  }

  void printRegion(llvm::StringRef name, const Graph &graph, unsigned indent) {
    Names names(graph);
    os << " " << name;
    printInputs(graph, names);
    os << " {\n";
    for (const Op &op : graph.ops())
      printOp(op, names, indent + 2);
    os.indent(indent + 2) << "yield";
    for (auto [i, v] : llvm::enumerate(graph.outputs()))
      os << (i ? ", " : " ") << names[v];
    os << "\n";
    os.indent(indent) << "}";
  }

  void printAttributes(const Op &op) {
    bool any = false;
    for (unsigned i = 0; i != op.numAttributes(); ++i) {
      if (std::holds_alternative<std::monostate>(op.attribute(i)))
        continue;
      const OpInfo::Attr &info = opInfo(op.kind()).attributes[i];
      os << (any ? ", " : " {") << info.name << " = ";
      printAttribute(op, op.attribute(i), info);
      any = true;
    }
    if (any)
      os << "}";
  }

  template <class T, class Fn>
  void printList(const std::vector<T> &list, Fn print) {
    llvm::ListSeparator comma;
    os << "[";
    for (const T &item : list) {
      os << comma;
      print(item);
    }
    os << "]";
  }

  void printAttribute(const Op &op, const Attribute &a,
                      const OpInfo::Attr &info) {
    if (const auto *v = std::get_if<bool>(&a))
      os << (*v ? "true" : "false");
    else if (const auto *v = std::get_if<int64_t>(&a))
      if (info.storage == OpInfo::AttrStorage::Enum)
        os << (size_t(*v) < info.cases.size() ? info.cases[*v] : "?");
      else
        os << *v;
    else if (const auto *v = std::get_if<double>(&a))
      os << floatLiteral(*v);
    else if (const auto *v = std::get_if<std::string>(&a))
      printQuoted(*v, os);
    else if (const auto *v = std::get_if<std::vector<int64_t>>(&a))
      printList(*v, [&](int64_t i) { os << i; });
    else if (const auto *v = std::get_if<std::vector<double>>(&a))
      printList(*v, [&](double d) { os << floatLiteral(d); });
    else if (const auto *v = std::get_if<std::vector<std::string>>(&a))
      printList(*v, [&](const std::string &s) { printQuoted(s, os); });
    else if (const auto *v = std::get_if<std::vector<Dim>>(&a))
      printList(*v, [&](const Dim &d) { os << d; });
    else if (const auto *v = std::get_if<DataType>(&a))
      os << stringify(*v);
    else if (const auto *v = std::get_if<Layout>(&a))
      os << "layout<"
         << v->str(op.operand(0) ? op.operand(0)->type().rank() : 0) << ">";
    else if (const auto *v = std::get_if<Constant>(&a))
      printConstant(*v);
  }

  void printConstant(const Constant &c) {
    os << "dense<";
    if (options.elideAbove && !c.isSplat() &&
        c.elements() > *options.elideAbove)
      os << "...";
    else
      printDense(c, options.literalElements, os);
    os << "> : " << c.type();
  }

  llvm::raw_ostream &os;
  const PrintOptions &options;
};

} // namespace

void print(const Module &module, llvm::raw_ostream &os,
           const PrintOptions &options) {
  Printer(os, options).printModule(module);
}

std::string print(const Module &module, const PrintOptions &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(module, os, options);
  return text;
}

void Module::print(llvm::raw_ostream &os) const { dlc::print(*this, os); }

void Op::print(llvm::raw_ostream &os) const {
  PrintOptions options;
  options.elideAbove = options.literalElements;
  Graph alone;
  Names names(parentGraph ? *parentGraph : alone);
  Printer(os, options).printOp(*this, names, 0);
}

} // namespace dlc
