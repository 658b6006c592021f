// SPDX-License-Identifier: Apache-2.0
// dlc-opt: passes on modules in text form, or as they come from ONNX.
#include "codegen/CostModel.h"
#include "compiler/Version.h"
#include "compiler/onnx/OnnxImporter.h"
#include "compiler/tools/CheckValues.h"
#include "ir/Text.h"
#include "passes/Pipelines.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace dlc;
namespace cl = llvm::cl;

static cl::OptionCategory category("dlc-opt options");
static cl::opt<std::string> inputFile(cl::Positional,
                                      cl::desc("<module.dlc|model.onnx>"),
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
static cl::opt<bool> twice("twice",
                           cl::desc("run each pass, and then everything, again "
                                    "and fail if that changes more"),
                           cl::cat(category));
static cl::opt<std::string>
    reproducerFolder("reproducer-dir",
                     cl::desc("where to write what made a pass fail; "
                              "default: where temporary files go"),
                     cl::value_desc("folder"), cl::cat(category));
static cl::opt<int64_t>
    elideAbove("elide-above",
               cl::desc("do not print constants of more elements"),
               cl::init(-1), cl::cat(category));
static cl::opt<bool>
    locations("locations", cl::desc("print which ONNX nodes an op came from"),
              cl::init(true), cl::cat(category));
static cl::opt<int64_t>
    maxBody("max-body", cl::desc("pretend that no kernel holds more ops"),
            cl::init(1 << 20), cl::cat(category));

static cl::opt<bool>
    check("check-values",
          cl::desc("run the module before and after on random inputs, on the "
                   "reference, and fail if they differ"),
          cl::cat(category));
static cl::opt<bool>
    kernelCosts("kernel-costs",
                cl::desc("ask the code generator for prices; otherwise every "
                         "kernel is taken"),
                cl::cat(category));
static cl::list<std::string> shapes("shape",
                                    cl::desc("shape of an input of an ONNX "
                                             "model"),
                                    cl::value_desc("NAME=1x3x224x224"),
                                    cl::cat(category));
static cl::list<std::string> bindings("bind",
                                      cl::desc("make an input of an ONNX model "
                                               "a constant"),
                                      cl::value_desc("NAME=VALUE"),
                                      cl::cat(category));

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

static llvm::Expected<std::unique_ptr<Module>> readOnnx() {
  ImportOptions options;
  for (const std::string &shape : shapes)
    if (llvm::Error error = options.addShape(shape))
      return error;
  for (const std::string &binding : bindings)
    if (llvm::Error error = options.addBinding(binding))
      return error;
  Diagnostics diagnostics;
  llvm::Expected<std::unique_ptr<Module>> module =
      importOnnx(inputFile, options, diagnostics);
  diagnostics.print(llvm::errs());
  return module;
}

static llvm::Expected<std::unique_ptr<Module>> read() {
  if (llvm::StringRef(inputFile).ends_with(".onnx"))
    return readOnnx();
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(inputFile);
  if (!buffer)
    return llvm::createStringError("dlc-opt: error: cannot read %s: %s",
                                   inputFile.c_str(),
                                   buffer.getError().message().c_str());
  return parse((*buffer)->getBuffer(), inputFile);
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
  PermissiveCosts permissive;
  codegen::CostModel kernels(module.symbols);
  std::unique_ptr<Module> before = check ? module.clone() : nullptr;
  PassContext context;
  context.target = &*target;
  if (kernelCosts)
    context.costs = &kernels;
  else
    context.costs = &permissive;
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

  PassManagerOptions run;
  run.disabled = disabled;
  run.stopAfter = stopAfter;
  run.explain = explainPass;
  run.twice = twice;
  llvm::SmallString<64> temporary;
  llvm::sys::path::system_temp_directory(true, temporary);
  run.reproducerFolder =
      reproducerFolder.empty() ? temporary.str().str() : reproducerFolder;
  run.reproducerFlags = "--target=" + targetName;
  if (kernelCosts)
    run.reproducerFlags += " --kernel-costs";
  if (printAfter)
    run.afterPass = [](llvm::StringRef pass, const Module &module) {
      llvm::errs() << "// after " << pass << "\n";
      print(module, llvm::errs());
    };
  if (llvm::Error error = manager.run(module, context, run))
    return error;
  if (timing)
    for (const PassManager::Timing &time : manager.timings())
      llvm::errs() << llvm::format("%8.1f ms  %2u x  ", time.seconds * 1e3,
                                   time.runs)
                   << time.pass << "\n";
  if (check)
    if (llvm::Error error = checkValues(*before, module, precision, 1))
      return error;
  if (twice) {
    context.explain = nullptr;
    run.afterPass = nullptr;
    // Weights are left out: what changes them changes their op.
    PrintOptions options;
    options.elideAbove = 64;
    std::string first = print(module, options);
    if (llvm::Error error = manager.run(module, context, run))
      return error;
    if (print(module, options) != first) {
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
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << "dlc-opt " << version() << "\n"; });
  std::string passText = passHelp(); // the option keeps a reference
  cl::extrahelp help(passText);
  cl::ParseCommandLineOptions(argc, argv,
                              "dlc-opt: passes on modules in text form\n\n"
                              "  dlc-opt --canonicalize --fuse-vertical x.dlc\n"
                              "  dlc-opt --pipeline=default x.dlc\n");
  llvm::Expected<std::unique_ptr<Module>> module = read();
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
  options.locations = locations;
  print(**module, output.os(), options);
  output.keep();
  return 0;
}
