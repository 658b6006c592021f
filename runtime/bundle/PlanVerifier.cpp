// SPDX-License-Identifier: Apache-2.0
// Checks every index and range of a plan that does not depend on shapes.
#include "runtime/bundle/PlanVerifier.h"

#include "runtime/bundle/ParameterSlots.h"
#include "runtime/plan/Expression.h"

#include <algorithm>
#include <bit>

using namespace dlc;
using namespace dlc::bundle;
using namespace dlc::plan;

static Status bad(std::string sentence) {
  return Status(DLC_BAD_BUNDLE, std::move(sentence));
}

namespace {

class PlanVerifier {
public:
  PlanVerifier(const PlanT &plan, const PlanContext &context)
      : Plan(plan), Context(context) {}

  Status verify();

private:
  Status verifyExpressions();
  Status verifySymbols();
  Status verifyBuffers();
  Status verifyWeights();
  Status verifyPorts(const std::vector<std::unique_ptr<PortT>> &ports,
                     Space space, std::string_view what);
  Status verifyKernels();
  Status verifyMaps();
  Status verifyBlocks();

  Status verify(const StepT &step, size_t block, size_t index);
  Status verify(const LaunchT &launch);
  Status verifySlots(const LaunchT &launch, const KernelT &kernel);
  Status verify(const CopyT &copy);
  Status verify(const FillT &fill);
  Status verify(const HostReadT &read);
  Status verify(const IfT &branch, size_t block);
  Status verify(const LoopT &loop, size_t block);
  Status verify(const StateT &state);

  Status expression(uint32_t index, std::string_view what,
                    bool optional = false) const {
    if ((optional && index == kNone) || index < Plan.expressions.size())
      return Status();
    return bad(say(what, ": expression ", index, " does not exist"));
  }
  Status buffer(uint32_t index, std::string_view what) const {
    if (index < Plan.buffers.size())
      return Status();
    return bad(say(what, ": buffer ", index, " does not exist"));
  }
  /// A buffer that a step may write to.
  Status target(uint32_t index, std::string_view what) const;
  Status symbol(uint32_t index, std::string_view what) const {
    if (index < Plan.symbols.size())
      return Status();
    return bad(say(what, ": symbol ", index, " does not exist"));
  }
  /// A block inside `parent`, each in one place only.
  Status child(uint32_t index, size_t parent, std::string_view what);
  const BufferT &rootOf(uint32_t buffer) const {
    while (Plan.buffers[buffer]->alias != kNone)
      buffer = Plan.buffers[buffer]->alias;
    return *Plan.buffers[buffer];
  }

  const PlanT &Plan;
  const PlanContext &Context;
  std::vector<bool> Used; ///< blocks that have a place
};

} // namespace

Status PlanVerifier::verify() {
  if (Plan.schema_version == 0 || Plan.schema_version > kSchemaVersion)
    return bad(say("plan schema version ", Plan.schema_version,
                   " is newer than this runtime reads (", kSchemaVersion,
                   "): update the runtime"));
  if (Plan.kernel_abi != kKernelAbi)
    return bad(say("kernel ABI version ", Plan.kernel_abi,
                   " is not the one of this runtime (", kKernelAbi, ")"));
  if (Plan.streams == 0 || Plan.streams > 64)
    return bad(
        say("the plan wants ", Plan.streams, " streams, expected 1 to 64"));
  DLC_RETURN_IF_FAILED(verifyExpressions());
  DLC_RETURN_IF_FAILED(verifyBuffers());
  DLC_RETURN_IF_FAILED(verifyWeights());
  DLC_RETURN_IF_FAILED(verifyPorts(Plan.inputs, Space::Input, "input"));
  DLC_RETURN_IF_FAILED(verifyPorts(Plan.outputs, Space::Output, "output"));
  DLC_RETURN_IF_FAILED(verifySymbols());
  for (const auto &constraint : Plan.constraints) {
    if (constraint->relation > Relation::MAX)
      return bad("a constraint has an unknown relation");
    DLC_RETURN_IF_FAILED(expression(constraint->left, "constraint"));
    DLC_RETURN_IF_FAILED(expression(constraint->right, "constraint"));
  }
  for (const auto &state : Plan.states) {
    std::string what = say("state \"", state->name, "\"");
    DLC_RETURN_IF_FAILED(buffer(state->buffer, what));
    if (Plan.buffers[state->buffer]->space != Space::State ||
        Plan.buffers[state->buffer]->alias != kNone)
      return bad(say(what, ": its buffer is not in the state space"));
    if (state->initial != kNone && state->initial >= Plan.weights.size())
      return bad(say(what, ": weight ", state->initial, " does not exist"));
  }
  DLC_RETURN_IF_FAILED(verifyMaps());
  DLC_RETURN_IF_FAILED(verifyKernels());
  return verifyBlocks();
}

