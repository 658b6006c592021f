// SPDX-License-Identifier: Apache-2.0
// Runs a bundle and the reference on the same inputs and compares.
#include "compiler/tools/Verify.h"
#include "compiler/Compare.h"
#include "compiler/CompareIntegers.h"
#include "compiler/Compiler.h"
#include "compiler/tools/Conditioning.h"
#include "compiler/tools/TensorFile.h"
#include "dlc/runtime.h"
#include "ir/reference/Evaluator.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>
#include <map>
#include <random>

namespace dlc {

using reference::Tensor;

static llvm::Error fault(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}
static llvm::Error check(dlc_status status) {
  return status == DLC_OK ? llvm::Error::success() : fault(dlc_last_error());
}

/// Seeded values: normal for floats, 0..1 for bool, small and not negative for
/// integers (they are mostly indices or tokens).
static Tensor randomTensor(DataType type, std::vector<int64_t> shape,
                           std::mt19937_64 &random) {
  Tensor t(type, std::move(shape));
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < t.elements(); i++) {
    if (isFloat(type))
      t.setFloat(i, normal(random));
    else
      t.setInt(i, int64_t(random() % (type == DataType::Bool ? 2 : 16)));
  }
  return t;
}

/// A session that destroys itself, with its bundle.
struct Opened {
  dlc_bundle *bundle = nullptr;
  dlc_session *session = nullptr;
  ~Opened() {
    dlc_session_destroy(session);
    dlc_bundle_close(bundle);
  }
};

namespace {
/// A model beside a bundle of it.
class Verification {
public:
  Verification(Module &module, llvm::StringRef bundlePath,
               const VerifyOptions &options, llvm::raw_ostream &os)
      : module(module), graph(module.main()), bundlePath(bundlePath),
        options(options), os(os), inputs(graph.numInputs()),
        given(graph.numInputs()) {}
  llvm::Expected<bool> run();

private:
  llvm::Error readInputs();
  llvm::Error open();
  llvm::Error limitSizes();
  void chooseSizes();
  void drawInputs();
  llvm::Error runBundle();
  llvm::Error describeVariant();
  llvm::Expected<bool> compareAll();
  llvm::Expected<bool> compareOutput(size_t i);
  llvm::Expected<Tensor> outputOf(size_t i);

  bool keepsInput(llvm::StringRef name) const {
    return llvm::any_of(options.states,
                        [&](auto &state) { return state.input == name; });
  }
  bool keepsOutput(llvm::StringRef name) const {
    return llvm::any_of(options.states,
                        [&](auto &state) { return state.output == name; });
  }

  Module &module;
  Graph &graph;
  llvm::StringRef bundlePath;
  const VerifyOptions &options;
  llvm::raw_ostream &os;
  std::vector<Tensor> inputs;
  std::vector<bool> given;
  Opened opened;
  /// Sizes that the bundle has of the model's symbols, and those that are run.
  std::map<std::string, std::pair<int64_t, int64_t>> limits;
  std::map<std::string, int64_t> sizes;
  std::string precision;
  double tolerance = 0;
  std::vector<Tensor> expected; ///< of the outputs, then what indices rank
  std::vector<Choice> choices;
  std::vector<size_t> scores; ///< of each output, among what is expected
};
} // namespace

llvm::Error Verification::readInputs() {
  for (const std::string &text : options.inputs) {
    if (!llvm::StringRef(text).contains('='))
      return fault("--input " + text + ": expected NAME=FILE");
    auto [name, file] = llvm::StringRef(text).rsplit('=');
    unsigned i = 0;
    while (i < graph.numInputs() && graph.input(i)->name != name)
      i++;
    if (i == graph.numInputs())
      return fault("--input " + text + ": the model has no input \"" + name +
                   "\"");
    const TensorType &type = graph.input(i)->type();
    llvm::Expected<Tensor> t = readTensor(file, type.element);
    if (!t)
      return t.takeError();
    if (t->element() != type.element || t->rank() != type.rank())
      return fault("--input " + text + ": " + stringify(t->element()) +
                   " with " + llvm::Twine(t->rank()) +
                   " dimensions, expected " + type.str());
    inputs[i] = std::move(*t);
    given[i] = true;
  }
  return llvm::Error::success();
}

