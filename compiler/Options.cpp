// SPDX-License-Identifier: Apache-2.0
#include "compiler/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace dlc {

using llvm::Expected;
using llvm::StringRef;

static llvm::Error fault(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

StringRef stringify(Precision p) {
  switch (p) {
  case Precision::AsTyped:
    return "model";
  case Precision::Tf32:
    return "tf32";
  case Precision::F16:
    return "fp16";
  case Precision::BF16:
    return "bf16";
  }
  return "";
}

Expected<Precision> parsePrecision(StringRef text) {
  auto p = llvm::StringSwitch<std::optional<Precision>>(text)
               .Cases("model", "fp32", "f32", Precision::AsTyped)
               .Case("tf32", Precision::Tf32)
               .Cases("fp16", "f16", "half", Precision::F16)
               .Cases("bf16", "bfloat16", Precision::BF16)
               .Default(std::nullopt);
  if (!p)
    return fault("precision \"" + text +
                 "\" is not known: expected fp32 (the model's own types), "
                 "tf32, fp16 or bf16");
  return *p;
}

/// Splits NAME=REST at the last '=' whose right side `isRest` accepts, since
/// names of inputs may contain '='.
static bool splitName(StringRef text, StringRef &name, StringRef &rest) {
  std::tie(name, rest) = text.rsplit('=');
  return name.size() < text.size() && !name.empty() && !rest.empty();
}

static Expected<DimSpec> parseDim(StringRef text, StringRef whole) {
  DimSpec d;
  auto bad = [&] {
    return fault("--shape " + whole + ": dimension \"" + text +
                 "\" is neither a positive size, a range as 1..8, nor a name");
  };
  if (size_t dots = text.find(".."); dots != StringRef::npos) {
    if (text.take_front(dots).getAsInteger(10, d.lower) ||
        text.drop_front(dots + 2).getAsInteger(10, d.upper) || d.lower < 0 ||
        d.upper < d.lower)
      return bad();
    return d;
  }
  if (!text.getAsInteger(10, d.lower)) {
    if (d.lower < 0)
      return bad();
    d.upper = d.lower;
    return d;
  }
  if (text.empty() || !(llvm::isAlpha(text[0]) || text[0] == '_') ||
      !llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return bad();
  d.symbol = text.str();
  d.upper = INT64_MAX;
  return d;
}

Expected<ShapeSpec> ShapeSpec::parse(StringRef text) {
  ShapeSpec spec;
  StringRef name, rest;
  if (!splitName(text, name, rest))
    return fault("--shape " + text + ": expected NAME=1x3x224x224");
  spec.input = name.str();
  if (rest == "scalar")
    return spec;
  // 'x' separates: a dimension's name must not contain one.
  llvm::SmallVector<StringRef, 8> parts;
  rest.split(parts, 'x');
  for (StringRef part : parts) {
    Expected<DimSpec> d = parseDim(part, text);
    if (!d)
      return d.takeError();
    spec.dims.push_back(*d);
  }
  return spec;
}

Expected<BindSpec> BindSpec::parse(StringRef text) {
  BindSpec spec;
  StringRef name, rest;
  if (!splitName(text, name, rest))
    return fault("--bind " + text + ": expected NAME=VALUE");
  spec.input = name.str();
  llvm::SmallVector<StringRef, 8> parts;
  rest.split(parts, ',');
  for (StringRef part : parts) {
    double v;
    if (part == "true" || part == "false")
      v = part == "true";
    else if (part.trim().getAsDouble(v))
      return fault("--bind " + text + ": \"" + part +
                   "\" is not a number, true or false");
    spec.values.push_back(v);
  }
  return spec;
}

std::vector<std::vector<ShapeSpec>>
groupSpecialisations(std::vector<ShapeSpec> specs) {
  std::vector<std::vector<ShapeSpec>> groups;
  for (ShapeSpec &s : specs) {
    auto hasInput = [&](const ShapeSpec &o) { return o.input == s.input; };
    if (groups.empty() || llvm::any_of(groups.back(), hasInput))
      groups.emplace_back();
    groups.back().push_back(std::move(s));
  }
  return groups;
}

} // namespace dlc