Status PlanVerifier::verifyExpressions() {
  for (size_t i = 0; i < Plan.expressions.size(); i++) {
    const Expression &node = Plan.expressions[i];
    if (node.op() > ExpressionOp::MAX)
      return bad(say("expression ", i, " has an unknown operation"));
    if (node.op() == ExpressionOp::Const)
      continue;
    if (node.op() == ExpressionOp::Symbol
            ? uint64_t(node.value()) >= Plan.symbols.size()
            : node.a() >= i || node.b() >= i)
      return bad(say("expression ", i, " has an operand that does not exist"));
  }
  return Status();
}

Status PlanVerifier::verifySymbols() {
  for (size_t i = 0; i < Plan.symbols.size(); i++) {
    const SymbolT &symbol = *Plan.symbols[i];
    std::string what = say("symbol \"", symbol.name, "\"");
    if (symbol.home > Home::MAX)
      return bad(say(what, " has an unknown home"));
    if (symbol.lower > symbol.upper || symbol.divisibility < 1)
      return bad(say(what, " has no value that it could take"));
    if (symbol.home == Home::HostArgument &&
        (symbol.input >= Plan.inputs.size() ||
         symbol.axis >= Plan.inputs[symbol.input]->dims.size()))
      return bad(say(what, ": axis ", symbol.axis, " of input ", symbol.input,
                     " does not exist"));
    if (symbol.home != Home::DeviceCell)
      continue;
    if (symbol.cell != kNone) {
      DLC_RETURN_IF_FAILED(buffer(symbol.cell, what));
      if (rootOf(symbol.cell).space != Space::Cell)
        return bad(say(what, ": buffer ", symbol.cell, " is no device cell"));
    }
    DLC_RETURN_IF_FAILED(expression(symbol.bound, what, true));
    std::vector<bool> used =
        symbolsOf(Plan.expressions, symbol.bound, Plan.symbols.size());
    for (size_t k = i; k < used.size(); k++)
      if (used[k])
        return bad(say(what, ": its bound depends on a symbol that does not "
                             "stand before it"));
  }
  return Status();
}

Status PlanVerifier::verifyBuffers() {
  for (size_t i = 0; i < Plan.buffers.size(); i++) {
    const BufferT &buffer = *Plan.buffers[i];
    std::string what = say("buffer ", i);
    DLC_RETURN_IF_FAILED(expression(buffer.bytes, what));
    if (buffer.space > Space::MAX || buffer.type > ElementType::MAX)
      return bad(say(what, " has an unknown space or type"));
    if (buffer.alias != kNone) {
      if (buffer.alias >= i)
        return bad(say(what, " lies in buffer ", buffer.alias,
                       ", which does not stand before it"));
      DLC_RETURN_IF_FAILED(expression(buffer.alias_offset, what, true));
      continue;
    }
    if (!std::has_single_bit(buffer.alignment) || buffer.alignment > 65536)
      return bad(say(what, " has alignment ", buffer.alignment));
    if (buffer.first > buffer.last)
      return bad(say(what, " ends before it begins"));
    if (buffer.space == Space::Weight && buffer.weight >= Plan.weights.size())
      return bad(say(what, ": weight ", buffer.weight, " does not exist"));
  }
  return Status();
}

Status PlanVerifier::verifyWeights() {
  for (const auto &weight : Plan.weights) {
    if (weight->hash.size() != 32)
      return bad(say("weight \"", weight->name, "\" has a hash of ",
                     weight->hash.size(), " bytes, expected 32"));
    if (weight->type > ElementType::MAX)
      return bad(say("weight \"", weight->name, "\" has an unknown type"));
    for (const auto &step : weight->recipe)
      if (step->op > RecipeOp::MAX || step->from > ElementType::MAX ||
          step->to > ElementType::MAX)
        return bad(say("weight \"", weight->name,
                       "\" has a recipe with an "
                       "unknown step"));
  }
  return Status();
}

