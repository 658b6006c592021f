// SPDX-License-Identifier: Apache-2.0
// dlc-eval: runs a model on the reference evaluator.
#include "codegen/CostModel.h"
#include "compiler/Version.h"
#include "compiler/onnx/OnnxImporter.h"
#include "compiler/tools/TensorFile.h"
#include "compiler/tools/TextCase.h"
#include "ir/Text.h"
#include "passes/Pipelines.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace dlc;
using reference::Precision;
using reference::Tensor;

namespace {

cl::OptionCategory category("dlc-eval options");
cl::opt<std::string> modelPath(cl::Positional,
                               cl::desc("<model.onnx|test.dlc>"),
                               cl::cat(category));
cl::list<std::string> inputTexts(
    "input", cl::value_desc("NAME=FILE"), cl::cat(category),
    cl::desc("values of an input: .npy, FILE.npz:KEY, or a TensorProto "
             "as .pb"));
cl::opt<std::string>
    saveFolder("save", cl::value_desc("folder"), cl::cat(category),
               cl::desc("write each output here as .npy, named after it"));
cl::opt<Precision> precision(
    "precision", cl::cat(category), cl::init(Precision::AsTyped),
    cl::desc("what floating-point values are kept in:"),
    cl::values(clEnumValN(Precision::AsTyped, "typed", "the model's types"),
               clEnumValN(Precision::Double, "double", "f64")));
cl::list<std::string> shapeTexts("shape", cl::value_desc("NAME=1x3x224x224"),
                                 cl::cat(category),
                                 cl::desc("shape of an input"));
cl::list<std::string> bindTexts("bind", cl::value_desc("NAME=VALUE"),
                                cl::cat(category),
                                cl::desc("make an input a constant"));
cl::opt<std::string> pipeline(
    "pipeline", cl::value_desc("simplify|default"), cl::cat(category),
    cl::desc("run these passes first: what they may not change is checked so"));
cl::opt<std::string>
    targetName("target", cl::init("sm_90a"), cl::cat(category),
               cl::desc("the GPU that the passes optimise for"));
cl::opt<std::string>
    passPrecision("pass-precision", cl::init("fp32"),
                  cl::value_desc("fp32|tf32|fp16|bf16"), cl::cat(category),
                  cl::desc("what the passes may lower values to"));
cl::opt<std::string> extractFolder(
    "extract", cl::value_desc("folder"), cl::cat(category),
    cl::desc("write a text module's inputs and expected values as .npy instead "
             "of running it"));
cl::opt<std::string> manifestPath(
    "manifest", cl::value_desc("file"), cl::cat(category),
    cl::desc(
        "many cases in one process; each line: model, folder for the "
        "outputs, NAME=FILE..., separated by tabs. Prints a line for each: "
        "ok, or error: and a sentence"));

Error fault(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

Expected<std::vector<Tensor>> readInputs(const Graph &graph,
                                         ArrayRef<std::string> texts) {
  std::map<std::string, std::string, std::less<>> files;
  for (const std::string &text : texts) {
    auto [name, file] = StringRef(text).rsplit('=');
    if (!files.emplace(name, file).second)
      return fault("input \"" + name + "\" is given twice");
  }
  std::vector<Tensor> inputs;
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    const Value &input = *graph.input(i);
    auto found = files.find(input.name);
    if (found == files.end())
      return fault("input \"" + input.name + "\" is missing: --input " +
                   input.name + "=FILE");
    Expected<Tensor> tensor = readTensor(found->second, input.type().element);
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(std::move(*tensor));
    files.erase(found);
  }
  if (!files.empty())
    return fault("the model has no input \"" + files.begin()->first + "\"");
  return inputs;
}

/// A text module, verified.
Expected<std::unique_ptr<Module>> loadText(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return fault(path + ": " + buffer.getError().message());
  Expected<std::unique_ptr<Module>> module =
      parse((*buffer)->getBuffer(), path);
  if (!module)
    return module.takeError();
  if (Error e = verify(**module))
    return e;
  return module;
}

Expected<std::unique_ptr<Module>> load(StringRef path) {
  if (path.ends_with(".dlc"))
    return loadText(path);
  ImportOptions options;
  for (const std::string &text : shapeTexts)
    if (Error e = options.addShape(text))
      return e;
  for (const std::string &text : bindTexts)
    if (Error e = options.addBinding(text))
      return e;
  Diagnostics diagnostics;
  Expected<std::unique_ptr<Module>> module =
      importOnnx(path, options, diagnostics);
  if (!module && diagnostics.hasErrors()) {
    consumeError(module.takeError());
    std::string all;
    for (const Diagnostic &d : diagnostics.errors())
      all += (all.empty() ? "" : "\nerror: ") + d.str();
    return fault(all);
  }
  return module;
}

/// The passes of --pipeline, with the prices of the real kernels.
Error optimise(Module &module) {
  PassManager manager;
  if (Error e = addPipeline(manager, pipeline))
    return e;
  Expected<Target> target = Target::parse(targetName);
  if (!target)
    return target.takeError();
  std::optional<PrecisionMode> mode = parsePrecisionMode(passPrecision);
  if (!mode)
    return fault("--pass-precision " + passPrecision +
                 ": expected fp32, tf32, fp16 or bf16");
  codegen::CostModel costs(module.symbols);
  PassContext context;
  context.target = &*target;
  context.costs = &costs;
  context.precision = *mode;
  return manager.run(module, context);
}

/// A model on given inputs; outputs go to `folder` unless it is empty.
Error runModel(StringRef path, ArrayRef<std::string> inputFiles,
               StringRef folder) {
  Expected<std::unique_ptr<Module>> module = load(path);
  if (!module)
    return module.takeError();
  if (!pipeline.empty())
    if (Error e = optimise(**module))
      return e;
  const Graph &graph = (*module)->main();
  Expected<std::vector<Tensor>> inputs = readInputs(graph, inputFiles);
  if (!inputs)
    return inputs.takeError();
  Expected<std::vector<Tensor>> outputs =
      reference::evaluate(graph, std::move(*inputs), precision);
  if (!outputs || folder.empty())
    return outputs.takeError();
  if (std::error_code error = sys::fs::create_directories(folder))
    return fault(folder + ": " + error.message());
  for (size_t i = 0; i < outputs->size(); i++)
    if (Error e =
            writeNpy(npyPath(folder, graph.outputNames[i]), (*outputs)[i]))
      return e;
  return Error::success();
}

/// A text module that carries its inputs and expected values.
Error runText(StringRef path) {
  Expected<std::unique_ptr<Module>> module = load(path);
  if (!module)
    return module.takeError();
  if (!pipeline.empty())
    if (Error e = optimise(**module))
      return e;
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return fault(path + ": " + buffer.getError().message());
  Expected<TextCase> test = TextCase::parse((*buffer)->getBuffer());
  if (!test)
    return fault(path + ": " + toString(test.takeError()));
  if (!extractFolder.empty())
    return extract(*test, (*module)->main(), extractFolder);
  if (Error e = check(*test, (*module)->main()))
    return fault(path + ": " + toString(std::move(e)));
  return Error::success();
}

/// Fails only when the manifest cannot be read; cases say how they went.
Error runManifest(StringRef path) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return fault(path + ": " + buffer.getError().message());
  for (StringRef line : split((*buffer)->getBuffer(), "\n")) {
    SmallVector<StringRef, 8> parts;
    line.split(parts, '\t', -1, /*KeepEmpty=*/false);
    if (parts.empty())
      continue;
    if (parts.size() < 2)
      return fault(path + ": expected a model and a folder, got " + line);
    std::vector<std::string> inputFiles;
    for (StringRef input : ArrayRef(parts).drop_front(2))
      inputFiles.push_back(input.str());
    if (Error e = runModel(parts[0], inputFiles, parts[1])) {
      std::string sentence = toString(std::move(e));
      outs() << "error: " << StringRef(sentence).split('\n').first << "\n";
    } else {
      outs() << "ok\n";
    }
    outs().flush();
  }
  return Error::success();
}

Error run() {
  if (!manifestPath.empty())
    return runManifest(manifestPath);
  if (modelPath.empty())
    return fault("no model: give a .onnx or a .dlc file");
  bool isCase = inputTexts.empty() && saveFolder.empty();
  if (isCase && StringRef(modelPath).ends_with(".dlc"))
    return runText(modelPath);
  return runModel(modelPath, inputTexts, saveFolder);
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  setBugReportMsg("this is a fault of dlc-eval: please report it with the "
                  "command and the model\n");
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(
      [](raw_ostream &os) { os << "dlc-eval " << version() << "\n"; });
  cl::ParseCommandLineOptions(
      argc, argv,
      "Runs an ONNX model on the reference evaluator, or a text module on the "
      "values in its comments.\n");
  if (Error e = run()) {
    WithColor::error(errs(), "dlc-eval") << toString(std::move(e)) << "\n";
    return 1;
  }
  return 0;
}
