// SPDX-License-Identifier: Apache-2.0
// A session: choice of variant, bindings, runs.
#include "runtime/Session.h"

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace dlc;
using namespace dlc::plan;

/// Shapes that a session keeps prepared; the least used goes first.
static constexpr size_t kMaxShapes = 32;

Session::~Session() {
  // The device may still use what is about to be released.
  if (InFlight)
    (void)device().synchronize(LastStream);
  Shapes.clear();
  if (OwnStream)
    device().destroyStream(OwnStream);
}

void Session::log(dlc_log_level level, const std::string &message) const {
  if (Options.log)
    Options.log(Options.logUser, level, message.c_str());
}

// ---- variants ---------------------------------------------------------------

Status Session::create(std::shared_ptr<DeviceBundle> bundle,
                       const SessionOptions &options,
                       std::unique_ptr<Session> &session) {
  std::unique_ptr<Session> created(new Session(std::move(bundle)));
  created->Options = options;
  DLC_RETURN_IF_FAILED(created->chooseVariants());
  DLC_RETURN_IF_FAILED(created->describePorts());
  created->Inputs.resize(created->InputPorts.size());
  created->Outputs.resize(created->OutputPorts.size());
  created->Pool = std::make_unique<StreamPool>(created->device());
  DLC_RETURN_IF_FAILED(created->device().createStream(created->OwnStream));
  // What cannot run at all is said now and not at the first run.
  const Program *program = nullptr;
  auto start = std::chrono::steady_clock::now();
  DLC_RETURN_IF_FAILED(created->Owner->program(created->Variants[0], program));
  const bundle::VariantT &variant =
      created->Owner->bundle().variant(created->Variants[0]);
  created->log(DLC_LOG_INFO,
               say("variant ", created->Variants[0], " (", variant.target, " ",
                   variant.precision, ") on ", created->deviceName(), ": ",
                   program->functions.size(),
                   program->functions.size() == 1 ? " kernel" : " kernels",
                   " loaded in ",
                   int64_t(std::chrono::duration<double, std::milli>(
                               std::chrono::steady_clock::now() - start)
                               .count()),
                   " ms"));
  session = std::move(created);
  return Status();
}

Status Session::chooseVariants() {
  const bundle::BundleReader &bundle = Owner->bundle();
  std::string held, precision = Options.precision;
  std::vector<uint32_t> ranks(bundle.variants());
  Status unsupported;
  for (size_t i = 0; i < bundle.variants(); i++) {
    const bundle::VariantT &variant = bundle.variant(i);
    held += say(i ? ", " : "", variant.target, " ", variant.precision);
    if ((Options.variant >= 0 && size_t(Options.variant) != i) ||
        (!Options.target.empty() && Options.target != variant.target))
      continue;
    ranks[i] = device().rank(variant.target);
    if (!ranks[i] || (!precision.empty() && precision != variant.precision))
      continue;
    if (Status status = device().supports(variant); !status.ok()) {
      unsupported = std::move(status);
      continue;
    }
    Variants.push_back(i);
  }
  if (Variants.empty() && !unsupported.ok())
    return unsupported;
  if (Variants.empty())
    return Status(
        DLC_UNSUPPORTED,
        say("no variant of the bundle fits: the device is ", device().name(),
            Options.target.empty() ? "" : say(", asked for ", Options.target),
            precision.empty() ? "" : say(" at ", precision),
            Options.variant < 0 ? ""
                                : say(", asked for number ", Options.variant),
            "; the bundle holds ", held));
  std::stable_sort(Variants.begin(), Variants.end(),
                   [&](size_t a, size_t b) { return ranks[a] > ranks[b]; });
  // Not asked for a precision: that of the best variant, for all shapes.
  std::string best = bundle.variant(Variants[0]).precision;
  std::erase_if(Variants, [&](size_t variant) {
    return bundle.variant(variant).precision != best;
  });
  return Status();
}

