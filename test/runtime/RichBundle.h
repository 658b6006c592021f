// SPDX-License-Identifier: Apache-2.0
// A small bundle that has a little of everything that the format knows.
#pragma once

#include "PlanMaker.h"

namespace dlc::test {

/// The host variant runs without kernels: symbols, an alias, a weight, a
/// branch, a loop, state, a counted output. Inputs: x[N, 4] f32 with N in
/// 1..4, and count (i64, at most N*4).
inline bundle::VariantContent runnableVariant() {
  PlanMaker m;
  auto k = [&](int64_t value) { return m.pool.constant(value); };
  uint32_t n = m.symbol("N", Home::HostArgument, 1, 4, 0, 0);
  uint32_t N = m.pool.symbol(n), bytes = m.pool.mul(N, k(16));
  uint32_t x = m.buffer(Space::Input, bytes);
  uint32_t count = m.buffer(Space::Input, k(8));
  uint32_t cell = m.buffer(Space::Cell, k(8));
  uint32_t counted = m.symbol("count", Home::DeviceCell, 0, 16, kNone, 0, cell);
  m.plan->symbols[counted]->bound = m.pool.mul(N, k(4));
  uint32_t flag = m.symbol("flag", Home::DeviceCell, 0, 16);
  uint32_t i = m.symbol("i", Home::Iteration, 0, 3);
  uint32_t w = m.weight("w", k(16));
  uint32_t in = m.buffer(Space::Arena, bytes),
           out = m.buffer(Space::Arena, bytes);
  uint32_t state = m.state("h", k(16), 0);
  uint32_t y = m.buffer(Space::Output, bytes);
  uint32_t z = m.buffer(Space::Output, k(64));
  uint32_t all = m.buffer(Space::Output, m.pool.mul(bytes, k(3)));
  uint32_t first = m.buffer(Space::Arena, k(16));
  m.plan->buffers[first]->alias = in;
  m.plan->buffers[first]->alias_offset = m.pool.add(bytes, k(-16));
  m.port(m.plan->inputs, "x", ElementType::F32, {N, k(4)}, x);
  m.port(m.plan->inputs, "count", ElementType::I64, {}, count);
  m.port(m.plan->outputs, "y", ElementType::F32, {N, k(4)}, y);
  m.port(m.plan->outputs, "z", ElementType::F32, {m.pool.symbol(counted)}, z);
  m.port(m.plan->outputs, "all", ElementType::F32, {k(3), N, k(4)}, all);
  m.port(m.plan->outputs, "w", ElementType::F32, {k(4)}, w);
  auto constraint = std::make_unique<ConstraintT>();
  constraint->left = N;
  constraint->relation = Relation::LessEqual;
  constraint->right = k(4);
  constraint->sentence = "N must be at most 4";
  m.plan->constraints.push_back(std::move(constraint));
  auto recipe = std::make_unique<RecipeStepT>();
  recipe->op = RecipeOp::Permute;
  recipe->dims = {1, 0};
  m.plan->weights[0]->recipe.push_back(std::move(recipe));

  m.copy(count, cell, k(8));
  m.fill(z, k(64), 0x3f800000, 4);
  HostReadT read;
  read.buffer = count;
  read.symbol = flag;
  m.step(std::move(read));
  IfT branch;
  branch.condition = flag;
  branch.then_block = m.block();
  branch.else_block = m.block();
  branch.results = {y};
  m.copy(x, y, bytes, branch.then_block);
  m.copy(w, y, k(16), branch.else_block);
  m.step(std::move(branch));
  LoopT loop;
  loop.trips = k(3);
  loop.iteration = i;
  loop.body = m.block();
  m.copy(in, out, bytes, loop.body);
  m.copy(state, first, k(16), loop.body);
  auto carried = std::make_unique<CarriedT>();
  carried->initial = x;
  carried->in = in;
  carried->out = out;
  carried->bytes = bytes;
  loop.carried.push_back(std::move(carried));
  auto scan = std::make_unique<ScanT>();
  scan->from = out;
  scan->to = all;
  scan->bytes = bytes;
  loop.scans.push_back(std::move(scan));
  m.step(std::move(loop)).after = {0, 1};
  m.store(first);

  static const float weights[4] = {0.5f, -1.25f, 3, 1e-3f};
  bundle::VariantContent variant = hostVariant(m);
  variant.weights = {{reinterpret_cast<const uint8_t *>(weights), 16}};
  bundle::ShapeRangeT range;
  range.input = "x";
  range.lower = {1, 4};
  range.upper = {4, 4};
  variant.shapes.push_back(std::move(range));
  variant.sources = {{"note.txt", "no kernels here\n"}};
  variant.report = "copies only\n";
  return variant;
}

/// Launches with every kind of patch; for the verifier, not to be run.
inline bundle::VariantContent launchVariant() {
  PlanMaker m;
  auto k = [&](int64_t value) { return m.pool.constant(value); };
  uint32_t x = m.buffer(Space::Input, k(4096));
  uint32_t cell = m.buffer(Space::Cell, k(8));
  uint32_t y = m.buffer(Space::Output, k(4096));
  m.port(m.plan->inputs, "x", ElementType::F16, {k(32), k(64)}, x);
  m.port(m.plan->outputs, "y", ElementType::F16, {k(32), k(64)}, y);
  for (MapKind kind : {MapKind::Tiled, MapKind::Im2col}) {
    auto map = std::make_unique<TensorMapT>();
    map->kind = kind;
    map->type = ElementType::F16;
    map->dims = {k(64), k(4), k(8), k(1)};
    map->strides = {k(128), k(512), k(4096)};
    map->element_strides = {1, 1, 1, 1};
    if (kind == MapKind::Tiled) {
      map->box = {64, 4, 1, 1};
    } else {
      map->lower_corner = map->upper_corner = {-1, 0};
      map->channels = 64;
      map->pixels = 32;
    }
    m.plan->maps.push_back(std::move(map));
  }
  auto kernel = std::make_unique<KernelT>();
  kernel->name = "dlc_copy_f16_00000000";
  kernel->source = 0;
  kernel->threads = 128;
  kernel->smem_bytes = 1024;
  kernel->cluster = 2;
  kernel->parameter_bytes = 320;
  kernel->maps = 2;
  kernel->buffers = 2;
  kernel->cells = kernel->symbols = 1;
  kernel->pdl = true;
  m.plan->kernels.push_back(std::move(kernel));
  LaunchT launch;
  launch.grid_x = k(2);
  launch.grid_y = launch.grid_z = k(1);
  launch.patches = {{0, PatchKind::Map, x, 0},
                    {128, PatchKind::Map, x, 1},
                    {256, PatchKind::Pointer, x, kNone},
                    {264, PatchKind::Pointer, y, k(16)},
                    {272, PatchKind::Cell, cell, kNone},
                    {280, PatchKind::Symbol, kNone, k(77)}};
  m.step(std::move(launch)).stream = 1;
  m.plan->streams = 2;
  bundle::VariantContent variant = hostVariant(m);
  variant.target = "sm_90a";
  variant.precision = "fp16";
  variant.binaries = {{bundle::BinaryKind::Cubin, "sm_90a", "not a cubin"}};
  variant.sources = {{"dlc_copy_f16_00000000.cu", "// kernel\n"}};
  variant.leastDriver = 13000;
  return variant;
}

inline BundleFile richBundle() {
  bundle::BundleBuilder builder;
  builder.producer = "test";
  builder.modelName = "rich";
  builder.model = "module {}\n";
  builder.tuning = "# empty\n";
  builder.addVariant(runnableVariant());
  builder.addVariant(launchVariant());
  return BundleFile(builder);
}

} // namespace dlc::test
