// SPDX-License-Identifier: Apache-2.0
// What the rules of result types share.
#pragma once

#include "ir/infer/Infer.h"

namespace dlc {

/// "conv: <message>", an error of the user's model.
llvm::Error opError(const Op &op, const llvm::Twine &message);

/// "2x3" for messages.
std::string shapeText(llvm::ArrayRef<Dim> shape);

/// NumPy's rule for one dimension. Two sizes that cannot be proved equal, and
/// neither of which is 1, are taken to be equal; a constant is preferred.
/// Nothing where they are proved to differ.
std::optional<Dim> broadcastDim(const Dim &a, const Dim &b);
/// The common shape of both, or nothing.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<Dim> a,
                                     llvm::ArrayRef<Dim> b);

/// An error unless 0 <= axis < rank (<= rank where `inclusive`).
llvm::Error checkAxis(const Op &op, int64_t axis, int64_t rank);
/// An error unless the list has `expected` entries.
llvm::Error checkLength(const Op &op, llvm::StringRef name, size_t found,
                        size_t expected);
/// An error where both sizes are proved to differ.
llvm::Error checkEqual(const Op &op, const llvm::Twine &what, const Dim &a,
                       const Dim &b);

/// Positions of a window in a padded dimension:
/// floor((in + low + high - ((window - 1) * dilation + 1)) / stride) + 1.
Dim windowCount(const Dim &in, const Dim &window, int64_t stride, int64_t low,
                int64_t high, int64_t dilation);

} // namespace dlc
