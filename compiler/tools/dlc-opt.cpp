// SPDX-License-Identifier: Apache-2.0
// dlc-opt: passes on modules in text form.
#include "ir/Text.h"
#include "passes/Pipelines.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace dlc;
namespace cl = llvm::cl;

static cl::OptionCategory category("dlc-opt options");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<module.dlc>"),
                                      cl::init("-"), cl::cat(category));
static cl::opt<std::string>
    outputFile("o", cl::desc("where to write; - is the terminal"),
               cl::init("-"), cl::cat(category));
static cl::opt<std::string>
    pipeline("pipeline", cl::desc("run a list of passes: simplify or default"),
             cl::cat(category));
static cl::opt<std::string> targetName("target",
                                       cl::desc("the GPU to optimise for"),
                                       cl::init("sm_90a"), cl::cat(category));
static cl::opt<std::string>
    precision("precision",
              cl::desc("fp32 (as the model says), tf32, fp16, bf16"),
              cl::init("fp32"), cl::cat(category));
static cl::opt<std::string>
    explainPass("explain", cl::desc("say what this pass declined, and why"),
                cl::value_desc("pass"), cl::cat(category));
static cl::list<std::string> disabled("disable-pass",
                                      cl::desc("leave a pass out"),
                                      cl::value_desc("pass"),
                                      cl::cat(category));
static cl::opt<std::string> stopAfter("stop-after",
                                      cl::desc("the last pass to run"),
                                      cl::value_desc("pass"),
                                      cl::cat(category));
static cl::opt<bool>
    printAfter("print-after",
               cl::desc("print the module after each pass that changed it"),
               cl::cat(category));
static cl::opt<bool> timing("timing", cl::desc("print how long each pass took"),
                            cl::cat(category));
static cl::opt<bool>
    twice("twice", cl::desc("run everything again and fail if it changes more"),
          cl::cat(category));
static cl::opt<std::string>
    reproducerFolder("reproducer-dir",
                     cl::desc("where to write what made a pass fail"),
                     cl::value_desc("folder"), cl::cat(category));
static cl::opt<int64_t>
    elideAbove("elide-above",
               cl::desc("do not print constants of more elements"),
               cl::init(-1), cl::cat(category));
static cl::opt<int64_t>
    maxBody("max-body", cl::desc("pretend that no kernel holds more ops"),
            cl::init(1 << 20), cl::cat(category));

namespace {
/// Stands for kernels where there are none: it takes every fusion, prices each
/// kernel the same, and wants channels last for half precision.
class PermissiveCosts : public CostModel {
public:
  llvm::Expected<Estimate> price(const FusionOp &fusion,
                                 const Target &target) const override {
    int64_t ops = 0;
    for (Op &op : fusion.body()) {
      (void)op;
      ++ops;
    }
    if (ops > maxBody)
      return llvm::createStringError(
          "no kernel holds more than %lld ops, the fusion has %lld",
          static_cast<long long>(maxBody), static_cast<long long>(ops));
    return Estimate{2 + 0.01 * double(ops), 0, 0};
  }
  Layout preferredLayout(const Op &op, int operand,
                         const Target &target) const override {
    const TensorType &type =
        operand < 0 ? op.result()->type() : op.operand(operand)->type();
    bool half = type.element == DataType::F16 || type.element == DataType::BF16;
    return half && op.kind() != OpKind::MatMul
               ? Layout::channelsLast(type.rank())
               : Layout::rowMajor();
  }
};
} // namespace

static int fail(const llvm::Twine &message) {
  llvm::errs() << "dlc-opt: error: " << message << "\n";
  return 1;
}

// Passes run in the order in which their flags stand, which cl does not keep.
static std::vector<llvm::StringRef> takePassFlags(int &argc, char **argv) {
  std::vector<llvm::StringRef> passes;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef flag = argv[i];
    if (flag.consume_front("--") && findPass(flag))
      passes.push_back(flag);
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  argv[argc] = nullptr;
  return passes;
}

