// SPDX-License-Identifier: Apache-2.0
// Col2Im: blocks added up where they lie in an image.
#include "compiler/onnx/Assume.h"
#include "compiler/onnx/Operators.h"
#include "compiler/onnx/WindowGeometry.h"

using namespace dlc;

namespace dlc {

void importCol2Im(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  std::optional<std::vector<int64_t>> image = n.ints(1, "image_shape");
  std::optional<std::vector<int64_t>> block = n.ints(2, "block_shape");
  if (!image || !block)
    return;
  size_t rank = image->size();
  std::vector<int64_t> strides = readPerDimension(n, "strides", rank);
  std::vector<int64_t> dilations = readPerDimension(n, "dilations", rank);
  auto [low, high] = readPads(n, rank);
  if (n.failed())
    return;
  if (x->type().rank() != 3 || block->size() != rank || rank == 0)
    return n.error("input 0 is " + x->type().str() +
                   ", image_shape and block_shape have " + llvm::Twine(rank) +
                   " and " + llvm::Twine(block->size()) +
                   " values, expected [N, C * block, blocks] and one value for "
                   "each dimension of the image");
  // Where the elements of each block lie in the image with its pads, which
  // catch what lies outside.
  std::vector<int64_t> padded;
  std::vector<int64_t> elements{0}, starts{0};
  int64_t volume = 1;
  for (size_t d = 0; d < rank; ++d) {
    int64_t size = (*image)[d], extent = (*block)[d];
    if (size < 1 || extent < 1 || size > (1 << 20) || extent > (1 << 20))
      return n.error("image_shape and block_shape hold " + llvm::Twine(size) +
                     " and " + llvm::Twine(extent) + ", expected 1 to 1048576");
    int64_t all = size + low[d] + high[d];
    int64_t count = (all - (extent - 1) * dilations[d] - 1) / strides[d] + 1;
    if (all < (extent - 1) * dilations[d] + 1)
      return n.error("a block is larger than the image in dimension " +
                     llvm::Twine(d));
    auto spread = [&](std::vector<int64_t> &list, int64_t times, int64_t step) {
      std::vector<int64_t> next;
      for (int64_t from : list)
        for (int64_t i = 0; i < times; ++i)
          next.push_back(from * all + i * step);
      list = std::move(next);
    };
    volume *= all;
    if (volume > (1 << 28) || int64_t(elements.size()) * extent > (1 << 24) ||
        int64_t(starts.size()) * count > (1 << 24))
      return n.error("its image is too large: more than 2^28 elements");
    spread(elements, extent, dilations[d]);
    spread(starts, count, strides[d]);
    padded.push_back(all);
  }
  int64_t taps = int64_t(elements.size()), blocks = int64_t(starts.size());
  if (taps * blocks > (1 << 24))
    return n.error("its blocks have more than 2^24 elements");
  std::vector<int64_t> index;
  for (int64_t element : elements)
    for (int64_t start : starts)
      index.push_back(element + start);
  const Shape &from = x->type().shape;
  if (provedEqual(from[2], blocks) == Proof::Refuted ||
      (from[1].isConstant() && from[1].constant() % taps))
    return n.error("input 0 is " + x->type().str() + ", expected " +
                   llvm::Twine(blocks) + " blocks of a multiple of " +
                   llvm::Twine(taps) + " elements");
  Dim batch = from[0], channels = floorDiv(from[1], taps);
  Value *updates = b.reshape(x, {batch, channels, taps * blocks});
  Value *places = b.broadcast(b.ints(index), {batch, channels, taps * blocks});
  Value *zeros = b.broadcast(b.like(x, 0), {batch, channels, volume});
  Value *y = b.emit<ScatterElementsOp>(zeros, places, updates, 2,
                                       ScatterReduction::Add);
  std::vector<Dim> full{batch, channels};
  full.insert(full.end(), padded.begin(), padded.end());
  y = b.reshape(y, full);
  for (size_t d = 0; d < rank; ++d)
    y = b.slice(y, int64_t(d) + 2, low[d], (*image)[d]);
  n.result(y);
}

} // namespace dlc
