// SPDX-License-Identifier: Apache-2.0
// dlc-run: runs a bundle, compares, times. Needs the runtime alone.
#include "dlc/runtime.hpp"
#include "runtime/tools/Array.h"
#include "runtime/tools/Compare.h"
#include "runtime/tools/Counted.h"
#include "runtime/tools/Measure.h"
#include "runtime/tools/RunOptions.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace dlc;
using namespace dlc::tools;

// ---- what there is ----------------------------------------------------------

static std::string shapeOf(const dlc_port &port) {
  std::string text;
  for (uint32_t i = 0; i < port.rank; i++) {
    text += i ? "x" : "";
    if (port.dims[i] >= 0)
      text += std::to_string(port.dims[i]);
    else if (port.upper[i] == INT64_MAX)
      text += port.lower[i] > 1 ? std::to_string(port.lower[i]) + ".." : "?";
    else
      text +=
          std::to_string(port.lower[i]) + ".." + std::to_string(port.upper[i]);
  }
  return port.rank ? text : "scalar";
}

static void list(const Bundle &bundle) {
  std::vector<dlc_variant> variants = bundle.variants();
  printf("%s\n", counted(variants.size(), "variant").c_str());
  for (size_t i = 0; i < variants.size(); i++) {
    const dlc_variant &v = variants[i];
    printf("  %zu: %s %s, %s, %.2f MB of weights, shapes %s", i, v.target,
           v.precision, counted(v.kernels, "kernel").c_str(),
           double(v.weight_bytes) / 1e6, v.shapes);
    if (v.least_driver)
      printf(", driver for CUDA %u.%u or newer", v.least_driver / 1000,
             v.least_driver % 1000 / 10);
    printf("\n");
  }
}

static void listPorts(const Session &session) {
  for (const dlc_port &port : session.inputs())
    printf("input  %s: %s %s\n", port.name, dlc_type_name(port.type),
           shapeOf(port).c_str());
  for (const dlc_port &port : session.outputs())
    printf("output %s: %s %s\n", port.name, dlc_type_name(port.type),
           shapeOf(port).c_str());
}

static Session open(const Bundle &bundle, const RunOptions &options) {
  dlc_session_options wanted = sessionOptions();
  wanted.device = options.device;
  wanted.device_index = options.deviceIndex;
  wanted.target = options.target.empty() ? nullptr : options.target.c_str();
  wanted.precision =
      options.precision.empty() ? nullptr : options.precision.c_str();
  wanted.variant = options.variant;
  wanted.threads = options.threads;
  wanted.adversarial_seed = options.adversarialSeed;
  wanted.graphs = options.graphs;
  if (options.verbose)
    wanted.log = [](void *, dlc_log_level, const char *message) {
      fprintf(stderr, "dlc-run: %s\n", message);
    };
  try {
    return Session(bundle, wanted);
  } catch (const Error &error) {
    bool hasHost = false;
    for (const dlc_variant &variant : bundle.variants())
      hasHost |= strcmp(variant.target, "host") == 0;
    bool noDevice = error.status() == DLC_NO_DEVICE;
    if (options.device != DLC_DEVICE_AUTO ||
        (!noDevice && (!hasHost || error.status() != DLC_UNSUPPORTED)))
      throw;
    throw Failure(std::string(error.what()) +
                  (hasHost ? "; the bundle runs on the CPU with --device=host"
                           : "; dlc --target=host makes a bundle that runs "
                             "here, with --device=host"));
  }
}

// ---- inputs -----------------------------------------------------------------

