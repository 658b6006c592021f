// SPDX-License-Identifier: Apache-2.0
// Pointwise ops: the functions of ir/scalar applied element by element.
#include "ir/reference/Walk.h"
#include "ir/scalar/Scalar.h"

#include <tuple>
#include <utility>

namespace dlc::reference {

namespace {

//===--- The functions, with the types that each is for -------------------===//
/// An element type in the predicates of the records, at compile time.
struct ElementKind {
  DataType type;
  constexpr bool operator==(DataType t) const { return type == t; }
};
constexpr bool isFloat(ElementKind k) {
  return k == DataType::F32 || k == DataType::F64;
}
constexpr bool isInteger(ElementKind k) {
  return !isFloat(k) && !(k == DataType::Bool);
}

template <class T> struct KindOf;
#define DLC_KIND(T, Name)                                                      \
  template <> struct KindOf<T> {                                               \
    static constexpr ElementKind value{DataType::Name};                        \
  };
DLC_KIND(double, F64)
DLC_KIND(float, F32)
DLC_KIND(int64_t, I64)
DLC_KIND(int32_t, I32)
DLC_KIND(int16_t, I16)
DLC_KIND(int8_t, I8)
DLC_KIND(uint64_t, U64)
DLC_KIND(uint32_t, U32)
DLC_KIND(uint16_t, U16)
DLC_KIND(uint8_t, U8)
DLC_KIND(bool, Bool)
#undef DLC_KIND

template <OpKind Kind> struct ScalarOp;
#define DLC_SCALAR_OP(Name, function, types, ...)                              \
  template <> struct ScalarOp<OpKind::Name> {                                  \
    static constexpr bool accepts([[maybe_unused]] ElementKind t) {            \
      return types;                                                            \
    }                                                                          \
    template <class T> using Operands = std::tuple<__VA_ARGS__>;               \
    template <class... T> static auto apply(T... x) {                          \
      return scalar::function(x...);                                           \
    }                                                                          \
  };
#define DLC_SCALAR_OPS
#include "ir/Ops.inc"
#undef DLC_SCALAR_OP

//===--- Loops ------------------------------------------------------------===//
/// Elements of an operand for a result of `count` elements: one each, or one
/// for all.
template <class T> struct Elements {
  const T *data;
  int64_t step;
  explicit Elements(const Tensor &t)
      : data(t.as<T>()), step(t.elements() == 1 ? 0 : 1) {}
  T operator[](int64_t i) const { return data[i * step]; }
};

template <class R> constexpr DataType typeOf = KindOf<R>::value.type;

/// Applies the function of `Kind` to operands of the types X.
template <OpKind Kind, class... X, size_t... I>
Tensor apply(llvm::ArrayRef<Tensor> x, Index shape, std::tuple<X...>,
             std::index_sequence<I...>) {
  using R = decltype(ScalarOp<Kind>::apply(X()...));
  Tensor result(typeOf<R>, std::move(shape));
  std::tuple<Elements<X>...> operands{Elements<X>(x[I])...};
  R *to = result.as<R>();
  for (int64_t i = 0; i < result.elements(); i++)
    to[i] = ScalarOp<Kind>::apply(std::get<I>(operands)[i]...);
  return result;
}
template <OpKind Kind, class Operands>
Tensor apply(llvm::ArrayRef<Tensor> x, Index shape) {
  return apply<Kind>(x, std::move(shape), Operands(),
                     std::make_index_sequence<std::tuple_size_v<Operands>>());
}

/// x to the power of y; the exponent keeps its own type.
Tensor applyPow(const Tensor &x, const Tensor &y, Index shape) {
  bool isReal = isFloat(y.element());
  Tensor pair[] = {x, y.converted(isReal ? DataType::F64 : DataType::I64)};
  return dispatch(x.element(), [&](auto base) {
    using T = decltype(base);
    return isReal ? apply<OpKind::Pow, std::tuple<T, double>>(pair, shape)
                  : apply<OpKind::Pow, std::tuple<T, int64_t>>(pair, shape);
  });
}

/// To bool and the types that C++ has; narrower floats by way of f64, which
/// holds every value of the narrower types, so that each rounds once.
Tensor castTo(const Context &c, const Tensor &x, DataType to) {
  auto map = [&](auto target) {
    using To = decltype(target);
    return dispatch(x.element(), [&](auto source) {
      using From = decltype(source);
      Tensor result(typeOf<To>, x.shape());
      Elements<From> from(x);
      To *out = result.as<To>();
      for (int64_t i = 0; i < result.elements(); i++)
        out[i] = scalar::cast<To>(from[i]);
      return result;
    });
  };
  if (isFloat(to)) {
    if (to == DataType::F32 || to == DataType::F64)
      return dispatch(to, map);
    Tensor exact = x.element() == DataType::F32 ? x : map(double());
    return exact.converted(to);
  }
  if (to != DataType::I4 && to != DataType::U4)
    return dispatch(to, map);
  // Integers wrap when they are stored, floats saturate here.
  Tensor bytes = to == DataType::I4 ? map(int8_t()) : map(uint8_t());
  if (isFloat(x.element()))
    for (int64_t i = 0; i < bytes.elements(); i++) {
      int64_t low = to == DataType::I4 ? -8 : 0;
      int64_t high = to == DataType::I4 ? 7 : 15;
      bytes.setInt(i, std::clamp(bytes.intAt(i), low, high));
    }
  return bytes;
}

template <OpKind Kind> Tensor applyOp(llvm::ArrayRef<Tensor> x, Index shape) {
  return dispatch(x.back().element(), [&](auto tag) -> Tensor {
    using T = decltype(tag);
    if constexpr (Kind == OpKind::Pow) {
      return applyPow(x[0], x[1], std::move(shape));
    } else if constexpr (Kind == OpKind::Cast || Kind == OpKind::Convert ||
                         !ScalarOp<Kind>::accepts(KindOf<T>::value)) {
      DLC_CHECK(false) << opInfo(Kind).mnemonic << " of "
                       << stringify(x.back().element());
      __builtin_unreachable();
    } else {
      return apply<Kind, typename ScalarOp<Kind>::template Operands<T>>(
          x, std::move(shape));
    }
  });
}

} // namespace

Expected<Tensors> evaluatePointwise(const Context &c) {
  OpKind kind = c.op.kind();
  if (kind == OpKind::Cast || kind == OpKind::Convert) {
    DataType to = c.resultType();
    // Where values stay wide, a convert changes nothing and a cast rounds.
    if (kind == OpKind::Convert && c.settings.stored(to) == c.working())
      to = c.working();
    return Tensors{castTo(c, c.input(0), to).converted(c.working())};
  }
  Tensors x;
  Index shape;
  for (unsigned i = 0; i < c.numInputs(); i++) {
    // In f64 and rounded once: all math libraries agree on that.
    bool widen =
        c.op.hasTrait(OpTrait::Transcendental) && isFloat(c.input(i).element());
    x.push_back(widen ? c.input(i).converted(DataType::F64) : c.input(i));
    Expected<Index> joined = broadcastShapes(c, shape, x.back().shape());
    if (!joined)
      return joined.takeError();
    shape = std::move(*joined);
  }
  for (Tensor &t : x)
    if (t.elements() != 1)
      t = broadcastTo(t, shape);
  switch (kind) {
#define DLC_SCALAR_OP(Name, ...)                                               \
  case OpKind::Name:                                                           \
    return Tensors{applyOp<OpKind::Name>(x, std::move(shape))};
#define DLC_SCALAR_OPS
#include "ir/Ops.inc"
#undef DLC_SCALAR_OP
  default:
    DLC_CHECK(false) << c.op.mnemonic() << " is not pointwise";
    __builtin_unreachable();
  }
}

} // namespace dlc::reference
