// SPDX-License-Identifier: Apache-2.0
// Modules from text.
#include "ir/Text.h"

#include "ir/text/ParseAttribute.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

namespace dlc {

using llvm::StringRef;

namespace {

constexpr unsigned maxRegionDepth = 16;

class Parser {
public:
  Parser(StringRef text, Module &module)
      : begin(text.data()), in(text), module(module) {}

  bool run() {
    if (!in.expectWord("module"))
      return false;
    if (in.peek("\"") && !in.string(module.name))
      return false;
    if (!in.expect("{"))
      return false;
    while (in.consumeWord("symbol"))
      if (!parseSymbol())
        return false;
    while (in.consumeWord("constraint"))
      if (!parseConstraint())
        return false;
    if (!in.expectWord("graph") || !parseMain() || !in.expect("}"))
      return false;
    return in.atEnd() || in.fail("expected the end of the file");
  }
  const Cursor &cursor() const { return in; }

private:
  using Scope = llvm::StringMap<Value *>;

  bool parseSymbol() {
    Symbol s;
    const char *start = in.here();
    if (!in.string(s.name))
      return false;
    if (s.name.empty() || module.symbols.count(s.name))
      return in.failAt(start, s.name.empty() ? "a symbol needs a name"
                                             : "symbol \"" + s.name +
                                                   "\" is declared twice");
    if (in.consumeWord("range")) {
      if (!in.expect("(") || !in.integer(s.lower) || !in.expect(","))
        return false;
      if (!in.consume("*")) {
        s.upper.emplace();
        if (!in.integer(*s.upper))
          return false;
      }
      if (!in.expect(")"))
        return false;
    }
    if (in.consumeWord("multiple"))
      if (!in.expect("(") || !in.integer(s.divisor) || !in.expect(")"))
        return false;
    if (in.consumeWord("cell"))
      s.home = SymbolHome::DeviceCell;
    if (in.consumeWord("bound")) {
      s.bound.emplace();
      if (!in.expect("(") || !in.dim(*s.bound) || !in.expect(")"))
        return false;
    }
    module.symbols.emplace(s.name, s);
    return true;
  }

  /// left ('==' | '<=') right sentence
  bool parseConstraint() {
    Constraint c;
    if (!in.dim(c.left))
      return false;
    if (in.consume("<="))
      c.relation = Relation::LessEqual;
    else if (!in.expect("=="))
      return false;
    if (!in.dim(c.right) || !in.string(c.sentence))
      return false;
    module.constraints.push_back(std::move(c));
    return true;
  }

  /// '@' name '(' inputs ')' '->' '(' (%value ('as' string)?),* ')' '{' op* '}'
  bool parseMain() {
    Graph &graph = module.main();
    if (!in.expect("@"))
      return false;
    graph.name = in.word().str();
    if (graph.name.empty())
      return in.fail("the graph needs a name");
    Scope scope;
    if (!parseInputs(graph, scope) || !in.expect("->") || !in.expect("("))
      return false;
    llvm::SmallVector<std::pair<const char *, std::string>, 4> outputs;
    while (!in.peek(")")) {
      outputs.push_back({in.here(), ""});
      if (!valueName(outputs.back().second))
        return false;
      if (in.consumeWord("as")) {
        if (!in.string(graph.outputNames.emplace_back()))
          return false;
      }
      if (!in.consume(","))
        break;
    }
    if (!graph.outputNames.empty() &&
        graph.outputNames.size() != outputs.size())
      return in.fail("either all outputs have a name or none");
    if (!in.expect(")") || !in.expect("{"))
      return false;
    while (!in.peek("}"))
      if (!parseOp(graph, scope, 0))
        return false;
    for (auto &[where, name] : outputs) {
      Value *v = scope.lookup(name);
      if (!v)
        return in.failAt(where, "%" + name + " is not defined");
      graph.addOutput(v);
    }
    return in.expect("}");
  }

