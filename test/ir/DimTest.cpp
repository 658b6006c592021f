// SPDX-License-Identifier: Apache-2.0
// Dimension expressions against plain arithmetic on random trees.
#include "ir/Symbol.h"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace dlc;

namespace {

using Values = std::map<std::string, int64_t, std::less<>>;

int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

/// An expression twice: as a Dim, and as a function of the symbols' values.
struct Both {
  Dim dim;
  std::function<int64_t(const Values &)> value;
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  Both constant(int64_t c) {
    return {c, [c](const Values &) { return c; }};
  }
  Both symbol() {
    std::string name(1, "NMWH"[pick(0, 3)]);
    return {Dim::symbol(name), [name](const Values &v) { return v.at(name); }};
  }
  /// Positive: symbols are.
  Both divisor() {
    switch (pick(0, 5)) {
    case 0:
      return symbol();
    case 1: {
      Both s = symbol();
      int64_t c = pick(2, 4);
      return {s.dim * c, [s, c](const Values &v) { return s.value(v) * c; }};
    }
    case 2: {
      Both s = symbol();
      return {s.dim + 1, [s](const Values &v) { return s.value(v) + 1; }};
    }
    default:
      return constant(pick(1, 12));
    }
  }
  Both tree(int depth) {
    if (depth == 0 || pick(0, 7) == 0)
      return pick(0, 2) ? symbol() : constant(pick(-9, 9));
    Both a = tree(depth - 1);
    switch (pick(0, 7)) {
    case 0: {
      Both b = divisor();
      return {floorDiv(a.dim, b.dim), [a, b](const Values &v) {
                return floorDivide(a.value(v), b.value(v));
              }};
    }
    case 1: {
      Both b = divisor();
      return {ceilDiv(a.dim, b.dim), [a, b](const Values &v) {
                return -floorDivide(-a.value(v), b.value(v));
              }};
    }
    case 2: {
      Both b = divisor();
      return {mod(a.dim, b.dim), [a, b](const Values &v) {
                int64_t x = a.value(v), y = b.value(v);
                return x - floorDivide(x, y) * y;
              }};
    }
    case 3: {
      Both b = tree(depth - 1);
      bool larger = pick(0, 1);
      return {larger ? max(a.dim, b.dim) : min(a.dim, b.dim),
              [a, b, larger](const Values &v) {
                return larger ? std::max(a.value(v), b.value(v))
                              : std::min(a.value(v), b.value(v));
              }};
    }
    case 4: {
      Both b = tree(depth - 1);
      return {a.dim * b.dim,
              [a, b](const Values &v) { return a.value(v) * b.value(v); }};
    }
    case 5: {
      Both b = tree(depth - 1);
      return {a.dim - b.dim,
              [a, b](const Values &v) { return a.value(v) - b.value(v); }};
    }
    default: {
      Both b = tree(depth - 1);
      return {a.dim + b.dim,
              [a, b](const Values &v) { return a.value(v) + b.value(v); }};
    }
    }
  }
  Values values(const SymbolTable *table = nullptr) {
    Values v;
    for (const char *name : {"N", "M", "W", "H"}) {
      if (!table) {
        v[name] = pick(1, 13);
        continue;
      }
      const Symbol &s = table->at(name);
      int64_t top = *s.upper / s.divisor,
              bottom = (s.lower + s.divisor - 1) / s.divisor;
      v[name] = pick(bottom, top) * s.divisor;
    }
    return v;
  }

private:
  std::mt19937 random;
};

auto lookupIn(const Values &v) {
  return [&v](llvm::StringRef name) -> std::optional<int64_t> {
    auto it = v.find(name.str());
    if (it == v.end())
      return std::nullopt;
    return it->second;
  };
}

Dim sym(const char *name) { return Dim::symbol(name); }

TEST(Dim, EvaluatesAsItWasBuilt) {
  Generator g(1);
  for (int i = 0; i != 4000; ++i) {
    Both b = g.tree(4);
    for (int k = 0; k != 4; ++k) {
      Values v = g.values();
      ASSERT_EQ(b.dim.evaluate(lookupIn(v)), b.value(v)) << b.dim.str();
    }
  }
}

TEST(Dim, CanonicalFormIsAFixedPoint) {
  Generator g(2);
  for (int i = 0; i != 3000; ++i) {
    Dim d = g.tree(4).dim;
    // Built again from its parts it is the same; other names keep the value.
    Dim renamed = d.substitute([](llvm::StringRef name) {
      return std::optional<Dim>(Dim::symbol(name.str() + "'"));
    });
    Dim back = renamed.substitute([](llvm::StringRef name) {
      return std::optional<Dim>(Dim::symbol(name.drop_back()));
    });
    ASSERT_EQ(back, d) << back.str() << " and " << d.str();
    ASSERT_EQ(Dim::compare(d, back), 0);
    Dim other = g.tree(3).dim;
    ASSERT_EQ(d + other, other + d);
    ASSERT_EQ(d * other, other * d);
    ASSERT_EQ(d + other - other, d) << d.str() << " and " << other.str();
  }
}

TEST(Dim, BoundsHoldAndSimplificationKeepsTheValue) {
  Generator g(3);
  SymbolTable table;
  auto declare = [&](const char *name, int64_t low, int64_t high,
                     int64_t divisor) {
    Symbol s;
    s.name = name;
    s.lower = low;
    s.upper = high;
    s.divisor = divisor;
    table[name] = s;
  };
  declare("N", 1, 7, 1);
  declare("M", 2, 16, 2);
  declare("W", 1, 3, 1);
  declare("H", 4, 24, 4);
  int simpler = 0;
  for (int i = 0; i != 4000; ++i) {
    Both b = g.tree(4);
    std::optional<int64_t> low = lowerBound(b.dim, table),
                           high = upperBound(b.dim, table);
    bool nonNegative = isNonNegative(b.dim, table);
    int64_t divisor = g.pick(1, 8);
    bool multiple = isMultipleOf(b.dim, divisor, table);
    Dim simple = simplify(b.dim, table);
    simpler += simple != b.dim;
    for (int k = 0; k != 8; ++k) {
      Values v = g.values(&table);
      int64_t value = b.value(v);
      ASSERT_LE(low.value_or(value), value) << b.dim.str();
      ASSERT_GE(high.value_or(value), value) << b.dim.str();
      ASSERT_TRUE(!nonNegative || value >= 0) << b.dim.str();
      ASSERT_TRUE(!multiple || value % divisor == 0)
          << b.dim.str() << " by " << divisor;
      ASSERT_EQ(simple.evaluate(lookupIn(v)), value)
          << b.dim.str() << " became " << simple.str();
    }
  }
  EXPECT_GT(simpler, 100);
}

TEST(Dim, EqualExpressionsAreFoundEqual) {
  Dim n = sym("N"), w = sym("W"), h = sym("H");
  EXPECT_EQ(n * 2 + n, n * 3);
  EXPECT_EQ((n + 1) * (n - 1), n * n - 1);
  EXPECT_EQ(floorDiv(n * 6 + 4, 2), n * 3 + 2);
  EXPECT_EQ(floorDiv(floorDiv(w, 2) + 1, 2), floorDiv(w + 2, 4));
  // A convolution of stride 2 and a pool that rounds up agree.
  EXPECT_EQ(floorDiv(w + 2 - 3, 2) + 1, ceilDiv(w, 2));
  EXPECT_EQ(floorDiv(n * w * h, w * h), n);
  EXPECT_EQ(floorDiv(n * (w + 1) * (h + 2), (w + 1) * n), h + 2);
  EXPECT_EQ(floorDiv(w, 8) * 8 + mod(w, 8), w);
  EXPECT_EQ(floorDiv(w + h * 3, 8) * 24 * n + mod(w + h * 3, 8) * n * 3,
            (w + h * 3) * n * 3);
  EXPECT_EQ(mod(mod(w, 12), 4), mod(w, 4));
  EXPECT_EQ(mod(n * 4 + 3, 4), Dim(3));
  EXPECT_EQ(max(n + 1, n), n + 1);
  EXPECT_EQ(min(n, w), min(w, n));
  EXPECT_EQ(max(max(n, w), n), max(n, w));
  EXPECT_EQ(provedEqual(n + 1, n), Proof::Refuted);
  EXPECT_EQ(provedEqual(n, w), Proof::Unknown);
}

TEST(Dim, LongSumsCancel) {
  Dim sum = 0, before = 0;
  for (int i = 0; i < 90; ++i) {
    before = sum;
    sum = sum + sym(("N" + std::to_string(i)).c_str());
  }
  EXPECT_EQ(sum - before, sym("N89"));
  EXPECT_EQ(sum * 4 - before * 4, sym("N89") * 4);
}

TEST(Dim, Prints) {
  Dim n = sym("N"), w = sym("W");
  EXPECT_EQ((n * 2 + 1).str(), "2*\"N\"+1");
  EXPECT_EQ((Dim(1) - n).str(), "-\"N\"+1");
  EXPECT_EQ((n * w - w * 3).str(), "\"N\"*\"W\"-3*\"W\"");
  EXPECT_EQ(ceilDiv(w, 2).str(), "floordiv(\"W\"+1, 2)");
  EXPECT_EQ(ceilDiv(n, w).str(), "ceildiv(\"N\", \"W\")");
}

TEST(Dim, OverflowIsContagiousAndHasNoValue) {
  Dim big = INT64_MAX, n = sym("N");
  Dim cases[] = {big + 1,
                 big * 2,
                 n * big * 2 + n,
                 Dim(INT64_MIN) - 1,
                 floorDiv(n, 0),
                 mod(n, 0),
                 floorDiv(Dim(INT64_MIN), -1),
                 max(big + 1, n)};
  auto seven = [](llvm::StringRef) { return std::optional<int64_t>(7); };
  for (const Dim &d : cases) {
    EXPECT_TRUE(d.overflowed()) << d.str();
    EXPECT_EQ(d.evaluate(seven), std::nullopt);
    EXPECT_TRUE((d + n).overflowed());
    EXPECT_TRUE((n * d).overflowed());
  }
  // Only once a value is known.
  Dim product = n * n * n * n * n;
  auto large = [](llvm::StringRef) { return std::optional<int64_t>(1 << 20); };
  EXPECT_EQ(product.evaluate(seven), 16807);
  EXPECT_EQ(product.evaluate(large), std::nullopt);
}

TEST(Dim, RangesDecideDivisions) {
  SymbolTable table;
  Symbol i;
  i.name = "i";
  i.bound = sym("W") - 1;
  table["i"] = i;
  Symbol w;
  w.name = "W";
  w.lower = 1;
  table["W"] = w;
  Dim h = sym("h");
  EXPECT_EQ(simplify(floorDiv(h * sym("W") + sym("i"), sym("W")), table), h);
  EXPECT_EQ(simplify(mod(h * sym("W") + sym("i"), sym("W")), table), sym("i"));
  Symbol j;
  j.name = "j";
  j.upper = 7;
  table["j"] = j;
  EXPECT_EQ(simplify(floorDiv(sym("j"), 8), table), Dim(0));
  EXPECT_EQ(simplify(mod(sym("j") + 8, 16), table), sym("j") + 8);
  EXPECT_EQ(simplify(max(sym("j"), 8), table), Dim(8));
  EXPECT_NE(simplify(floorDiv(sym("j"), 7), table), Dim(0));
}

} // namespace