Status
PlanVerifier::verifyPorts(const std::vector<std::unique_ptr<PortT>> &ports,
                          Space space, std::string_view what) {
  for (const auto &port : ports) {
    std::string name = say(what, " \"", port->name, "\"");
    if (port->type > ElementType::MAX)
      return bad(say(name, " has an unknown type"));
    static_assert(kMaxRank == DLC_MAX_RANK);
    if (port->dims.size() > kMaxRank)
      return bad(say(name, " has rank ", port->dims.size(), ", at most ",
                     kMaxRank, " is supported"));
    for (uint32_t dim : port->dims)
      DLC_RETURN_IF_FAILED(expression(dim, name));
    DLC_RETURN_IF_FAILED(buffer(port->buffer, name));
    // An output may also be an input, a weight or a part of the arena as it
    // is: the runtime copies.
    if (space == Space::Input && (Plan.buffers[port->buffer]->space != space ||
                                  Plan.buffers[port->buffer]->alias != kNone))
      return bad(say(name, ": its buffer is not in the input space"));
  }
  return Status();
}

Status PlanVerifier::verifyKernels() {
  for (const auto &kernel : Plan.kernels) {
    std::string what = say("kernel \"", kernel->name, "\"");
    if (kernel->binary >= Context.binaries)
      return bad(say(what, ": binary ", kernel->binary, " does not exist"));
    if (kernel->source != kNone && kernel->source >= Context.sources)
      return bad(say(what, ": source ", kernel->source, " does not exist"));
    if (kernel->threads == 0 || kernel->threads > 1024)
      return bad(say(what, " has ", kernel->threads,
                     " threads in a block, expected 1 to 1024"));
    if (kernel->cluster == 0 || kernel->cluster > 16)
      return bad(say(what, " has ", kernel->cluster,
                     " blocks in a cluster, expected 1 to 16"));
    if (kernel->smem_bytes > 1 << 20)
      return bad(
          say(what, " wants ", kernel->smem_bytes, " bytes of shared memory"));
    if (kernel->parameter_bytes > kMaxParameterBytes)
      return bad(say(what, " has ", kernel->parameter_bytes,
                     " bytes of parameters, expected at most ",
                     kMaxParameterBytes));
    // A struct with maps may be padded to their alignment.
    uint64_t bytes = ParameterSlots(*kernel).bytes(),
             step = kernel->maps ? 64 : 8;
    if (kernel->parameter_bytes != std::max<uint64_t>(bytes, 8) &&
        kernel->parameter_bytes != (bytes + step - 1) / step * step)
      return bad(say(what, " has ", kernel->parameter_bytes,
                     " bytes of parameters, expected ", bytes, " (maps ",
                     kernel->maps, ", buffers ", kernel->buffers, ", cells ",
                     kernel->cells, ", symbols ", kernel->symbols, ")"));
  }
  return Status();
}

Status PlanVerifier::verifyMaps() {
  for (size_t i = 0; i < Plan.maps.size(); i++) {
    const TensorMapT &map = *Plan.maps[i];
    std::string what = say("tensor map ", i);
    size_t rank = map.dims.size();
    if (map.kind > MapKind::MAX || map.type > ElementType::MAX ||
        map.interleave > MapInterleave::MAX || map.swizzle > MapSwizzle::MAX ||
        map.promotion > MapPromotion::MAX)
      return bad(say(what, " has an unknown kind, type or mode"));
    bool im2col = map.kind == MapKind::Im2col;
    if (rank < (im2col ? 3 : 1) || rank > 5)
      return bad(say(what, " has rank ", rank));
    if (map.strides.size() != rank - 1 || map.element_strides.size() != rank ||
        map.box.size() != (im2col ? 0 : rank) ||
        map.lower_corner.size() != (im2col ? rank - 2 : 0) ||
        map.upper_corner.size() != (im2col ? rank - 2 : 0))
      return bad(say(what, ": its parts have different ranks"));
    DLC_RETURN_IF_FAILED(expression(map.offset, what, true));
    for (uint32_t dim : map.dims)
      DLC_RETURN_IF_FAILED(expression(dim, what));
    for (uint32_t stride : map.strides)
      DLC_RETURN_IF_FAILED(expression(stride, what));
  }
  return Status();
}

// ---- steps ------------------------------------------------------------------

