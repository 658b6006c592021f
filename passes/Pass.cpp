// SPDX-License-Identifier: Apache-2.0
// The table of passes.
#include "passes/Pass.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

static const Pass kPasses[] = {
#define DLC_PASS(Name, flag, summary) {flag, summary, run##Name},
#include "passes/Passes.def"
#undef DLC_PASS
};

llvm::ArrayRef<Pass> allPasses() { return kPasses; }

const Pass *findPass(llvm::StringRef name) {
  const Pass *it = llvm::find_if(
      kPasses, [&](const Pass &pass) { return pass.name == name; });
  return it == std::end(kPasses) ? nullptr : it;
}

llvm::StringRef stringify(PrecisionMode mode) {
  switch (mode) {
  case PrecisionMode::AsTyped:
    return "fp32";
  case PrecisionMode::TF32:
    return "tf32";
  case PrecisionMode::F16:
    return "fp16";
  case PrecisionMode::BF16:
    return "bf16";
  }
  return "";
}

std::optional<PrecisionMode> parsePrecisionMode(llvm::StringRef text) {
  for (PrecisionMode mode : {PrecisionMode::AsTyped, PrecisionMode::TF32,
                             PrecisionMode::F16, PrecisionMode::BF16})
    if (text == stringify(mode))
      return mode;
  return std::nullopt;
}

static void visit(Graph &graph, llvm::function_ref<void(Graph &)> fn) {
  for (Op &op : graph)
    if (op.kind() != OpKind::Fusion)
      for (unsigned i = 0; i < op.numRegions(); ++i)
        visit(op.region(i), fn);
  fn(graph);
}

void forEachGraph(Module &module, llvm::function_ref<void(Graph &)> fn) {
  visit(module.main(), fn);
}

} // namespace dlc
