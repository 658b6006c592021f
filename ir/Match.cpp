// SPDX-License-Identifier: Apache-2.0
// The sentences of patterns that do not match.
#include "ir/Match.h"

#include "llvm/Support/Format.h"
#include <cmath>

namespace dlc::match {

void Why::expected(const llvm::Twine &what, const Value *found) {
  sentence = ("expected " + what + ", found " + describe(found)).str();
  level = 0;
}

void Why::refused(const llvm::Twine &why) {
  sentence = why.str();
  level = 1;
}

Why &Why::preface(llvm::StringRef rule) {
  if (isAsked)
    sentence = (sentence.empty() ? rule : rule + ": " + sentence).str();
  return *this;
}

void Why::inOperand(unsigned i, const Op &op) {
  sentence =
      ("operand " + llvm::Twine(i) + " of " + op.mnemonic() + ": " + sentence)
          .str();
  ++level;
}

void Why::takeDeeper(const Why &other) {
  if (other.level <= level)
    return;
  sentence = other.sentence;
  level = other.level;
}

std::string numberText(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", number);
  return text;
}

std::optional<double> uniformValue(const Value *value) {
  if (!detail::isConstant(value))
    return std::nullopt;
  return ConstantOp(value->definingOp()).value().uniformValue();
}

bool isUniform(const Value *value, double number) {
  std::optional<double> found = uniformValue(value);
  return found && *found == number &&
         std::signbit(*found) == std::signbit(number);
}

std::string describe(const Value *value) {
  if (!value)
    return "nothing";
  const Op *op = value->definingOp();
  if (!op)
    return value->name.empty() ? "an input" : "input \"" + value->name + "\"";
  std::string text = op->mnemonic().str();
  if (std::optional<double> number = uniformValue(value))
    text += " of " + numberText(*number);
  std::string where = op->location().str();
  return where.empty() ? text : text + " (" + where + ")";
}

} // namespace dlc::match
