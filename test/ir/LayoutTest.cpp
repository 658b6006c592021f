// SPDX-License-Identifier: Apache-2.0
// The laws of layouts, on random shapes and layouts.
#include "ir/Type.h"

#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>

using namespace dlc;

namespace {

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  Shape shape(int64_t rank) {
    Shape s;
    for (int64_t d = 0; d != rank; ++d)
      s.push_back(pick(1, 6));
    return s;
  }
  llvm::SmallVector<int64_t, 6> permutation(int64_t rank) {
    llvm::SmallVector<int64_t, 6> p(rank);
    std::iota(p.begin(), p.end(), 0);
    std::shuffle(p.begin(), p.end(), random);
    return p;
  }
  Layout layout(int64_t rank) {
    llvm::SmallVector<Layout::Entry, 6> entries;
    for (int64_t d : permutation(rank))
      entries.push_back({d, 0});
    // Factors go anywhere inside of their dimension's first entry.
    for (int64_t i = pick(0, 2); i > 0; --i) {
      size_t outer = pick(0, rank - 1);
      Layout::Entry factor{entries[outer].dimension, pick(2, 4)};
      auto first = llvm::find_if(entries, [&](const Layout::Entry &e) {
        return e.dimension == factor.dimension;
      });
      entries.insert(entries.begin() + pick(first - entries.begin() + 1,
                                            int64_t(entries.size())),
                     factor);
    }
    Layout l = Layout::blocked(entries, rank);
    if (pick(0, 2) == 0)
      l = l.withPadding(pick(0, rank - 1), pick(2, 5));
    return l;
  }

private:
  std::mt19937 random;
};

template <class Fn> void forEachIndex(llvm::ArrayRef<Dim> shape, Fn fn) {
  Shape index(shape.size(), 0);
  int64_t count = elementCount(shape).constant();
  for (int64_t i = 0; i != count; ++i) {
    fn(index);
    for (size_t d = shape.size(); d-- != 0;) {
      index[d] = index[d] + 1;
      if (index[d] != shape[d])
        break;
      index[d] = 0;
    }
  }
}

TEST(Layout, EveryElementHasAPlaceOfItsOwn) {
  Generator g(1);
  for (int i = 0; i != 300; ++i) {
    int64_t rank = g.pick(1, 4);
    Shape shape = g.shape(rank);
    Layout l = g.layout(rank);
    int64_t storage = l.storageElements(shape).constant();
    EXPECT_EQ(l.storageElements(shape), elementCount(l.physicalShape(shape)));
    std::set<int64_t> places;
    forEachIndex(shape, [&](const Shape &index) {
      int64_t offset = l.offset(shape, index).constant();
      ASSERT_GE(offset, 0);
      ASSERT_LT(offset, storage) << l.str(rank);
      ASSERT_TRUE(places.insert(offset).second) << l.str(rank);
    });
    // Dense where nothing is padded up.
    if (l.isPermutation()) {
      EXPECT_EQ(int64_t(places.size()), storage);
    }
  }
}

TEST(Layout, SymbolicOffsetsAgreeWithConcreteOnes) {
  Generator g(2);
  for (int i = 0; i != 200; ++i) {
    int64_t rank = g.pick(1, 4);
    Shape shape = g.shape(rank), symbols;
    Layout l = g.layout(rank);
    for (int64_t d = 0; d != rank; ++d)
      symbols.push_back(Dim::symbol("i" + std::to_string(d)));
    Dim offset = l.offset(shape, symbols);
    forEachIndex(shape, [&](const Shape &index) {
      auto lookup = [&](llvm::StringRef name) -> std::optional<int64_t> {
        size_t d = 0;
        name.drop_front().getAsInteger(10, d);
        return index[d].constant();
      };
      ASSERT_EQ(offset.evaluate(lookup), l.offset(shape, index).constant())
          << l.str(rank);
    });
  }
}

TEST(Layout, TransposedLeavesMemoryAsItIs) {
  Generator g(3);
  for (int i = 0; i != 200; ++i) {
    int64_t rank = g.pick(1, 4);
    Shape shape = g.shape(rank), moved;
    Layout l = g.layout(rank);
    auto permutation = g.permutation(rank);
    for (int64_t d : permutation)
      moved.push_back(shape[d]);
    Layout t = l.transposed(permutation);
    forEachIndex(shape, [&](const Shape &index) {
      Shape movedIndex;
      for (int64_t d : permutation)
        movedIndex.push_back(index[d]);
      ASSERT_EQ(l.offset(shape, index), t.offset(moved, movedIndex));
    });
  }
}

