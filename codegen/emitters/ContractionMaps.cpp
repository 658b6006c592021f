// SPDX-License-Identifier: Apache-2.0
// Operands of a contraction as tensor maps, where they lie as
// contraction_tma.cuh wants them.
#include "codegen/emitters/ContractionMaps.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
/// Where an operand lies: base + the sum of stride * coordinate, in elements.
struct Strides {
  unsigned input = 0;
  Dim base = 0;
  std::vector<Dim> of; ///< one for each coordinate
};

class Mapper {
public:
  Mapper(KernelBuilder &kernel, const Op &hero, const ContractionView &view)
      : kernel(kernel), hero(hero), view(view),
        bytes(bitWidth(hero.operand(0)->type().element) / 8) {}
  bool matmul(MappedOperands &m);
  bool convolution(MappedOperands &m);

private:
  using PlaceOf = std::function<Coordinates(llvm::ArrayRef<Dim>)>;
  /// The strides of coordinates with these extents, innermost first.
  std::optional<Strides> strides(const Value *operand,
                                 llvm::ArrayRef<Dim> extents, PlaceOf place);
  std::optional<Strides> strides(const Value *operand);
  /// Is the distance a multiple of 16 bytes?
  bool aligned(const Dim &elements) const {
    return isMultipleOf(elements, 16 / bytes, kernel.context().symbols);
  }
  /// Does the host know it before the launch?
  bool known(const Dim &d) const;
  /// A map of these dimensions, the first one contiguous.
  bool fill(TensorMapRef &map, const Strides &s, llvm::ArrayRef<Dim> extents,
            llvm::ArrayRef<Dim> of);

  KernelBuilder &kernel;
  const Op &hero;
  const ContractionView &view;
  int64_t bytes;
};

bool Mapper::known(const Dim &d) const {
  bool all = true;
  d.forEachSymbol([&](llvm::StringRef s) {
    auto it = kernel.context().symbols.find(s);
    all &= it != kernel.context().symbols.end() &&
           it->second.home == SymbolHome::HostArgument;
  });
  return all;
}

std::optional<Strides> Mapper::strides(const Value *operand,
                                       llvm::ArrayRef<Dim> extents,
                                       PlaceOf place) {
  llvm::SmallVector<Dim, 5> at;
  llvm::SmallVector<std::string, 5> names;
  for (const Dim &extent : extents) {
    names.push_back("%t" + std::to_string(names.size()));
    at.push_back(kernel.index().declare(names.back(), extent,
                                        [] { return std::string(); }));
  }
  BodyPrinter printer(kernel, 1);
  Coordinates where = place(at);
  std::optional<BodyPrinter::Address> a = printer.address(operand, where, {});
  if (!a || !a->guard.empty())
    return std::nullopt;
  Strides s;
  s.input = a->input;
  s.of.assign(extents.size(), 0);
  llvm::SmallVector<Dim, 4> terms{a->offset};
  if (a->offset.kind() == Dim::Kind::Add)
    terms.assign(a->offset.operands().begin(), a->offset.operands().end());
  for (const Dim &term : terms) {
    Dim rest = 1;
    std::optional<size_t> coordinate;
    llvm::SmallVector<Dim, 4> factors{term};
    if (term.kind() == Dim::Kind::Mul)
      factors.assign(term.operands().begin(), term.operands().end());
    for (const Dim &f : factors) {
      if (f.kind() == Dim::Kind::Symbol)
        if (auto it = llvm::find(names, f.symbolName());
            it != names.end() && !coordinate) {
          coordinate = it - names.begin();
          continue;
        }
      rest = rest * f;
    }
    if (!known(rest)) // or not linear: another coordinate in it
      return std::nullopt;
    Dim &sum = coordinate ? s.of[*coordinate] : s.base;
    sum = sum + rest;
  }
  return s;
}

std::optional<Strides> Mapper::strides(const Value *operand) {
  return strides(operand, operand->type().shape, [](llvm::ArrayRef<Dim> at) {
    return Coordinates{Shape(at.begin(), at.end()), std::nullopt, {}};
  });
}

bool Mapper::fill(TensorMapRef &map, const Strides &s,
                  llvm::ArrayRef<Dim> extents, llvm::ArrayRef<Dim> of) {
  map.buffer = BufferRef::input(s.input);
  map.element = hero.operand(0)->type().element;
  if (!aligned(s.base) || !(extents[0].isConstant(1) || of[0].isConstant(1)))
    return false;
  map.offset = s.base * bytes;
  // A dimension of one element may have any stride, but no zero.
  Dim least = ceilDiv(extents[0], 16 / bytes) * 16;
  for (size_t i = 0; i < extents.size(); i++) {
    if (!known(extents[i]))
      return false;
    map.dims.push_back(extents[i]);
    if (i == 0)
      continue;
    if (extents[i].isConstant(1))
      map.strides.push_back(least);
    else if (of[i].isConstant(0) || !aligned(of[i]))
      return false;
    else
      map.strides.push_back(of[i] * bytes);
  }
  return true;
}

