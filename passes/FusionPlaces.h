// SPDX-License-Identifier: Apache-2.0
// Where in the iteration space of a fusion a value lies.
#pragma once

#include "passes/FusionPlan.h"

namespace dlc {

/// The element of the iteration space that computes an element of a value.
enum class Place : uint8_t {
  Full, ///< the same coordinates as the space of the heroes
  Row,  ///< one element per row of a reduction
  Post, ///< a view of a Full value: other coordinates, one to one
  Free  ///< any coordinates: it depends on no hero
};

/// Places of the values of one cluster with heroes. What depends on a hero must
/// be computed where the hero is, so coordinates may not be mixed.
class FusionPlaces {
public:
  /// `full` is the shape of the heroes' results (contraction, window) or of
  /// their operands (reduction, with the sorted reduced axes).
  explicit FusionPlaces(llvm::ArrayRef<Dim> full,
                        llvm::ArrayRef<int64_t> reducedAxes = {});

  struct Info {
    Place place = Place::Free;
    const Op *view = nullptr; ///< Post: the view that made it
    bool afterHero = false;
  };
  const Info *find(const Value *value) const;
  void enter(const Value *value, Info info) { infos[value] = info; }
  void forget(const Op *op);

  /// Where the result of `op` would lie, which follows at least one value of
  /// the cluster; or why it may not join, in a sentence.
  std::optional<Info> afterOf(const Op &op, std::string &why) const;
  /// The same for an op that values of the cluster follow. It may have no
  /// operand that depends on a hero and lies elsewhere.
  std::optional<Info> beforeOf(const Op &op, std::string &why) const;

  bool isFull(llvm::ArrayRef<Dim> shape) const;
  /// The shape of one element per row, dimensions of size 1 left out or not?
  bool isRow(llvm::ArrayRef<Dim> shape) const;
  llvm::ArrayRef<int64_t> reducedAxes() const { return axes; }

private:
  std::optional<Info> afterPointwise(const Op &op, std::string &why) const;
  std::optional<Info> afterView(const Op &op, std::string &why) const;
  bool broadcastsFromRow(llvm::ArrayRef<Dim> shape) const;

  Shape full, rowKept;
  std::vector<int64_t> axes;
  llvm::DenseMap<const Value *, Info> infos;
};

} // namespace dlc