TEST(Layout, PermutationsAreAGroup) {
  Generator g(4);
  for (int i = 0; i != 200; ++i) {
    int64_t rank = g.pick(1, 5);
    Layout a = Layout::permuted(g.permutation(rank));
    Layout b = Layout::permuted(g.permutation(rank));
    Layout c = Layout::permuted(g.permutation(rank));
    EXPECT_TRUE(a.compose(a.inverse(rank), rank).isRowMajor());
    EXPECT_TRUE(a.inverse(rank).compose(a, rank).isRowMajor());
    EXPECT_EQ(a.compose(b, rank).compose(c, rank),
              a.compose(b.compose(c, rank), rank));
    EXPECT_EQ(a.inverse(rank).inverse(rank), a);
  }
}

TEST(Layout, ComposeLaysOutWhatLiesInMemory) {
  Generator g(5);
  for (int i = 0; i != 100; ++i) {
    int64_t rank = g.pick(1, 4);
    Shape shape = g.shape(rank);
    Layout inner = Layout::permuted(g.permutation(rank));
    Layout outer = Layout::permuted(g.permutation(rank));
    Layout both = outer.compose(inner, rank);
    Shape physical = inner.physicalShape(shape);
    auto order = inner.order(rank);
    forEachIndex(shape, [&](const Shape &index) {
      Shape inMemory;
      for (int64_t d : order)
        inMemory.push_back(index[d]);
      ASSERT_EQ(both.offset(shape, index), outer.offset(physical, inMemory));
    });
  }
}

TEST(Layout, StridesAreTheOffsetsOfUnitSteps) {
  Generator g(6);
  for (int i = 0; i != 100; ++i) {
    int64_t rank = g.pick(1, 5);
    Shape shape = g.shape(rank);
    Layout l = Layout::permuted(g.permutation(rank));
    Shape strides = l.strides(shape);
    forEachIndex(shape, [&](const Shape &index) {
      Dim sum = 0;
      for (int64_t d = 0; d != rank; ++d)
        sum = sum + strides[d] * index[d];
      ASSERT_EQ(sum, l.offset(shape, index));
    });
  }
}

TEST(Layout, TextReadsBack) {
  Generator g(7);
  for (int i = 0; i != 300; ++i) {
    int64_t rank = g.pick(1, 5);
    Layout l = g.layout(rank);
    llvm::Expected<Layout> back = Layout::parse(l.str(rank), rank);
    ASSERT_TRUE(bool(back)) << llvm::toString(back.takeError());
    EXPECT_EQ(*back, l) << l.str(rank);
  }
  EXPECT_EQ(Layout::channelsLast(4).str(4), "nhwc");
  EXPECT_EQ(llvm::cantFail(Layout::parse("nc/32hw32", 4)),
            llvm::cantFail(Layout::parse("[0,1,2,3,1/32]", 4)));
  EXPECT_EQ(llvm::cantFail(Layout::parse("nchw", 4)), Layout::rowMajor());
}

TEST(Layout, RefusesWithASentence) {
  auto message = [](llvm::StringRef text, int64_t rank) {
    llvm::Expected<Layout> l = Layout::parse(text, rank);
    return l ? "parsed" : llvm::toString(l.takeError());
  };
  EXPECT_EQ(message("nhw", 4),
            "layout 'nhw' of rank 4: a dimension is missing");
  EXPECT_EQ(message("[0,7]", 2),
            "layout '[0,7]' of rank 2: there is no dimension 7");
  EXPECT_EQ(message("[0,1/4,1]", 2),
            "layout '[0,1/4,1]' of rank 2: the outermost entry of a dimension, "
            "and no other, is without a factor");
  EXPECT_EQ(message("[0,1", 2), "layout '[0,1' of rank 2: ']' is missing");
  EXPECT_EQ(message("[0,1] pad 2:8", 2),
            "layout '[0,1] pad 2:8' of rank 2: expected 'pad "
            "dimension:multiple'");
}

} // namespace
