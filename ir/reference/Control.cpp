// SPDX-License-Identifier: Apache-2.0
// Ops with regions.
#include "ir/reference/Walk.h"

namespace dlc::reference {

static Tensors copies(const Context &c, unsigned first) {
  Tensors result;
  for (unsigned i = first; i < c.numInputs(); i++)
    result.push_back(c.input(i));
  return result;
}

static Expected<bool> condition(const Context &c, const Tensor &t) {
  if (t.elements() != 1)
    return c.error("expected one condition, got shape " + shapeText(t.shape()));
  return t.intAt(0) != 0;
}

Expected<Tensors> evaluateIf(const Context &c) {
  auto op = llvm::cast<IfOp>(&c.op);
  Expected<bool> taken = condition(c, c.input(0));
  if (!taken)
    return taken.takeError();
  SymbolValues symbols = c.symbols;
  return runGraph(*taken ? op.thenGraph() : op.elseGraph(), copies(c, 1),
                  c.settings, symbols);
}

/// Rows stacked along a new first dimension; `like` where there is none.
static Expected<Tensor> stack(const Context &c, llvm::ArrayRef<Tensor> rows,
                              const Value &like, const Value &result) {
  Index shape;
  if (rows.empty()) {
    // No iteration tells the size of what it would yield: unknown ones are 0.
    for (const Dim &d : like.type().shape) {
      Expected<int64_t> size = c.value(d);
      if (!size)
        llvm::consumeError(size.takeError());
      shape.push_back(size ? *size : 0);
    }
  } else {
    shape = rows[0].shape();
  }
  for (const Tensor &row : rows)
    if (row.shape() != shape)
      return c.error("iterations yield shapes " + shapeText(shape) + " and " +
                     shapeText(row.shape()));
  shape.insert(shape.begin(), int64_t(rows.size()));
  Tensor all(c.settings.stored(result.type().element), shape);
  uint8_t *to = all.data();
  for (const Tensor &row : rows) {
    std::memcpy(to, row.data(), row.byteSize());
    to += row.byteSize();
  }
  return all;
}

Expected<Tensors> evaluateLoop(const Context &c) {
  auto op = llvm::cast<LoopOp>(&c.op);
  Graph &body = op.body();
  int64_t trips = INT64_MAX;
  if (c.has(0)) {
    if (c.input(0).elements() != 1)
      return c.error("expected one trip count, got shape " +
                     shapeText(c.input(0).shape()));
    trips = c.input(0).intAt(0);
  }
  bool running = true;
  if (c.has(1)) {
    Expected<bool> start = condition(c, c.input(1));
    if (!start)
      return start.takeError();
    running = *start;
  }
  size_t carried = size_t(op.carried());
  Tensors values = copies(c, 2);
  Tensors invariants(values.begin() + carried, values.end());
  values.resize(carried);
  size_t scans = c.op.numResults() - carried;
  std::vector<Tensors> rows(scans);
  for (int64_t trip = 0; trip < trips && running; trip++) {
    Tensor iteration(DataType::I64, {}), flag(DataType::Bool, {});
    iteration.setInt(0, trip);
    flag.setInt(0, 1);
    Tensors inputs = {iteration, flag};
    llvm::append_range(inputs, values);
    llvm::append_range(inputs, invariants);
    values.clear();
    SymbolValues symbols = c.symbols;
    Expected<Tensors> outputs =
        runGraph(body, std::move(inputs), c.settings, symbols);
    if (!outputs)
      return outputs.takeError();
    Expected<bool> next = condition(c, (*outputs)[0]);
    if (!next)
      return next.takeError();
    running = *next;
    for (size_t i = 0; i < carried; i++)
      values.push_back(std::move((*outputs)[1 + i]));
    for (size_t i = 0; i < scans; i++)
      rows[i].push_back(std::move((*outputs)[1 + carried + i]));
  }
  for (size_t i = 0; i < scans; i++) {
    Expected<Tensor> all = stack(c, rows[i], *body.outputs()[1 + carried + i],
                                 *c.op.result(unsigned(carried + i)));
    if (!all)
      return all.takeError();
    values.push_back(std::move(*all));
  }
  return values;
}

Expected<Tensors> evaluateFusion(const Context &c) {
  Settings inside = c.settings;
  inside.wide = true;
  SymbolValues symbols = c.symbols;
  return runGraph(llvm::cast<FusionOp>(&c.op).body(), copies(c, 0), inside,
                  symbols);
}

} // namespace dlc::reference