static Array randomArray(const dlc_port &port, const RunOptions &options,
                         uint64_t number) {
  std::vector<int64_t> dims(port.dims, port.dims + port.rank);
  auto shape = options.shapes.find(port.name);
  if (shape != options.shapes.end())
    dims = shape->second;
  // A dimension that is free: the smallest that is allowed, but not nothing.
  for (size_t i = 0; i < dims.size(); i++)
    if (dims[i] < 0)
      dims[i] = std::max<int64_t>(1, port.lower[i]);
  Array array = makeArray(port.type, dims);
  // A seed of its own for each input, whatever the others are.
  std::mt19937_64 random(options.seed * 1000003 + number);
  auto range = options.ranges.find(port.name);
  bool isFloat = port.type >= DLC_F16 && port.type <= DLC_F8E5M2;
  for (uint64_t i = 0; i < array.count(); i++) {
    double unit = double(random() >> 11) * 0x1p-53;
    double value = 0;
    if (range != options.ranges.end()) {
      double low = range->second.low, high = range->second.high;
      value = isFloat ? low + unit * (high - low)
                      : std::floor(low + unit * (high - low + 1));
    } else if (isFloat) {
      // Box-Muller: the same numbers with every standard library.
      double other = double(random() >> 11) * 0x1p-53;
      value = std::sqrt(-2 * std::log(1 - unit)) *
              std::cos(6.283185307179586 * other);
    } else {
      value = std::floor(unit * (port.type == DLC_BOOL ? 2 : 10));
    }
    array.set(i, value);
  }
  return array;
}

static std::map<std::string, Array> makeInputs(const Session &session,
                                               const RunOptions &options) {
  std::map<std::string, Array> inputs;
  for (const auto &[name, file] : options.inputs)
    (void)session.findInput(name);
  for (const auto &[name, shape] : options.shapes)
    (void)session.findInput(name);
  for (const auto &[name, range] : options.ranges)
    (void)session.findInput(name);
  uint64_t number = 0;
  for (const dlc_port &port : session.inputs()) {
    auto given = options.inputs.find(port.name);
    if (given != options.inputs.end())
      inputs[port.name] = asType(readArray(given->second), port.type);
    else
      inputs[port.name] = randomArray(port, options, number);
    number++;
    if (!options.quiet)
      printf("input  %s: %s %s, %s\n", port.name,
             dlc_type_name(inputs[port.name].type),
             shapeText(inputs[port.name].dims).c_str(),
             given != options.inputs.end()
                 ? given->second.c_str()
                 : ("random, seed " + std::to_string(options.seed)).c_str());
  }
  return inputs;
}

// ---- outputs ----------------------------------------------------------------

static Array fetch(Session &session, const std::string &name) {
  dlc_tensor tensor = session.output(name);
  Array array;
  array.type = tensor.type;
  array.dims.assign(tensor.dims, tensor.dims + tensor.rank);
  array.bytes.resize(tensor.bytes);
  check(
      dlc_session_copy_to_host(session.handle(), array.bytes.data(), &tensor));
  return array;
}

static void summarise(const std::string &name, const Array &array) {
  double low = INFINITY, high = -INFINITY, sum = 0;
  uint64_t count = array.count(), strange = 0, finite = 0;
  for (uint64_t i = 0; i < count; i++) {
    double value = array.at(i);
    if (!std::isfinite(value)) {
      strange++;
      continue;
    }
    finite++;
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  printf("output %s: %s %s", name.c_str(), dlc_type_name(array.type),
         shapeText(array.dims).c_str());
  if (finite)
    printf(", %g to %g, mean %g", low, high, sum / double(finite));
  if (strange)
    printf(", %llu NaN or infinite", static_cast<unsigned long long>(strange));
  printf("\n");
}

/// The file of an output; a number tells names apart that differ only in
/// characters which become _.
static std::string fileName(const std::string &output,
                            std::set<std::string> &taken) {
  std::string name;
  for (char c : output) {
    bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   (c >= '0' && c <= '9');
    name += isPlain ? c : '_';
  }
  std::string plain = name;
  for (int i = 2; !taken.insert(name).second; i++)
    name = plain + "_" + std::to_string(i);
  return name + ".npy";
}

/// mkdir -p
static void makeFolder(const std::string &path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string folder = path.substr(0, slash);
    if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
      throw Failure("cannot make the folder \"" + folder +
                    "\": " + strerror(errno));
    if (slash == std::string::npos)
      return;
  }
}