Status PlanVerifier::verifyBlocks() {
  if (Plan.blocks.empty())
    return bad("the plan has no steps");
  Used.assign(Plan.blocks.size(), false);
  for (size_t block = 0; block < Plan.blocks.size(); block++)
    for (size_t i = 0; i < Plan.blocks[block]->steps.size(); i++)
      DLC_RETURN_IF_FAILED(verify(*Plan.blocks[block]->steps[i], block, i)
                               .in(say("step ", i, " of block ", block)));
  return Status();
}

Status PlanVerifier::child(uint32_t index, size_t parent,
                           std::string_view what) {
  if (index >= Plan.blocks.size() || index <= parent)
    return bad(say(what, ": block ", index, " does not stand behind it"));
  if (Used[index])
    return bad(say(what, ": block ", index, " is used twice"));
  Used[index] = true;
  return Status();
}

Status PlanVerifier::target(uint32_t index, std::string_view what) const {
  DLC_RETURN_IF_FAILED(buffer(index, what));
  Space space = rootOf(index).space;
  if (space == Space::Input || space == Space::Weight)
    return bad(say(what, ": buffer ", index, " may not be written to"));
  return Status();
}

Status PlanVerifier::verify(const StepT &step, size_t block, size_t index) {
  if (step.stream >= Plan.streams)
    return bad(say("stream ", step.stream, " does not exist"));
  for (uint32_t after : step.after)
    if (after >= index)
      return bad(say("it waits for step ", after, ", which is not before it"));
  if (const LaunchT *launch = step.action.AsLaunch())
    return verify(*launch);
  if (const CopyT *copy = step.action.AsCopy())
    return verify(*copy);
  if (const FillT *fill = step.action.AsFill())
    return verify(*fill);
  if (const HostReadT *read = step.action.AsHostRead())
    return verify(*read);
  if (const IfT *branch = step.action.AsIf())
    return verify(*branch, block);
  if (const LoopT *loop = step.action.AsLoop())
    return verify(*loop, block);
  if (const StateT *state = step.action.AsState())
    return verify(*state);
  return bad("it is of a kind that this runtime does not know");
}

Status PlanVerifier::verify(const LaunchT &launch) {
  if (launch.kernel >= Plan.kernels.size())
    return bad(say("kernel ", launch.kernel, " does not exist"));
  const KernelT &kernel = *Plan.kernels[launch.kernel];
  std::string what = say("launch of \"", kernel.name, "\"");
  DLC_RETURN_IF_FAILED(expression(launch.grid_x, what));
  DLC_RETURN_IF_FAILED(expression(launch.grid_y, what));
  DLC_RETURN_IF_FAILED(expression(launch.grid_z, what));
  for (const Patch &patch : launch.patches) {
    bool isMap = patch.what() == PatchKind::Map;
    if (patch.what() > PatchKind::MAX)
      return bad(say(what, " has a patch of an unknown kind"));
    if (patch.what() != PatchKind::Symbol)
      DLC_RETURN_IF_FAILED(buffer(patch.buffer(), what));
    if (isMap && patch.value() >= Plan.maps.size())
      return bad(say(what, ": tensor map ", patch.value(), " does not exist"));
    if (!isMap)
      DLC_RETURN_IF_FAILED(
          expression(patch.value(), what, patch.what() != PatchKind::Symbol));
  }
  return verifySlots(launch, kernel).in(what);
}

/// The kernel reads every slot, so each is filled, once and by its kind.
Status PlanVerifier::verifySlots(const LaunchT &launch, const KernelT &kernel) {
  ParameterSlots slots(kernel);
  std::vector<bool> filled(slots.count());
  for (const Patch &patch : launch.patches) {
    std::optional<uint64_t> slot = slots.at(patch.byte());
    if (!slot)
      return bad(say("byte ", patch.byte(), " of ", kernel.parameter_bytes,
                     " is patched, where no member begins"));
    if (slots.kind(*slot) != patch.what())
      return bad(say("byte ", patch.byte(), " is a ",
                     kindName(slots.kind(*slot)), ", patched as a ",
                     kindName(patch.what())));
    if (filled[*slot])
      return bad(say("byte ", patch.byte(), " is patched twice"));
    filled[*slot] = true;
  }
  for (size_t slot = 0; slot < filled.size(); slot++)
    if (!filled[slot])
      return bad(say("the ", kindName(slots.kind(slot)), " at byte ",
                     slots.byte(slot), " is patched by nothing"));
  return Status();
}

