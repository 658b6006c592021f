// SPDX-License-Identifier: Apache-2.0
// Pooling that says where its maxima lie, and its inverse.
#include "compiler/onnx/Operators.h"
#include "compiler/onnx/WindowGeometry.h"
#include <cmath>
#include <limits>

using namespace dlc;

namespace dlc {

/// The position in all of X of each window's first largest element: windows
/// side by side, the place of the maximum among them, and where that lies.
Value *maxPoolIndices(NodeReader &n, NodeBuilder &b, Value *x,
                      const WindowGeometry &g, bool columnMajor) {
  if (n.failed())
    return nullptr;
  const Shape shape = x->type().shape;
  size_t spatial = g.kernel.size();
  int64_t places = 1;
  for (int64_t k : g.kernel)
    places = k > 1024 ? 1025 : std::min<int64_t>(1025, places * k);
  if (places > 1024) {
    n.error(
        "output 1 (Indices) is supported for windows of up to 1024 elements");
    return nullptr;
  }
  DataType type = x->type().element;
  double least = isFloat(type)    ? -std::numeric_limits<double>::infinity()
                 : isSigned(type) ? -std::ldexp(1.0, int(bitWidth(type)) - 1)
                                  : 0;
  std::vector<Dim> low(2), high(2), windows;
  low.insert(low.end(), g.low.begin(), g.low.end());
  high.insert(high.end(), g.high.begin(), g.high.end());
  Value *padded = b.emit<PadOp>(x, b.scalar(type, least), low, high);
  for (size_t d = 0; d < spatial; ++d)
    windows.push_back(floorDiv(shape[d + 2] + g.low[d] + g.high[d] -
                                   ((g.kernel[d] - 1) * g.dilations[d] + 1),
                               g.strides[d]) +
                      1);
  std::vector<std::vector<int64_t>> offsets(spatial); // per place
  llvm::SmallVector<Value *, 16> parts;
  for (int64_t place = 0; place < places; ++place) {
    std::vector<Dim> starts{Dim(0), Dim(0)}, sizes{shape[0], shape[1]};
    std::vector<int64_t> steps{1, 1};
    int64_t rest = place;
    std::vector<int64_t> at(spatial);
    for (size_t d = spatial; d-- > 0; rest /= g.kernel[d])
      at[d] = rest % g.kernel[d] * g.dilations[d];
    for (size_t d = 0; d < spatial; ++d) {
      offsets[d].push_back(at[d]);
      starts.push_back(at[d]);
      sizes.push_back(windows[d]);
      steps.push_back(g.strides[d]);
    }
    Value *slice = b.emit<SliceOp>(padded, starts, sizes, steps);
    parts.push_back(b.unsqueeze(slice, {int64_t(spatial) + 2}));
  }
  Value *best =
      b.emit<ArgReduceOp>(b.concat(parts, int64_t(spatial) + 2),
                          ArgReduceKind::Max, int64_t(spatial) + 2, false);
  auto number = [&](const Dim &d) { return b.dim(d, DataType::I64); };
  auto counting = [&](size_t axis, const Dim &size) {
    std::vector<Dim> ones(spatial + 2, Dim(1));
    ones[axis] = size;
    return b.emit<IotaOp>(ones, int64_t(axis), DataType::I64);
  };
  Value *index = b.add(b.mul(counting(0, shape[0]), number(shape[1])),
                       counting(1, shape[1]));
  std::vector<Value *> positions;
  Dim volume(1);
  for (size_t d = 0; d < spatial; ++d) {
    Value *start =
        b.sub(b.mul(counting(d + 2, windows[d]), number(g.strides[d])),
              number(g.low[d]));
    positions.push_back(
        b.add(start, b.emit<GatherOp>(b.ints(offsets[d]), best, 0)));
    volume = volume * shape[d + 2];
  }
  Value *within = nullptr;
  for (size_t i = 0; i < spatial; ++i) {
    size_t d = columnMajor ? spatial - 1 - i : i;
    within = within ? b.add(b.mul(within, number(shape[d + 2])), positions[d])
                    : positions[d];
  }
  return b.add(b.mul(index, number(volume)), within);
}

/// Zeros with the values at the places that MaxPool gave.
void importMaxUnpool(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *indices = n.input(1);
  std::vector<int64_t> kernel = n.integers("kernel_shape");
  const Shape shape = x->type().shape;
  size_t spatial = kernel.size();
  if (!spatial || shape.size() != spatial + 2 ||
      indices->type().shape.size() != shape.size())
    return n.error("X is " + x->type().str() + ", I is " +
                   indices->type().str() + " and kernel_shape has " +
                   llvm::Twine(spatial) +
                   " values, expected one for each spatial dimension");
  std::vector<int64_t> strides = readPerDimension(n, "strides", spatial);
  auto [low, high] = readPads(n, spatial);
  std::vector<Dim> inferred{shape[0], shape[1]};
  for (size_t d = 0; d < spatial; ++d)
    inferred.push_back((shape[d + 2] - 1) * Dim(strides[d]) - low[d] - high[d] +
                       kernel[d]);
  Dim total = elementCount(inferred);
  Value *zeros = b.broadcast(b.like(x, 0), {total});
  Dim count = x->type().elementCount();
  Value *y = b.emit<ScatterElementsOp>(zeros, b.reshape(indices, {count}),
                                       b.reshape(x, {count}), 0);
  y = b.reshape(y, inferred);
  if (n.hasInput(2)) {
    std::optional<std::vector<Dim>> wanted = n.dims(2, "output_shape");
    if (!wanted)
      return;
    if (wanted->size() != shape.size())
      return n.error("output_shape has " + llvm::Twine(wanted->size()) +
                     " values, expected " + llvm::Twine(shape.size()));
    std::vector<Dim> none(shape.size()), more;
    for (size_t i = 0; i < shape.size(); ++i)
      more.push_back((*wanted)[i] - inferred[i]);
    y = b.emit<PadOp>(y, nullptr, none, more);
  }
  n.result(y);
}

} // namespace dlc
