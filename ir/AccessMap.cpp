// SPDX-License-Identifier: Apache-2.0
// View ops as index arithmetic.
#include "ir/AccessMap.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

namespace {

/// Stand-ins for the coordinates, whose ranges are known: 0 <= symbol < size.
class Coordinates {
public:
  Coordinates(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<Dim> index)
      : index(index) {
    for (auto [d, size] : llvm::enumerate(shape)) {
      // An element exists, so no size is 0.
      size.forEachSymbol([&](llvm::StringRef name) {
        Symbol s;
        s.name = name.str();
        s.lower = 1;
        table.emplace(s.name, s);
      });
      Symbol s;
      s.name = nameOf(d);
      s.bound = size - 1;
      table.emplace(s.name, s);
    }
  }
  Dim operator[](size_t d) const { return Dim::symbol(nameOf(d)); }
  /// The real coordinates in `d`, after what the ranges make simpler.
  Dim resolve(const Dim &d) const {
    return simplify(d, table).substitute(
        [&](llvm::StringRef name) -> std::optional<Dim> {
          size_t position;
          if (name.consume_front(prefix) && !name.getAsInteger(10, position))
            return index[position];
          return std::nullopt;
        });
  }

private:
  static constexpr llvm::StringRef prefix = "\x01"
                                            "coordinate";
  static std::string nameOf(size_t d) {
    return (prefix + llvm::Twine(d)).str();
  }
  llvm::ArrayRef<Dim> index;
  SymbolTable table;
};

/// The element of `to[j0..j1)` at row-major position `linear`.
void delinearize(llvm::ArrayRef<Dim> to, size_t j0, size_t j1, Dim linear,
                 Shape &result) {
  for (size_t j = j1; j-- != j0;) {
    // The outermost takes the rest as it is.
    result[j] = j == j0 ? linear : mod(linear, to[j]);
    linear = floorDiv(linear, to[j]);
  }
}

/// Position in a dimension of `size` that a mirrored or wrapped one reads.
Dim reflect(const Dim &i, const Dim &size) {
  // A period runs up and down without repeating the ends.
  Dim period = max((size - 1) * 2, 1);
  Dim m = mod(i, period);
  return min(m, period - m);
}

AccessMap padMap(PadOp pad, llvm::ArrayRef<Dim> index) {
  AccessMap map;
  Access access{0, {}, {}};
  llvm::ArrayRef<Dim> shape = pad.input()->type().shape;
  for (size_t d = 0; d != shape.size(); ++d) {
    const Dim &low = pad.low()[d], &high = pad.high()[d];
    Dim i = index[d] - low;
    auto adds = [](const Dim &amount) {
      return !amount.isConstant() || amount.constant() > 0;
    };
    if (adds(low) || adds(high)) {
      switch (pad.mode()) {
      case PadMode::Constant:
        access.valid.push_back({i, 0, shape[d]});
        break;
      case PadMode::Reflect:
        i = shape[d].isConstant(1) ? Dim(0) : reflect(i, shape[d]);
        break;
      case PadMode::Edge:
        i = max(min(i, shape[d] - 1), 0);
        break;
      case PadMode::Wrap:
        i = mod(i, shape[d]);
        break;
      }
    }
    access.index.push_back(i);
  }
  map.accesses.push_back(std::move(access));
  map.fill = pad.value();
  return map;
}

AccessMap concatMap(ConcatOp concat, llvm::ArrayRef<Dim> index) {
  AccessMap map;
  Dim offset = 0;
  for (auto [k, v] : llvm::enumerate(concat.inputs())) {
    Access access{unsigned(k), Shape(index.begin(), index.end()), {}};
    Dim &i = access.index[concat.axis()];
    Dim end = offset + v->type().dim(concat.axis());
    if (k + 1 != concat.inputs().size())
      access.valid.push_back({i, offset, end});
    i = i - offset;
    offset = end;
    map.accesses.push_back(std::move(access));
  }
  return map;
}

} // namespace

Shape reindex(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to,
              llvm::ArrayRef<Dim> index) {
  DLC_CHECK(from.size() == index.size())
      << index.size() << " coordinates of a tensor of rank " << from.size();
  Coordinates at(from, index);
  Shape result(to.size(), 0);
  // Runs of dimensions with equal products are independent of each other, and
  // each is a number written in another system.
  size_t i = 0, j = 0;
  while (i != from.size() || j != to.size()) {
    size_t j0 = j;
    Dim fromCount = 1, toCount = 1, linear = 0;
    auto takeFrom = [&] {
      linear = linear * from[i] + at[i];
      fromCount = fromCount * from[i++];
    };
    auto takeTo = [&] { toCount = toCount * to[j++]; };
    if (i != from.size())
      takeFrom();
    if (j != to.size())
      takeTo();
    while (fromCount != toCount && (i != from.size() || j != to.size())) {
      // Take from the side that is behind; where that is not known, from the
      // left one first.
      Dim ahead = toCount - fromCount;
      bool behind = !ahead.isConstant() || ahead.constant() > 0;
      if (i != from.size() && (behind || j == to.size()))
        takeFrom();
      else
        takeTo();
    }
    // Ones at the end belong to this run.
    while (i != from.size() && from[i].isConstant(1))
      takeFrom();
    while (j != to.size() && to[j].isConstant(1))
      takeTo();
    delinearize(to, j0, j, linear, result);
  }
  for (size_t k = 0; k != to.size(); ++k)
    result[k] = to[k].isConstant(1) ? Dim(0) : at.resolve(result[k]);
  return result;
}

Shape broadcastIndex(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<Dim> index) {
  Shape result;
  size_t offset = index.size() - shape.size();
  for (size_t d = 0; d != shape.size(); ++d)
    result.push_back(shape[d].isConstant(1) ? Dim(0) : index[offset + d]);
  return result;
}

AccessMap accessMap(const Op &view, llvm::ArrayRef<Dim> index) {
  DLC_CHECK(view.hasTrait(OpTrait::View)) << view.mnemonic() << " is no view";
  DLC_CHECK(index.size() == view.result()->type().shape.size())
      << index.size() << " coordinates for " << view.result()->type();
  Op *op = const_cast<Op *>(&view);
  if (auto pad = llvm::dyn_cast<PadOp>(op))
    return padMap(pad, index);
  if (auto concat = llvm::dyn_cast<ConcatOp>(op))
    return concatMap(concat, index);
  llvm::ArrayRef<Dim> in = view.operand(0)->type().shape;
  Access access{0, Shape(index.begin(), index.end()), {}};
  if (llvm::isa<ReshapeOp>(op)) {
    access.index = reindex(view.result()->type().shape, in, index);
  } else if (llvm::isa<BroadcastOp>(op)) {
    access.index = broadcastIndex(in, index);
  } else if (auto transpose = llvm::dyn_cast<TransposeOp>(op)) {
    for (auto [i, d] : llvm::enumerate(transpose.permutation()))
      access.index[d] = index[i];
  } else if (auto slice = llvm::dyn_cast<SliceOp>(op)) {
    for (size_t d = 0; d != in.size(); ++d)
      access.index[d] = slice.starts()[d] + index[d] * slice.steps()[d];
  } else {
    DLC_CHECK(llvm::isa<LayoutCopyOp>(op))
        << view.mnemonic() << " has no access map";
  }
  AccessMap map;
  map.accesses.push_back(std::move(access));
  return map;
}

} // namespace dlc
