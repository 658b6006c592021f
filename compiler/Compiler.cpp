// SPDX-License-Identifier: Apache-2.0
// The compiler as a library: a model in, a bundle out.
#include "compiler/Compiler.h"
#include "codegen/CostModel.h"
#include "codegen/KernelCompiler.h"
#include "codegen/Lowering.h"

#include "compiler/BundleWriter.h"
#include "compiler/PlanText.h"
#include "compiler/Version.h"
#include "compiler/onnx/OnnxImporter.h"
#include "ir/Text.h"
#include "ir/infer/Assumptions.h"
#include "passes/Pipelines.h"
#include "runtime/plan/Limits.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>

namespace dlc {

namespace {
class Stopwatch {
public:
  /// Seconds since the last call, or since it was made.
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double s = std::chrono::duration<double>(now - last).count();
    last = now;
    return s;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

/// A module after the passes, and what they reported.
struct Optimised {
  std::unique_ptr<Module> module;
  std::string report;
};
} // namespace

static llvm::Error cancelled() {
  return llvm::createStringError(std::errc::operation_canceled, "cancelled");
}

static llvm::Expected<std::unique_ptr<Module>>
readText(llvm::StringRef path, const ImportOptions &options) {
  if (!options.isEmpty())
    return llvm::createStringError(std::errc::invalid_argument,
                                   "--shape, --bind and --keep-input are for "
                                   "ONNX models: %s is text that states its "
                                   "types",
                                   path.str().c_str());
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "cannot read %s: %s",
                                   path.str().c_str(),
                                   buffer.getError().message().c_str());
  llvm::Expected<std::unique_ptr<Module>> module =
      parse((*buffer)->getBuffer(), path);
  if (!module)
    return module;
  if (llvm::Error e = verify(**module))
    return e;
  if (llvm::Error e = recordAssumptions(**module))
    return e;
  return module;
}

/// What the runtime could not take.
static void checkRanks(const Graph &graph, Diagnostics &diagnostics) {
  auto check = [&](llvm::StringRef what, llvm::StringRef name,
                   const TensorType &type) {
    if (type.rank() > int64_t(plan::kMaxRank))
      diagnostics.error(
          what + " \"" + name + "\" has rank " + llvm::Twine(type.rank()) +
          ", supported are ranks up to " + llvm::Twine(plan::kMaxRank));
  };
  for (unsigned i = 0; i < graph.numInputs(); ++i)
    check("input", graph.input(i)->name, graph.input(i)->type());
  for (auto [value, name] : llvm::zip(graph.outputs(), graph.outputNames))
    check("output", name, value->type());
}

llvm::Expected<std::unique_ptr<Module>> loadModel(llvm::StringRef path,
                                                  const ImportOptions &options,
                                                  Diagnostics &diagnostics) {
  llvm::Expected<std::unique_ptr<Module>> module =
      path.ends_with(".dlc") ? readText(path, options)
                             : importOnnx(path, options, diagnostics);
  if (!module)
    return module;
  checkRanks((*module)->main(), diagnostics);
  if (diagnostics.hasErrors())
    return llvm::createStringError("%s: its ranks are not supported",
                                   path.str().c_str());
  return module;
}

/// A note where compiled kernels cannot be kept.
static void checkCache(llvm::StringRef folder, Diagnostics &diagnostics) {
  if (folder.empty())
    return;
  std::error_code error = llvm::sys::fs::create_directories(folder);
  if (!error && !llvm::sys::fs::is_directory(folder))
    error = std::make_error_code(std::errc::not_a_directory);
  if (!error)
    error = llvm::sys::fs::access(folder, llvm::sys::fs::AccessMode::Write);
  if (error)
    diagnostics.note("the cache of kernels, " + folder + ", cannot be used: " +
                     error.message() + "; every kernel is compiled anew");
}

/// The passes on a copy of `module`, for one target.
static llvm::Expected<Optimised> optimise(const Module &module,
                                          const Target &target,
                                          const CompileOptions &options,
                                          Diagnostics &diagnostics) {
  Optimised made{module.clone(), ""};
  codegen::CostModel costs(made.module->symbols);
  PassContext context;
  context.target = &target;
  context.costs = &costs;
  context.precision = options.precision;
  llvm::raw_string_ostream report(made.report);
  context.report = [&](const Op &op, llvm::StringRef remark) {
    report << op.location().str() << ": " << remark << "\n";
  };
  PassManager manager;
  if (llvm::Error e = addPipeline(manager, "default"))
    return e;
  PassManagerOptions run;
  run.disabled = options.disabledPasses;
  run.reproducerFolder = options.reproducerDir;
  run.reproducerFlags = "--kernel-costs --target=" + target.name;
  run.explain = options.explainPass;
  if (!options.explainPass.empty())
    context.explain = [&](const Op &op, llvm::StringRef reason) {
      diagnostics.note(op.location(), options.explainPass + ": " + reason);
    };
  if (llvm::Error e = manager.run(*made.module, context, run))
    return e;
  return made;
}

/// Bounds of each input's dimensions.
static std::vector<bundle::ShapeRangeT> shapeRanges(const Module &module) {
  std::vector<bundle::ShapeRangeT> ranges;
  const Graph &graph = module.main();
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    bundle::ShapeRangeT r;
    r.input = graph.input(i)->name;
    for (const Dim &d : graph.input(i)->type().shape) {
      r.lower.push_back(lowerBound(d, module.symbols).value_or(0));
      r.upper.push_back(upperBound(d, module.symbols).value_or(INT64_MAX));
    }
    ranges.push_back(std::move(r));
  }
  return ranges;
}

