// SPDX-License-Identifier: Apache-2.0
// Builds small plans and bundles by hand, for the runtime's tests.
#pragma once

#include "runtime/bundle/BundleBuilder.h"
#include "runtime/bundle/BundleReader.h"
#include "runtime/plan/Expression.h"

#include <cstring>
#include <string>
#include <vector>

namespace dlc::test {

using namespace dlc::plan;

/// A plan that grows part by part; each function returns the new index.
struct PlanMaker {
  std::unique_ptr<PlanT> plan = std::make_unique<PlanT>();
  ExpressionPool pool{plan->expressions};

  PlanMaker() { plan->blocks.push_back(std::make_unique<BlockT>()); }

  uint32_t symbol(std::string name, Home home, int64_t lower = 0,
                  int64_t upper = INT64_MAX, uint32_t input = kNone,
                  uint32_t axis = 0, uint32_t cell = kNone) {
    auto symbol = std::make_unique<SymbolT>();
    symbol->name = std::move(name);
    symbol->home = home;
    symbol->lower = lower;
    symbol->upper = upper;
    symbol->input = input;
    symbol->axis = axis;
    symbol->cell = cell;
    plan->symbols.push_back(std::move(symbol));
    return uint32_t(plan->symbols.size() - 1);
  }

  uint32_t buffer(Space space, uint32_t bytes, uint32_t first = 0,
                  uint32_t last = 1000) {
    auto buffer = std::make_unique<BufferT>();
    buffer->space = space;
    buffer->bytes = bytes;
    buffer->first = first;
    buffer->last = last;
    buffer->name = "b" + std::to_string(plan->buffers.size());
    plan->buffers.push_back(std::move(buffer));
    return uint32_t(plan->buffers.size() - 1);
  }

  uint32_t port(std::vector<std::unique_ptr<PortT>> &ports, std::string name,
                ElementType type, std::vector<uint32_t> dims, uint32_t buffer) {
    auto port = std::make_unique<PortT>();
    port->name = std::move(name);
    port->type = type;
    port->dims = std::move(dims);
    port->buffer = buffer;
    ports.push_back(std::move(port));
    return uint32_t(ports.size() - 1);
  }

  uint32_t weight(std::string name, uint32_t bytes) {
    auto weight = std::make_unique<WeightT>();
    weight->name = std::move(name);
    plan->weights.push_back(std::move(weight));
    uint32_t index = buffer(Space::Weight, bytes);
    plan->buffers[index]->weight = uint32_t(plan->weights.size() - 1);
    return index;
  }

  /// y[N] = x[N] in f32 is what the plan computes: its symbol, and buffers.
  struct InOut {
    uint32_t N, bytes, x, y;
  };
  InOut inOut(int64_t lower, int64_t upper) {
    uint32_t n = symbol("N", Home::HostArgument, lower, upper, 0, 0);
    return inOut(pool.symbol(n));
  }
  InOut inOut(uint32_t N) {
    InOut io;
    io.N = N;
    io.bytes = pool.mul(N, pool.constant(4));
    io.x = buffer(Space::Input, io.bytes);
    io.y = buffer(Space::Output, io.bytes);
    port(plan->inputs, "x", ElementType::F32, {N}, io.x);
    port(plan->outputs, "y", ElementType::F32, {N}, io.y);
    return io;
  }

  /// A state variable's buffer.
  uint32_t state(std::string name, uint32_t bytes, uint32_t initial = kNone) {
    auto variable = std::make_unique<StateVariableT>();
    variable->name = std::move(name);
    variable->buffer = buffer(Space::State, bytes);
    variable->initial = initial;
    plan->states.push_back(std::move(variable));
    return plan->states.back()->buffer;
  }

  uint32_t block() {
    plan->blocks.push_back(std::make_unique<BlockT>());
    return uint32_t(plan->blocks.size() - 1);
  }

  template <class T> StepT &step(T action, uint32_t block = 0) {
    auto step = std::make_unique<StepT>();
    step->action.Set(std::move(action));
    step->nodes = {"node_" + std::to_string(plan->blocks[block]->steps.size())};
    plan->blocks[block]->steps.push_back(std::move(step));
    return *plan->blocks[block]->steps.back();
  }

  void copy(uint32_t from, uint32_t to, uint32_t bytes, uint32_t block = 0,
            uint32_t fromOffset = kNone, uint32_t toOffset = kNone) {
    CopyT action;
    action.from = from;
    action.to = to;
    action.bytes = bytes;
    action.from_offset = fromOffset;
    action.to_offset = toOffset;
    step(std::move(action), block);
  }
  StepT &fill(uint32_t buffer, uint32_t bytes, uint32_t value = 0,
              uint32_t width = 1) {
    FillT action;
    action.buffer = buffer;
    action.bytes = bytes;
    action.value = value;
    action.width = width;
    return step(std::move(action));
  }
  /// What a state variable becomes after the run.
  void store(uint32_t from) {
    StateT action;
    action.from = from;
    step(std::move(action));
  }
};

/// The file of a bundle, aligned as a mapping would be.
struct BundleFile {
  std::vector<uint8_t> storage;
  size_t start = 0, size = 0;

  explicit BundleFile(bundle::BundleBuilder &builder) {
    std::vector<uint8_t> bytes;
    builder.write([&](std::span<const uint8_t> piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
      return true;
    });
    storage.resize(bytes.size() + 256);
    size = bytes.size();
    start = (256 - reinterpret_cast<uintptr_t>(storage.data()) % 256) % 256;
    memcpy(storage.data() + start, bytes.data(), size);
  }
  std::span<uint8_t> span() { return {storage.data() + start, size}; }
};

inline BundleFile fileOf(bundle::VariantContent variant) {
  bundle::BundleBuilder builder;
  builder.addVariant(std::move(variant));
  return BundleFile(builder);
}

inline bundle::VariantContent hostVariant(PlanMaker &maker) {
  bundle::VariantContent variant;
  variant.target = "host";
  variant.precision = "fp32";
  variant.plan = std::move(maker.plan);
  return variant;
}

} // namespace dlc::test