/// Whether makeFolder can do it, before anything has run.
static void checkFolder(const std::string &path) {
  std::string place = path;
  struct stat found;
  while (stat(place.c_str(), &found) != 0) {
    if (errno != ENOENT)
      throw Failure("cannot save into \"" + path + "\": " + strerror(errno));
    size_t slash = place.rfind('/');
    place.resize(slash == std::string::npos ? 0 : slash);
    if (place.empty())
      place = slash == 0 ? "/" : ".";
  }
  if (!S_ISDIR(found.st_mode) || access(place.c_str(), W_OK | X_OK) != 0)
    throw Failure("cannot save into \"" + path + "\": " +
                  (S_ISDIR(found.st_mode)
                       ? "no permission to write into \"" + place + "\""
                       : "\"" + place + "\" is not a folder"));
}

static std::string precisionOf(Session &session, const Bundle &bundle) {
  size_t variant = 0;
  check(dlc_session_variant(session.handle(), &variant));
  return bundle.variants()[variant].precision;
}

/// False when an output is not what was expected.
static bool lookAtOutputs(Session &session, const Bundle &bundle,
                          const RunOptions &options) {
  bool isRight = true;
  for (const auto &[name, file] : options.expects)
    (void)session.findOutput(name);
  if (!options.save.empty())
    makeFolder(options.save);
  std::set<std::string> taken;
  for (const dlc_port &port : session.outputs()) {
    Array array = fetch(session, port.name);
    if (!options.quiet)
      summarise(port.name, array);
    if (!options.save.empty())
      writeNpy(options.save + "/" + fileName(port.name, taken), array);
    auto expected = options.expects.find(port.name);
    if (expected == options.expects.end())
      continue;
    double tolerance =
        options.tolerance > 0
            ? options.tolerance
            : toleranceOf(precisionOf(session, bundle), array.type);
    Comparison found = compare(
        array, asType(readArray(expected->second), array.type), tolerance);
    printf("expect %s: %s, %s\n", port.name,
           found.isEqual ? "equal" : "DIFFERENT", found.sentence.c_str());
    isRight &= found.isEqual;
  }
  return isRight;
}

static int run(const RunOptions &options) {
  if (!options.save.empty())
    checkFolder(options.save);
  Bundle bundle(options.bundle);
  if (options.list) {
    list(bundle);
    // Inputs and outputs, where a device can be had.
    try {
      listPorts(open(bundle, options));
    } catch (const std::runtime_error &) {
      RunOptions host = options;
      host.device = DLC_DEVICE_HOST;
      try {
        listPorts(open(bundle, host));
      } catch (const std::runtime_error &) {
        printf("its inputs and outputs: dlc-inspect %s\n",
               options.bundle.c_str());
      }
    }
    return 0;
  }
  Session session = open(bundle, options);
  if (!options.quiet)
    printf("device %s\n", session.deviceName().c_str());
  std::map<std::string, Array> inputs = makeInputs(session, options);
  for (auto &[name, array] : inputs)
    session.bindInput(name, array.view());
  for (int i = 0; i < std::max(1, options.repeat); i++)
    session.run();
  bool isRight = lookAtOutputs(session, bundle, options);
  if (options.bench)
    bench(session, inputs, options);
  if (options.profile)
    profile(session, options);
  return isRight ? 0 : 1;
}

int main(int argc, char **argv) {
  RunOptions options;
  switch (parseArguments(argc, argv, options)) {
  case Parsed::Done:
    return 0;
  case Parsed::Wrong:
    return 2;
  case Parsed::Run:
    break;
  }
  try {
    return run(options);
  } catch (const std::bad_alloc &) {
    fprintf(stderr, "dlc-run: error: out of memory\n");
  } catch (const std::exception &error) {
    fprintf(stderr, "dlc-run: error: %s\n", error.what());
  }
  return 2;
}
