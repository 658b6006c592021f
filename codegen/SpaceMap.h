// SPDX-License-Identifier: Apache-2.0
// Which elements of a body's values belong to one point of its space.
#pragma once

#include "codegen/BodyPrinter.h"

namespace dlc::codegen {

/// A kernel computes a hero's result at a point; what a fusion yields may be
/// that result through pointwise ops and invertible views. This finds the
/// element of the yielded value that belongs to the point.
class SpaceMap {
public:
  void anchor(const Value *value, Coordinates at) {
    anchors.emplace_back(value, std::move(at));
  }
  /// The element of `v`; nothing if no anchor leads there. A value that has the
  /// shape of the first anchor but depends on none is taken along it.
  std::optional<Coordinates> at(const Value *v) const;
  /// That of the unit's result; a refusal if it does not follow `whose`, the
  /// name of what is anchored.
  llvm::Expected<Coordinates> result(const Unit &unit, unsigned i,
                                     llvm::StringRef whose) const;
  /// Is `at` the element of the anchored value?
  static bool same(const Coordinates &a, const Coordinates &b,
                   llvm::ArrayRef<Dim> shape, IndexPrinter &index);

private:
  std::optional<Coordinates> follow(const Value *v) const;
  llvm::SmallVector<std::pair<const Value *, Coordinates>, 4> anchors;
};

/// The hero's result is `text` at this element, and is not had elsewhere.
BodyPrinter::HeroValue heroAt(const Op &hero, Coordinates element,
                              IndexPrinter &index,
                              std::function<std::string()> text);

} // namespace dlc::codegen
