// SPDX-License-Identifier: Apache-2.0
// Reads and checks the op records.
#include "ir/tblgen/OpRecord.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace dlc::tblgen {

namespace {

[[noreturn]] void fail(const Record &def, const Twine &message) {
  PrintFatalError(def.getLoc(), message);
}

bool isIdentifier(StringRef s) {
  return !s.empty() && (isAlpha(s[0]) || s[0] == '_') &&
         all_of(s, [](char c) { return isAlnum(c) || c == '_'; });
}

bool isMnemonic(StringRef s) {
  return !s.empty() && isLower(s[0]) &&
         all_of(s, [](char c) { return isLower(c) || isDigit(c) || c == '_'; });
}

/// Names that the class of every op has already, and C++ keywords that a record
/// might well use.
bool isReserved(StringRef name) {
  static const StringSet<> names = {
      "op",     "make",  "location", "operation", "opKind", "and",
      "or",     "not",   "xor",      "default",   "switch", "case",
      "if",     "else",  "for",      "while",     "do",     "class",
      "struct", "union", "int",      "float",     "double", "bool",
      "long",   "short", "signed",   "unsigned",  "const",  "static",
      "new",    "delete"};
  return names.contains(name);
}

const Record *recordOf(const Record &def, const DagInit &dag, unsigned i,
                       StringRef baseClass, StringRef what) {
  const auto *init = dyn_cast<DefInit>(dag.getArg(i));
  // A name alone: the kind is not a record, or it was left out.
  if (!init || !init->getDef()->isSubClassOf(baseClass))
    fail(def,
         what + " " + Twine(i) + " must be written as " + baseClass + ":$name");
  StringRef name = dag.getArgNameStr(i);
  if (name.empty())
    fail(def, what + " " + Twine(i) + " has no name");
  return init->getDef();
}

class Reader {
public:
  explicit Reader(const Record &def) : def(def) { op.def = &def; }

  OpRecord read() {
    readNames();
    readOperands();
    readAttributes();
    readResults();
    readRest();
    readScalar();
    checkTraits();
    return std::move(op);
  }

private:
  void claim(StringRef name, StringRef what) {
    if (!isIdentifier(name) || !isLower(name[0]))
      fail(def, what + " '" + name + "' must be a lowerCamelCase name");
    if (isReserved(name))
      fail(def, what + " '" + name + "' has a reserved name");
    if (!taken.insert(name).second)
      fail(def, "the name '" + name + "' is used twice");
  }

  void readNames() {
    StringRef full = def.getName();
    StringRef stem = full;
    if (!stem.consume_back("Op") || stem.empty())
      fail(def,
           "the record of an op must be named <Name>Op, found '" + full + "'");
    op.name = stem.str();
    op.mnemonic = def.getValueAsString("mnemonic");
    if (!isMnemonic(op.mnemonic))
      fail(def, "the mnemonic must be lower_case, found '" + op.mnemonic + "'");
    op.summary = def.getValueAsString("summary");
    if (op.summary.empty())
      fail(def, "'" + op.mnemonic + "' has no summary");
    op.description = def.getValueAsString("description");
    for (const Record *trait : def.getValueAsListOfDefs("traits"))
      op.traits.push_back(trait->getName());
  }

  void readOperands() {
    const DagInit *dag = def.getValueAsDag("operands");
    if (dag->getOperatorAsDef(def.getLoc())->getName() != "ins")
      fail(def, "operands must be an (ins ...) list");
    for (unsigned i = 0; i != dag->getNumArgs(); ++i) {
      const Record *kind = recordOf(def, *dag, i, "OperandKind", "operand");
      OperandRecord o{dag->getArgNameStr(i), kind->getValueAsBit("optional"),
                      kind->getValueAsBit("variadic"),
                      kind->getValueAsString("types"),
                      kind->getValueAsString("what")};
      claim(o.name, "operand");
      if (o.variadic && i + 1 != dag->getNumArgs())
        fail(def, "only the last operand may be variadic");
      op.operands.push_back(o);
    }
  }

