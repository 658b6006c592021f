// SPDX-License-Identifier: Apache-2.0
// Lowers a module in text form, prints what came out, compiles it, and runs it
// on the emulator or a GPU beside the reference. For tests.
#include "codegen/KernelCompiler.h"
#include "codegen/Lowering.h"
#include "compiler/Compare.h"
#include "compiler/PlanText.h"
#include "dlc/runtime.h"
#include "ir/Text.h"
#include "ir/reference/Evaluator.h"
#include "runtime/bundle/BundleBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <random>

using namespace dlc;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::desc("<module.dlc>"),
                                 cl::init("-"));
static cl::opt<std::string> targetName("target", cl::value_desc("name"),
                                       cl::desc("lower for it; default: "
                                                "sm_90a"),
                                       cl::init("sm_90a"));
static cl::list<std::string> printWhat("print", cl::CommaSeparated,
                                       cl::value_desc("cuda,plan,report"),
                                       cl::desc("what was made, as text"));
static cl::list<std::string>
    compileFor("compile", cl::CommaSeparated, cl::value_desc("name,..."),
               cl::desc("targets to compile for; `same`: the target's"));
static cl::opt<bool> run("run",
                         cl::desc("with random input, beside the reference"));
static cl::opt<bool> onGpu("gpu", cl::desc("on the GPU, else on the emulator"));
static cl::opt<std::string> nvrtcPath("nvrtc", cl::value_desc("folder"),
                                      cl::desc("where libnvrtc is"));
static cl::list<std::string> symbolValues("symbol", cl::value_desc("N=3"),
                                          cl::desc("value of a symbol to run "
                                                   "with"));
static cl::opt<unsigned> seed("seed", cl::init(1),
                              cl::desc("of the random inputs; default: 1"));
static cl::opt<uint64_t>
    adversarial("adversarial", cl::init(0),
                cl::desc("seed of a hostile order of threads and copies, with "
                         "every access checked; default: none"));
static cl::opt<double>
    tolerance("tolerance", cl::init(1e-5),
              cl::desc("of the comparison (docs/testing.md); default: 1e-5"));
static cl::opt<double> low("low", cl::init(-2),
                           cl::desc("least random value; default: -2")),
    high("high", cl::init(2), cl::desc("largest random value; default: 2"));
static cl::opt<std::string>
    cacheDir("cache-dir", cl::value_desc("folder"),
             cl::desc("default: $XDG_CACHE_HOME/dlc, if that is set"));

static int fail(const llvm::Twine &sentence) {
  llvm::errs() << "dlc-codegen: " << sentence << "\n";
  return 1;
}

static reference::Tensor randomTensor(const TensorType &type,
                                      std::mt19937_64 &random) {
  std::vector<int64_t> shape;
  for (const Dim &d : type.shape) {
    std::optional<int64_t> v =
        d.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
          for (llvm::StringRef s : symbolValues)
            if (int64_t n; s.split('=').first == name &&
                           !s.split('=').second.getAsInteger(10, n))
              return n;
          return std::nullopt;
        });
    shape.push_back(v.value_or(3));
  }
  reference::Tensor t(type.element, shape);
  std::uniform_real_distribution<double> real(low, high);
  for (int64_t i = 0; i < t.elements(); i++)
    if (isFloat(type.element))
      t.setFloat(i, real(random));
    else if (type.element == DataType::Bool)
      t.setInt(i, random() & 1);
    else
      t.setInt(i, int64_t(std::floor(real(random))));
  return t;
}