static void describe(const PlanT &plan, const PortT &port, bool isInput,
                     dlc_port &out) {
  out.name = port.name.c_str();
  out.type = dlc_type(port.type);
  out.rank = uint32_t(port.dims.size());
  for (size_t axis = 0; axis < port.dims.size(); axis++) {
    const Expression &node = plan.expressions[port.dims[axis]];
    bool isConstant = node.op() == ExpressionOp::Const;
    out.dims[axis] = isConstant ? node.value() : -1;
    out.lower[axis] = isConstant ? node.value() : 0;
    out.upper[axis] = isConstant ? node.value() : INT64_MAX;
    if (isInput && node.op() == ExpressionOp::Symbol) {
      out.lower[axis] = plan.symbols[size_t(node.value())]->lower;
      out.upper[axis] = plan.symbols[size_t(node.value())]->upper;
    }
  }
}

/// Joins the bounds of one more variant into a port.
static bool merge(const dlc_port &port, dlc_port &into) {
  if (strcmp(port.name, into.name) != 0 || port.type != into.type ||
      port.rank != into.rank)
    return false;
  for (uint32_t axis = 0; axis < port.rank; axis++) {
    if (port.dims[axis] != into.dims[axis])
      into.dims[axis] = -1;
    into.lower[axis] = std::min(into.lower[axis], port.lower[axis]);
    into.upper[axis] = std::max(into.upper[axis], port.upper[axis]);
  }
  return true;
}

Status Session::describePorts() {
  const bundle::BundleReader &bundle = Owner->bundle();
  for (size_t i = 0; i < Variants.size(); i++) {
    const PlanT &plan = bundle.plan(Variants[i]);
    auto take = [&](const std::vector<std::unique_ptr<PortT>> &ports,
                    bool isInput, std::vector<dlc_port> &out) {
      if (i > 0 && ports.size() != out.size())
        return false;
      for (size_t k = 0; k < ports.size(); k++) {
        dlc_port port = {};
        describe(plan, *ports[k], isInput, port);
        if (i == 0)
          out.push_back(port);
        else if (!merge(port, out[k]))
          return false;
      }
      return true;
    };
    if (!take(plan.inputs, true, InputPorts) ||
        !take(plan.outputs, false, OutputPorts))
      return Status(DLC_BAD_BUNDLE,
                    say("variants ", Variants[0], " and ", Variants[i],
                        " of the bundle have different inputs or outputs"));
  }
  return Status();
}

// ---- bindings ---------------------------------------------------------------

static Status checkIndex(size_t index, size_t count, std::string_view what) {
  if (index < count)
    return Status();
  return Status(DLC_INVALID_ARGUMENT,
                say("no ", what, " number ", index, ": there are ", count,
                    ", counted from 0"));
}

static std::string expectedShape(const dlc_port &port) {
  std::string text;
  for (uint32_t axis = 0; axis < port.rank; axis++)
    text += (axis ? "x" : "") +
            (port.dims[axis] < 0 ? "?" : std::to_string(port.dims[axis]));
  return port.rank ? text : "scalar";
}

Status Session::bindInput(size_t index, const dlc_tensor &tensor) {
  DLC_RETURN_IF_FAILED(checkIndex(index, InputPorts.size(), "input"));
  const dlc_port &port = InputPorts[index];
  std::string name = say("input \"", port.name, "\"");
  auto bad = [&](std::string sentence) {
    return Status(DLC_BAD_INPUT, say(name, ": ", sentence));
  };
  if (tensor.type != port.type)
    return bad(say("got type ", dlc_type_name(tensor.type), ", expected ",
                   dlc_type_name(port.type)));
  if (tensor.rank > DLC_MAX_RANK)
    return bad(say("got rank ", tensor.rank, ", expected ", port.rank));
  std::span<const int64_t> dims(tensor.dims, tensor.rank);
  if (tensor.rank != port.rank)
    return bad(say("got rank ", tensor.rank, " (", toText(dims), "), expected ",
                   port.rank, " (", expectedShape(port), ")"));
  std::optional<uint64_t> bytes = denseBytes(dims, ElementType(tensor.type));
  if (!bytes)
    return bad(say("got ", toText(dims), ", which is no shape"));
  if (tensor.data && tensor.bytes < *bytes)
    return bad(say("got memory of ", tensor.bytes, " bytes, expected ", *bytes,
                   " for ", toText(dims), " of ", dlc_type_name(tensor.type)));
  std::optional<dlc_tensor> &bound = Inputs[index].tensor;
  if (!bound || !std::equal(dims.begin(), dims.end(), bound->dims))
    Current = nullptr;
  bound = tensor;
  bound->bytes = *bytes;
  return Status();
}