  void readAttributes() {
    const DagInit *dag = def.getValueAsDag("attributes");
    if (dag->getOperatorAsDef(def.getLoc())->getName() != "attrs")
      fail(def, "attributes must be an (attrs ...) list");
    for (unsigned i = 0; i != dag->getNumArgs(); ++i) {
      const Record *kind = recordOf(def, *dag, i, "AttrKind", "attribute");
      AttrRecord a;
      a.name = dag->getArgNameStr(i);
      claim(a.name, "attribute");
      a.optional = kind->getValueAsBit("optional");
      a.defaultValue = kind->getValueAsString("defaultValue");
      const Record *base = kind;
      if (kind->isSubClassOf("Default") || kind->isSubClassOf("Optional"))
        base = kind->getValueAsDef("base");
      a.cppType = base->getValueAsString("cppType").str();
      a.storage = base->getValueAsString("storage").str();
      a.storageType = a.cppType;
      if (base->isSubClassOf("Enum")) {
        a.enumDef = base;
        a.cppType = base->getName().str();
        a.storageType = "int64_t";
        a.storage = "Enum";
        checkEnumDefault(a);
      }
      op.attributes.push_back(a);
    }
  }

  void checkEnumDefault(const AttrRecord &a) {
    if (a.defaultValue.empty())
      return;
    for (StringRef c : a.enumDef->getValueAsListOfStrings("cases"))
      if (a.defaultValue == (a.cppType + "::" + camelCase(c)))
        return;
    fail(def, "the default of '" + a.name + "' is no case of " + a.cppType +
                  ", found '" + a.defaultValue + "'");
  }

  void readResults() {
    const DagInit *dag = def.getValueAsDag("results");
    if (dag->getOperatorAsDef(def.getLoc())->getName() != "outs")
      fail(def, "results must be an (outs ...) list");
    for (unsigned i = 0; i != dag->getNumArgs(); ++i) {
      const Record *kind = recordOf(def, *dag, i, "OperandKind", "result");
      claim(dag->getArgNameStr(i), "result");
      if (kind->getValueAsBit("optional"))
        fail(def, "a result cannot be optional");
      op.variadicResults |= kind->getValueAsBit("variadic");
      op.results.push_back(dag->getArgNameStr(i));
    }
    if (op.results.empty())
      fail(def, "an op has at least one result");
    if (op.variadicResults && op.results.size() != 1)
      fail(def, "variadic results cannot be mixed with others");
  }

  void readRest() {
    for (const Record *c : def.getValueAsListOfDefs("constraints")) {
      ConstraintRecord r{
          c->getValueAsString("condition"), c->getValueAsString("message"), {}};
      r.found = c->getValueAsListOfStrings("found");
      if (r.message.empty() || r.message.ends_with("."))
        fail(def, "a constraint needs a sentence without a full stop, found '" +
                      r.message + "'");
      op.constraints.push_back(r);
    }
    for (StringRef region : def.getValueAsListOfStrings("regions")) {
      claim(region, "region");
      op.regions.push_back(region);
    }
    op.inferTypes = def.getValueAsString("inferTypes");
    op.scalar = def.getValueAsString("scalar");
    op.scalarResult = def.getValueAsString("scalarResult");
    op.onnx = def.getValueAsString("onnx");
    if (!op.inferTypes.empty() && !isIdentifier(op.inferTypes))
      fail(def, "inferTypes must be the name of a function, found '" +
                    op.inferTypes + "'");
  }

  /// The types and the names of the expression of a pointwise op.
  void readScalar() {
    StringRef types = def.getValueAsString("scalarTypes");
    bool isPointwise = op.hasTrait("Pointwise");
    if (!isPointwise &&
        !(op.scalar.empty() && op.scalarResult.empty() && types.empty()))
      fail(def, "scalar semantics are for pointwise ops");
    if (!isPointwise)
      return;
    if (op.scalar.trim().empty())
      fail(def, "a pointwise op needs the expression of its result: scalar");
    if (op.results.size() != 1 || op.variadicResults)
      fail(def, "a pointwise op has one result");
    for (const OperandRecord &o : op.operands)
      if (o.optional || o.variadic)
        fail(def, "a pointwise op reads every operand, but '" + o.name +
                      "' may be absent");
    op.scalarTypes.result = op.scalarResult == "DataType::Bool" ? "bool" : "T";
    op.scalarTypes.operands.assign(op.operands.size(), "T");
    if (!types.empty() &&
        (!op.scalarTypes.parse(types) ||
         op.scalarTypes.operands.size() != op.operands.size()))
      fail(def, "scalarTypes must be T(...) with " + Twine(op.operands.size()) +
                    " types, each bool or the name of a type parameter, "
                    "found '" +
                    types + "'");
    std::string wrong = op.scalarNames.parse(op.scalar, op.scalarTypes);
    if (!wrong.empty())
      fail(def, wrong);
    if (op.scalarNames.callsLibm() && !op.hasTrait("Transcendental"))
      fail(def, "an op that calls libm needs the trait Transcendental");
  }

