// SPDX-License-Identifier: Apache-2.0
// The command line of dlc-run.
#include "runtime/tools/RunOptions.h"

#include "runtime/tools/Array.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace dlc::tools;

static const char *kHelp =
    R"(dlc-run: runs a bundle that dlc has made.

usage: dlc-run BUNDLE [--input NAME=FILE]... [--save DIR] [options]

  dlc-run resnet.bundle                          random inputs, on the GPU
  dlc-run resnet.bundle --device=host            the same on the CPU
  dlc-run resnet.bundle --input data=cat.npy --save out
  dlc-run resnet.bundle --bench                  how fast it is
  dlc-run resnet.bundle --profile                and where the time goes

Inputs and outputs
  --input NAME=FILE     an input: .npy, .npz (FILE.npz:KEY where it holds
                        several), or .pb (an ONNX TensorProto)
  --shape NAME=1x3x224x224   the shape of an input that has no file; without
                        it, the smallest that the bundle takes
  --range NAME=LOW..HIGH     bounds of its random values; without this, floats
                        are normal and integers 0 to 9
  --seed N              of the random inputs (default 0)
  --save DIR            write each output to DIR/<name>.npy; characters other
                        than letters and digits become _
  --expect NAME=FILE    compare an output with a file; status 1 if it differs
  --tolerance T         for --expect: the norm of the difference by the norm of
                        what was expected is at most T, and no element is off
                        by more than 8 T (|element| + root mean square);
                        default by precision and type: fp32 1e-4, tf32 5e-3,
                        fp16 1e-2, bf16 5e-2; integers must be equal
  --repeat N            run N times (state goes on) before looking at outputs

What runs
  --list                say what is in the bundle, and run nothing
  --device cuda|host|auto    auto (default) is a GPU; the host, which loads
                        code from the bundle into this process, only by name
  --device-index N      which GPU (default 0)
  --target NAME         only variants for this target, e.g. sm_90a, portable;
                        host implies --device=host
  --precision NAME      only variants of it, e.g. fp16
  --variant N           only this variant; see --list
  --threads N           on the host: threads (default: one per core)
  --seed-adversarial N  on the host: run threads and copies in a hostile order
                        that follows from N, and check every access to memory
  --no-graph            on a GPU: launch kernels one by one

Time
  --bench               median, percentiles, throughput; transfers apart
  --warmup S            seconds before measuring (default 0.2)
  --duration S          seconds to measure (default 2)
  --iterations N        runs to measure, instead of --duration
  --profile             time of each kernel; steps run one by one, so the sum
                        is more than a run takes

  -q, --quiet           print only what was asked for
  -v, --verbose         print what the runtime logs
  -h, --help            this text
  --version             the version
)";

static std::vector<int64_t> parseShape(const std::string &text) {
  std::vector<int64_t> dims;
  if (text.empty() || text == "scalar")
    return dims;
  for (const char *p = text.c_str();; p++) {
    char *end = nullptr;
    dims.push_back(strtoll(p, &end, 10));
    if (end == p || (*end && *end != 'x') || dims.back() < 0)
      throw Failure("--shape: got \"" + text +
                    "\", expected sizes such as 1x3x224x224");
    p = end;
    if (!*p)
      return dims;
  }
}

static double parseNumber(const std::string &option, const std::string &text) {
  char *end = nullptr;
  double value = strtod(text.c_str(), &end);
  if (text.empty() || *end)
    throw Failure(option + ": got \"" + text + "\", expected a number");
  return value;
}

static double parseAmount(const std::string &option, const std::string &text) {
  double value = parseNumber(option, text);
  if (!(value >= 0))
    throw Failure(option + ": got \"" + text + "\", expected a number from 0");
  return value;
}

static int64_t parseCount(const std::string &option, const std::string &text) {
  char *end = nullptr;
  long long value = strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || value < 0)
    throw Failure(option + ": got \"" + text + "\", expected a number from 0");
  return value;
}

static RunOptions::Range parseRange(const std::string &text) {
  size_t dots = text.find("..");
  if (dots == std::string::npos)
    throw Failure("--range: got \"" + text + "\", expected LOW..HIGH");
  RunOptions::Range range = {parseNumber("--range", text.substr(0, dots)),
                             parseNumber("--range", text.substr(dots + 2))};
  if (!(range.low <= range.high))
    throw Failure("--range: got \"" + text + "\", expected LOW up to HIGH");
  return range;
}

static dlc_device parseDevice(const std::string &text) {
  if (text == "cuda" || text == "gpu")
    return DLC_DEVICE_CUDA;
  if (text == "host" || text == "cpu")
    return DLC_DEVICE_HOST;
  if (text != "auto")
    throw Failure("--device: got \"" + text +
                  "\", expected cuda, host or auto");
  return DLC_DEVICE_AUTO;
}

namespace {

/// Walks over the arguments; a value is behind "=" or the next argument.
class Arguments {
public:
  Arguments(int argc, char **argv) : Rest(argv + 1, argv + argc) {}