  bool valueName(std::string &name) {
    if (!in.expect("%"))
      return false;
    name = in.word().str();
    int64_t number;
    if (name.empty()) {
      if (!in.integer(number))
        return false;
      name = std::to_string(number);
    }
    return true;
  }

  bool define(Scope &scope, const char *where, StringRef name, Value *v) {
    if (!scope.try_emplace(name, v).second)
      return in.failAt(where, "%" + name + " is defined twice");
    // Numbers are given by the printer.
    if (!llvm::isDigit(name[0]) && name[0] != '-')
      v->name = name.str();
    return true;
  }

  bool parseInputs(Graph &graph, Scope &scope) {
    if (!in.expect("("))
      return false;
    while (!in.peek(")")) {
      const char *where = in.here();
      std::string name, alias;
      TensorType type;
      bool hasAlias = false;
      if (!valueName(name))
        return false;
      if ((hasAlias = in.consumeWord("as")) && !in.string(alias))
        return false;
      if (!in.expect(":") || !in.type(type))
        return false;
      Value *v = graph.addInput(type);
      if (!define(scope, where, name, v))
        return false;
      if (hasAlias)
        v->name = alias;
      // arg0, arg1 ... are names of the printer where there is no other.
      else if (StringRef rest = name; rest.consume_front("arg") &&
                                      !rest.empty() &&
                                      llvm::all_of(rest, llvm::isDigit))
        v->name.clear();
      if (!in.consume(","))
        break;
    }
    return in.expect(")");
  }

  bool use(const Scope &scope, Value *&value) {
    const char *where = in.here();
    std::string name;
    if (in.consumeWord("_")) {
      value = nullptr;
      return true;
    }
    if (!valueName(name))
      return false;
    value = scope.lookup(name);
    return value || in.failAt(where, "%" + name + " is not defined");
  }

  Location textLocation(const char *where) {
    // Ops come in order: count on from the last one.
    for (; lastCounted != where; ++lastCounted)
      if (*lastCounted == '\n') {
        ++line;
        lineStart = lastCounted + 1;
      }
    return Location::text(line, unsigned(where - lineStart) + 1);
  }

  /// (%result,* '=')? mnemonic operands? attributes? region* (':' type,*)? loc?
  bool parseOp(Graph &graph, Scope &scope, unsigned depth) {
    const char *start = in.here();
    Location where = textLocation(start);
    llvm::SmallVector<std::pair<const char *, std::string>, 2> results;
    if (in.peek("%")) {
      do {
        const char *place = in.here();
        std::string name;
        if (!valueName(name))
          return false;
        results.push_back({place, name});
      } while (in.consume(","));
      if (!in.expect("="))
        return false;
    }
    const char *place = in.here();
    StringRef mnemonic = in.word();
    std::optional<OpKind> kind = opKindFromMnemonic(mnemonic);
    if (!kind)
      return in.failAt(place, mnemonic.empty()
                                  ? llvm::Twine("expected an op")
                                  : "there is no op '" + mnemonic + "'");
    const OpInfo &info = opInfo(*kind);
    llvm::SmallVector<Value *, 4> operands;
    if (!parseOperands(info, scope, operands))
      return false;
    std::vector<Attribute> attributes(info.attributes.size());
    if (!parseAttributes(in, info, operands, attributes))
      return false;
    // The op owns what its regions hold, so it is made before them.
    std::unique_ptr<Op> op(Op::create(*kind, operands, std::move(attributes),
                                      {}, where,
                                      unsigned(info.regions.size())));
    for (unsigned i = 0; i != info.regions.size(); ++i)
      if (!parseRegion(info.regions[i], op->region(i), depth + 1))
        return false;
    if (!parseTypes(*op, place, results.size()) || !parseLocation(*op, where))
      return false;
    Op *made = op.release();
    graph.insert(graph.end(), made);
    for (unsigned i = 0; i != results.size(); ++i)
      if (!define(scope, results[i].first, results[i].second, made->result(i)))
        return false;
    return true;
  }

