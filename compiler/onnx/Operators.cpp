// SPDX-License-Identifier: Apache-2.0
// The table of operators: Operators.def, and those that op records name.
#include "compiler/onnx/Operators.h"
#include "llvm/ADT/StringMap.h"

using namespace dlc;

namespace dlc {
#define ONNX(name, since, function, fewest, most)                              \
  void function(NodeReader &, NodeBuilder &);
#define ONNX_IN(domain, name, since, function, fewest, most)                   \
  void function(NodeReader &, NodeBuilder &);
#define ONNX_GONE(name, since, instead)
#include "compiler/onnx/Operators.def"
#undef ONNX
#undef ONNX_IN
#undef ONNX_GONE
} // namespace dlc

/// An ONNX operator that is an op of ours, operand by operand.
template <class T> static void importOneToOne(NodeReader &n, NodeBuilder &b) {
  if constexpr (requires(Location l, Value * v) { T::make(l, v); })
    n.result(b.emit<T>(n.input(0)));
  else if constexpr (requires(Location l, Value * v) { T::make(l, v, v); })
    n.result(b.emit<T>(n.input(0), n.input(1)));
  else
    n.result(b.emit<T>(n.input(0), n.input(1), n.input(2)));
}
template <class T> static constexpr unsigned operandCount() {
  if constexpr (requires(Location l, Value * v) { T::make(l, v); })
    return 1;
  else if constexpr (requires(Location l, Value * v) { T::make(l, v, v); })
    return 2;
  else
    return 3;
}

static constexpr unsigned kMany = ~0u;

static const Operator kTable[] = {
#define ONNX(name, since, function, fewest, most)                              \
  {"", name, since, &function, fewest, most, ""},
#define ONNX_IN(domain, name, since, function, fewest, most)                   \
  {domain, name, since, &function, fewest, most, ""},
#define ONNX_GONE(name, since, instead)                                        \
  {"", name, since, nullptr, 0, 0, instead},
#include "compiler/onnx/Operators.def"
#undef ONNX
#undef ONNX_IN
#undef ONNX_GONE
#define DLC_ONNX_OP(onnxName, op)                                              \
  {"",                                                                         \
   onnxName,                                                                   \
   1,                                                                          \
   &importOneToOne<op##Op>,                                                    \
   operandCount<op##Op>(),                                                     \
   operandCount<op##Op>(),                                                     \
   ""},
#define DLC_ONNX_OPS
#include "ir/Ops.inc"
#undef DLC_ONNX_OP
};

llvm::Expected<const Operator *>
dlc::findOperator(llvm::StringRef domain, llvm::StringRef name, int64_t opset) {
  auto fault = [&](const llvm::Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  };
  const Operator *best = nullptr, *first = nullptr;
  bool knowsDomain = domain.empty();
  for (const Operator &entry : kTable) {
    knowsDomain |= entry.domain == domain;
    if (entry.domain != domain || entry.name != name)
      continue;
    if (!first || entry.since < first->since)
      first = &entry;
    if (entry.since <= opset && (!best || entry.since > best->since))
      best = &entry;
  }
  std::string shown = domain.empty() ? "ai.onnx" : domain.str();
  if (!knowsDomain)
    return fault("operator " + name + " of domain " + shown +
                 " is not supported: supported are those of ai.onnx and of "
                 "com.microsoft");
  if (!first)
    return fault("operator " + name + " of " + shown + " opset " +
                 llvm::Twine(opset) + " is not supported");
  if (!best)
    return fault("operator " + name + " is not part of " + shown + " opset " +
                 llvm::Twine(opset) + ": it exists from opset " +
                 llvm::Twine(first->since) + " on");
  if (!best->import)
    return fault("operator " + name + " is not part of " + shown + " opset " +
                 llvm::Twine(opset) + ": from opset " +
                 llvm::Twine(best->since) + " on it is " + best->instead);
  return best;
}
