// SPDX-License-Identifier: Apache-2.0
// Constants through views, without the reference evaluator: weights are large.
#include "passes/ConstantFold.h"
#include "passes/NarrowFloat.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace dlc {

namespace {
/// Where elements of a strided view lie: one entry per dimension.
struct Strided {
  std::vector<int64_t> extent, stride;
  int64_t start = 0;
};
} // namespace

static std::vector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> extent) {
  std::vector<int64_t> stride(extent.size(), 1);
  for (size_t i = extent.size(); i-- > 1;)
    stride[i - 1] = stride[i] * extent[i];
  return stride;
}

template <class T>
static void gather(const Strided &view, const T *from, T *to) {
  size_t rank = view.extent.size();
  if (rank == 0) {
    *to = from[view.start];
    return;
  }
  std::vector<int64_t> index(rank, 0);
  int64_t inner = view.extent[rank - 1], step = view.stride[rank - 1];
  int64_t offset = view.start;
  for (;;) {
    for (int64_t i = 0; i < inner; ++i)
      *to++ = from[offset + i * step];
    size_t d = rank - 1;
    for (;;) {
      if (d-- == 0)
        return;
      offset += view.stride[d];
      if (++index[d] < view.extent[d])
        break;
      offset -= view.extent[d] * view.stride[d];
      index[d] = 0;
    }
  }
}

static std::optional<Constant> gatherBytes(const Strided &view,
                                           const Constant &input,
                                           const TensorType &type) {
  unsigned bits = bitWidth(type.element);
  if (bits < 8)
    return std::nullopt;
  std::vector<uint8_t> bytes(
      size_t(byteSize(type.element, type.elementCount().constant())));
  if (bytes.empty())
    return Constant::fromBytes(type, std::move(bytes));
  const uint8_t *from = input.rawBytes().data();
  switch (bits) {
  case 8:
    gather(view, from, bytes.data());
    break;
  case 16:
    gather(view, reinterpret_cast<const uint16_t *>(from),
           reinterpret_cast<uint16_t *>(bytes.data()));
    break;
  case 32:
    gather(view, reinterpret_cast<const uint32_t *>(from),
           reinterpret_cast<uint32_t *>(bytes.data()));
    break;
  case 64:
    gather(view, reinterpret_cast<const uint64_t *>(from),
           reinterpret_cast<uint64_t *>(bytes.data()));
    break;
  default:
    return std::nullopt;
  }
  return Constant::fromBytes(type, std::move(bytes));
}

std::optional<Constant> foldView(const Op &operation, const Constant &input) {
  auto *op = const_cast<Op *>(&operation);
  const TensorType &type = op->result()->type();
  std::optional<std::vector<int64_t>> to = constantDims(type.shape);
  std::optional<std::vector<int64_t>> from = constantDims(input.type().shape);
  if (!to || !from)
    return std::nullopt;
  if (input.isSplat() && op->kind() != OpKind::Pad &&
      op->kind() != OpKind::Concat) {
    std::vector<uint8_t> element(input.rawBytes().begin(),
                                 input.rawBytes().end());
    return Constant(type, ConstantBytes::own(std::move(element)), true);
  }
  if (!input.type().layout.isRowMajor())
    return std::nullopt;

  Strided view{*to, rowMajorStrides(*from)};
  switch (op->kind()) {
  case OpKind::Reshape:
    if (!type.layout.isRowMajor())
      return std::nullopt;
    return Constant::fromBytes(type, input.expandedBytes());
  case OpKind::Transpose: {
    std::vector<int64_t> stride;
    for (int64_t p : TransposeOp(op).permutation())
      stride.push_back(view.stride[size_t(p)]);
    view.stride = std::move(stride);
    break;
  }
  case OpKind::Slice: {
    SliceOp slice(op);
    for (size_t i = 0; i < to->size(); ++i) {
      if (!slice.starts()[i].isConstant())
        return std::nullopt;
      view.start += slice.starts()[i].constant() * view.stride[i];
      view.stride[i] *= slice.steps()[i];
    }
    break;
  }
  case OpKind::LayoutCopy: {
    if (!type.layout.isPermutation())
      return std::nullopt;
    // Memory order is what is written: permute extents and strides to it.
    Strided memory;
    for (int64_t d : type.layout.order(type.rank())) {
      if (type.layout.padding(d) != 1)
        return std::nullopt;
      memory.extent.push_back(view.extent[size_t(d)]);
      memory.stride.push_back(view.stride[size_t(d)]);
    }
    return gatherBytes(memory, input, type);
  }
  default:
    return std::nullopt;
  }
  if (!type.layout.isRowMajor())
    return std::nullopt;
  return gatherBytes(view, input, type);
}

Constant convertConstant(const Constant &input, DataType to) {
  TensorType type = input.type().withElement(to);
  DataType from = input.type().element;
  llvm::ArrayRef<uint8_t> raw = input.rawBytes();
  int64_t count = int64_t(raw.size()) * 8 / bitWidth(from);
  std::vector<uint8_t> bytes(size_t(byteSize(to, count)));
  if (from == DataType::F32 && (to == DataType::F16 || to == DataType::BF16)) {
    roundToNarrow(raw.data(), reinterpret_cast<uint16_t *>(bytes.data()),
                  size_t(count), to);
  } else {
    for (int64_t i = 0; i < count; ++i)
      storeFloat(to, bytes.data(), i, loadFloat(from, raw.data(), i));
  }
  return Constant(type, ConstantBytes::own(std::move(bytes)), input.isSplat());
}

} // namespace dlc