/// "x: 1..8x3x224x224", with the model's names where sizes have no bound.
static std::string shapesText(const Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const Graph &graph = module.main();
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    os << (i ? ", " : "") << graph.input(i)->name << ": ";
    llvm::interleave(
        graph.input(i)->type().shape, os,
        [&](const Dim &d) {
          std::optional<int64_t> upper = upperBound(d, module.symbols);
          if (d.kind() == Dim::Kind::Symbol && upper)
            os << lowerBound(d, module.symbols).value_or(0) << ".." << *upper;
          else
            os << d;
        },
        "x");
  }
  return text;
}

/// As users say it. A model of its own types is called fp32: its products are
/// exact in the type it has.
static llvm::StringRef precisionName(PrecisionMode mode) {
  return mode == PrecisionMode::AsTyped ? "fp32" : stringify(mode);
}

static bundle::BinaryContent binaryContent(const Target &target,
                                           std::string bytes) {
  bundle::BinaryContent b;
  b.bytes = std::move(bytes);
  switch (target.kind) {
  case Target::Kind::Cubin:
    b.kind = bundle::BinaryKind::Cubin;
    b.arch = target.arch;
    break;
  case Target::Kind::Portable:
    b.kind = bundle::BinaryKind::Ptx;
    b.arch = target.arch;
    break;
  case Target::Kind::Host:
    b.kind = bundle::BinaryKind::HostObject;
#ifdef __aarch64__
    b.arch = "aarch64";
#else
    b.arch = "x86_64";
#endif
    break;
  }
  return b;
}

static void numberBinaries(codegen::LoweredModule &lowered,
                           const codegen::CompiledKernels &compiled) {
  for (auto [i, kernel] : llvm::enumerate(lowered.plan->kernels)) {
    kernel->binary = compiled.binaryOf[i];
    kernel->source = uint32_t(i);
  }
}

static size_t countLaunches(const plan::BlockT &block) {
  size_t n = 0;
  for (const auto &step : block.steps)
    n += step->action.type == plan::Action::Launch;
  return n;
}

llvm::Error emit(llvm::StringRef modelPath, Emit what,
                 const CompileOptions &options, Diagnostics &diagnostics,
                 llvm::raw_ostream &os) {
  llvm::Expected<std::unique_ptr<Module>> module =
      loadModel(modelPath, options.specialisations.front(), diagnostics);
  if (!module)
    return module.takeError();
  PrintOptions text;
  text.elideAbove = 16;
  if (what == Emit::Imported) {
    print(**module, os, text);
    return llvm::Error::success();
  }
  llvm::Expected<std::vector<Target>> targets = resolveTargets(options.targets);
  if (!targets)
    return targets.takeError();
  llvm::Expected<Optimised> optimised =
      optimise(**module, targets->front(), options, diagnostics);
  if (!optimised)
    return optimised.takeError();
  if (what == Emit::IR) {
    print(*optimised->module, os, text);
    return llvm::Error::success();
  }
  codegen::CodegenOptions codegenOptions;
  codegenOptions.states = options.states;
  llvm::Expected<codegen::LoweredModule> lowered =
      codegen::lower(*optimised->module, targets->front(), codegenOptions);
  if (!lowered)
    return lowered.takeError();
  if (what == Emit::Plan) {
    printPlan(*lowered->plan, os);
    return llvm::Error::success();
  }
  for (const codegen::KernelSource &k : lowered->kernels)
    os << "// ---- " << k.name << " ----\n" << k.text << "\n";
  return llvm::Error::success();
}