llvm::Error Verification::open() {
  if (llvm::Error e =
          check(dlc_bundle_open(bundlePath.str().c_str(), &opened.bundle)))
    return e;
  dlc_session_options session;
  dlc_session_options_init(&session);
  if (options.device == "host")
    session.device = DLC_DEVICE_HOST;
  else if (options.device == "cuda")
    session.device = DLC_DEVICE_CUDA;
  else if (options.device != "auto")
    return fault("--device " + options.device +
                 " is not known: expected auto, cuda or host");
  dlc_status created =
      dlc_session_create(opened.bundle, &session, &opened.session);
  if (created != DLC_OK && options.device == "auto" && options.isOurs) {
    // No GPU here: the host variant, if there is one, serves as well.
    session.device = DLC_DEVICE_HOST;
    std::string first = dlc_last_error();
    if (dlc_session_create(opened.bundle, &session, &opened.session) != DLC_OK)
      return fault(first + "; on the host: " + dlc_last_error());
    return llvm::Error::success();
  }
  if (created == DLC_NO_DEVICE && options.device == "auto")
    return fault(std::string(dlc_last_error()) +
                 "; --device=host runs the bundle's code for the CPU, if it "
                 "has any");
  return check(created);
}

// What the bundle serves, and what inputs that are given say.
llvm::Error Verification::limitSizes() {
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    const TensorType &type = graph.input(i)->type();
    if (keepsInput(graph.input(i)->name))
      continue;
    size_t index;
    dlc_port port;
    if (llvm::Error e = check(dlc_session_find_input(
            opened.session, graph.input(i)->name.c_str(), &index)))
      return e;
    if (llvm::Error e =
            check(dlc_session_input_port(opened.session, index, &port)))
      return e;
    if (port.rank != type.rank())
      return fault(llvm::formatv("input \"{0}\" of the bundle has {1} "
                                 "dimensions, that of the model {2}: is it a "
                                 "bundle of another model?",
                                 graph.input(i)->name, port.rank, type.rank()));
    for (unsigned d = 0; d < type.rank(); d++) {
      if (type.dim(d).kind() != Dim::Kind::Symbol)
        continue;
      const std::string name = type.dim(d).symbolName().str();
      auto [it, fresh] = limits.try_emplace(
          name, std::pair(int64_t(0), std::numeric_limits<int64_t>::max()));
      auto &[lower, upper] = it->second;
      lower = std::max(lower, given[i] ? inputs[i].shape()[d] : port.lower[d]);
      upper = std::min(upper, given[i] ? inputs[i].shape()[d] : port.upper[d]);
    }
  }
  return llvm::Error::success();
}

/// The sizes to run where the model leaves them open: the smallest, at least 1,
/// or the smallest power of two, that the bundle has and for which the model's
/// constraints hold.
void Verification::chooseSizes() {
  std::map<std::string, int64_t> first;
  for (int64_t size = 1; size <= 1024; size *= 2) {
    sizes.clear();
    for (const auto &[name, symbol] : module.symbols) {
      int64_t value = std::max(size, symbol.lower);
      if (auto limit = limits.find(name); limit != limits.end())
        value = std::clamp(value, limit->second.first,
                           std::max(limit->second.first, limit->second.second));
      value = (value + symbol.divisor - 1) / symbol.divisor * symbol.divisor;
      sizes[name] = symbol.upper ? std::min(value, *symbol.upper) : value;
    }
    llvm::Error e =
        checkConstraints(module.constraints, [&](llvm::StringRef name) {
          return std::optional(sizes[name.str()]);
        });
    if (!e)
      return;
    llvm::consumeError(std::move(e));
    if (first.empty())
      first = sizes;
  }
  sizes = first;
}

void Verification::drawInputs() {
  std::mt19937_64 random(options.seed);
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    if (given[i])
      continue;
    const TensorType &type = graph.input(i)->type();
    std::vector<int64_t> shape;
    for (const Dim &d : type.shape)
      shape.push_back(d.evaluate([&](llvm::StringRef name) {
                         return std::optional(sizes[name.str()]);
                       }).value_or(1));
    inputs[i] = keepsInput(graph.input(i)->name)
                    ? Tensor(type.element, std::move(shape)) // zeros
                    : randomTensor(type.element, std::move(shape), random);
  }
}

llvm::Error Verification::runBundle() {
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    if (keepsInput(graph.input(i)->name))
      continue;
    size_t index;
    if (llvm::Error e = check(dlc_session_find_input(
            opened.session, graph.input(i)->name.c_str(), &index)))
      return e;
    dlc_tensor t{};
    t.data = inputs[i].data();
    t.bytes = uint64_t(inputs[i].byteSize());
    t.type = runtimeType(inputs[i].element());
    t.memory = DLC_MEMORY_HOST;
    t.rank = uint32_t(inputs[i].rank());
    llvm::copy(inputs[i].shape(), t.dims);
    if (llvm::Error e =
            check(dlc_session_bind_input(opened.session, index, &t)))
      return e;
  }
  return check(dlc_session_run(opened.session));
}

llvm::Error Verification::describeVariant() {
  size_t index;
  dlc_variant variant;
  if (llvm::Error e = check(dlc_session_variant(opened.session, &index)))
    return e;
  if (llvm::Error e = check(dlc_bundle_variant(opened.bundle, index, &variant)))
    return e;
  precision = variant.precision;
  tolerance = modelTolerance(precision);
  os << llvm::formatv("{0}: variant {1} {2} on {3}\n", bundlePath,
                      variant.target, precision,
                      dlc_session_device_name(opened.session));
  return llvm::Error::success();
}

