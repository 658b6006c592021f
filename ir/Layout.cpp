// SPDX-License-Identifier: Apache-2.0
// How the elements of a tensor lie in memory: the algebra of layouts.
#include "ir/Layout.h"

#include "ir/Check.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace dlc {

namespace {

using Entries = llvm::SmallVector<Layout::Entry, 6>;

/// Product of the factors of the entries of the same dimension inside entry i.
int64_t innerFactor(llvm::ArrayRef<Layout::Entry> entries, size_t i) {
  int64_t product = 1;
  for (const Layout::Entry &e : entries.drop_front(i + 1))
    if (e.dimension == entries[i].dimension)
      product *= e.factor;
  return product;
}

bool isIdentity(llvm::ArrayRef<Layout::Entry> entries, int64_t rank) {
  if (int64_t(entries.size()) != rank)
    return false;
  for (int64_t i = 0; i != rank; ++i)
    if (entries[i] != Layout::Entry{i, 0})
      return false;
  return true;
}

} // namespace

Layout Layout::permuted(llvm::ArrayRef<int64_t> order) {
  Entries entries;
  for (int64_t d : order)
    entries.push_back({d, 0});
  return blocked(entries, int64_t(order.size()));
}

Layout Layout::channelsLast(int64_t rank) {
  if (rank < 3)
    return {};
  llvm::SmallVector<int64_t, 6> order{0};
  for (int64_t d = 2; d < rank; ++d)
    order.push_back(d);
  order.push_back(1);
  return permuted(order);
}

Layout Layout::blocked(llvm::ArrayRef<Entry> entries, int64_t rank) {
  llvm::SmallVector<bool, 6> seen(rank, false);
  for (const Entry &e : entries) {
    DLC_CHECK(e.dimension >= 0 && e.dimension < rank)
        << "dimension " << e.dimension << " of a tensor of rank " << rank;
    DLC_CHECK(seen[e.dimension] ? e.factor > 0 : e.factor == 0)
        << "the outermost entry of dimension " << e.dimension
        << ", and no other, has factor 0";
    seen[e.dimension] = true;
  }
  DLC_CHECK(llvm::all_of(seen, [](bool b) { return b; }))
      << "a dimension is missing";
  Layout l;
  if (!isIdentity(entries, rank))
    l.entryList.assign(entries.begin(), entries.end());
  return l;
}

bool Layout::isUnsplit() const {
  return llvm::all_of(entryList, [](const Entry &e) { return e.factor == 0; });
}

bool Layout::isPermutation() const { return pads.empty() && isUnsplit(); }

llvm::SmallVector<Layout::Entry, 6> Layout::entries(int64_t rank) const {
  if (!entryList.empty())
    return {entryList.begin(), entryList.end()};
  Entries result;
  for (int64_t d = 0; d != rank; ++d)
    result.push_back({d, 0});
  return result;
}

llvm::SmallVector<int64_t, 6> Layout::order(int64_t rank) const {
  DLC_CHECK(isUnsplit()) << str(rank) << " splits a dimension";
  llvm::SmallVector<int64_t, 6> result;
  for (const Entry &e : entries(rank))
    result.push_back(e.dimension);
  return result;
}

Shape Layout::physicalShape(llvm::ArrayRef<Dim> shape) const {
  Entries list = entries(int64_t(shape.size()));
  Shape result;
  for (size_t i = 0; i != list.size(); ++i) {
    if (list[i].factor) {
      result.push_back(list[i].factor);
      continue;
    }
    int64_t d = list[i].dimension, multiple = padding(d);
    Dim size = shape[d];
    if (multiple != 1)
      size = ceilDiv(size, multiple) * multiple;
    result.push_back(ceilDiv(size, innerFactor(list, i)));
  }
  return result;
}

Dim Layout::storageElements(llvm::ArrayRef<Dim> shape) const {
  return elementCount(physicalShape(shape));
}

Shape Layout::strides(llvm::ArrayRef<Dim> shape) const {
  Entries list = entries(int64_t(shape.size()));
  DLC_CHECK(list.size() == shape.size()) << "a split dimension has no stride";
  Shape physical = physicalShape(shape), result(shape.size());
  Dim stride = 1;
  for (size_t i = list.size(); i-- != 0;) {
    result[list[i].dimension] = stride;
    stride = stride * physical[i];
  }
  return result;
}

Dim Layout::offset(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<Dim> index) const {
  DLC_CHECK(shape.size() == index.size())
      << index.size() << " coordinates of a tensor of rank " << shape.size();
  Entries list = entries(int64_t(shape.size()));
  Shape physical = physicalShape(shape);
  Dim result = 0, stride = 1;
  for (size_t i = list.size(); i-- != 0;) {
    Dim coordinate = floorDiv(index[list[i].dimension], innerFactor(list, i));
    if (list[i].factor)
      coordinate = mod(coordinate, list[i].factor);
    result = result + coordinate * stride;
    stride = stride * physical[i];
  }
  return result;
}

Layout Layout::transposed(llvm::ArrayRef<int64_t> permutation) const {
  int64_t rank = int64_t(permutation.size());
  llvm::SmallVector<int64_t, 6> position(rank);
  for (int64_t i = 0; i != rank; ++i)
    position[permutation[i]] = i;
  Entries list = entries(rank);
  for (Entry &e : list)
    e.dimension = position[e.dimension];
  Layout result = blocked(list, rank);
  for (auto [d, multiple] : pads)
    result = result.withPadding(position[d], multiple);
  return result;
}

Layout Layout::inverse(int64_t rank) const {
  llvm::SmallVector<int64_t, 6> list = order(rank), result(rank);
  for (int64_t i = 0; i != rank; ++i)
    result[list[i]] = i;
  return permuted(result);
}

Layout Layout::compose(const Layout &inner, int64_t rank) const {
  Entries from = inner.entries(rank), result;
  for (int64_t i : order(int64_t(from.size())))
    result.push_back(from[i]);
  Layout composed = blocked(result, rank);
  composed.pads = inner.pads;
  return composed;
}

int64_t Layout::padding(int64_t dimension) const {
  for (auto [d, multiple] : pads)
    if (d == dimension)
      return multiple;
  return 1;
}

Layout Layout::withPadding(int64_t dimension, int64_t multiple) const {
  DLC_CHECK(multiple >= 1) << "padding to a multiple of " << multiple;
  Layout result = *this;
  llvm::erase_if(result.pads, [&](auto p) { return p.first == dimension; });
  if (multiple != 1)
    result.pads.push_back({dimension, multiple});
  llvm::sort(result.pads);
  return result;
}

} // namespace dlc