  bool next() {
    if (At == Rest.size())
      return false;
    Option = Rest[At++];
    HasValue = false;
    size_t equals = Option.find('=');
    if (Option.rfind("--", 0) == 0 && equals != std::string::npos) {
      Value = Option.substr(equals + 1);
      Option.resize(equals);
      HasValue = true;
    }
    return true;
  }
  const std::string &option() const { return Option; }
  std::string value() {
    if (!HasValue) {
      if (At == Rest.size())
        throw Failure(Option + " needs a value");
      Value = Rest[At++];
      HasValue = true;
    }
    return Value;
  }
  /// The value as NAME=`what`.
  std::pair<std::string, std::string> named(const char *what) {
    std::string text = value();
    size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw Failure(Option + ": got \"" + text + "\", expected NAME=" + what);
    return {text.substr(0, equals), text.substr(equals + 1)};
  }
  void done(bool takesValue) const {
    if (HasValue && !takesValue)
      throw Failure(Option + " takes no value");
  }

private:
  std::vector<std::string> Rest;
  size_t At = 0;
  std::string Option, Value;
  bool HasValue = false;
};

} // namespace

/// One value for each name.
template <class T>
static void enter(const std::string &option, std::map<std::string, T> &values,
                  const std::string &name, T value) {
  if (!values.emplace(name, std::move(value)).second)
    throw Failure(option + ": \"" + name + "\" is given twice");
}

/// Takes one option with a value; false when there is none of this name.
static bool takeValue(Arguments &in, RunOptions &options) {
  const std::string name = in.option();
  if (name == "--input" || name == "-i") {
    auto [input, file] = in.named("FILE");
    enter(name, options.inputs, input, file);
  } else if (name == "--expect") {
    auto [output, file] = in.named("FILE");
    enter(name, options.expects, output, file);
  } else if (name == "--shape") {
    auto [input, shape] = in.named("1x3x224x224");
    enter(name, options.shapes, input, parseShape(shape));
  } else if (name == "--range") {
    auto [input, range] = in.named("LOW..HIGH");
    enter(name, options.ranges, input, parseRange(range));
  } else if (name == "--save" || name == "-o")
    options.save = in.value();
  else if (name == "--tolerance")
    options.tolerance = parseAmount(name, in.value());
  else if (name == "--seed")
    options.seed = uint64_t(parseCount(name, in.value()));
  else if (name == "--device")
    options.device = parseDevice(in.value());
  else if (name == "--device-index")
    options.deviceIndex = int(parseCount(name, in.value()));
  else if (name == "--target")
    options.target = in.value();
  else if (name == "--precision")
    options.precision = in.value();
  else if (name == "--variant")
    options.variant = int(parseCount(name, in.value()));
  else if (name == "--threads")
    options.threads = int(parseCount(name, in.value()));
  else if (name == "--seed-adversarial")
    options.adversarialSeed = uint64_t(parseCount(name, in.value()));
  else if (name == "--warmup")
    options.warmup = parseAmount(name, in.value());
  else if (name == "--duration")
    options.duration = parseAmount(name, in.value());
  else if (name == "--iterations")
    options.iterations = int(parseCount(name, in.value()));
  else if (name == "--repeat")
    options.repeat = int(parseCount(name, in.value()));
  else
    return false;
  return true;
}

static bool takeFlag(const Arguments &in, RunOptions &options) {
  const std::string &name = in.option();
  if (name == "--bench")
    options.bench = true;
  else if (name == "--profile")
    options.profile = true;
  else if (name == "--list")
    options.list = true;
  else if (name == "--no-graph")
    options.graphs = false;
  else if (name == "--quiet" || name == "-q")
    options.quiet = true;
  else if (name == "--verbose" || name == "-v")
    options.verbose = true;
  else
    return false;
  return true;
}

Parsed dlc::tools::parseArguments(int argc, char **argv, RunOptions &options) {
  try {
    Arguments in(argc, argv);
    while (in.next()) {
      const std::string &name = in.option();
      if (name == "--help" || name == "-h") {
        fputs(kHelp, stdout);
        return Parsed::Done;
      }
      if (name == "--version") {
        printf("dlc-run %s\n", dlc_version());
        return Parsed::Done;
      }
      if (name.empty() || name[0] != '-') {
        if (!options.bundle.empty())
          throw Failure("got a second bundle, \"" + name + "\"");
        options.bundle = name;
        continue;
      }
      bool isFlag = takeFlag(in, options);
      if (!isFlag && !takeValue(in, options))
        throw Failure("no option " + name);
      in.done(!isFlag);
    }
    if (options.bundle.empty())
      throw Failure("expected a bundle");
  } catch (const Failure &failure) {
    fprintf(stderr, "dlc-run: error: %s; see dlc-run --help\n", failure.what());
    return Parsed::Wrong;
  }
  if (options.target == "host")
    options.device = DLC_DEVICE_HOST;
  return Parsed::Run;
}