  bool parseOperands(const OpInfo &info, const Scope &scope,
                     llvm::SmallVectorImpl<Value *> &operands) {
    const char *where = in.here();
    if (in.consume("(")) {
      while (!in.peek(")")) {
        if (!use(scope, operands.emplace_back()))
          return false;
        if (!in.consume(","))
          break;
      }
      if (!in.expect(")"))
        return false;
    }
    bool variadic = !info.operands.empty() && info.operands.back().variadic;
    size_t fixed = info.operands.size() - variadic;
    // Absent operands at the end may be left out.
    while (operands.size() < fixed && info.operands[operands.size()].optional)
      operands.push_back(nullptr);
    if (operands.size() < fixed || (operands.size() > fixed && !variadic))
      return in.failAt(where, info.mnemonic + " has " + llvm::Twine(fixed) +
                                  " operands" + (variadic ? " or more" : "") +
                                  ", found " + llvm::Twine(operands.size()));
    return true;
  }

  bool parseRegion(StringRef name, Graph &graph, unsigned depth) {
    if (depth > maxRegionDepth)
      return in.fail("regions are nested too deeply");
    Scope scope;
    if (!in.expectWord(name) || !parseInputs(graph, scope) || !in.expect("{"))
      return false;
    while (in.peekWord() != "yield") {
      if (in.peek("}"))
        return in.fail("expected 'yield' at the end of " + name);
      if (!parseOp(graph, scope, depth))
        return false;
    }
    in.word();
    if (!in.peek("}")) {
      do {
        Value *v = nullptr;
        const char *where = in.here();
        if (!use(scope, v))
          return false;
        if (!v)
          return in.failAt(where, "an absent value cannot be yielded");
        graph.addOutput(v);
      } while (in.consume(","));
    }
    return in.expect("}");
  }

  bool parseTypes(Op &op, const char *place, size_t results) {
    llvm::SmallVector<TensorType, 2> types;
    if (in.consume(":"))
      do
        if (!in.type(types.emplace_back()))
          return false;
      while (in.consume(","));
    if (types.size() != results)
      return in.failAt(place, llvm::Twine(results) + " results with " +
                                  llvm::Twine(types.size()) + " types");
    op.setResultTypes(types);
    return true;
  }

  bool parseLocation(Op &op, const Location &where) {
    if (!in.consumeWord("loc"))
      return true;
    if (!in.expect("("))
      return false;
    llvm::SmallVector<Location, 2> parts;
    do {
      std::string node;
      if (!in.string(node))
        return false;
      parts.push_back(Location::node(node));
    } while (in.consume(","));
    parts.push_back(where);
    op.setLocation(Location::join(parts));
    return in.expect(")");
  }

  const char *begin;
  Cursor in;
  Module &module;
  const char *lastCounted = begin, *lineStart = begin;
  unsigned line = 1;
};

} // namespace

llvm::Expected<std::unique_ptr<Module>> parse(StringRef text,
                                              StringRef fileName) {
  auto module = std::make_unique<Module>();
  llvm::SourceMgr sources;
  // A copy that ends in a zero, as SourceMgr wants it.
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, fileName), llvm::SMLoc());
  StringRef buffer = sources.getMemoryBuffer(1)->getBuffer();
  Parser parser(buffer, *module);
  if (parser.run())
    return module;
  std::string message;
  llvm::raw_string_ostream os(message);
  llvm::SMDiagnostic diagnostic =
      sources.GetMessage(llvm::SMLoc::getFromPointer(parser.cursor().place()),
                         llvm::SourceMgr::DK_Error, parser.cursor().message());
  diagnostic.print("", os, /*ShowColors=*/false);
  return llvm::createStringError(llvm::StringRef(message).rtrim());
}

} // namespace dlc