static int runBeside(const Module &module, codegen::LoweredModule &lowered,
                     codegen::CompiledKernels compiled) {
  bundle::VariantContent variant;
  variant.target = onGpu ? std::string(targetName) : "host";
  variant.precision = "fp32";
  for (auto &w : lowered.weights)
    variant.weights.push_back({w.bytes().data(), w.bytes().size()});
  for (std::string &bytes : compiled.binaries) {
    bundle::BinaryContent binary;
    binary.kind = !onGpu                     ? bundle::BinaryKind::HostObject
                  : targetName == "portable" ? bundle::BinaryKind::Ptx
                                             : bundle::BinaryKind::Cubin;
    binary.arch = onGpu ? std::string(targetName) : "x86_64";
    binary.bytes = std::move(bytes);
    variant.binaries.push_back(std::move(binary));
  }
  for (auto &k : lowered.kernels)
    variant.sources.push_back({k.name + ".cu", k.text});
  for (size_t i = 0; i < lowered.plan->kernels.size(); i++)
    lowered.plan->kernels[i]->binary = compiled.binaryOf[i];
  variant.plan = std::move(lowered.plan);
  bundle::BundleBuilder builder;
  builder.producer = "dlc-codegen";
  builder.addVariant(std::move(variant));
  std::vector<uint8_t> bytes;
  builder.write([&](std::span<const uint8_t> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return true;
  });

  auto check = [](dlc_status s) {
    if (s == DLC_OK)
      return;
    fail(dlc_last_error());
    exit(1);
  };
  dlc_bundle *opened;
  check(dlc_bundle_open_memory(bytes.data(), bytes.size(), &opened));
  dlc_session_options options;
  dlc_session_options_init(&options);
  options.device = onGpu ? DLC_DEVICE_CUDA : DLC_DEVICE_HOST;
  options.adversarial_seed = adversarial;
  dlc_session *session;
  check(dlc_session_create(opened, &options, &session));

  std::mt19937_64 random(seed);
  const Graph &graph = module.main();
  std::vector<reference::Tensor> inputs;
  for (unsigned i = 0; i < graph.numInputs(); i++)
    inputs.push_back(randomTensor(graph.input(i)->type(), random));
  for (size_t i = 0; i < inputs.size(); i++) {
    dlc_port port;
    check(dlc_session_input_port(session, i, &port));
    dlc_tensor t{};
    t.data = inputs[i].data();
    t.bytes = uint64_t(inputs[i].byteSize());
    t.type = port.type;
    t.memory = DLC_MEMORY_HOST;
    t.rank = uint32_t(inputs[i].rank());
    for (int64_t d = 0; d < inputs[i].rank(); d++)
      t.dims[d] = inputs[i].shape()[d];
    check(dlc_session_bind_input(session, i, &t));
  }
  check(dlc_session_run(session));
  check(dlc_session_wait(session));

  llvm::Expected<std::vector<reference::Tensor>> expected =
      reference::evaluate(graph, inputs, reference::Precision::Double);
  if (!expected)
    return fail("reference: " + llvm::toString(expected.takeError()));
  int bad = 0;
  for (size_t i = 0; i < expected->size(); i++) {
    const reference::Tensor &ref = (*expected)[i];
    const TensorType &type = graph.outputs()[i]->type();
    dlc_tensor t{};
    check(dlc_session_output(session, i, &t));
    std::vector<uint8_t> host(t.bytes);
    check(dlc_session_copy_to_host(session, host.data(), &t));
    std::vector<int64_t> dims(t.dims, t.dims + t.rank);
    if (dims != ref.shape()) {
      bad++;
      fail("output " + llvm::Twine(i) + ": a different shape");
      continue;
    }
    std::vector<double> out(ref.elements()), want(ref.elements());
    for (int64_t e = 0; e < ref.elements(); e++) {
      bool real = isFloat(type.element);
      out[e] = real ? loadFloat(type.element, host.data(), e)
                    : double(loadInt(type.element, host.data(), e));
      want[e] = isFloat(ref.element()) ? ref.floatAt(e) : double(ref.intAt(e));
    }
    Comparison c =
        compare(out, want, isFloat(type.element) ? double(tolerance) : 1e-12);
    llvm::outs() << "output " << i << ": " << (c.same ? "same" : "DIFFERENT")
                 << ", " << c.str() << "\n";
    if (!c.same && c.worstIndex >= 0)
      llvm::outs() << "  at " << c.worstIndex << ": " << out[c.worstIndex]
                   << ", expected " << want[c.worstIndex] << "\n";
    bad += !c.same;
  }
  dlc_session_destroy(session);
  dlc_bundle_close(opened);
  return bad != 0;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv,
                              "lowers a module in text form, compiles and runs "
                              "it, for tests\n");
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(file);
  if (!buffer)
    return fail("cannot read " + file);
  llvm::Expected<std::unique_ptr<Module>> module =
      parse((*buffer)->getBuffer(), file);
  if (!module)
    return fail(llvm::toString(module.takeError()));
  if (llvm::Error e = verify(**module))
    return fail(llvm::toString(std::move(e)));
  llvm::Expected<Target> target = Target::parse(targetName);
  if (!target)
    return fail(llvm::toString(target.takeError()));
  llvm::Expected<codegen::LoweredModule> lowered =
      codegen::lower(**module, *target);
  if (!lowered)
    return fail(llvm::toString(lowered.takeError()));
  for (llvm::StringRef what : printWhat) {
    if (what == "cuda")
      for (const codegen::KernelSource &k : lowered->kernels)
        llvm::outs() << k.text << "\n";
    else if (what == "plan")
      printPlan(*lowered->plan, llvm::outs());
    else if (what == "report")
      for (const std::string &line : lowered->report)
        llvm::outs() << line << "\n";
  }
  codegen::KernelCompilerOptions options;
  options.jobs = 1;
  options.cacheDir = cacheDir;
  options.nvrtcPath = nvrtcPath;
  // As dlc: what the tests' settings name.
  if (options.nvrtcPath.empty())
    if (const char *folder = getenv("DLC_NVRTC"))
      options.nvrtcPath = folder;
  if (const char *xdg = getenv("XDG_CACHE_HOME"); xdg && cacheDir.empty())
    options.cacheDir = std::string(xdg) + "/dlc";
  for (llvm::StringRef name : compileFor) {
    llvm::Expected<Target> other =
        Target::parse(name == "same" ? llvm::StringRef(targetName) : name);
    if (!other)
      return fail(llvm::toString(other.takeError()));
    // Kernels are made for the target that they are compiled for.
    llvm::Expected<codegen::LoweredModule> own =
        codegen::lower(**module, *other);
    if (!own)
      return fail(llvm::toString(own.takeError()));
    llvm::Expected<codegen::CompiledKernels> compiled =
        codegen::compileKernels(own->kernels, *other, options);
    if (!compiled)
      return fail(llvm::toString(compiled.takeError()));
    llvm::outs() << other->name << ": " << own->kernels.size()
                 << " kernels compiled\n";
  }
  if (!run)
    return 0;
  llvm::Expected<codegen::CompiledKernels> compiled = codegen::compileKernels(
      lowered->kernels, onGpu ? *target : llvm::cantFail(Target::parse("host")),
      options);
  if (!compiled)
    return fail(llvm::toString(compiled.takeError()));
  return runBeside(**module, *lowered, std::move(*compiled));
}
