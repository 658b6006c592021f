// SPDX-License-Identifier: Apache-2.0
// dlc: an ONNX model in, a bundle out.
#include "compiler/Compiler.h"
#include "compiler/Version.h"
#include "compiler/tools/Verify.h"
#include "ir/Check.h"
#include "runtime/tools/Counted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/WithColor.h"
#include <atomic>

using namespace llvm;
using namespace dlc;
using tools::counted;

namespace {

cl::OptionCategory category("Options of dlc");
cl::SubCommand check("check",
                     "list everything that keeps a model from compiling");
cl::SubCommand verifyCommand(
    "verify", "compare a bundle with the reference, on random or given inputs");

// A list, so that a second one gets a sentence of ours.
cl::list<std::string> models(cl::Positional, cl::desc("<model.onnx>"),
                             cl::cat(category));
cl::opt<std::string> output(
    "o",
    cl::desc("where the bundle goes; default: the model's name with .bundle"),
    cl::value_desc("file"), cl::cat(category));
cl::list<std::string>
    targets("target", cl::CommaSeparated, cl::value_desc("name,..."),
            cl::cat(category),
            cl::desc("sm_75 ... sm_120, portable, host; default: this "
                     "machine's GPU, or sm_90a, with portable"));
cl::opt<std::string>
    precision("precision", cl::init("fp32"),
              cl::value_desc("fp32|tf32|fp16|bf16"), cl::cat(category),
              cl::desc("what large products compute in; default: fp32, which "
                       "keeps the model's own types and estimates the others' "
                       "gain"));
cl::list<std::string>
    shapeTexts("shape", cl::value_desc("NAME=1x3x224x224"), cl::cat(category),
               cl::desc("shape of an input: sizes, ranges as 1..8, or names, "
                        "or scalar; a "
                        "second one for the same input adds a specialisation"));
cl::list<std::string> bindTexts("bind", cl::value_desc("NAME=VALUE"),
                                cl::cat(category),
                                cl::desc("make an input a constant"));
cl::list<std::string>
    stateTexts("state", cl::value_desc("INPUT=OUTPUT"), cl::cat(category),
               cl::desc("the session keeps this output and gives it to this "
                        "input in the next run; zeros at first"));
cl::list<std::string>
    keptNames("keep-input", cl::CommaSeparated, cl::value_desc("NAME,..."),
              cl::cat(category),
              cl::desc("keep an input that has a value in the model; otherwise "
                       "it is that constant"));
cl::opt<std::string>
    emitText("emit", cl::value_desc("import|ir|cuda|plan"), cl::cat(category),
             cl::desc("print instead of writing a bundle: the model as read, "
                      "after the passes, its kernels, its plan"));
cl::list<std::string> disabled("disable-pass", cl::CommaSeparated,
                               cl::value_desc("name,..."), cl::cat(category),
                               cl::desc("leave passes out"));
cl::opt<std::string>
    explain("explain", cl::value_desc("pass"), cl::cat(category),
            cl::desc("say why this pass declined where it did"));
cl::opt<std::string> cacheDir(
    "cache-dir", cl::value_desc("folder"), cl::cat(category),
    cl::desc("compiled kernels are kept here; default: $XDG_CACHE_HOME/dlc, "
             "~/.cache/dlc where that is not set"));
cl::opt<bool> noCache("no-cache", cl::cat(category),
                      cl::desc("compile every kernel anew"));
cl::opt<unsigned>
    jobs("j", cl::init(0), cl::Prefix, cl::value_desc("n"), cl::cat(category),
         cl::desc("threads that compile kernels; default: one per core"));
cl::opt<bool> quiet("quiet", cl::cat(category), cl::desc("print errors alone"));
cl::alias quietShort("q", cl::aliasopt(quiet), cl::desc("short for --quiet"),
                     cl::cat(category));
cl::opt<bool>
    verifyAfter("verify", cl::cat(category),
                cl::desc("compare the new bundle with the reference"));

cl::opt<std::string> checkModel(cl::Positional, cl::desc("<model.onnx>"),
                                cl::Required, cl::sub(check),
                                cl::cat(category));
cl::list<std::string> checkShapes("shape", cl::value_desc("NAME=1x3x224x224"),
                                  cl::sub(check), cl::cat(category),
                                  cl::desc("as for dlc"));
cl::list<std::string> checkBinds("bind", cl::value_desc("NAME=VALUE"),
                                 cl::sub(check), cl::cat(category),
                                 cl::desc("as for dlc"));

cl::list<std::string> checkKept("keep-input", cl::CommaSeparated,
                                cl::value_desc("NAME,..."), cl::sub(check),
                                cl::cat(category), cl::desc("as for dlc"));

cl::opt<std::string> verifyModel(cl::Positional, cl::desc("<model.onnx>"),
                                 cl::Required, cl::sub(verifyCommand),
                                 cl::cat(category));
cl::opt<std::string> verifyBundle(cl::Positional, cl::desc("<model.bundle>"),
                                  cl::Required, cl::sub(verifyCommand),
                                  cl::cat(category));
cl::list<std::string>
    verifyInputs("input", cl::value_desc("NAME=FILE"), cl::sub(verifyCommand),
                 cl::cat(category),
                 cl::desc("input values: .npy, FILE.npz:KEY, or a "
                          "TensorProto as .pb; random ones otherwise"));
cl::list<std::string>
    verifyShapes("shape", cl::value_desc("NAME=1x3x224x224"),
                 cl::sub(verifyCommand), cl::cat(category),
                 cl::desc("shape to run, for inputs whose shape is open"));
cl::list<std::string> verifyBinds("bind", cl::value_desc("NAME=VALUE"),
                                  cl::sub(verifyCommand), cl::cat(category),
                                  cl::desc("as when the bundle was made"));
cl::list<std::string> verifyStates("state", cl::value_desc("INPUT=OUTPUT"),
                                   cl::sub(verifyCommand), cl::cat(category),
                                   cl::desc("as when the bundle was made"));
cl::list<std::string> verifyKept("keep-input", cl::CommaSeparated,
                                 cl::value_desc("NAME,..."),
                                 cl::sub(verifyCommand), cl::cat(category),
                                 cl::desc("as when the bundle was made"));
cl::opt<std::string> verifyDevice(
    "device", cl::init("auto"), cl::value_desc("auto|cuda|host"),
    cl::sub(verifyCommand), cl::cat(category),
    cl::desc("what runs the bundle; auto is a GPU, and the host, whose code is "
             "loaded from the bundle, only by name"));
cl::opt<unsigned> verifySeed("seed", cl::init(1), cl::sub(verifyCommand),
                             cl::cat(category),
                             cl::desc("of the random inputs; default: 1"));

int fail(const Twine &message) {
  WithColor::error(errs(), "dlc") << message << "\n";
  return 1;
}
int fail(Error e) { return fail(toString(std::move(e))); }

/// One line per problem; returns whether there were any.
bool print(const Diagnostics &diagnostics) {
  if (!quiet || !explain.empty())
    for (const Diagnostic &d : diagnostics.notes())
      WithColor::note(errs()) << d.str() << "\n";
  for (const Diagnostic &d : diagnostics.errors())
    WithColor::error(errs(), "dlc") << d.str() << "\n";
  return diagnostics.hasErrors();
}

std::vector<std::string> list(const cl::list<std::string> &texts) {
  return {texts.begin(), texts.end()};
}

/// The one specialisation that commands on a single model take.
Expected<ImportOptions> importOptions(const cl::list<std::string> &shapes,
                                      const cl::list<std::string> &binds,
                                      const cl::list<std::string> &kept) {
  Expected<std::vector<ImportOptions>> all =
      specialisations(list(shapes), list(binds), list(kept));
  if (!all)
    return all.takeError();
  if (all->size() > 1)
    return createStringError(
        "--shape names an input twice: expected one shape for each input");
  return std::move(all->front());
}

std::string defaultCacheDir() {
  if (std::optional<std::string> xdg = sys::Process::GetEnv("XDG_CACHE_HOME");
      xdg && !xdg->empty())
    return *xdg + "/dlc";
  SmallString<128> dir;
  return sys::path::cache_directory(dir) ? (dir + "/dlc").str() : "";
}

/// The folder of libnvrtc: what DLC_NVRTC names, or that of the toolkit which
/// CUDA_PATH names or the build was made with; empty: the usual places.
std::string nvrtcFolder() {
  if (std::optional<std::string> folder = sys::Process::GetEnv("DLC_NVRTC"))
    return *folder;
  for (const std::string &root :
       {sys::Process::GetEnv("CUDA_PATH").value_or(""),
        std::string(DLC_CUDA_ROOT)})
    for (const char *sub : {"/lib64", "/lib"}) {
      std::error_code error;
      for (sys::fs::directory_iterator it(root + sub, error), end;
           !root.empty() && it != end && !error; it.increment(error))
        if (sys::path::filename(it->path()).starts_with("libnvrtc.so"))
          return root + sub;
    }
  return "";
}

/// A line that is rewritten in place on a terminal and stays silent elsewhere
/// but for the start of each phase.
class ProgressLine {
public:
  bool operator()(StringRef phase, double fraction) {
    if (quiet)
      return true;
    if (terminal) {
      errs() << "\r\033[K" << phase << formatv(" {0,3}%", int(fraction * 100));
      open = true;
    } else if (phase != last) {
      errs() << phase << "\n";
    }
    last = phase.str();
    return true;
  }
  ~ProgressLine() { clear(); }
  void clear() {
    if (open)
      errs() << "\r\033[K";
    open = false;
  }

private:
  bool terminal = sys::Process::StandardErrIsDisplayed(), open = false;
  std::string last;
};

/// While this lives, the first request to end (Ctrl-C, SIGTERM) lets what runs
/// come to a halt, which leaves no files behind; the second ends at once.
class Interruptible {
public:
  Interruptible() {
    sys::SetInterruptFunction([] { isAsked = true; });
  }
  ~Interruptible() { sys::SetInterruptFunction(nullptr); }
  static bool asked() { return isAsked; }

private:
  static std::atomic<bool> isAsked;
};
std::atomic<bool> Interruptible::isAsked = false;

int runCheck() {
  Expected<ImportOptions> options =
      importOptions(checkShapes, checkBinds, checkKept);
  if (!options)
    return fail(options.takeError());
  Diagnostics diagnostics;
  Expected<std::unique_ptr<Module>> module =
      loadModel(checkModel, *options, diagnostics);
  bool blocked = print(diagnostics);
  if (!module) {
    std::string rest = toString(module.takeError());
    if (!blocked)
      return fail(rest);
    errs() << checkModel << ": "
           << counted(diagnostics.errors().size(), "problem") << "\n";
    return 1;
  }
  const Graph &graph = (*module)->main();
  outs() << checkModel << ": is taken (" << counted(graph.ops().size(), "op")
         << ", " << counted(graph.numInputs(), "input") << ", "
         << counted(graph.outputs().size(), "output") << ")\n";
  return 0;
}

int runVerify() {
  VerifyOptions options;
  Expected<ImportOptions> import =
      importOptions(verifyShapes, verifyBinds, verifyKept);
  if (!import)
    return fail(import.takeError());
  options.import = std::move(*import);
  Expected<std::vector<StateBinding>> states = parseStates(list(verifyStates));
  if (!states)
    return fail(states.takeError());
  options.states = std::move(*states);
  options.inputs.assign(verifyInputs.begin(), verifyInputs.end());
  options.device = verifyDevice;
  options.seed = verifySeed;
  Diagnostics diagnostics;
  Expected<bool> same = verifyBundleAgainstModel(verifyModel, verifyBundle,
                                                 options, diagnostics, outs());
  bool blocked = print(diagnostics);
  if (!same) {
    std::string rest = toString(same.takeError());
    return blocked ? 1 : fail(rest);
  }
  return *same ? 0 : 1;
}

std::string gainText(double factor, const char *atMost) {
  return factor < 1.05
             ? "no faster"
             : formatv("{0}{1:f1} times as fast", atMost, factor).str();
}

void report(const CompileSummary &summary, StringRef path) {
  for (const VariantSummary &v : summary.variants)
    outs() << formatv("{0}{1}: {2} ({3} from the cache), {4}, weights {5:f1} "
                      "MB\n",
                      v.target, v.shapes.empty() ? "" : ", " + v.shapes,
                      counted(v.kernels, "kernel"), v.cacheHits,
                      counted(v.launches, "launch", "launches"),
                      v.weightBytes / 1e6);
  if (summary.gain)
    outs() << formatv("estimate for {0}: {1} with --precision=tf32, {2} with "
                      "--precision=fp16\n",
                      summary.gain->target, gainText(summary.gain->tf32, ""),
                      gainText(summary.gain->fp16, "up to "));
  outs() << formatv("{0}: {1:f1} MB; read {2:f2} s, passes {3:f2} s, plan "
                    "{4:f2} s, kernels {5:f2} s, written in {6:f2} s\n",
                    path, summary.bundleBytes / 1e6, summary.importSeconds,
                    summary.passSeconds, summary.lowerSeconds,
                    summary.kernelSeconds, summary.writeSeconds);
}

int runCompile() {
  if (models.size() > 1)
    return fail("expected one model, found " + Twine(models.size()) + ": " +
                join(models, ", ") +
                ("; dlc model.onnx -o model.bundle compiles one, dlc --help "
                 "lists the commands"));
  if (models.empty())
    return fail("no model given: expected dlc model.onnx -o model.bundle (dlc "
                "--help says more)");
  const std::string &model = models.front();
  CompileOptions options;
  Expected<std::vector<ImportOptions>> all =
      specialisations(list(shapeTexts), list(bindTexts), list(keptNames));
  if (!all)
    return fail(all.takeError());
  options.specialisations = std::move(*all);
  Expected<std::vector<StateBinding>> states = parseStates(list(stateTexts));
  if (!states)
    return fail(states.takeError());
  options.states = std::move(*states);
  std::optional<PrecisionMode> p = parsePrecisionMode(precision);
  if (!p)
    return fail("--precision=" + precision +
                " is not known: expected fp32, tf32, fp16 or bf16");
  options.precision = *p;
  options.targets.assign(targets.begin(), targets.end());
  options.disabledPasses.assign(disabled.begin(), disabled.end());
  options.explainPass = explain;
  options.cacheDir = noCache            ? ""
                     : cacheDir.empty() ? defaultCacheDir()
                                        : cacheDir;
  options.jobs = jobs;
  if (std::optional<std::string> cxx = sys::Process::GetEnv("CXX"))
    options.hostCompiler = *cxx;
  options.nvrtcPath = nvrtcFolder();
  SmallString<64> temporary;
  sys::path::system_temp_directory(true, temporary);
  options.reproducerDir = temporary.str().str();
  Diagnostics diagnostics;

  if (!emitText.empty()) {
    Emit what;
    if (emitText == "import")
      what = Emit::Imported;
    else if (emitText == "ir")
      what = Emit::IR;
    else if (emitText == "cuda")
      what = Emit::Cuda;
    else if (emitText == "plan")
      what = Emit::Plan;
    else
      return fail("--emit=" + emitText +
                  " is not known: expected import, ir, cuda or plan");
    Error e = emit(model, what, options, diagnostics, outs());
    bool blocked = print(diagnostics);
    if (!e)
      return blocked;
    std::string rest = toString(std::move(e));
    return blocked ? 1 : fail(rest);
  }

  std::string path = output;
  if (path.empty()) {
    SmallString<128> p(model);
    sys::path::replace_extension(p, "bundle");
    path = p.str().str();
  }
  ProgressLine progress;
  options.progress = [&](StringRef phase, double f) {
    return progress(phase, f) && !Interruptible::asked();
  };
  Expected<CompileSummary> summary = [&] {
    Interruptible interruptible;
    return compile(model, path, options, diagnostics);
  }();
  progress.clear();
  bool blocked = print(diagnostics);
  if (!summary) {
    std::string rest = toString(summary.takeError());
    return blocked ? 1 : fail(Interruptible::asked() ? "cancelled" : rest);
  }
  if (!quiet)
    report(*summary, path);
  if (!verifyAfter)
    return 0;
  VerifyOptions v;
  v.import = options.specialisations.front();
  v.states = options.states;
  v.isOurs = true;
  Expected<bool> same =
      verifyBundleAgainstModel(model, path, v, diagnostics, outs());
  if (!same)
    return fail(same.takeError());
  return *same ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  setBugReportMsg("this is a fault of dlc: please report it with the command "
                  "and the model\n");
  cl::HideUnrelatedOptions(category);
  for (cl::SubCommand *s : {&check, &verifyCommand})
    cl::HideUnrelatedOptions(category, *s);
  cl::SetVersionPrinter(
      [](raw_ostream &os) { os << "dlc " << version() << "\n"; });
  cl::ParseCommandLineOptions(
      argc, argv,
      "compiles an ONNX model into a bundle of GPU kernels made for it\n\n"
      "  dlc model.onnx -o model.bundle            compile; needs no GPU\n"
      "  dlc model.onnx --precision=fp16           faster, half precision\n"
      "  dlc model.onnx --target=host              a bundle that a machine "
      "without a GPU runs\n"
      "  dlc check model.onnx                      what keeps the model from "
      "compiling\n"
      "  dlc verify model.onnx model.bundle        compare with the reference\n"
      "  dlc-run model.bundle --input x=image.npy  run it\n");
  auto command = [&] {
    std::string text = "this is a fault of dlc, not of the model; it came of:";
    for (const char *argument : ArrayRef(argv, argc))
      text += " " + std::string(argument);
    return text;
  };
  CheckScope scope(command);
  if (check)
    return runCheck();
  if (verifyCommand)
    return runVerify();
  return runCompile();
}