Status Session::bindOutput(size_t index, const dlc_tensor *tensor) {
  DLC_RETURN_IF_FAILED(checkIndex(index, OutputPorts.size(), "output"));
  Output &output = Outputs[index];
  output.isValid = false;
  if (!tensor) {
    output.bound.reset();
    return Status();
  }
  const dlc_port &port = OutputPorts[index];
  if (tensor->type != port.type)
    return Status(DLC_BAD_INPUT, say("output \"", port.name, "\": got type ",
                                     dlc_type_name(tensor->type), ", expected ",
                                     dlc_type_name(port.type)));
  if (!tensor->data && tensor->bytes)
    return Status(DLC_INVALID_ARGUMENT,
                  say("output \"", port.name, "\": data is NULL"));
  output.bound = *tensor;
  return Status();
}

Status Session::bindArena(void *memory, uint64_t bytes) {
  if (reinterpret_cast<uintptr_t>(memory) % 256 != 0)
    return Status(DLC_INVALID_ARGUMENT,
                  "the arena is not aligned to 256 bytes");
  CallerArena = static_cast<uint8_t *>(memory);
  CallerArenaBytes = memory ? bytes : 0;
  return Status();
}

// ---- shapes -----------------------------------------------------------------

Status Session::tryVariant(size_t variant, const std::vector<Dims> &dims,
                           Prepared &prepared) {
  const PlanT &plan = Owner->bundle().plan(variant);
  for (const auto &range : Owner->bundle().variant(variant).shapes)
    for (size_t i = 0; i < dims.size(); i++) {
      if (plan.inputs[i]->name != range->input)
        continue;
      for (size_t axis = 0;
           axis < std::min(dims[i].size(), range->lower.size()); axis++)
        if (dims[i][axis] < range->lower[axis] ||
            dims[i][axis] > range->upper[axis])
          return Status(
              DLC_BAD_INPUT,
              say("input \"", range->input, "\": dimension ", axis, " is ",
                  dims[i][axis], ", expected ",
                  boundsText(range->lower[axis], range->upper[axis]),
                  dims[i][axis] == 0 && range->upper[axis] == INT64_MAX
                      ? "; dlc --shape with 0.. there makes a bundle that "
                        "takes empty inputs"
                      : ""));
    }
  DLC_RETURN_IF_FAILED(
      layOut(plan, dims, device().multiprocessors(), prepared.layout));
  return Owner->program(variant, prepared.program);
}

/// Fills in the program and layout of the first variant that takes the shapes.
Status Session::chooseVariant(const std::vector<Dims> &dims,
                              Prepared &prepared) {
  std::string refusals;
  for (size_t variant : Variants) {
    prepared = Prepared();
    Status status = tryVariant(variant, dims, prepared);
    if (status.ok())
      return status;
    const bundle::VariantT &info = Owner->bundle().variant(variant);
    refusals += refusals.empty() ? "" : "; ";
    refusals +=
        Variants.size() == 1
            ? status.sentence()
            : say("variant ", variant, " (", info.target, ", ",
                  Owner->bundle().shapes(variant), "): ", status.sentence());
    if (status.code() != DLC_BAD_INPUT)
      return Status(status.code(), refusals);
  }
  // Type and rank were right: nothing was built for these shapes.
  if (Variants.size() > 1)
    refusals.insert(0, "no variant of the bundle takes these shapes: ");
  return Status(DLC_UNSUPPORTED, refusals);
}

