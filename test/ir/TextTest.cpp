// SPDX-License-Identifier: Apache-2.0
// Random modules survive printing and parsing; damaged texts are refused.
#include "ir/Text.h"
#include "ir/Builder.h"

#include <gtest/gtest.h>
#include <random>

using namespace dlc;

namespace {

class RandomModule {
public:
  explicit RandomModule(unsigned seed) : random(seed) {
    module = std::make_unique<Module>();
    module->name = pick(0, 1) ? "net \"quoted\" \\ \xc3\xa9" : "";
    Symbol n;
    n.name = "batch size";
    n.lower = 1;
    if (pick(0, 1))
      n.upper = pick(1, 100);
    n.divisor = pick(1, 4);
    module->symbols[n.name] = n;
    Symbol c;
    c.name = "count";
    c.home = SymbolHome::DeviceCell;
    c.bound = Dim::symbol(n.name) * pick(1, 9) + pick(0, 3);
    module->symbols[c.name] = c;
    Graph &g = module->main();
    Builder b(g);
    Shape shape{Dim::symbol("batch size") * pick(1, 2) + pick(0, 1), pick(1, 5),
                Dim::symbol("count")};
    for (int64_t i = pick(1, 3); i > 0; --i)
      pool.push_back(g.addInput(TensorType(element(), shape),
                                pick(0, 1) ? "in." + std::to_string(i)
                                           : "weird:" + std::to_string(i)));
    for (int64_t i = pick(3, 25); i > 0; --i)
      step(b);
    for (int64_t i = pick(1, 3); i > 0; --i) {
      g.addOutput(pool[pick(0, int64_t(pool.size()) - 1)]);
      g.outputNames.push_back("out/" + std::to_string(i));
    }
  }
  std::unique_ptr<Module> module;

private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  DataType element() { return DataType(pick(0, int64_t(DataType::Bool))); }
  Value *any() { return pool[pick(0, int64_t(pool.size()) - 1)]; }

  void step(Builder &b) {
    std::vector<std::string> nodes{"conv/1 (Conv)", "r\"x\" (Relu)", "plain"};
    b.location = pick(0, 2) ? Location::node(nodes[pick(0, 2)]) : Location();
    Value *v = any();
    int64_t rank = v->type().rank();
    switch (pick(0, 6)) {
    case 0:
      pool.push_back(b.create<CastOp>(v, element()).result());
      break;
    case 1:
      pool.push_back(b.create<NegOp>(v).result());
      break;
    case 2:
      pool.push_back(constant(b));
      break;
    case 3: {
      std::vector<int64_t> permutation;
      for (int64_t d = rank; d-- != 0;)
        permutation.push_back(d);
      pool.push_back(b.create<TransposeOp>(v, permutation).result());
      break;
    }
    case 4: {
      Shape low(rank, 0), high(rank, Dim::symbol("batch size"));
      auto mode = PadMode(pick(0, 3));
      pool.push_back(b.create<PadOp>(v, nullptr, low, high, mode).result());
      break;
    }
    case 5: {
      if (rank < 2)
        break;
      std::vector<int64_t> order;
      for (int64_t d = 1; d != rank; ++d)
        order.push_back(d);
      order.push_back(0);
      Layout layout = Layout::permuted(order);
      if (pick(0, 1))
        layout = layout.withPadding(0, 8);
      pool.push_back(b.create<LayoutCopyOp>(v, layout).result());
      break;
    }
    case 6:
      fusion(b, v);
      break;
    }
  }

  Value *constant(Builder &b) {
    DataType t = element();
    TensorType type(t, {pick(0, 4), pick(1, 9)});
    int64_t count = type.elementCount().constant();
    std::vector<uint8_t> bytes(byteSize(t, count));
    for (uint8_t &byte : bytes)
      byte = t == DataType::Bool ? pick(0, 1) : pick(0, 255);
    if (bitWidth(t) < 8 && count % 2)
      bytes.back() &= 15;
    if (pick(0, 2) == 0)
      return b.constant(Constant::splat(type, double(pick(0, 7)) / 3));
    return b.constant(Constant::fromBytes(type, std::move(bytes)));
  }

