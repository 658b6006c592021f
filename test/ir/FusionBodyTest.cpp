// SPDX-License-Identifier: Apache-2.0
// What is derived from a body: prologues, epilogues, iteration spaces; and the
// values of shape subgraphs.
#include "ir/FusionBody.h"
#include "ir/ShapeValue.h"
#include "ir/Text.h"

#include <gtest/gtest.h>

using namespace dlc;

namespace {

std::unique_ptr<Module> read(llvm::StringRef text) {
  auto module = parse(text, "test");
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return nullptr;
  }
  if (llvm::Error e = verify(**module))
    ADD_FAILURE() << llvm::toString(std::move(e));
  return std::move(*module);
}

/// "scale bias" of the names of the ops' first results.
std::string names(llvm::ArrayRef<Op *> ops) {
  std::string text;
  for (Op *op : ops)
    text += (text.empty() ? "" : " ") + op->result()->name;
  return text;
}

TEST(FusionBody, PartsOfASoftmax) {
  auto module = read(R"(
module {
  graph @main(%x: tensor<4x8xf32>, %s: tensor<f32>) -> (%y) {
    %y = fusion(%x, %s) {kind = reduction, heroes = [1, 4], space = [4], reduce = [8]} body(%a: tensor<4x8xf32>, %b: tensor<f32>) {
      %scaled = mul(%a, %b) : tensor<4x8xf32>
      %top = reduce(%scaled) {kind = max, axes = [1]} : tensor<4x1xf32>
      %low = sub(%scaled, %top) : tensor<4x8xf32>
      %power = exp(%low) : tensor<4x8xf32>
      %total = reduce(%power) {kind = sum, axes = [1]} : tensor<4x1xf32>
      %part = div(%power, %total) : tensor<4x8xf32>
      yield %part
    } : tensor<4x8xf32>
  }
})");
  ASSERT_TRUE(module);
  FusionParts parts =
      fusionParts(llvm::cast<FusionOp>(&module->main().ops().front()));
  EXPECT_EQ(names(parts.heroes), "top total");
  EXPECT_EQ(names(parts.prologues[0][0]), "scaled");
  EXPECT_EQ(names(parts.prologues[1][0]), "low power"); // not again "scaled"
  EXPECT_EQ(names(parts.epilogue), "part");
  EXPECT_EQ(names(parts.unused), "");
  EXPECT_EQ(parts.str(), "prologue of operand 0 of hero 0: mul; prologue of "
                         "operand 0 of hero 1: sub, exp; epilogue: div");
}

TEST(FusionBody, PartsOfAContraction) {
  auto module = read(R"(
module {
  graph @main(%x: tensor<4x8xf16>, %w: tensor<8x2xf32>, %r: tensor<4x2xf32>) -> (%y, %z) {
    %y, %z = fusion(%x, %w, %r) {kind = contraction, heroes = [2], space = [4, 2], reduce = [8]} body(%a: tensor<4x8xf16>, %b: tensor<8x2xf32>, %c: tensor<4x2xf32>) {
      %wide = cast(%a) {to = f32} : tensor<4x8xf32>
      %residual = relu(%c) : tensor<4x2xf32>
      %product = matmul(%wide, %b) : tensor<4x2xf32>
      %sum = add(%product, %residual) : tensor<4x2xf32>
      %both = mul(%sum, %product) : tensor<4x2xf32>
      yield %both, %sum
    } : tensor<4x2xf32>, tensor<4x2xf32>
  }
})");
  ASSERT_TRUE(module);
  FusionParts parts =
      fusionParts(llvm::cast<FusionOp>(&module->main().ops().front()));
  EXPECT_EQ(names(parts.prologues[0][0]), "wide");
  EXPECT_EQ(names(parts.prologues[0][1]), "");
  EXPECT_EQ(names(parts.epilogue), "residual sum both");
  EXPECT_EQ(parts.str(),
            "prologue of operand 0: cast; epilogue: relu, add, mul");
  // Other heroes than the attribute has: the parts follow.
  Graph &body = llvm::cast<FusionOp>(&module->main().ops().front()).body();
  parts = fusionParts(body, {});
  EXPECT_EQ(names(parts.epilogue), "wide residual product sum both");
  EXPECT_EQ(parts.str(), "");
  body.setOutputs({parts.epilogue[1]->result()});
  parts = fusionParts(body, {parts.epilogue[2]});
  EXPECT_EQ(names(parts.prologues[0][0]), "wide");
  EXPECT_EQ(names(parts.epilogue), "residual");
  EXPECT_EQ(names(parts.unused), "wide product sum both");
}

