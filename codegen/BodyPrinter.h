// SPDX-License-Identifier: Apache-2.0
// Prints a fusion's body as straight-line device code.
#pragma once

#include "codegen/KernelBuilder.h"
#include "ir/AccessMap.h"

namespace dlc::codegen {

/// Where an element of a value is. If a value lay in memory in `layout`, the
/// element would be at `linear`: reads and writes of such memory need no
/// index arithmetic, and reshapes of row-major values keep it.
struct Coordinates {
  Shape index;
  std::optional<Dim> linear;
  Layout layout;
};

/// Prints by pull: an element of a value is asked for at coordinates, and the
/// statements that compute it are appended once. V elements are computed
/// together in `for (int e = 0; e < V; e++)`; what does not depend on `e`
/// stands before the loop, and contiguous accesses are vectors there.
///
/// Failures (a hero out of place, a type without device code) are kept: see
/// takeError().
class BodyPrinter {
public:
  /// C++ expression of a hero's result at coordinates; nothing: out of place.
  using HeroValue = std::function<std::optional<std::string>(
      const Op &hero, unsigned result, const Coordinates &at)>;

  /// \param vector elements are computed together, the constant kVector of the
  /// device code; 1: plain code without a loop.
  BodyPrinter(KernelBuilder &kernel, int64_t vector);

  HeroValue hero;
  /// Rewrites offsets and conditions, so that parts of them come from a state
  /// that is made once.
  std::function<Dim(const Dim &)> hoist;

  /// Vectors that are read are kept as they lie in memory: for takeLoads().
  bool keepStored = false;

  /// Sums of many sizes become variables, each from the one before it: the
  /// bounds of a concat of many counted parts. For bodies that take() is all
  /// of.
  bool nameSums = false;

  /// The lane `e`, as an index.
  Dim lane() const { return laneDim; }
  /// Declares coordinates 0 <= name < extent that are available as C++
  /// variables of that name. With `perLane` their value varies with e.
  Dim coordinate(llvm::StringRef name, const Dim &extent, bool perLane = false);
  /// That of the first lane: V divides it, and every lane's is < extent.
  Dim firstLane(llvm::StringRef name, const Dim &extent);
  /// A coordinate that is computed by `value` when it is first needed.
  Dim derived(llvm::StringRef name, const Dim &extent, const Dim &value);
  /// Coordinates of the element at `linear` (= base + lane, or base) of memory
  /// of this type. With `rows`, V divides the innermost extent: then the
  /// element is decoded once for all lanes.
  Coordinates decode(const TensorType &type, const Dim &base, bool rows,
                     llvm::StringRef prefix = "i");

  /// The element as a C++ expression of its compute type.
  std::string value(const Value *v, const Coordinates &at);
  /// The element where the conditions hold, else zero.
  std::string valueWhere(const Value *v, const Coordinates &at,
                         llvm::ArrayRef<IndexRange> ranges);
  /// The conditions that are not always true, as C++; empty if there are none.
  /// Sets `perLane` if one differs from lane to lane.
  std::string rangesText(llvm::ArrayRef<IndexRange> ranges, bool &perLane);
  /// Where the element lies if the body only moves it; nothing if something is
  /// computed. Where `guard` (if not empty) does not hold it is zero.
  struct Address {
    unsigned input;
    Dim offset; ///< elements; not hoisted
    std::string guard;
    bool guardPerLane = false;
  };
  std::optional<Address> address(const Value *v, const Coordinates &at,
                                 llvm::ArrayRef<IndexRange> ranges);
  /// Elements from the start of memory of this type.
  Dim offset(const TensorType &type, const Coordinates &at);
  /// `offset` as text, hoisted.
  std::string offsetText(const Dim &offset) {
    return index.print(shortened(hoist ? hoist(offset) : offset));
  }
  /// Is `offset` lane + something that is the same for all lanes and a multiple
  /// of `alignment`? Then that something.
  std::optional<Dim> contiguous(const Dim &offset, int64_t alignment) const;
  /// Stores the element of the body's output `i` at coordinates.
  void store(unsigned output, const Coordinates &at);
  /// Appends a statement to the lanes' section.
  void statement(const std::string &text) { lanes += text + "\n"; }

  /// Of the statements so far those that are the same for all lanes: what is
  /// read as vectors, and indices. take() gives the others.
  std::string takeLoads(unsigned indent = 4);
  /// The statements so far, indented by `indent` spaces.
  std::string take(unsigned indent = 4);
  llvm::Error takeError();

private:
  struct Guard {
    std::string text;
    bool perLane;
  };
  Dim shortened(const Dim &d);
  bool isPerLane(const Dim &d) const;
  bool isPerLane(const Coordinates &at) const;
  bool guardsPerLane() const;
  std::string guardText() const;
  std::string define(const std::string &type, const std::string &expression,
                     bool perLane);
  std::string fail(const llvm::Twine &sentence);

  std::string pointwise(const Op &op, const Coordinates &at);
  std::string view(const Op &op, const Coordinates &at);
  std::string gather(const Op &op, const Coordinates &at);
  std::string dims(const Op &op, const Coordinates &at);
  std::string constant(const Op &op, const Coordinates &at);
  std::string load(const std::string &pointer, const TensorType &type,
                   const Coordinates &at, bool isWeight);
  std::string guarded(const Value *v, const Coordinates &at,
                      llvm::ArrayRef<IndexRange> ranges);
  Dim dataIndex(const Value *indices, const Coordinates &at, const Dim &extent);
  Coordinates operandAt(const Value *operand, const TensorType &result,
                        const Coordinates &at);

  KernelBuilder &kernel;
  IndexPrinter &index;
  int64_t vector;
  Dim laneDim;
  std::map<std::string, std::string> memo;
  std::map<std::string, bool, std::less<>> perLaneSymbols;
  llvm::SmallVector<Guard, 4> guards;
  llvm::SmallVector<std::pair<Dim, Dim>, 4> sums; // and their names
  unsigned names = 0, data = 0;
  std::string before, results, lanes, after; // the lane loop's sections
  std::string failure;
};

/// The dimension along which neighbours in memory lie, those of extent 1 left
/// out; -1 for rank 0 and blocked layouts.
int64_t innermostDimension(const TensorType &type);

} // namespace dlc::codegen
