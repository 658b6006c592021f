// SPDX-License-Identifier: Apache-2.0
// Reads --bind and --shape.
#include "compiler/onnx/ImportOptions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace dlc;

static llvm::Error fault(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Error ImportOptions::addBinding(llvm::StringRef text) {
  auto [name, value] = text.rsplit('=');
  // No value at all is an empty tensor.
  if (name.empty() || !text.contains('='))
    return fault("--bind " + text + ": expected NAME=VALUE");
  if (!bindings.emplace(name.str(), value.str()).second)
    return fault("--bind: input \"" + name + "\" is bound twice");
  return llvm::Error::success();
}

/// One dimension of `text`, which stands in `whole`.
static llvm::Expected<DimSpec> parseDim(llvm::StringRef text,
                                        llvm::StringRef whole) {
  DimSpec spec;
  if (!text.empty() && !llvm::isDigit(text.front()) && text.front() != '-') {
    spec.symbol = text.str();
    return spec;
  }
  auto [low, high] = text.split("..");
  bool isRange = text.contains("..");
  int64_t upper = 0;
  if (low.getAsInteger(10, spec.lower) || spec.lower < 0 ||
      (isRange && !high.empty() &&
       (high.getAsInteger(10, upper) || upper < spec.lower)))
    return fault("--shape " + whole + ": got dimension \"" + text +
                 "\", expected a number, a range such as 1..8, or a name");
  if (!isRange)
    spec.upper = spec.lower;
  else if (!high.empty())
    spec.upper = upper;
  return spec;
}

llvm::Error ImportOptions::addShape(llvm::StringRef text) {
  auto [name, value] = text.rsplit('=');
  if (name.empty() || name.size() == text.size())
    return fault("--shape " + text + ": expected NAME=1x3x224x224");
  std::vector<DimSpec> dims;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  // A name may hold an x: commas separate as well.
  if (value.contains(','))
    value.split(parts, ',');
  else if (!value.empty() && value != "scalar") // as dlc-run spells it
    value.split(parts, 'x');
  for (llvm::StringRef part : parts) {
    llvm::Expected<DimSpec> dim = parseDim(part.trim(), text);
    if (!dim)
      return dim.takeError();
    dims.push_back(*dim);
  }
  if (!shapes.emplace(name.str(), std::move(dims)).second)
    return fault("--shape: input \"" + name + "\" is given twice");
  return llvm::Error::success();
}