Status PlanVerifier::verify(const CopyT &copy) {
  DLC_RETURN_IF_FAILED(buffer(copy.from, "copy"));
  DLC_RETURN_IF_FAILED(target(copy.to, "copy"));
  DLC_RETURN_IF_FAILED(expression(copy.from_offset, "copy", true));
  DLC_RETURN_IF_FAILED(expression(copy.to_offset, "copy", true));
  return expression(copy.bytes, "copy");
}

Status PlanVerifier::verify(const FillT &fill) {
  DLC_RETURN_IF_FAILED(target(fill.buffer, "fill"));
  DLC_RETURN_IF_FAILED(expression(fill.offset, "fill", true));
  if (fill.width != 1 && fill.width != 2 && fill.width != 4)
    return bad(
        say("fill: got a width of ", fill.width, ", expected 1, 2 or 4"));
  return expression(fill.bytes, "fill");
}

Status PlanVerifier::verify(const HostReadT &read) {
  DLC_RETURN_IF_FAILED(buffer(read.buffer, "host read"));
  DLC_RETURN_IF_FAILED(expression(read.offset, "host read", true));
  if (read.type != ElementType::Bool && read.type != ElementType::I32 &&
      read.type != ElementType::I64)
    return bad("host read: expected the type bool, i32 or i64");
  DLC_RETURN_IF_FAILED(symbol(read.symbol, "host read"));
  if (Plan.symbols[read.symbol]->home != Home::DeviceCell)
    return bad("host read: its symbol is not at home in a device cell");
  return Status();
}

Status PlanVerifier::verify(const IfT &branch, size_t block) {
  DLC_RETURN_IF_FAILED(symbol(branch.condition, "if"));
  DLC_RETURN_IF_FAILED(child(branch.then_block, block, "if"));
  if (branch.else_block != kNone)
    DLC_RETURN_IF_FAILED(child(branch.else_block, block, "if"));
  for (uint32_t result : branch.results)
    DLC_RETURN_IF_FAILED(target(result, "if"));
  return Status();
}

Status PlanVerifier::verify(const LoopT &loop, size_t block) {
  DLC_RETURN_IF_FAILED(child(loop.body, block, "loop"));
  DLC_RETURN_IF_FAILED(expression(loop.trips, "loop", true));
  if (loop.condition != kNone)
    DLC_RETURN_IF_FAILED(symbol(loop.condition, "loop"));
  // Its upper bound is what stops a loop that would never end.
  DLC_RETURN_IF_FAILED(symbol(loop.iteration, "loop"));
  if (Plan.symbols[loop.iteration]->home != Home::Iteration)
    return bad("loop: its symbol is not at home in an iteration");
  if (loop.count != kNone) {
    DLC_RETURN_IF_FAILED(symbol(loop.count, "loop"));
    if (Plan.symbols[loop.count]->home != Home::Iteration)
      return bad("loop: its count is not at home in an iteration");
  }
  for (const auto &carried : loop.carried) {
    DLC_RETURN_IF_FAILED(buffer(carried->initial, "loop"));
    DLC_RETURN_IF_FAILED(target(carried->in, "loop"));
    DLC_RETURN_IF_FAILED(target(carried->out, "loop"));
    DLC_RETURN_IF_FAILED(expression(carried->bytes, "loop"));
    for (uint32_t side : {carried->in, carried->out})
      if (Plan.buffers[side]->space != Space::Arena ||
          Plan.buffers[side]->alias != kNone)
        return bad("loop: a carried buffer is not in the arena");
    if (carried->in == carried->out)
      return bad("loop: a carried buffer is read and written at once");
  }
  for (const auto &scan : loop.scans) {
    DLC_RETURN_IF_FAILED(buffer(scan->from, "loop"));
    DLC_RETURN_IF_FAILED(target(scan->to, "loop"));
    DLC_RETURN_IF_FAILED(expression(scan->bytes, "loop"));
  }
  return Status();
}

Status PlanVerifier::verify(const StateT &state) {
  if (state.state >= Plan.states.size())
    return bad(say("state ", state.state, " does not exist"));
  return buffer(state.from, "state");
}

Status dlc::bundle::verifyPlan(const PlanT &plan, const PlanContext &context) {
  return PlanVerifier(plan, context).verify();
}
