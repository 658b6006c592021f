// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of a plan for a target, in parallel and with a cache.
#include "codegen/KernelCompiler.h"

#include "codegen/HostCompiler.h"
#include "codegen/IncludedHeaders.h"
#include "codegen/KernelCache.h"
#include "codegen/Nvrtc.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <mutex>
#include <thread>

using namespace dlc;
using namespace dlc::codegen;

namespace {
using CompileOne =
    std::function<llvm::Expected<std::string>(const KernelSource &)>;

/// Compiles each kernel once, on several threads. The first failure by the
/// order of the kernels is the one that is reported.
llvm::Expected<std::vector<std::string>>
compileAll(llvm::ArrayRef<KernelSource> kernels, llvm::StringRef compilerKey,
           const CompileOne &compile, const KernelCompilerOptions &options,
           size_t &hits) {
  KernelCache cache(options.cacheDir);
  const IncludedHeaders &headers = IncludedHeaders::ofDevice();
  std::vector<std::string> binaries(kernels.size());
  std::vector<std::string> errors(kernels.size());
  std::atomic<size_t> next = 0, done = 0, hitCount = 0;
  std::atomic<bool> stop = false;
  std::mutex mutex;
  bool isCancelled = false; // under the mutex
  auto work = [&] {
    for (size_t i; !stop && (i = next++) < kernels.size();) {
      // The first lines name nodes, which do not change the code.
      llvm::StringRef code = kernels[i].text;
      size_t first = code.find("#include");
      code = code.drop_front(first == llvm::StringRef::npos ? 0 : first);
      std::string key =
          KernelCache::key({code, headers.key(code), compilerKey});
      if (std::optional<std::string> found = cache.load(key)) {
        binaries[i] = std::move(*found);
        hitCount++;
      } else if (llvm::Expected<std::string> made = compile(kernels[i])) {
        binaries[i] = std::move(*made);
        cache.store(key, binaries[i]);
      } else {
        errors[i] = llvm::toString(made.takeError());
        stop = true;
      }
      std::lock_guard lock(mutex);
      if (options.progress && !options.progress(++done, kernels.size()))
        stop = isCancelled = true;
    }
  };
  unsigned jobs = options.jobs
                      ? options.jobs
                      : std::max(1u, std::thread::hardware_concurrency());
  jobs = std::min<size_t>(jobs, kernels.size());
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < jobs; i++)
    threads.emplace_back(work);
  work();
  for (std::thread &t : threads)
    t.join();
  // Then a compiler may have failed because it was interrupted, too.
  if (isCancelled)
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "cancelled");
  for (size_t i = 0; i < kernels.size(); i++) {
    if (errors[i].empty())
      continue;
    std::string path = options.failureDir + "/" + kernels[i].name + ".cu";
    std::error_code ec;
    llvm::raw_fd_ostream os(path, ec);
    if (!ec)
      os << kernels[i].text;
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   errors[i] + "\nits source is in " + path);
  }
  hits = hitCount;
  if (hits < kernels.size())
    cache.trim();
  return binaries;
}
} // namespace

static llvm::Expected<CompiledKernels>
compileForHost(llvm::ArrayRef<KernelSource> kernels,
               const KernelCompilerOptions &options) {
  CompiledKernels result;
  llvm::Expected<HostCompiler> compiler =
      HostCompiler::open(options.hostCompiler);
  if (!compiler)
    return compiler.takeError();
  result.compiler = compiler->version();
  std::string key =
      "host " + compiler->version() + llvm::join(compiler->options(), " ");
  llvm::Expected<std::vector<std::string>> objects = compileAll(
      kernels, key, [&](const KernelSource &k) { return compiler->compile(k); },
      options, result.cacheHits);
  if (!objects)
    return objects.takeError();
  llvm::Expected<std::string> shared = compiler->link(*objects);
  if (!shared)
    return shared.takeError();
  result.binaries.push_back(std::move(*shared));
  result.binaryOf.assign(kernels.size(), 0);
  return result;
}

llvm::Expected<CompiledKernels>
codegen::compileKernels(llvm::ArrayRef<KernelSource> kernels,
                        const Target &target,
                        const KernelCompilerOptions &options) {
  if (target.isHost())
    return compileForHost(kernels, options);
  CompiledKernels result;
  llvm::Expected<std::unique_ptr<Nvrtc>> nvrtc = Nvrtc::open(options.nvrtcPath);
  if (!nvrtc)
    return nvrtc.takeError();
  result.compiler = "NVRTC " + (*nvrtc)->version();
  result.leastDriver = (*nvrtc)->leastDriver(target);
  std::string key =
      result.compiler + llvm::join((*nvrtc)->options(target), " ");
  llvm::Expected<std::vector<std::string>> binaries = compileAll(
      kernels, key,
      [&](const KernelSource &k) { return (*nvrtc)->compile(k, target); },
      options, result.cacheHits);
  if (!binaries)
    return binaries.takeError();
  result.binaries = std::move(*binaries);
  for (size_t i = 0; i < kernels.size(); i++)
    result.binaryOf.push_back(i);
  return result;
}