  void checkTraits() {
    if (op.hasTrait("Transcendental") && !op.hasTrait("Pointwise"))
      fail(def, "Transcendental is for pointwise ops");
    if (op.hasTrait("Commutative") && op.operands.size() != 2)
      fail(def, "a commutative op has two operands, found " +
                    Twine(op.operands.size()));
    if (op.hasTrait("SameTypeOperands") && op.operands.size() < 2)
      fail(def, "SameTypeOperands needs two operands or more, found " +
                    Twine(op.operands.size()));
    if (op.hasTrait("View") && op.operands.empty())
      fail(def, "a view needs an operand");
    if (!op.onnx.empty() && !op.regions.empty())
      fail(def, "an op with regions cannot be imported one to one");
    if (!op.onnx.empty())
      for (const AttrRecord &a : op.attributes)
        if (!a.optional && a.defaultValue.empty())
          fail(def, "an op imported one to one cannot have the attribute '" +
                        a.name + "' without a default");
  }

  const Record &def;
  OpRecord op;
  StringSet<> taken;
};

/// An expression may call the functions of the ops above it.
void checkCalls(ArrayRef<OpRecord> ops) {
  for (const auto &[i, op] : enumerate(ops))
    for (const auto &[k, called] : enumerate(ops)) {
      std::string function = called.scalarFunction();
      if (function.empty() || !op.scalarNames.calls(function))
        continue;
      if (k >= i)
        fail(*op.def, "the scalar expression calls '" + Twine(function) +
                          "', which is not above it");
      if (called.hasTrait("Transcendental") && !op.hasTrait("Transcendental"))
        fail(*op.def, "an op that calls '" + Twine(function) +
                          "' needs the trait Transcendental");
    }
}

} // namespace

bool OpRecord::hasTrait(StringRef trait) const {
  return is_contained(traits, trait);
}

std::string camelCase(StringRef text) {
  std::string result;
  bool upper = true;
  for (char c : text) {
    if (c == '_') {
      upper = true;
      continue;
    }
    result += upper ? toUpper(c) : c;
    upper = false;
  }
  return result;
}

std::vector<EnumRecord> readEnums(const RecordKeeper &records) {
  std::vector<EnumRecord> enums;
  for (const Record *def : records.getAllDerivedDefinitions("Enum")) {
    EnumRecord e{def, def->getName(), def->getValueAsListOfStrings("cases")};
    StringSet<> seen;
    for (StringRef c : e.cases) {
      if (!isMnemonic(c))
        fail(*def, "a case must be lower_case, found '" + c + "'");
      if (!seen.insert(c).second)
        fail(*def, "the case '" + c + "' is listed twice");
    }
    if (e.cases.empty())
      fail(*def, "an enumeration needs a case");
    enums.push_back(std::move(e));
  }
  return enums;
}

std::vector<OpRecord> readOps(const RecordKeeper &records) {
  std::vector<OpRecord> ops;
  StringMap<StringRef> mnemonics, onnx;
  std::vector<const Record *> defs;
  for (const Record *def : records.getAllDerivedDefinitions("Op"))
    defs.push_back(def);
  llvm::sort(defs, [](const Record *a, const Record *b) {
    return a->getID() < b->getID();
  });
  for (const Record *def : defs) {
    OpRecord op = Reader(*def).read();
    auto [m, isNew] = mnemonics.try_emplace(op.mnemonic, def->getName());
    if (!isNew)
      fail(*def, "the mnemonic '" + op.mnemonic + "' is taken by '" +
                     m->second + "'");
    if (!op.onnx.empty()) {
      auto [o, isNewOnnx] = onnx.try_emplace(op.onnx, def->getName());
      if (!isNewOnnx)
        fail(*def, "ONNX '" + op.onnx + "' is imported by '" + o->second +
                       "' already");
    }
    ops.push_back(std::move(op));
  }
  checkCalls(ops);
  return ops;
}

} // namespace dlc::tblgen
