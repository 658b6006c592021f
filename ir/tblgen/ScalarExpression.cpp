// SPDX-License-Identifier: Apache-2.0
// Reads scalar expressions far enough to know their names. C++ is left to the
// compilers; what a record alone can have wrong is found here.
#include "ir/tblgen/ScalarExpression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace dlc::tblgen {

namespace {

bool startsName(char c) { return isAlpha(c) || c == '_'; }
bool isInName(char c) { return isAlnum(c) || c == '_'; }

/// A word that means the same in every expression.
bool isCommonWord(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases("true", "false", "bool", "int", "unsigned", true)
      .Cases("float", "double", true)
      .Default(false);
}

/// What is wrong with the punctuation of an expression, or nothing.
std::string checkPunctuation(StringRef text) {
  int depth = 0;
  for (char c : text) {
    if (!isInName(c) && !StringRef(" ()<>=!?:,.+-*/%&|^~").contains(c))
      return (Twine("scalar must be one C++ expression, found '") + Twine(c) +
              "' in it")
          .str();
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0)
      break;
  }
  if (depth != 0)
    return ("the parentheses of the scalar expression do not match: '" + text +
            "'")
        .str();
  return "";
}

} // namespace

std::vector<StringRef> ScalarTypes::parameters() const {
  std::vector<StringRef> names;
  auto add = [&](StringRef type) {
    if (type != "bool" && !is_contained(names, type))
      names.push_back(type);
  };
  add(result);
  for (StringRef type : operands)
    add(type);
  return names;
}

bool ScalarTypes::parse(StringRef text) {
  auto isType = [](StringRef s) {
    return s == "bool" ||
           (!s.empty() && isUpper(s.front()) && all_of(s, isInName));
  };
  auto [before, list] = text.split('(');
  result = before.trim();
  if (!list.consume_back(")"))
    return false;
  operands.clear();
  SmallVector<StringRef, 4> parts;
  list.split(parts, ',');
  for (StringRef part : parts)
    operands.push_back(part.trim());
  return isType(result) && all_of(operands, isType);
}

std::string ScalarExpression::readName(StringRef name, StringRef before,
                                       StringRef after,
                                       const ScalarTypes &types) {
  if (before.ends_with("::"))
    return "";
  if (after.starts_with("::")) {
    namespaces.insert(name);
    return "";
  }
  if (after.starts_with("(") || after.starts_with("<")) {
    functions.insert(name);
    return "";
  }
  StringRef digits = name;
  unsigned index = 0;
  bool isOperand = digits.consume_front("x") && !digits.getAsInteger(10, index);
  unsigned count = types.operands.size();
  if (isOperand && index < count) {
    operands.insert(name);
    return "";
  }
  if (isOperand)
    return ("the scalar expression uses " + name + ", but the op has " +
            Twine(count) + (count == 1 ? " operand: x0" : " operands: x0") +
            (count > 1 ? " to x" + Twine(count - 1) : Twine("")))
        .str();
  if (isCommonWord(name) || is_contained(types.parameters(), name))
    return "";
  return ("the scalar expression uses '" + name +
          "', which is no operand (x0, x1, ...), type or function")
      .str();
}

std::string ScalarExpression::parse(StringRef text, const ScalarTypes &types) {
  if (std::string wrong = checkPunctuation(text); !wrong.empty())
    return wrong;
  for (size_t i = 0; i < text.size();) {
    StringRef rest = text.drop_front(i);
    if (startsName(text[i])) {
      StringRef name = rest.take_while(isInName);
      std::string wrong = readName(name, text.take_front(i),
                                   rest.drop_front(name.size()), types);
      if (!wrong.empty())
        return wrong;
      i += name.size();
    } else if (isDigit(text[i])) {
      i += rest.take_while([](char c) { return isInName(c) || c == '.'; })
               .size();
    } else {
      i++;
    }
  }
  for (unsigned i = 0; i != types.operands.size(); i++)
    if (!operands.contains("x" + std::to_string(i)))
      return "the scalar expression does not use x" + std::to_string(i);
  return "";
}

std::string scalarFunction(StringRef mnemonic) {
  bool isWord = StringSwitch<bool>(mnemonic)
                    .Cases("and", "or", "xor", "not", "switch", true)
                    .Default(false);
  return (mnemonic + (isWord ? "_" : "")).str();
}

} // namespace dlc::tblgen