llvm::Expected<Tensor> Verification::outputOf(size_t i) {
  size_t index;
  dlc_tensor t;
  if (llvm::Error e = check(dlc_session_find_output(
          opened.session, graph.outputNames[i].c_str(), &index)))
    return e;
  if (llvm::Error e = check(dlc_session_output(opened.session, index, &t)))
    return e;
  // The declared element type: in Double the reference holds f64.
  const DataType element = graph.outputs()[i]->type().element;
  if (t.type != runtimeType(element))
    return fault("output \"" + graph.outputNames[i] + "\" of the bundle is " +
                 dlc_type_name(t.type) + ", that of the model " +
                 stringify(element) + ": is it a bundle of another model?");
  Tensor got(element, std::vector<int64_t>(t.dims, t.dims + t.rank));
  if (llvm::Error e =
          check(dlc_session_copy_to_host(opened.session, got.data(), &t)))
    return e;
  return got;
}

llvm::Expected<bool> Verification::compareOutput(size_t i) {
  const std::string &name = graph.outputNames[i];
  const Tensor &ref = expected[i];
  llvm::Expected<Tensor> got = outputOf(i);
  if (!got)
    return got.takeError();
  llvm::ArrayRef<int64_t> found = got->shape(), wanted = ref.shape();
  if (found != wanted) {
    os << llvm::formatv("{0}: shape [{1:$[, ]}], expected [{2:$[, ]}]\n", name,
                        llvm::make_range(found.begin(), found.end()),
                        llvm::make_range(wanted.begin(), wanted.end()));
    return false;
  }
  if (!isFloat(got->element())) {
    IntegerComparison c = compareIntegers(
        *got, ref, choices[i].scores ? &expected[scores[i]] : nullptr,
        choices[i].axis, tolerance);
    os << llvm::formatv("{0}: {1}: {2}\n", name, c.str(),
                        c.same ? "same" : "different");
    return c.same;
  }
  std::vector<double> a(size_t(ref.elements())), b(a.size());
  for (int64_t k = 0; k < ref.elements(); k++) {
    a[k] = got->floatAt(k);
    b[k] = ref.floatAt(k);
  }
  Comparison c = compare(a, b, tolerance);
  os << llvm::formatv("{0}: {1}, bound {2:e2}: {3}\n", name, c.str(), tolerance,
                      c.same ? "same" : "different");
  return c.same;
}

llvm::Expected<bool> Verification::compareAll() {
  std::optional<std::vector<Tensor>> moved =
      movedInputs(inputs, precision, options.seed);
  // What indices choose from is asked for as well.
  const size_t outputs = graph.outputs().size();
  for (size_t i = 0; i < outputs; i++) {
    choices.push_back(choiceOf(graph.outputs()[i]));
    scores.push_back(graph.outputs().size());
    if (choices[i].scores)
      graph.addOutput(choices[i].scores);
  }
  llvm::Expected<std::vector<Tensor>> evaluated = reference::evaluate(
      graph, std::move(inputs), reference::Precision::Double);
  if (!evaluated)
    return evaluated.takeError();
  expected = std::move(*evaluated);

  bool all = true;
  for (size_t i = 0; i < outputs; i++) {
    if (keepsOutput(graph.outputNames[i]))
      continue;
    llvm::Expected<bool> same = compareOutput(i);
    if (!same)
      return same.takeError();
    all &= *same;
  }
  if (!all && moved) {
    llvm::Expected<std::string> why = whyIllConditioned(
        graph, std::move(*moved), expected, outputs, precision);
    if (!why)
      return why.takeError();
    if (!why->empty())
      os << *why << "\n";
  }
  return all;
}

llvm::Expected<bool> Verification::run() {
  if (llvm::Error e = readInputs())
    return e;
  if (llvm::Error e = open())
    return e;
  if (llvm::Error e = limitSizes())
    return e;
  chooseSizes();
  drawInputs();
  if (llvm::Error e = runBundle())
    return e;
  if (llvm::Error e = describeVariant())
    return e;
  return compareAll();
}

llvm::Expected<bool> verifyBundleAgainstModel(llvm::StringRef modelPath,
                                              llvm::StringRef bundlePath,
                                              const VerifyOptions &options,
                                              Diagnostics &diagnostics,
                                              llvm::raw_ostream &os) {
  llvm::Expected<std::unique_ptr<Module>> module =
      loadModel(modelPath, options.import, diagnostics);
  if (!module)
    return module.takeError();
  return Verification(**module, bundlePath, options, os).run();
}

} // namespace dlc
