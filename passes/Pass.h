// SPDX-License-Identifier: Apache-2.0
// What a pass is: a function from module to module and what it may ask.
#pragma once

#include "ir/CostModel.h"
#include "ir/Match.h"
#include "ir/Rewriter.h"
#include <functional>

namespace dlc {

/// What the model's f32 parts may be stored and multiplied in.
enum class PrecisionMode : uint8_t {
  AsTyped, ///< as the model says
  TF32,    ///< f32 contractions may round their operands to tf32
  F16,     ///< f32 values are stored as f16 where that is safe
  BF16     ///< f32 values are stored as bf16 where that is safe
};
llvm::StringRef stringify(PrecisionMode mode);
std::optional<PrecisionMode> parsePrecisionMode(llvm::StringRef text);

/// What a pass may ask. It has no other source of information: no globals, no
/// environment.
struct PassContext {
  const Target *target = nullptr;   ///< null: no target chosen yet
  const CostModel *costs = nullptr; ///< null: passes that need prices decline
  PrecisionMode precision = PrecisionMode::AsTyped;
  llvm::StringRef pass; ///< the one that runs; set by the manager
  /// Receives why a rewrite was declined, when somebody asked.
  std::function<void(const Op &, llvm::StringRef reason)> explain;
  /// Receives decisions that belong in the report of a build.
  std::function<void(const Op &, llvm::StringRef remark)> report;

  void decline(const Op &op, llvm::StringRef reason) const {
    if (explain)
      explain(op, reason);
  }
  /// For a match whose refusal is handed to decline(): asked only if somebody
  /// wants to know.
  match::Why why() const { return match::Why(explain != nullptr); }
  void remark(const Op &op, llvm::StringRef text) const {
    if (report)
      report(op, text);
  }
};

/// A pass is deterministic and idempotent, changes graphs only through the
/// rewriter, leaves a module that verifies, and returns whether it changed
/// anything. An error is a fault of the user's model.
struct Pass {
  using Run = llvm::Expected<bool> (*)(Module &, PassContext &);
  llvm::StringRef name;    ///< as in `--fuse-vertical`
  llvm::StringRef summary; ///< one sentence
  Run run;
};

/// Every pass, in the order of Passes.def.
llvm::ArrayRef<Pass> allPasses();
/// Null when there is no pass of that name.
const Pass *findPass(llvm::StringRef name);

#define DLC_PASS(Name, flag, summary)                                          \
  llvm::Expected<bool> run##Name(Module &module, PassContext &context);
#include "passes/Passes.def"
#undef DLC_PASS

/// Calls `fn` for the main graph and for the graphs of control-flow regions,
/// inner ones first. Bodies of fusions are not visited.
void forEachGraph(Module &module, llvm::function_ref<void(Graph &)> fn);

} // namespace dlc