static std::string passHelp() {
  std::string text = "\nPasses, in the order of their flags:\n\n";
  for (const Pass &pass : allPasses())
    text += "  --" + pass.name.str() + "\n        " + pass.summary.str() + "\n";
  return text;
}

static llvm::Error optimise(Module &module,
                            llvm::ArrayRef<llvm::StringRef> passes) {
  PassManager manager;
  for (llvm::StringRef pass : passes)
    if (llvm::Error error = manager.add(pass))
      return error;
  if (!pipeline.empty())
    if (llvm::Error error = addPipeline(manager, pipeline))
      return error;

  llvm::Expected<Target> target = Target::parse(targetName);
  if (!target)
    return target.takeError();
  std::optional<PrecisionMode> mode = parsePrecisionMode(precision);
  if (!mode)
    return llvm::createStringError(
        "unknown precision '%s', expected fp32, tf32, fp16 or bf16",
        precision.c_str());
  PermissiveCosts costs;
  PassContext context;
  context.target = &*target;
  context.costs = &costs;
  context.precision = *mode;
  context.report = [](const Op &op, llvm::StringRef text) {
    llvm::errs() << "remark: " << op.mnemonic() << " (" << op.location().str()
                 << "): " << text << "\n";
  };
  if (!explainPass.empty())
    context.explain = [](const Op &op, llvm::StringRef reason) {
      llvm::errs() << explainPass << ": " << op.mnemonic() << " ("
                   << op.location().str() << "): " << reason << "\n";
    };

  PassManagerOptions options;
  options.disabled = disabled;
  options.stopAfter = stopAfter;
  options.explain = explainPass;
  options.reproducerFolder = reproducerFolder;
  if (printAfter)
    options.afterPass = [](llvm::StringRef pass, const Module &module) {
      llvm::errs() << "// after " << pass << "\n";
      print(module, llvm::errs());
    };
  if (llvm::Error error = manager.run(module, context, options))
    return error;
  if (timing)
    for (const PassManager::Timing &time : manager.timings())
      llvm::errs() << llvm::format("%8.1f ms  %2u x  ", time.seconds * 1e3,
                                   time.runs)
                   << time.pass << "\n";
  if (twice) {
    context.explain = nullptr;
    options.afterPass = nullptr;
    std::string first = print(module);
    if (llvm::Error error = manager.run(module, context, options))
      return error;
    if (print(module) != first) {
      print(module, llvm::errs());
      return llvm::createStringError(
          "the second run changed the result of the first");
    }
  }
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  std::vector<llvm::StringRef> passes = takePassFlags(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::extrahelp help(passHelp());
  cl::ParseCommandLineOptions(argc, argv,
                              "dlc-opt: passes on modules in text form\n\n"
                              "  dlc-opt --canonicalize --fuse-vertical x.dlc\n"
                              "  dlc-opt --pipeline=default x.dlc\n");
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(inputFile);
  if (!buffer)
    return fail("cannot read " + inputFile + ": " +
                buffer.getError().message());
  llvm::Expected<std::unique_ptr<Module>> module =
      parse((*buffer)->getBuffer(), inputFile);
  if (!module) {
    llvm::errs() << llvm::toString(module.takeError()) << "\n";
    return 1;
  }
  if (llvm::Error error = verify(**module))
    return fail(llvm::toString(std::move(error)));
  if (llvm::Error error = optimise(**module, passes))
    return fail(llvm::toString(std::move(error)));

  std::error_code error;
  llvm::ToolOutputFile output(outputFile, error, llvm::sys::fs::OF_Text);
  if (error)
    return fail("cannot write " + outputFile + ": " + error.message());
  PrintOptions options;
  if (elideAbove >= 0)
    options.elideAbove = elideAbove;
  options.locations = false;
  print(**module, output.os(), options);
  output.keep();
  return 0;
}