  void fusion(Builder &b, Value *v) {
    Op *op = FusionOp::make(b.location, {v}, FusionKind::Loop, {},
                            v->type().shape, {});
    Graph &body = op->region(0);
    Value *in = body.addInput(v->type(), pick(0, 1) ? "x" : "");
    Builder inner(body);
    inner.location = b.location;
    body.addOutput(inner.create<AbsOp>(in).result());
    pool.push_back(b.insert(op)->result());
  }

  std::mt19937 random;
  std::vector<Value *> pool;
};

void expectSame(const Graph &a, const Graph &b) {
  ASSERT_EQ(a.numInputs(), b.numInputs());
  for (unsigned i = 0; i != a.numInputs(); ++i) {
    EXPECT_EQ(a.input(i)->type(), b.input(i)->type());
    EXPECT_EQ(a.input(i)->name, b.input(i)->name);
  }
  EXPECT_EQ(a.outputNames, b.outputNames);
  ASSERT_EQ(a.ops().size(), b.ops().size());
  auto j = b.ops().begin();
  for (const Op &x : a.ops()) {
    const Op &y = *j++;
    ASSERT_EQ(x.kind(), y.kind());
    EXPECT_EQ(x.location().nodes(), y.location().nodes());
    ASSERT_EQ(x.numAttributes(), y.numAttributes());
    for (unsigned i = 0; i != x.numAttributes(); ++i)
      EXPECT_TRUE(x.attribute(i) == y.attribute(i)) << x.mnemonic().str();
    for (unsigned i = 0; i != x.numResults(); ++i)
      EXPECT_EQ(x.result(i)->type(), y.result(i)->type());
    for (unsigned i = 0; i != x.numRegions(); ++i)
      expectSame(x.region(i), y.region(i));
  }
}

TEST(Text, RandomModulesRoundTrip) {
  for (unsigned seed = 0; seed != 300; ++seed) {
    RandomModule made(seed);
    std::string text = print(*made.module);
    auto back = parse(text, "back.dlc");
    ASSERT_TRUE(bool(back)) << llvm::toString(back.takeError()) << text;
    EXPECT_EQ(print(**back), text);
    EXPECT_EQ((*back)->name, made.module->name);
    expectSame(made.module->main(), (*back)->main());
    llvm::Error e = verify(**back);
    ASSERT_FALSE(bool(e)) << llvm::toString(std::move(e)) << text;
    // And a copy is the same.
    EXPECT_EQ(print(*made.module->clone()), text);
  }
}

TEST(Text, DamagedTextsAreRefusedAndNothingWorse) {
  std::mt19937 random(9);
  int refused = 0;
  for (unsigned i = 0; i != 1500; ++i) {
    RandomModule made(i % 40);
    std::string text = print(*made.module);
    for (int k = 0; k != 3; ++k) {
      size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text.erase(at, 1 + random() % 8);
        break;
      case 1:
        text[at] = char(random() % 128);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), 12));
        break;
      case 3:
        text.resize(at + 1);
        break;
      }
    }
    auto back = parse(text, "damaged.dlc");
    if (back) {
      llvm::consumeError(verify(**back));
      continue;
    }
    ++refused;
    std::string message = llvm::toString(back.takeError());
    EXPECT_EQ(message.find("damaged.dlc:"), 0u) << message;
    EXPECT_NE(message.find(": error: "), std::string::npos) << message;
  }
  EXPECT_GT(refused, 1000);
}

TEST(Text, FloatsReadBackToTheSameBits) {
  std::mt19937_64 random(1);
  for (DataType t : {DataType::F64, DataType::F32, DataType::F16,
                     DataType::BF16, DataType::F8E4M3, DataType::F8E5M2}) {
    for (int i = 0; i != 200; ++i) {
      Module m;
      Builder b(m.main());
      std::vector<uint8_t> bytes(byteSize(t, 4));
      for (uint8_t &byte : bytes)
        byte = uint8_t(random());
      m.main().addOutput(
          b.constant(Constant::fromBytes(TensorType(t, {4}), bytes)));
      std::string text = print(m);
      auto back = parse(text, "f");
      ASSERT_TRUE(bool(back)) << llvm::toString(back.takeError());
      auto op = llvm::cast<ConstantOp>(&(*back)->main().ops().front());
      EXPECT_EQ(op.value().rawBytes(), llvm::ArrayRef<uint8_t>(bytes)) << text;
    }
  }
}

} // namespace
