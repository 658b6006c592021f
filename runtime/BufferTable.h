// SPDX-License-Identifier: Apache-2.0
// Where each buffer of a plan lies during a run.
#pragma once

#include "runtime/Layout.h"

#include <algorithm>

namespace dlc {

class BufferTable {
public:
  BufferTable(const plan::PlanT &plan, const Layout &layout)
      : Plan(&plan), Shape(&layout), Bases(plan.buffers.size()) {}

  /// Forgets where everything is.
  void clear() { std::fill(Bases.begin(), Bases.end(), nullptr); }
  /// Says where a buffer that lies in no other one is.
  void setBase(uint32_t root, void *base) {
    Bases[root] = static_cast<uint8_t *>(base);
  }
  uint8_t *base(uint32_t root) const { return Bases[root]; }
  const std::vector<uint8_t *> &bases() const { return Bases; }

  /// Two roots exchange their memory.
  void exchange(uint32_t a, uint32_t b) { std::swap(Bases[a], Bases[b]); }

  /// The address of the bytes [offset, offset + bytes) of a buffer; fails
  /// unless they lie inside it.
  Status address(uint32_t buffer, uint64_t offset, uint64_t bytes,
                 const plan::ExpressionValues &values, uint8_t *&out) const;

  /// The same with the offset given as an expression; NONE: 0.
  Status addressAt(uint32_t buffer, uint32_t offset, uint64_t bytes,
                   const plan::ExpressionValues &values, uint8_t *&out) const;

  uint64_t bytes(uint32_t buffer) const { return Shape->bytes[buffer]; }
  uint32_t root(uint32_t buffer) const { return Shape->roots[buffer]; }
  std::string name(uint32_t buffer) const;

private:
  const plan::PlanT *Plan;
  const Layout *Shape;
  std::vector<uint8_t *> Bases;
};

} // namespace dlc
