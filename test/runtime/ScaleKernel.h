// SPDX-License-Identifier: Apache-2.0
// A kernel of four weights in a plan, and what it computes. The tests bring its
// code along.
#pragma once

#include "PlanMaker.h"

namespace dlc::test {

inline const std::vector<float> kWeights = {1.5f, -2, 0.25f, 3};

/// What `rounds` launches make of x.
inline std::vector<float> scaled(std::vector<float> x, int rounds = 1) {
  for (int round = 0; round < rounds; round++)
    for (size_t i = 0; i < x.size(); i++)
      x[i] *= kWeights[i % 4];
  return x;
}

/// y[i] = x[i] * w[i % 4] for i < min(N, *cell), as the plan's next kernel;
/// its parameters are x, w, y, cell, N.
struct ScaleKernel {
  PlanMaker &m;
  uint32_t w, cell;

  ScaleKernel(PlanMaker &m, std::string name)
      : m(m), w(m.weight("w", m.pool.constant(16))),
        cell(m.buffer(Space::Cell, m.pool.constant(8))) {
    auto kernel = std::make_unique<KernelT>();
    kernel->name = std::move(name);
    kernel->threads = 64;
    kernel->parameter_bytes = 40;
    kernel->buffers = 3;
    kernel->cells = kernel->symbols = 1;
    m.plan->kernels.push_back(std::move(kernel));
  }
  KernelT &kernel() const { return *m.plan->kernels.back(); }
  StepT &launch(uint32_t x, uint32_t y, uint32_t N) const {
    LaunchT launch;
    launch.grid_x =
        m.pool.binary(ExpressionOp::CeilDiv, N, m.pool.constant(64));
    launch.grid_y = launch.grid_z = m.pool.constant(1);
    launch.patches = {{0, PatchKind::Pointer, x, kNone},
                      {8, PatchKind::Pointer, w, kNone},
                      {16, PatchKind::Pointer, y, kNone},
                      {24, PatchKind::Cell, cell, kNone},
                      {32, PatchKind::Symbol, kNone, N}};
    return m.step(std::move(launch));
  }
  /// The plan with its weights and the kernel's code.
  bundle::VariantContent variant(bundle::BinaryKind kind, std::string arch,
                                 std::string code) const {
    bundle::VariantContent variant = hostVariant(m);
    variant.weights = {
        {reinterpret_cast<const uint8_t *>(kWeights.data()), 16}};
    variant.binaries = {{kind, std::move(arch), std::move(code)}};
    return variant;
  }
};

} // namespace dlc::test