TEST(FusionBody, SpaceOfAGroupedConvolution) {
  auto module = read(R"(
module {
  symbol "N" range(1, 8)
  graph @main(%x: tensor<"N"x6x9x9xf32>, %w: tensor<4x3x3x2xf32>) -> (%y) {
    %y = conv(%x, %w) {strides = [2, 1], padLow = [1, 0], padHigh = [1, 0], dilations = [1, 1], groups = 2} : tensor<"N"x4x5x8xf32>
  }
})");
  ASSERT_TRUE(module);
  Op *conv = &module->main().ops().front();
  IterationSpace space =
      iterationSpace(FusionKind::Contraction, {conv}, {conv->result()});
  EXPECT_EQ(space.space, (Shape{Dim::symbol("N"), 4, 5, 8}));
  EXPECT_EQ(space.reduce, (Shape{3, 3, 2}));
}

/// The elements of the graph's outputs, as text.
std::vector<std::string> shapeValues(llvm::StringRef body) {
  auto module = read(("module {\n symbol \"N\" range(1, 64)\n symbol \"L\" "
                      "range(0, *)\n graph @main(%x: tensor<3xi64>) -> (%y) "
                      "{\n" +
                      body + "\n}\n}")
                         .str());
  std::vector<std::string> result;
  if (!module)
    return result;
  auto elements = shapeValue(module->main().outputs()[0]);
  if (!elements)
    return {"unknown"};
  for (const Dim &d : *elements)
    result.push_back(d.str());
  return result;
}

using Texts = std::vector<std::string>;

TEST(ShapeValue, FollowsWhatExportersWrite) {
  // x.shape[0] * 2, -1 kept: view(x.shape[0], -1).
  EXPECT_EQ(shapeValues(R"(
    %d = dims {values = ["N", 3, "L"]} : tensor<3xi64>
    %zero = constant {value = dense<0> : tensor<i64>} : tensor<i64>
    %n = gather(%d, %zero) {axis = 0} : tensor<i64>
    %r = reshape(%n) {shape = [1]} : tensor<1xi64>
    %m = constant {value = dense<-1> : tensor<1xi64>} : tensor<1xi64>
    %y = concat(%r, %m) {axis = 0} : tensor<2xi64>)"),
            (Texts{"\"N\"", "-1"}));
  // Expand: where(shape == -1, 1, shape); a size is never -1.
  EXPECT_EQ(shapeValues(R"(
    %d = dims {values = ["N", 3, "L"]} : tensor<3xi64>
    %m = constant {value = dense<-1> : tensor<3xi64>} : tensor<3xi64>
    %one = constant {value = dense<1> : tensor<3xi64>} : tensor<3xi64>
    %e = equal(%d, %m) : tensor<3xbool>
    %y = select(%e, %one, %d) : tensor<3xi64>)"),
            (Texts{"\"N\"", "3", "\"L\""}));
  // Halves, padded and reversed.
  EXPECT_EQ(shapeValues(R"(
    %d = dims {values = ["N", 4]} : tensor<2xi64>
    %two = constant {value = dense<2> : tensor<i64>} : tensor<i64>
    %h = div(%d, %two) : tensor<2xi64>
    %p = pad(%h) {low = [1], high = [0]} : tensor<3xi64>
    %y = slice(%p) {starts = [2], sizes = [3], steps = [-1]} : tensor<3xi64>)"),
            (Texts{"2", "floordiv(\"N\", 2)", "0"}));
  EXPECT_EQ(shapeValues(R"(
    %d = dims {values = ["N", 3, "L"]} : tensor<3xi64>
    %y = reduce(%d) {kind = prod, axes = [0], keepDims = false} : tensor<i64>)"),
            (Texts{"3*\"L\"*\"N\""}));
}

TEST(ShapeValue, DoesNotGuess) {
  EXPECT_EQ(shapeValues("%y = neg(%x) : tensor<3xi64>"), Texts{"unknown"});
  // A difference may be negative, and then division truncates.
  EXPECT_EQ(shapeValues(R"(
    %d = dims {values = ["N"]} : tensor<1xi64>
    %l = dims {values = ["L"]} : tensor<1xi64>
    %two = constant {value = dense<2> : tensor<1xi64>} : tensor<1xi64>
    %s = sub(%d, %l) : tensor<1xi64>
    %y = div(%s, %two) : tensor<1xi64>)"),
            Texts{"unknown"});
  // i8 would wrap.
  EXPECT_EQ(shapeValues(R"(
    %a = constant {value = dense<100> : tensor<1xi8>} : tensor<1xi8>
    %y = add(%a, %a) : tensor<1xi8>)"),
            Texts{"unknown"});
  EXPECT_EQ(shapeValues(R"(
    %d = dims {values = ["L"]} : tensor<1xi64>
    %one = constant {value = dense<1> : tensor<1xi64>} : tensor<1xi64>
    %e = equal(%d, %one) : tensor<1xbool>
    %y = select(%e, %one, %d) : tensor<1xi64>)"),
            Texts{"unknown"});
}

} // namespace
