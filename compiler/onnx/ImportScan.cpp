// SPDX-License-Identifier: Apache-2.0
// Scan, from opset 9 on.
#include "compiler/onnx/Assume.h"
#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/Operators.h"
#include "compiler/onnx/Recurrence.h"

using namespace dlc;

namespace dlc {

/// A list with one entry per scanned value; `otherwise` where absent.
static std::vector<int64_t> perValue(NodeReader &n, llvm::StringRef name,
                                     size_t count) {
  std::vector<int64_t> values = n.integers(name);
  if (values.empty())
    values.assign(count, 0);
  if (values.size() != count) {
    n.error("attribute \"" + name + "\" has " + llvm::Twine(values.size()) +
            " values, expected " + llvm::Twine(count));
    values.assign(count, 0);
  }
  return values;
}

void importScan(NodeReader &n, NodeBuilder &b) {
  const auto *attribute = n.attribute("body", onnx::AttributeProto::GRAPH);
  int64_t scanned = n.requiredInteger("num_scan_inputs");
  if (!attribute || n.failed())
    return n.error("attribute \"body\" is missing");
  const onnx::GraphProto &body = attribute->g();
  llvm::ArrayRef<Value *> inputs = n.inputs();
  if (scanned < 1 || scanned > int64_t(inputs.size()) ||
      !llvm::all_of(inputs, [](Value *v) { return v; }))
    return n.error("num_scan_inputs is " + llvm::Twine(scanned) +
                   ", the node has " + llvm::Twine(inputs.size()) + " inputs");
  size_t carried = inputs.size() - size_t(scanned);
  if (size_t(body.input_size()) != inputs.size() ||
      size_t(body.output_size()) < carried ||
      n.results().size() > size_t(body.output_size()))
    return n.error("its body has " + llvm::Twine(body.input_size()) +
                   " inputs and " + llvm::Twine(body.output_size()) +
                   " outputs, which does not fit the node");
  size_t collected = size_t(body.output_size()) - carried;
  std::vector<int64_t> axes = perValue(n, "scan_input_axes", size_t(scanned));
  std::vector<int64_t> backwards =
      perValue(n, "scan_input_directions", size_t(scanned));
  std::vector<int64_t> outAxes = perValue(n, "scan_output_axes", collected);
  std::vector<int64_t> outBackwards =
      perValue(n, "scan_output_directions", collected);
  std::optional<Dim> length;
  for (size_t i = 0; i < size_t(scanned) && !n.failed(); ++i) {
    const TensorType &type = inputs[carried + i]->type();
    axes[i] = n.normalizeAxis(axes[i], type.rank(), "scan_input_axes");
    if (n.failed())
      return;
    const Dim &size = type.shape[axes[i]];
    if (length && provedEqual(*length, size) == Proof::Refuted)
      n.error("its scanned inputs have lengths " + length->str() + " and " +
              size.str());
    if (length)
      assume(n, *length, Relation::Equal, size, "scanned inputs of one length");
    length = size;
  }
  if (n.failed())
    return;
  auto step = [&](Step &s) -> std::optional<std::pair<Values, Values>> {
    Scope scope(s.scope);
    for (size_t i = 0; i < inputs.size(); ++i) {
      Value *value = i < carried ? s.states[i]
                                 : s.at(inputs[i], axes[i - carried],
                                        backwards[i - carried]);
      scope.define(body.input(int(i)).name(), value);
    }
    llvm::SmallVector<Value *, 4> values = importGraph(body, scope);
    scope.builder.location = n.location();
    if (!llvm::all_of(values, [](Value *v) { return v; })) {
      n.failSilently();
      return std::nullopt;
    }
    return std::pair(Values(values.begin(), values.begin() + carried),
                     Values(values.begin() + carried, values.end()));
  };
  std::optional<Values> all =
      repeat(n, b, *length, Values(inputs.take_front(carried)), step);
  if (!all)
    return;
  for (unsigned i = 0; i < all->size(); ++i) {
    Value *value = (*all)[i];
    if (i >= carried) {
      size_t k = i - carried;
      int64_t rank = value->type().rank();
      if (outBackwards[k]) {
        std::vector<Dim> starts(size_t(rank), Dim(0));
        std::vector<Dim> sizes(value->type().shape.begin(),
                               value->type().shape.end());
        std::vector<int64_t> steps(size_t(rank), 1);
        starts[0] = *length - 1;
        steps[0] = -1;
        value = b.emit<SliceOp>(value, starts, sizes, steps);
      }
      int64_t axis = n.normalizeAxis(outAxes[k], rank, "scan_output_axes");
      std::vector<int64_t> order = countingAxes(1, rank);
      order.insert(order.begin() + axis, 0);
      value = b.transpose(value, order);
    }
    n.result(i, value);
  }
}

} // namespace dlc
