// SPDX-License-Identifier: Apache-2.0
// Runs passes: verifies after each, removes dead code, times, prints, stops.
#pragma once

#include "passes/Pass.h"

namespace dlc {

/// What to do around the passes.
struct PassManagerOptions {
  std::vector<std::string> disabled; ///< passes left out, by name
  std::string stopAfter;             ///< the last pass to run, by name
  std::string explain; ///< the pass whose refusals are told; empty: all
  /// Run each pass that changed something again: it may change nothing then.
  bool twice = false;
  /// Called after each pass that changed the module.
  std::function<void(llvm::StringRef pass, const Module &)> afterPass;
  /// Where a reproducer is written when a pass breaks a module or a check of
  /// ours fails in it; empty: none is.
  std::string reproducerFolder;
  /// Options of dlc-opt that the reproducer's command needs besides the pass
  /// and the precision.
  std::string reproducerFlags;
};

/// A list of passes, some of it in groups that repeat until nothing changes.
class PassManager {
public:
  struct Timing {
    llvm::StringRef pass;
    unsigned runs = 0;
    double seconds = 0;
  };

  /// Adds a pass by name; an error names what exists.
  llvm::Error add(llvm::StringRef name);
  void add(const Pass &pass) { steps.push_back({{&pass}, false}); }
  /// Adds passes that run in turn until none of them changes anything.
  llvm::Error addUntilStable(llvm::ArrayRef<llvm::StringRef> names);

  /// Runs all. Errors: the user's (a name that does not exist, a model that a
  /// pass refuses), and a module that a pass has broken, with the command that
  /// reproduces it.
  llvm::Error run(Module &module, PassContext &context,
                  const PassManagerOptions &options = {});
  /// Times of the last run, in order of first use.
  llvm::ArrayRef<Timing> timings() const { return times; }
  bool changed() const { return anyChange; }

private:
  struct Step {
    std::vector<const Pass *> passes;
    bool untilStable;
  };
  llvm::Expected<bool> runOne(const Pass &pass, Module &module,
                              PassContext &context,
                              const PassManagerOptions &options);

  std::vector<Step> steps;
  std::vector<Timing> times;
  bool anyChange = false;
};

} // namespace dlc
