// SPDX-License-Identifier: Apache-2.0
// Convolutions.
#include "compiler/onnx/Operators.h"
#include "compiler/onnx/WindowGeometry.h"

using namespace dlc;

namespace dlc {

/// Sizes of the filter's spatial dimensions, which kernel_shape repeats.
static std::optional<std::vector<int64_t>>
readKernel(NodeReader &n, const TensorType &input, const TensorType &filter) {
  std::vector<int64_t> declared = n.integers("kernel_shape"), kernel;
  if (input.rank() < 3 || filter.rank() != input.rank()) {
    n.error("input is " + input.str() + " and filter " + filter.str() +
            ", expected the same rank of at least 3");
    return std::nullopt;
  }
  if (input.rank() > 5) {
    n.error("has " + llvm::Twine(input.rank() - 2) +
            " spatial dimensions, supported are 1 to 3");
    return std::nullopt;
  }
  for (int64_t i = 2; i < filter.rank(); ++i) {
    if (!filter.shape[i].isConstant()) {
      n.error("filter is " + filter.str() + ", expected fixed sizes");
      return std::nullopt;
    }
    kernel.push_back(filter.shape[i].constant());
  }
  if (!declared.empty() && declared != kernel) {
    n.error("kernel_shape does not fit the filter " + filter.str());
    return std::nullopt;
  }
  return kernel;
}

/// Adds one value per channel.
Value *addChannelBias(NodeReader &n, NodeBuilder &b, Value *y, unsigned i) {
  if (!n.hasInput(i) || n.failed())
    return y;
  Value *bias = n.input(i);
  if (bias->type().rank() != 1 ||
      provedEqual(bias->type().shape[0], y->type().shape[1]) ==
          Proof::Refuted) {
    n.error("bias is " + bias->type().str() +
            ", expected one value for each of " + y->type().shape[1].str() +
            " channels");
    return nullptr;
  }
  std::vector<Dim> shape(size_t(y->type().rank()), Dim(1));
  shape[1] = bias->type().shape[0];
  return b.add(y, b.reshape(bias, shape));
}

Value *convolve(NodeReader &n, NodeBuilder &b, Value *x, Value *w,
                std::optional<DataType> type) {
  if (n.failed())
    return nullptr;
  int64_t groups = n.integer("group", 1);
  std::optional<std::vector<int64_t>> kernel =
      readKernel(n, x->type(), w->type());
  if (!kernel)
    return nullptr;
  llvm::ArrayRef<Dim> shape(x->type().shape);
  const Dim &channels = shape[1], &filters = w->type().shape[0];
  if (groups < 1 || (filters.isConstant() && filters.constant() % groups)) {
    n.error("group is " + llvm::Twine(groups) + ", expected a divisor of the " +
            filters.str() + " filters");
    return nullptr;
  }
  if (provedEqual(channels, w->type().shape[1] * Dim(groups)) ==
      Proof::Refuted) {
    n.error("input has " + channels.str() + " channels, expected " +
            (w->type().shape[1] * Dim(groups)).str() + ": filter " +
            w->type().str() + " in " + llvm::Twine(groups) +
            (groups == 1 ? " group" : " groups"));
    return nullptr;
  }
  std::optional<WindowGeometry> g =
      readWindow(n, shape.drop_front(2), *kernel, true, false);
  if (!g)
    return nullptr;
  if (!g->isFixed()) {
    // Padding that depends on a size of the input: zeros put there first.
    std::vector<Dim> low(2), high(2);
    low.insert(low.end(), g->low.begin(), g->low.end());
    high.insert(high.end(), g->high.begin(), g->high.end());
    x = b.emit<PadOp>(x, nullptr, low, high);
    g->low.assign(g->low.size(), Dim(0));
    g->high.assign(g->high.size(), Dim(0));
  }
  return b.emit<ConvOp>(x, w, g->strides, WindowGeometry::numbers(g->low),
                        WindowGeometry::numbers(g->high), g->dilations, groups,
                        type);
}

void importConv(NodeReader &n, NodeBuilder &b) {
  Value *y = convolve(n, b, n.input(0), n.input(1), std::nullopt);
  n.result(addChannelBias(n, b, y, 2));
}

void importConvInteger(NodeReader &n, NodeBuilder &b) {
  Value *x = b.cast(n.input(0), DataType::I32);
  Value *w = b.cast(n.input(1), DataType::I32);
  if (n.hasInput(2))
    x = b.sub(x, b.cast(n.input(2), DataType::I32));
  if (n.hasInput(3)) {
    Value *zero = b.cast(n.input(3), DataType::I32);
    if (zero && zero->type().rank() == 1 && w->type().rank() > 1) {
      std::vector<Dim> shape(size_t(w->type().rank()), Dim(1));
      shape[0] = zero->type().shape[0];
      zero = b.reshape(zero, shape);
    }
    w = b.sub(w, zero);
  }
  n.result(convolve(n, b, x, w, DataType::I32));
}

/// Pads of a transposed convolution from auto_pad or the output's shape.
void importConvTranspose(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *w = n.input(1);
  int64_t groups = n.integer("group", 1);
  std::optional<std::vector<int64_t>> kernel =
      readKernel(n, x->type(), w->type());
  if (!kernel)
    return;
  size_t count = kernel->size();
  std::vector<int64_t> strides = readPerDimension(n, "strides", count);
  std::vector<int64_t> dilations = readPerDimension(n, "dilations", count);
  std::vector<int64_t> extra = n.integers("output_padding");
  std::vector<int64_t> wanted = n.integers("output_shape");
  AutoPad automatic = readAutoPad(n);
  auto [low, high] = readPads(n, count);
  if (extra.empty())
    extra.assign(count, 0);
  if (wanted.size() == count + 2) // some exporters list all dimensions
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (extra.size() != count || (!wanted.empty() && wanted.size() != count))
    n.error("output_padding and output_shape need one value for each of " +
            llvm::Twine(count) + " spatial dimensions");
  if (groups < 1)
    n.error("group is " + llvm::Twine(groups) + ", expected a positive number");
  if (n.failed())
    return;
  if (automatic == AutoPad::Valid)
    low.assign(count, 0), high.assign(count, 0);
  bool same =
      automatic == AutoPad::SameUpper || automatic == AutoPad::SameLower;
  for (size_t i = 0; i < count; ++i) {
    const Dim &size = x->type().shape[i + 2];
    int64_t extent = ((*kernel)[i] - 1) * dilations[i] + 1, total;
    if (!wanted.empty()) {
      std::optional<int64_t> fixed = size.tryConstant();
      if (!fixed)
        return n.error("output_shape is given but the input " +
                       x->type().str() + " has no fixed size");
      total = strides[i] * (*fixed - 1) + extra[i] + extent - wanted[i];
    } else if (same) {
      total = extent - strides[i] + extra[i]; // result is size * stride
    } else {
      continue;
    }
    // A result that is larger than all windows ends in zeros.
    if (total < 0) {
      extra[i] -= total;
      total = 0;
    }
    int64_t less = total / 2;
    low[i] = automatic == AutoPad::SameUpper ? less : total - less;
    high[i] = total - low[i];
  }
  Value *y = b.emit<ConvTransposeOp>(x, w, strides, low, high, dilations, extra,
                                     groups);
  n.result(addChannelBias(n, b, y, 2));
}

} // namespace dlc