bool Mapper::matmul(MappedOperands &m) {
  std::optional<Strides> a = strides(
      view.a, {view.k, view.m, view.batch}, [&](llvm::ArrayRef<Dim> at) {
        return view.placeA(at[2], at[1], at[0], 0).at;
      });
  std::optional<Strides> b = strides(
      view.b, {view.k, view.n, view.batch}, [&](llvm::ArrayRef<Dim> at) {
        return view.placeB(at[2], at[1], at[0], 0, false).at;
      });
  if (!a || !b)
    return false;
  auto operand = [&](TensorMapRef &map, const Strides &s, const Dim &rows,
                     std::string &source) {
    bool shared = view.batch.isConstant(1) || s.of[2].isConstant(0);
    source = shared ? "Rows" : "Batches";
    return shared ? fill(map, s, {view.k, rows}, s.of)
                  : fill(map, s, {view.k, rows, view.batch}, s.of);
  };
  return operand(m.a, *a, view.m, m.sourceA) &&
         operand(m.b, *b, view.n, m.sourceB);
}

bool Mapper::convolution(MappedOperands &m) {
  auto op = llvm::cast<ConvOp>(&hero);
  const Shape &input = hero.operand(0)->type().shape,
              &filter = hero.operand(1)->type().shape,
              &result = hero.result()->type().shape;
  const size_t spatial = input.size() - 2;
  if (op.groups() != 1 || spatial < 1 || spatial > 2)
    return false;
  std::optional<Strides> a = strides(hero.operand(0)),
                         b = strides(hero.operand(1));
  if (!a || !b)
    return false;
  // Along x, then y; a dimension that is not there has one element.
  struct Axis {
    Dim size = 1, strideA = 0, taps = 1, strideB = 0, result = 1;
    int64_t stride = 1, low = 0, high = 0, dilation = 1;
  } axis[2];
  bool dense = true; // the pixels of the result are those of the input
  for (size_t d = 0; d < spatial; d++) {
    Axis &x = axis[spatial - 1 - d];
    x = {input[2 + d],   a->of[2 + d],    filter[2 + d],
         b->of[2 + d],   result[2 + d],   op.strides()[d],
         op.padLow()[d], op.padHigh()[d], op.dilations()[d]};
    dense &= x.taps.isConstant(1) && x.stride == 1 && x.low == 0 && x.high == 0;
  }
  const Dim &channels = input[1];
  if (dense) {
    // Rows, if pixel after pixel is as far away.
    Dim step = spatial == 2 && axis[0].size.isConstant(1) ? axis[1].strideA
                                                          : axis[0].strideA;
    auto follows = [&](const Dim &size, const Dim &stride, const Dim &inner) {
      return size.isConstant(1) || stride == step * inner;
    };
    if (follows(axis[1].size, axis[1].strideA, axis[0].size) &&
        follows(input[0], a->of[0], axis[0].size * axis[1].size)) {
      m.sourceA = m.sourceB = "Rows";
      if (view.m.isConstant(1) || step.isConstant(0))
        step = a->of[0];
      return fill(m.a, *a, {channels, view.m}, {a->of[1], step}) &&
             fill(m.b, *b, {channels, filter[0]}, {b->of[1], b->of[0]});
    }
  }
  for (const Axis &x : axis) {
    std::optional<int64_t> taps = x.taps.tryConstant();
    if (!taps)
      return false;
    int64_t reach = (*taps - 1) * x.dilation, upper = x.high - reach;
    // Bits of corners and offsets in the instruction and the map.
    if (x.stride > 8 || reach > 255 || x.low > 128 || x.low < -127 ||
        upper < -128 || upper > 127)
      return false;
    m.a.lower.push_back(int32_t(-x.low));
    m.a.upper.push_back(int32_t(upper));
    m.a.steps.push_back(uint32_t(x.stride));
    m.taps *= *taps;
  }
  // Taps one after the other.
  Dim tap = axis[0].taps.isConstant(1) ? axis[1].strideB : axis[0].strideB;
  if (!axis[0].taps.isConstant(1) && !axis[1].taps.isConstant(1) &&
      axis[1].strideB != axis[0].strideB * axis[0].taps)
    return false;
  m.sourceA = "Window";
  m.sourceB = "Taps";
  m.a.im2col = true;
  m.window = {axis[0].result,   axis[1].result,   axis[0].stride,
              axis[1].stride,   axis[0].low,      axis[1].low,
              axis[0].dilation, axis[1].dilation, axis[0].taps,
              m.taps,           channels};
  return fill(m.a, *a, {channels, axis[0].size, axis[1].size, input[0]},
              {a->of[1], axis[0].strideA, axis[1].strideA, a->of[0]}) &&
         fill(m.b, *b, {channels, m.taps, filter[0]},
              {b->of[1], tap, b->of[0]});
}
} // namespace

void MappedOperands::setTile(int bm, int bn) {
  constexpr uint32_t kStep = 64; // kTmaStep
  auto tile = [](TensorMapRef &map, int rows) {
    map.channels = kStep;
    map.pixels = uint32_t(rows);
    map.box.assign(map.dims.size(), 1);
    map.box[0] = kStep;
  };
  tile(a, bm);
  tile(b, bn);
  a.box[1] = uint32_t(bm);
  b.box[sourceB == "Taps" ? 2 : 1] = uint32_t(bn);
}

std::optional<MappedOperands>
codegen::mapOperands(KernelBuilder &kernel, const Op &hero,
                     const ContractionView &view) {
  DataType in = hero.operand(0)->type().element;
  if (kernel.context().target.arch != "sm_90a" ||
      (in != DataType::F16 && in != DataType::BF16) || !kernel.isNarrow())
    return std::nullopt;
  MappedOperands m;
  Mapper mapper(kernel, hero, view);
  bool mapped = hero.kind() == OpKind::MatMul ? mapper.matmul(m)
                : hero.kind() == OpKind::Conv ? mapper.convolution(m)
                                              : false;
  if (!mapped)
    return std::nullopt;
  return m;
}
