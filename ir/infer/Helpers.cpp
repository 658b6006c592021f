// SPDX-License-Identifier: Apache-2.0
// What the rules of result types share.
#include "ir/infer/Helpers.h"

#include "llvm/ADT/StringExtras.h"

namespace dlc {

llvm::Error opError(const Op &op, const llvm::Twine &message) {
  return llvm::createStringError(op.mnemonic() + ": " + message);
}

std::string shapeText(llvm::ArrayRef<Dim> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator x("x");
  for (const Dim &d : shape)
    os << x << d;
  return shape.empty() ? "scalar" : text;
}

std::optional<Dim> broadcastDim(const Dim &a, const Dim &b) {
  if (a == b || b.isConstant(1))
    return a;
  if (a.isConstant(1))
    return b;
  if (provedEqual(a, b) == Proof::Refuted)
    return std::nullopt;
  return b.isConstant() ? b : a;
}

std::optional<Shape> broadcastShapes(llvm::ArrayRef<Dim> a,
                                     llvm::ArrayRef<Dim> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Shape result(a.begin(), a.end());
  size_t offset = a.size() - b.size();
  for (size_t i = 0; i != b.size(); ++i) {
    std::optional<Dim> d = broadcastDim(a[offset + i], b[i]);
    if (!d)
      return std::nullopt;
    result[offset + i] = *d;
  }
  return result;
}

llvm::Error checkAxis(const Op &op, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return llvm::Error::success();
  return opError(op, "axis " + llvm::Twine(axis) + " of a tensor of rank " +
                         llvm::Twine(rank));
}

llvm::Error checkLength(const Op &op, llvm::StringRef name, size_t found,
                        size_t expected) {
  if (found == expected)
    return llvm::Error::success();
  return opError(op, name + " has " + llvm::Twine(found) +
                         " entries, expected " + llvm::Twine(expected));
}

llvm::Error checkEqual(const Op &op, const llvm::Twine &what, const Dim &a,
                       const Dim &b) {
  if (provedEqual(a, b) != Proof::Refuted)
    return llvm::Error::success();
  return opError(op,
                 what + " must agree, found " + a.str() + " and " + b.str());
}

Dim windowCount(const Dim &in, const Dim &window, int64_t stride, int64_t low,
                int64_t high, int64_t dilation) {
  return floorDiv(in + low + high - (window - 1) * dilation - 1, stride) + 1;
}

} // namespace dlc