Status Session::boundShapes(std::vector<Dims> &dims) const {
  for (size_t i = 0; i < Inputs.size(); i++) {
    if (!Inputs[i].tensor)
      return Status(DLC_BAD_INPUT,
                    say("input \"", InputPorts[i].name, "\" is not bound"));
    const dlc_tensor &tensor = *Inputs[i].tensor;
    dims.emplace_back(tensor.dims, tensor.dims + tensor.rank);
  }
  return Status();
}

Status Session::prepare(Prepared *&prepared) {
  if ((prepared = Current))
    return Status();
  std::vector<Dims> dims;
  DLC_RETURN_IF_FAILED(boundShapes(dims));
  auto known = Shapes.find(dims);
  if (known == Shapes.end()) {
    // Entered when it is whole: memory may run out on the way.
    auto created = std::make_unique<Prepared>();
    DLC_RETURN_IF_FAILED(chooseVariant(dims, *created));
    log(DLC_LOG_DEBUG,
        say("prepared variant ", created->program->variant, ": arena of ",
            created->layout.arenaBytes, " bytes"));
    created->table =
        std::make_unique<BufferTable>(*created->program->plan, created->layout);
    created->runner = std::make_unique<StepRunner>(
        device(), *created->program, created->layout, *created->table, *Pool,
        Options.mode);
    known = Shapes.emplace(std::move(dims), std::move(created)).first;
  }
  known->second->lastUse = ++Uses;
  prepared = Current = known->second.get();
  while (Shapes.size() > kMaxShapes) {
    auto oldest = std::min_element(
        Shapes.begin(), Shapes.end(), [](const auto &a, const auto &b) {
          return a.second->lastUse < b.second->lastUse;
        });
    DLC_RETURN_IF_FAILED(wait());
    Shapes.erase(oldest);
  }
  return Status();
}

Status Session::arenaBytes(uint64_t &bytes) {
  Prepared *prepared = nullptr;
  DLC_RETURN_IF_FAILED(prepare(prepared));
  bytes = prepared->layout.arenaBytes;
  return Status();
}

Status Session::variant(size_t &variant) {
  Prepared *prepared = nullptr;
  DLC_RETURN_IF_FAILED(prepare(prepared));
  variant = prepared->program->variant;
  return Status();
}

// ---- running ----------------------------------------------------------------

/// Whether a run may join the capture of the caller's stream: nothing may be
/// waited for or loaded meanwhile, and each replay repeats what is recorded.
Status Session::checkCapture() const {
  auto refuse = [](dlc_status code, std::string why) {
    return Status(code, say("the stream is being captured: ", why));
  };
  std::vector<Dims> dims;
  DLC_RETURN_IF_FAILED(boundShapes(dims));
  auto known = Shapes.find(dims);
  if (known == Shapes.end() || !known->second->hasRun)
    return refuse(DLC_INVALID_ARGUMENT,
                  "run once before with these shapes, so that kernels and "
                  "memory are there");
  if (Profiler)
    return refuse(DLC_INVALID_ARGUMENT,
                  "a profiler has each step waited for, take it off");
  const Prepared &prepared = *known->second;
  if (!prepared.runner->isStraight())
    return refuse(DLC_UNSUPPORTED,
                  "the model needs the host while it runs (a branch, a loop "
                  "or a value that the host reads)");
  for (size_t i = 0; i < Outputs.size(); i++)
    if (prepared.layout.outputs[i].dynamic)
      return refuse(DLC_UNSUPPORTED,
                    say(outputName(i), " has a size that only the device "
                                       "knows, and the host waits for it"));
  for (const auto &variable : prepared.program->plan->states) {
    auto state = States.find(variable->name);
    if (state == States.end() || !state->second.isInitialised ||
        state->second.memory.bytes() != prepared.layout.bytes[variable->buffer])
      return refuse(DLC_INVALID_ARGUMENT,
                    say("state \"", variable->name,
                        "\" is at its beginning, and each replay would set it "
                        "back to that; run once before"));
  }
  return Status();
}

