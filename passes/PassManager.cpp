// SPDX-License-Identifier: Apache-2.0
// The one place for what happens around passes.
#include "passes/PassManager.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <chrono>

namespace dlc {

// A group that has not settled by then swings between two forms.
static constexpr int kMaxRounds = 16;

static llvm::Expected<const Pass *> lookUp(llvm::StringRef name) {
  if (const Pass *pass = findPass(name))
    return pass;
  std::string known;
  for (const Pass &pass : allPasses())
    known += (known.empty() ? "" : ", ") + pass.name.str();
  return llvm::createStringError("no pass is named \"%s\"; the passes are %s",
                                 name.str().c_str(), known.c_str());
}

llvm::Error PassManager::add(llvm::StringRef name) {
  llvm::Expected<const Pass *> pass = lookUp(name);
  if (!pass)
    return pass.takeError();
  add(**pass);
  return llvm::Error::success();
}

llvm::Error PassManager::addUntilStable(llvm::ArrayRef<llvm::StringRef> names) {
  Step step{{}, true};
  for (llvm::StringRef name : names) {
    llvm::Expected<const Pass *> pass = lookUp(name);
    if (!pass)
      return pass.takeError();
    step.passes.push_back(*pass);
  }
  steps.push_back(std::move(step));
  return llvm::Error::success();
}

/// Writes what a pass was given, and says how to run the pass on it; empty
/// where nothing was kept or can be written.
static std::string reproducer(const Pass &pass, const Module *before,
                              const PassContext &context,
                              const PassManagerOptions &options) {
  if (!before)
    return "";
  llvm::SmallString<128> path(options.reproducerFolder);
  llvm::sys::path::append(path, "dlc-" + pass.name + "-%%%%%%.dlc");
  int file = -1;
  if (llvm::sys::fs::createUniqueFile(path, file, path))
    return "";
  llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
  before->print(os);
  std::string flags = options.reproducerFlags;
  return "to reproduce: dlc-opt --" + pass.name.str() +
         " --precision=" + stringify(context.precision).str() + " " + flags +
         (flags.empty() ? "" : " ") + path.str().str();
}

llvm::Expected<bool> PassManager::runOne(const Pass &pass, Module &module,
                                         PassContext &context,
                                         const PassManagerOptions &options) {
  using Clock = std::chrono::steady_clock;
  // Cheap: constants are shared. It is what the reproducer shows.
  std::unique_ptr<Module> before;
  if (!options.reproducerFolder.empty())
    before = module.clone();
  PassContext own = context;
  own.pass = pass.name;
  if (!options.explain.empty() && options.explain != pass.name)
    own.explain = nullptr;
  auto advice = [&] {
    return reproducer(pass, before.get(), context, options);
  };
  CheckScope scope(advice);
  Clock::time_point start = Clock::now();
  llvm::Expected<bool> changed = pass.run(module, own);
  if (!changed)
    return changed.takeError();
  if (*changed)
    forEachGraph(module, [](Graph &graph) { Rewriter(graph).eraseDeadOps(); });
  std::chrono::duration<double> spent = Clock::now() - start;

  auto it = llvm::find_if(
      times, [&](const Timing &timing) { return timing.pass == pass.name; });
  if (it == times.end()) {
    times.push_back({pass.name});
    it = std::prev(times.end());
  }
  ++it->runs;
  it->seconds += spent.count();

  if (llvm::Error error = verify(module)) {
    std::string how = advice();
    return llvm::createStringError(
        "pass " + pass.name + " left a module that does not verify: " +
        llvm::toString(std::move(error)) + (how.empty() ? "" : "; ") + how);
  }
  if (*changed && options.twice) {
    own.explain = nullptr;
    own.report = nullptr;
    llvm::Expected<bool> again = pass.run(module, own);
    if (!again)
      return again.takeError();
    if (*again)
      return llvm::createStringError("pass %s changed its own result",
                                     pass.name.str().c_str());
  }
  if (*changed && options.afterPass)
    options.afterPass(pass.name, module);
  anyChange |= *changed;
  return changed;
}

llvm::Error PassManager::run(Module &module, PassContext &context,
                             const PassManagerOptions &options) {
  times.clear();
  anyChange = false;
  std::vector<std::string> names = options.disabled;
  names.push_back(options.stopAfter);
  names.push_back(options.explain);
  for (const std::string &name : names)
    if (!name.empty())
      if (llvm::Expected<const Pass *> pass = lookUp(name); !pass)
        return pass.takeError();

  for (const Step &step : steps) {
    bool stop = false;
    for (int round = 0; round < kMaxRounds; ++round) {
      bool changed = false;
      for (const Pass *pass : step.passes) {
        stop |= pass->name == options.stopAfter;
        if (llvm::is_contained(options.disabled, pass->name))
          continue;
        llvm::Expected<bool> one = runOne(*pass, module, context, options);
        if (!one)
          return one.takeError();
        changed |= *one;
      }
      if (!changed || !step.untilStable)
        break;
    }
    if (stop)
      break;
  }
  return llvm::Error::success();
}

} // namespace dlc