llvm::Expected<CompileSummary> compile(llvm::StringRef modelPath,
                                       llvm::StringRef bundlePath,
                                       const CompileOptions &options,
                                       Diagnostics &diagnostics) {
  CompileSummary summary;
  auto progress = [&](llvm::StringRef phase, double fraction) {
    return !options.progress || options.progress(phase, fraction);
  };
  llvm::Expected<std::vector<Target>> targets = resolveTargets(options.targets);
  if (!targets)
    return targets.takeError();
  if (llvm::Error e = checkBundlePath(bundlePath, modelPath))
    return e;
  checkCache(options.cacheDir, diagnostics);

  bundle::BundleBuilder builder;
  builder.producer = std::string("dlc ") + version();
  // Weights are not copied: they must live until the bundle is written.
  std::vector<codegen::LoweredModule> lowered;
  std::string compilers;
  for (const ImportOptions &specialisation : options.specialisations) {
    Stopwatch watch;
    if (!progress("reading " + modelPath.str(), 0))
      return cancelled();
    llvm::Expected<std::unique_ptr<Module>> module =
        loadModel(modelPath, specialisation, diagnostics);
    if (!module)
      return module.takeError();
    summary.importSeconds += watch.lap();
    if (builder.model.empty()) {
      builder.modelName = (*module)->name;
      PrintOptions text;
      text.elideAbove = 16;
      llvm::raw_string_ostream os(builder.model);
      print(**module, os, text);
    }

    for (const Target &target : *targets) {
      watch.lap();
      if (!progress("optimising for " + target.name, 0))
        return cancelled();
      llvm::Expected<Optimised> optimised =
          optimise(**module, target, options, diagnostics);
      if (!optimised)
        return optimised.takeError();
      summary.passSeconds += watch.lap();
      codegen::CodegenOptions codegenOptions;
      codegenOptions.states = options.states;
      llvm::Expected<codegen::LoweredModule> made =
          codegen::lower(*optimised->module, target, codegenOptions);
      if (!made)
        return made.takeError();
      lowered.push_back(std::move(*made));
      codegen::LoweredModule &l = lowered.back();
      summary.lowerSeconds += watch.lap();
      if (options.precision == PrecisionMode::AsTyped && !target.isHost() &&
          !summary.gain)
        summary.gain = estimatePrecisionGain(*optimised->module, target);

      codegen::KernelCompilerOptions compiler;
      compiler.jobs = options.jobs;
      compiler.cacheDir = options.cacheDir;
      compiler.nvrtcPath = options.nvrtcPath;
      compiler.hostCompiler = options.hostCompiler;
      std::string phase = "compiling " + std::to_string(l.kernels.size()) +
                          (l.kernels.size() == 1 ? " kernel" : " kernels") +
                          " for " + target.name;
      compiler.progress = [&](size_t done, size_t all) {
        return progress(phase, double(done) / double(std::max<size_t>(1, all)));
      };
      llvm::Expected<codegen::CompiledKernels> kernels =
          codegen::compileKernels(l.kernels, target, compiler);
      if (!kernels)
        return kernels.takeError();
      summary.kernelSeconds += watch.lap();
      // The host's compiler is the user's and not part of the bundle's
      // identity.
      if (!target.isHost() && compilers.empty())
        compilers = ", " + kernels->compiler;

      VariantSummary account;
      account.target = target.name;
      account.shapes = shapesText(**module);
      account.kernels = l.kernels.size();
      account.cacheHits = kernels->cacheHits;
      account.launches = countLaunches(*l.plan->blocks.front());

      bundle::VariantContent variant;
      variant.target = target.name;
      variant.precision = precisionName(options.precision).str();
      variant.shapes = shapeRanges(**module);
      numberBinaries(l, *kernels);
      variant.plan = std::move(l.plan);
      for (const codegen::LoweredWeight &w : l.weights) {
        llvm::ArrayRef<uint8_t> bytes = w.bytes();
        variant.weights.emplace_back(bytes.data(), bytes.size());
        account.weightBytes += int64_t(bytes.size());
      }
      for (std::string &b : kernels->binaries)
        variant.binaries.push_back(binaryContent(target, std::move(b)));
      for (codegen::KernelSource &k : l.kernels)
        variant.sources.push_back({k.name + ".cu", std::move(k.text)});
      variant.report = optimised->report + llvm::join(l.report, "\n");
      variant.leastDriver = kernels->leastDriver;
      builder.addVariant(std::move(variant));
      summary.variants.push_back(std::move(account));
    }
  }
  builder.producer += compilers;

  Stopwatch watch;
  if (!progress("writing " + bundlePath.str(), 0))
    return cancelled();
  if (llvm::Error e = writeBundle(builder, bundlePath))
    return e;
  uint64_t size = 0;
  if (!llvm::sys::fs::file_size(bundlePath, size))
    summary.bundleBytes = int64_t(size);
  summary.writeSeconds = watch.lap();
  return summary;
}

} // namespace dlc