Status Session::run(std::optional<Stream> stream) {
  Stream on = stream.value_or(OwnStream);
  DLC_RETURN_IF_FAILED(device().isCapturing(on, Capturing));
  if (Capturing && !stream)
    return Status(DLC_INVALID_ARGUMENT,
                  "the session's stream is being captured: dlc_session_run "
                  "waits for the end of the run, dlc_session_run_on does not");
  if (Capturing)
    DLC_RETURN_IF_FAILED(checkCapture());
  // On the same stream the runs follow each other by themselves, and what is
  // captured does not run now.
  if (!Capturing && on != LastStream)
    DLC_RETURN_IF_FAILED(wait());
  for (size_t i = 0; i < Inputs.size(); i++)
    if (Inputs[i].tensor && !Inputs[i].tensor->data &&
        Inputs[i].tensor->bytes > 0)
      return Status(DLC_BAD_INPUT, say("input \"", InputPorts[i].name,
                                       "\" is bound to no memory"));
  for (Output &output : Outputs)
    output.isValid = false;
  Prepared *prepared = nullptr;
  DLC_RETURN_IF_FAILED(prepare(prepared));
  DLC_RETURN_IF_FAILED(setBases(*prepared));

  // A captured run belongs to the caller's graph: there is nothing to wait for.
  if (!Capturing) {
    LastStream = on;
    InFlight = true;
  }
  DLC_RETURN_IF_FAILED(fillBases(*prepared, on));
  StepRunner &runner = *prepared->runner;
  runner.reset();
  runner.setProfiler(Profiler, ProfilerUser);
  bool replays = Options.graphs && device().hasGraphs() && !Profiler &&
                 !Capturing && runner.isStraight();
  if (replays)
    DLC_RETURN_IF_FAILED(
        prepared->replay.run(device(), *prepared->program, prepared->layout,
                             *prepared->table, *Pool, OwnStream, on));
  else
    DLC_RETURN_IF_FAILED(runner.run(on));
  for (size_t i = 0; i < Outputs.size(); i++)
    DLC_RETURN_IF_FAILED(finishOutput(*prepared, i, on));
  prepared->hasRun |= !Profiler;
  return stream ? Status() : wait();
}

Status Session::wait() {
  if (!InFlight)
    return Status();
  InFlight = false;
  Status status = device().synchronize(LastStream);
  // The device says that a kernel failed, not which.
  if (status.code() == DLC_DEVICE_ERROR && !Profiler)
    return Status(status.code(),
                  say(status.sentence(), "; with a profiler steps run one by "
                                         "one, and the one that fails is "
                                         "named"));
  return status;
}

Status Session::output(size_t index, dlc_tensor &tensor) {
  DLC_RETURN_IF_FAILED(checkIndex(index, Outputs.size(), "output"));
  if (!Outputs[index].isValid)
    return Status(DLC_INVALID_ARGUMENT,
                  say("output \"", OutputPorts[index].name,
                      "\" has no value: the session has not run"));
  tensor = Outputs[index].result;
  return Status();
}

Status Session::copyToHost(void *to, const dlc_tensor &from) {
  DLC_RETURN_IF_FAILED(wait());
  if (from.memory == DLC_MEMORY_HOST || device().isHost()) {
    if (from.bytes)
      memcpy(to, from.data, from.bytes);
    return Status();
  }
  DLC_RETURN_IF_FAILED(device().copyOut(to, from.data, from.bytes, OwnStream));
  return device().synchronize(OwnStream);
}

Status Session::copyFromHost(const dlc_tensor &to, const void *from) {
  DLC_RETURN_IF_FAILED(wait());
  if (to.memory == DLC_MEMORY_HOST || device().isHost()) {
    if (to.bytes)
      memcpy(to.data, from, to.bytes);
    return Status();
  }
  DLC_RETURN_IF_FAILED(device().copyIn(to.data, from, to.bytes, OwnStream));
  return device().synchronize(OwnStream);
}

void Session::resetState() {
  for (auto &[name, state] : States)
    state.isInitialised = false;
}
