// SPDX-License-Identifier: Apache-2.0
// Access maps of views against the definitions, element by element.
#include "ir/AccessMap.h"
#include "ir/Builder.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace dlc;

namespace {

using Index = std::vector<int64_t>;
constexpr int64_t fillElement = -1; // the pad's value
constexpr int64_t inputBase = 1000; // elements of input k start at k * this

class AccessMapTest : public testing::Test {
protected:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  Index shape(size_t rank, int64_t largest = 4) {
    Index s(rank);
    for (int64_t &d : s)
      d = pick(1, largest);
    return s;
  }
  /// An input whose type has a symbol in place of some sizes.
  Value *input(const Index &sizes, bool symbolic) {
    Shape dims;
    for (size_t d = 0; d != sizes.size(); ++d) {
      if (!symbolic || sizes[d] == 1 || pick(0, 1)) {
        dims.push_back(sizes[d]);
        continue;
      }
      std::string name = "S" + std::to_string(values.size());
      values[name] = sizes[d];
      dims.push_back(Dim::symbol(name));
    }
    return graph->addInput(TensorType(DataType::F32, dims));
  }
  std::optional<int64_t> value(const Dim &d) {
    return d.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
      auto it = values.find(name.str());
      if (it == values.end())
        return std::nullopt;
      return it->second;
    });
  }
  Index concrete(llvm::ArrayRef<Dim> dims) {
    Index result;
    for (const Dim &d : dims)
      result.push_back(value(d).value_or(-999));
    return result;
  }

  /// Compares the map of `op` with `expected`, which gives the number of the
  /// element (inputBase * operand + row-major position, or fillElement).
  void check(Op *op, const std::function<int64_t(const Index &)> &expected) {
    Index sizes = concrete(op->result()->type().shape);
    Shape coordinates;
    for (size_t d = 0; d != sizes.size(); ++d)
      coordinates.push_back(Dim::symbol("i" + std::to_string(d)));
    AccessMap map = accessMap(*op, coordinates);
    int64_t count = std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                                    std::multiplies<>());
    ASSERT_GE(count, 0);
    Index index(sizes.size(), 0);
    for (int64_t n = 0; n != count; ++n) {
      for (size_t d = 0; d != sizes.size(); ++d)
        values["i" + std::to_string(d)] = index[d];
      ASSERT_EQ(element(*op, map), expected(index)) << text(*op);
      for (size_t d = sizes.size(); d-- != 0;) {
        if (++index[d] != sizes[d])
          break;
        index[d] = 0;
      }
    }
  }

  int64_t element(const Op &op, const AccessMap &map) {
    for (const Access &access : map.accesses) {
      bool isValid = true;
      for (const IndexRange &r : access.valid)
        isValid &= *value(r.lower) <= *value(r.value) &&
                   *value(r.value) < *value(r.upper);
      if (!isValid)
        continue;
      Index sizes = concrete(op.operand(access.operand)->type().shape);
      return access.operand * inputBase +
             position(sizes, concrete(access.index));
    }
    return fillElement;
  }
  static int64_t position(const Index &sizes, const Index &index) {
    int64_t linear = 0;
    for (size_t d = 0; d != sizes.size(); ++d) {
      if (index[d] < 0 || index[d] >= sizes[d])
        return -1000; // outside
      linear = linear * sizes[d] + index[d];
    }
    return linear;
  }
  static std::string text(const Op &op) {
    std::string s;
    llvm::raw_string_ostream os(s);
    op.print(os);
    return s;
  }
  void SetUp() override { reset(); }
  void reset() {
    module = std::make_unique<Module>();
    graph = &module->main();
    values.clear();
  }

  std::mt19937 random{5};
  std::unique_ptr<Module> module;
  Graph *graph = nullptr;
  std::map<std::string, int64_t> values;
};

TEST_F(AccessMapTest, Reshape) {
  for (int i = 0; i != 400; ++i) {
    reset();
    Builder b(*graph);
    Index from = shape(pick(0, 5));
    Value *in = input(from, i % 2);
    // Another factorisation of the same dimensions: merge neighbours, split
    // constants, add ones.
    Shape to;
    for (const Dim &d : in->type().shape) {
      std::optional<int64_t> c = d.tryConstant();
      if (!to.empty() && pick(0, 2) == 0)
        to.back() = to.back() * d;
      else if (c && *c % 2 == 0 && pick(0, 1))
        to.append({*c / 2, 2});
      else
        to.push_back(d);
      if (pick(0, 4) == 0)
        to.push_back(1);
    }
    Op *op = b.create<ReshapeOp>(in, to).op();
    Index sizes = concrete(to);
    check(op, [&](const Index &index) { return position(sizes, index); });
  }
}

TEST_F(AccessMapTest, ReshapeOfEqualCounts) {
  for (int i = 0; i != 300; ++i) {
    reset();
    Builder b(*graph);
    // Primes dealt twice, so that the factorisations cross.
    Index from(pick(1, 4), 1), to(pick(1, 4), 1);
    for (int64_t prime : {2, 2, 3, 5}) {
      from[pick(0, int64_t(from.size()) - 1)] *= prime;
      to[pick(0, int64_t(to.size()) - 1)] *= prime;
    }
    Op *op =
        b.create<ReshapeOp>(input(from, false), Shape(to.begin(), to.end()))
            .op();
    check(op, [&](const Index &index) { return position(to, index); });
  }
}

