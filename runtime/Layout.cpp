// SPDX-License-Identifier: Apache-2.0
// A plan under given input shapes.
#include "runtime/Layout.h"

#include "runtime/plan/OffsetPlanner.h"

#include <algorithm>

using namespace dlc;
using namespace dlc::plan;

/// No buffer is larger, nor all cells together.
static constexpr int64_t kMaxBytes = int64_t(1) << 48;

std::string dlc::toText(std::span<const int64_t> dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

std::string dlc::boundsText(int64_t lower, int64_t upper) {
  if (lower == upper)
    return std::to_string(lower);
  if (upper == INT64_MAX)
    return say("at least ", lower);
  return say(lower, "..", upper);
}

std::optional<uint64_t> dlc::denseBytes(std::span<const int64_t> dims,
                                        ElementType type) {
  int64_t bits = elementBits(type);
  // An empty tensor is empty however large its other dimensions are.
  if (std::find(dims.begin(), dims.end(), 0) != dims.end())
    bits = 0;
  for (int64_t dim : dims)
    if (dim < 0 || (bits != 0 && __builtin_mul_overflow(bits, dim, &bits)))
      return std::nullopt;
  return uint64_t(bits / 8 + (bits % 8 != 0));
}

static std::vector<std::string> symbolNames(const PlanT &plan) {
  std::vector<std::string> names;
  for (const auto &symbol : plan.symbols)
    names.push_back(symbol->name);
  return names;
}

std::string dlc::dimsText(const PlanT &plan, const PortT &port) {
  std::vector<std::string> names = symbolNames(plan);
  std::string text;
  for (uint32_t dim : port.dims)
    text += (text.empty() ? "" : "x") + print(plan.expressions, dim, names);
  return text.empty() ? "scalar" : text;
}

Status dlc::valueOf(const PlanT &plan, const ExpressionValues &values,
                    uint32_t expression, std::string_view what,
                    int64_t &value) {
  if (std::optional<int64_t> known = values.get(expression)) {
    value = *known;
    return Status();
  }
  return Status(DLC_BAD_INPUT,
                say(what, ": ",
                    print(plan.expressions, expression, symbolNames(plan)),
                    " overflows for these shapes"));
}

// ---- symbols ----------------------------------------------------------------

static Status checkSymbol(const PlanT &plan, const SymbolT &symbol,
                          int64_t value) {
  std::string place =
      symbol.home == Home::HostArgument
          ? say("input \"", plan.inputs[symbol.input]->name, "\": dimension ",
                symbol.axis, " (", symbol.name, ")")
          : say("symbol ", symbol.name);
  if (value < symbol.lower || value > symbol.upper)
    return Status(DLC_BAD_INPUT, say(place, " is ", value, ", expected ",
                                     boundsText(symbol.lower, symbol.upper)));
  if (value % symbol.divisibility != 0)
    return Status(DLC_BAD_INPUT,
                  say(place, " is ", value, ", expected a multiple of ",
                      symbol.divisibility));
  return Status();
}

static Status bindSymbols(const PlanT &plan, const std::vector<Dims> &inputs,
                          int64_t multiprocessors, Layout &layout) {
  layout.symbols.assign(plan.symbols.size(), 0);
  for (size_t i = 0; i < plan.symbols.size(); i++) {
    const SymbolT &symbol = *plan.symbols[i];
    int64_t &value = layout.symbols[i];
    switch (symbol.home) {
    case Home::Constant:
      value = symbol.value;
      break;
    case Home::HostArgument:
      value = inputs[symbol.input][symbol.axis];
      break;
    case Home::Multiprocessors:
      value = multiprocessors;
      break;
    case Home::Iteration:
      value = symbol.lower;
      continue;
    case Home::DeviceCell:
      value = symbol.upper;
      if (symbol.bound == kNone)
        continue;
      layout.values.evaluate(plan.expressions, layout.symbols);
      DLC_RETURN_IF_FAILED(valueOf(plan, layout.values, symbol.bound,
                                   say("bound of ", symbol.name), value));
      value = std::min(value, symbol.upper);
      continue;
    }
    DLC_RETURN_IF_FAILED(checkSymbol(plan, symbol, value));
  }
  layout.values.evaluate(plan.expressions, layout.symbols);
  return Status();
}

static Status checkInputs(const PlanT &plan, const std::vector<Dims> &inputs,
                          const Layout &layout) {
  for (size_t i = 0; i < inputs.size(); i++) {
    const PortT &port = *plan.inputs[i];
    std::string name = say("input \"", port.name, "\"");
    for (size_t axis = 0; axis < port.dims.size(); axis++) {
      int64_t expected = 0;
      DLC_RETURN_IF_FAILED(
          valueOf(plan, layout.values, port.dims[axis], name, expected));
      if (inputs[i][axis] != expected)
        return Status(DLC_BAD_INPUT,
                      say(name, ": got ", toText(inputs[i]), ", expected ",
                          dimsText(plan, port), ": dimension ", axis, " is ",
                          inputs[i][axis], ", expected ", expected));
    }
  }
  return Status();
}

static bool holds(int64_t left, Relation relation, int64_t right) {
  switch (relation) {
  case Relation::Equal:
    return left == right;
  case Relation::NotEqual:
    return left != right;
  case Relation::Less:
    return left < right;
  case Relation::LessEqual:
    return left <= right;
  }
  return false;
}

/// "H is 50, W is 70": the symbols of both sides.
static std::string symbolsText(const PlanT &plan, const Layout &layout,
                               const ConstraintT &constraint) {
  std::vector<bool> left =
      symbolsOf(plan.expressions, constraint.left, plan.symbols.size());
  std::vector<bool> right =
      symbolsOf(plan.expressions, constraint.right, plan.symbols.size());
  std::string text;
  for (size_t i = 0; i < plan.symbols.size(); i++)
    if (left[i] || right[i])
      text += say(text.empty() ? "" : ", ", plan.symbols[i]->name, " is ",
                  layout.symbols[i]);
  return text;
}

static Status checkConstraints(const PlanT &plan, const Layout &layout) {
  for (const auto &constraint : plan.constraints) {
    int64_t left = 0, right = 0;
    DLC_RETURN_IF_FAILED(valueOf(plan, layout.values, constraint->left,
                                 constraint->sentence, left));
    DLC_RETURN_IF_FAILED(valueOf(plan, layout.values, constraint->right,
                                 constraint->sentence, right));
    if (holds(left, constraint->relation, right))
      continue;
    std::string sizes = symbolsText(plan, layout, *constraint);
    return Status(DLC_BAD_INPUT,
                  say(constraint->sentence, ": got ", left, " and ", right,
                      sizes.empty() ? "" : ", where ", sizes));
  }
  return Status();
}

// ---- buffers ----------------------------------------------------------------

static Status sizeBuffers(const PlanT &plan, Layout &layout) {
  size_t count = plan.buffers.size();
  layout.bytes.assign(count, 0);
  layout.roots.assign(count, 0);
  for (size_t i = 0; i < count; i++) {
    const BufferT &buffer = *plan.buffers[i];
    layout.roots[i] =
        buffer.alias == kNone ? uint32_t(i) : layout.roots[buffer.alias];
    int64_t bytes = 0;
    DLC_RETURN_IF_FAILED(valueOf(plan, layout.values, buffer.bytes,
                                 say("size of ", buffer.name), bytes));
    if (bytes < 0 || bytes > kMaxBytes)
      return Status(DLC_BAD_INPUT, say("size of ", buffer.name, ": ", bytes,
                                       " bytes for these shapes"));
    layout.bytes[i] = uint64_t(bytes);
    if (buffer.alias == kNone && buffer.space == Space::Weight &&
        layout.bytes[i] > plan.weights[buffer.weight]->bytes)
      return Status(DLC_BAD_BUNDLE,
                    say("weight \"", plan.weights[buffer.weight]->name,
                        "\" has ", plan.weights[buffer.weight]->bytes,
                        " bytes, its buffer has ", bytes));
  }
  return Status();
}

static Status placeBuffers(const PlanT &plan, Layout &layout) {
  std::vector<Lifetime> lifetimes;
  std::vector<uint32_t> buffers;
  layout.offsets.assign(plan.buffers.size(), 0);
  layout.cellBytes = 0;
  for (uint32_t i = 0; i < plan.buffers.size(); i++) {
    const BufferT &buffer = *plan.buffers[i];
    if (buffer.alias != kNone)
      continue;
    if (buffer.space == Space::Cell) {
      layout.offsets[i] = layout.cellBytes;
      layout.cellBytes += (layout.bytes[i] + 15) & ~uint64_t(7);
      // Looked at after each, before it could wrap.
      if (layout.cellBytes > uint64_t(kMaxBytes))
        return Status(DLC_BAD_INPUT,
                      say("the device cells up to ", buffer.name, " have ",
                          layout.cellBytes, " bytes for these shapes"));
    }
    if (buffer.space != Space::Arena)
      continue;
    buffers.push_back(i);
    lifetimes.push_back(
        {layout.bytes[i], buffer.first, buffer.last, buffer.alignment});
  }
  std::optional<Placement> placement = planOffsets(lifetimes);
  if (!placement)
    return Status(DLC_BAD_INPUT, "the buffers for these shapes do not fit "
                                 "into the address space");
  layout.arenaBytes = placement->bytes;
  for (size_t i = 0; i < buffers.size(); i++)
    layout.offsets[buffers[i]] = placement->offsets[i];
  return Status();
}

static Status checkPorts(const PlanT &plan, const std::vector<Dims> &inputs,
                         Layout &layout) {
  for (size_t i = 0; i < inputs.size(); i++) {
    const PortT &port = *plan.inputs[i];
    std::optional<uint64_t> bytes = denseBytes(inputs[i], port.type);
    if (!bytes || layout.bytes[port.buffer] > *bytes)
      return Status(DLC_BAD_BUNDLE, say("input \"", port.name,
                                        "\" is smaller than its buffer "
                                        "in the plan"));
  }
  std::vector<bool> isCell;
  for (const auto &symbol : plan.symbols)
    isCell.push_back(symbol->home == Home::DeviceCell);
  layout.outputs.clear();
  for (const auto &port : plan.outputs) {
    OutputLayout &output = layout.outputs.emplace_back();
    std::string name = say("output \"", port->name, "\"");
    for (uint32_t dim : port->dims) {
      DLC_RETURN_IF_FAILED(
          valueOf(plan, layout.values, dim, name, output.dims.emplace_back()));
      std::vector<bool> used =
          symbolsOf(plan.expressions, dim, plan.symbols.size());
      for (size_t i = 0; i < used.size(); i++)
        output.dynamic |= used[i] && isCell[i];
    }
    std::optional<uint64_t> bytes = denseBytes(output.dims, port->type);
    if (!bytes)
      return Status(DLC_BAD_INPUT,
                    say(name, ": ", toText(output.dims), " is no shape"));
    if (*bytes > layout.bytes[port->buffer])
      return Status(DLC_BAD_BUNDLE,
                    say(name, " is larger than its buffer in the plan"));
    output.bytes = *bytes;
  }
  return Status();
}

Status dlc::layOut(const PlanT &plan, const std::vector<Dims> &inputs,
                   int64_t multiprocessors, Layout &layout) {
  DLC_RETURN_IF_FAILED(bindSymbols(plan, inputs, multiprocessors, layout));
  DLC_RETURN_IF_FAILED(checkInputs(plan, inputs, layout));
  DLC_RETURN_IF_FAILED(checkConstraints(plan, layout));
  DLC_RETURN_IF_FAILED(sizeBuffers(plan, layout));
  DLC_RETURN_IF_FAILED(placeBuffers(plan, layout));
  return checkPorts(plan, inputs, layout);
}