TEST_F(AccessMapTest, MergingAndSplittingBackIsSimple) {
  Builder b(*graph);
  Dim h = Dim::symbol("H"), w = Dim::symbol("W");
  Shape split{Dim::symbol("N"), 64, h, w};
  Shape merged{Dim::symbol("N"), 64, h * w};
  Shape index{Dim::symbol("a"), Dim::symbol("b"), Dim::symbol("c"),
              Dim::symbol("d")};
  // Batch and channels pass; the rest is one multiplication.
  Shape at = reindex(split, merged, index);
  EXPECT_EQ(at[0], index[0]);
  EXPECT_EQ(at[1], index[1]);
  EXPECT_EQ(at[2], index[2] * w + index[3]);
  // Coordinates lie in the shape, so a one-dimensional view divides at most
  // once.
  Shape rows = reindex({Dim(12), Dim(8)}, {Dim(3), Dim(4), Dim(8)},
                       {index[0], index[1]});
  EXPECT_EQ(rows[0], floorDiv(index[0], 4));
  EXPECT_EQ(rows[1], mod(index[0], 4));
  EXPECT_EQ(rows[2], index[1]);
}

TEST_F(AccessMapTest, Transpose) {
  for (int i = 0; i != 200; ++i) {
    reset();
    Builder b(*graph);
    size_t rank = pick(0, 5);
    Index sizes = shape(rank);
    std::vector<int64_t> permutation(rank);
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random);
    Op *op = b.create<TransposeOp>(input(sizes, i % 2), permutation).op();
    check(op, [&](const Index &index) {
      Index source(rank);
      for (size_t d = 0; d != rank; ++d)
        source[permutation[d]] = index[d];
      return position(sizes, source);
    });
  }
}

TEST_F(AccessMapTest, Broadcast) {
  for (int i = 0; i != 200; ++i) {
    reset();
    Builder b(*graph);
    Index to = shape(pick(0, 5));
    Index from(to.begin() + pick(0, int64_t(to.size())), to.end());
    for (int64_t &d : from)
      if (pick(0, 1))
        d = 1;
    Op *op =
        b.create<BroadcastOp>(input(from, false), Shape(to.begin(), to.end()))
            .op();
    check(op, [&](const Index &index) {
      Index source(index.end() - from.size(), index.end());
      for (size_t d = 0; d != from.size(); ++d)
        source[d] %= from[d];
      return position(from, source);
    });
  }
}

TEST_F(AccessMapTest, Slice) {
  for (int i = 0; i != 300; ++i) {
    reset();
    Builder b(*graph);
    Index sizes = shape(pick(1, 4), 7);
    Shape starts, counts;
    std::vector<int64_t> steps;
    for (int64_t d : sizes) {
      int64_t start = pick(0, d - 1), step = pick(-3, 3);
      step += step == 0;
      int64_t room = step > 0 ? (d - 1 - start) / step : start / -step;
      starts.push_back(start);
      steps.push_back(step);
      counts.push_back(pick(0, room + 1));
    }
    Op *op = b.create<SliceOp>(input(sizes, i % 2), starts, counts, steps).op();
    check(op, [&](const Index &index) {
      Index source;
      for (size_t d = 0; d != sizes.size(); ++d)
        source.push_back(starts[d].constant() + index[d] * steps[d]);
      return position(sizes, source);
    });
  }
}

/// Where a padded dimension reads, by walking: none of the formulas of the map.
int64_t walk(PadMode mode, int64_t i, int64_t size) {
  if (mode == PadMode::Edge)
    return i < 0 ? 0 : i >= size ? size - 1 : i;
  if (mode == PadMode::Wrap) {
    while (i < 0)
      i += size;
    while (i >= size)
      i -= size;
    return i;
  }
  if (size == 1)
    return 0;
  while (i < 0 || i >= size)
    i = i < 0 ? -i : 2 * (size - 1) - i;
  return i;
}

TEST_F(AccessMapTest, Pad) {
  for (int i = 0; i != 600; ++i) {
    reset();
    Builder b(*graph);
    Index sizes = shape(pick(1, 3), 5);
    PadMode mode = PadMode(pick(0, 3));
    Shape low, high;
    for (int64_t d : sizes) {
      low.push_back(pick(-d / 2, 4));
      high.push_back(pick(-(d - d / 2), 4));
    }
    Value *fill = mode == PadMode::Constant && pick(0, 1)
                      ? b.scalar(DataType::F32, 3)
                      : nullptr;
    Op *op = b.create<PadOp>(input(sizes, i % 2), fill, low, high, mode).op();
    EXPECT_EQ(accessMap(*op, op->result()->type().shape).fill, fill);
    check(op, [&](const Index &index) {
      Index source;
      for (size_t d = 0; d != sizes.size(); ++d) {
        int64_t at = index[d] - low[d].constant();
        if (mode == PadMode::Constant && (at < 0 || at >= sizes[d]))
          return fillElement;
        source.push_back(mode == PadMode::Constant ? at
                                                   : walk(mode, at, sizes[d]));
      }
      return position(sizes, source);
    });
  }
}

TEST_F(AccessMapTest, Concat) {
  for (int i = 0; i != 200; ++i) {
    reset();
    Builder b(*graph);
    Index sizes = shape(pick(1, 4));
    size_t axis = pick(0, int64_t(sizes.size()) - 1);
    std::vector<Value *> inputs;
    std::vector<Index> shapes;
    for (int64_t k = pick(1, 4); k > 0; --k) {
      sizes[axis] = pick(0, 4);
      shapes.push_back(sizes);
      inputs.push_back(input(sizes, false));
    }
    Op *op = b.create<ConcatOp>(inputs, int64_t(axis)).op();
    check(op, [&](const Index &index) {
      Index source = index;
      for (size_t k = 0; k != shapes.size(); ++k) {
        if (source[axis] < shapes[k][axis])
          return int64_t(k) * inputBase + position(shapes[k], source);
        source[axis] -= shapes[k][axis];
      }
      return int64_t(-2);
    });
  }
}

} // namespace
