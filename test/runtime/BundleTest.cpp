// SPDX-License-Identifier: Apache-2.0
// Bundles: what is written comes back, the same parts give the same bytes, and
// what is wrong with a plan is said.
#include "RichBundle.h"

#include "runtime/bundle/PlanVerifier.h"

#include <gtest/gtest.h>
#include <random>

using namespace dlc;
using namespace dlc::test;
using bundle::BundleReader;

static std::shared_ptr<const BundleReader> open(BundleFile &file) {
  std::shared_ptr<const BundleReader> reader;
  Status status =
      BundleReader::openMemory(file.span().data(), file.size, reader);
  EXPECT_TRUE(status.ok()) << status.sentence();
  return reader;
}

TEST(Checksum, MatchesPublishedValues) {
  auto bytes = [](std::string_view text) {
    return std::span(reinterpret_cast<const uint8_t *>(text.data()),
                     text.size());
  };
  EXPECT_EQ(bundle::checksum({}), 0xef46db3751d8e999);
  EXPECT_EQ(bundle::checksum(bytes("abc")), 0x44bc2cf5ad770999);
  auto hex = [](const bundle::Hash &hash) {
    std::string text;
    for (uint8_t byte : hash) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  };
  EXPECT_EQ(hex(bundle::sha256(bytes("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(bundle::sha256({})),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(bundle::sha256(bytes(
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Checksum, InstructionsAndPlainCodeAgree) {
  std::mt19937 random(2);
  std::vector<uint8_t> bytes(700);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  for (size_t size = 0; size < bytes.size(); size++)
    EXPECT_EQ(bundle::sha256({bytes.data(), size}),
              bundle::sha256({bytes.data(), size}, true))
        << size;
}

TEST(Checksum, DoesNotDependOnThePieces) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(1000);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  for (int round = 0; round < 100; round++) {
    bundle::Checksum sum;
    for (size_t at = 0; at < bytes.size();) {
      size_t piece = std::min<size_t>(random() % 70, bytes.size() - at);
      sum.update({bytes.data() + at, piece});
      at += piece;
    }
    EXPECT_EQ(sum.value(), bundle::checksum(bytes));
  }
}

TEST(Bundle, ComesBackAsItWasWritten) {
  BundleFile file = richBundle();
  auto reader = open(file);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->variants(), 2u);
  EXPECT_EQ(reader->manifest().producer, "test");
  EXPECT_EQ(reader->model(), "module {}\n");
  EXPECT_EQ(reader->tuning(), "# empty\n");
  EXPECT_EQ(reader->report(0), "copies only\n");
  EXPECT_EQ(reader->report(1), "");
  EXPECT_EQ(reader->source(1, 0), "// kernel\n");
  EXPECT_EQ(reader->shapes(0), "x: 1..4x4");
  EXPECT_EQ(reader->shapes(1), "any");
  std::span<const uint8_t> binary = reader->binary(1, 0);
  EXPECT_EQ(std::string(binary.begin(), binary.end()), "not a cubin");
  std::span<const uint8_t> weight = reader->weight(*reader->plan(0).weights[0]);
  ASSERT_EQ(weight.size(), 16u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weight.data()) % 256, 0u);
  const float expected[4] = {0.5f, -1.25f, 3, 1e-3f};
  EXPECT_EQ(memcmp(weight.data(), expected, 16), 0);
  EXPECT_EQ(reader->plan(1).kernels[0]->name, "dlc_copy_f16_00000000");
}

TEST(Bundle, SamePartsSameBytes) {
  BundleFile a = richBundle(), b = richBundle();
  EXPECT_TRUE(std::ranges::equal(a.span(), b.span()));
}

TEST(Bundle, EqualWeightsAreStoredOnce) {
  std::vector<float> weights(1000, 0.25f), other(1000, 0.5f);
  auto size = [&](std::vector<const std::vector<float> *> all) {
    bundle::BundleBuilder builder;
    for (const std::vector<float> *data : all) {
      PlanMaker m;
      m.weight("w", m.pool.constant(4000));
      bundle::VariantContent variant = hostVariant(m);
      variant.weights = {
          {reinterpret_cast<const uint8_t *>(data->data()), 4000}};
      builder.addVariant(std::move(variant));
    }
    BundleFile file(builder);
    auto reader = open(file);
    EXPECT_EQ(reader->plan(0).weights[0]->bytes, 4000u);
    return reader->manifest().pool.size();
  };
  EXPECT_EQ(size({&weights, &weights}), 1u);
  EXPECT_EQ(size({&weights, &other}), 2u);
}

TEST(Bundle, SaysWhatItIsNot) {
  BundleFile file = richBundle();
  auto sentence = [](std::span<const uint8_t> bytes) {
    std::shared_ptr<const BundleReader> reader;
    Status status =
        BundleReader::openMemory(bytes.data(), bytes.size(), reader);
    EXPECT_EQ(status.code(), DLC_BAD_BUNDLE);
    return status.sentence();
  };
  std::vector<uint8_t> zip = {'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(sentence(zip), "bundle in memory: not a dlc bundle: it does not "
                           "start with the magic number");
  EXPECT_EQ(sentence(file.span().first(20)),
            "bundle in memory: truncated: got 20 bytes, the header alone is "
            "32");
  EXPECT_EQ(sentence(file.span().first(file.size - 1)),
            say("bundle in memory: truncated: got ", file.size - 1,
                " bytes, the header says ", file.size));
  std::vector<uint8_t> newer(file.span().begin(), file.span().end());
  newer[8] = 2;
  EXPECT_EQ(sentence(newer),
            "bundle in memory: bundle format version 2 is newer than this "
            "runtime reads (1): update the runtime");
}

/// What the verifier says of the launching plan after a change.
template <class Change> static std::string refusal(Change change) {
  bundle::VariantContent variant = launchVariant();
  change(*variant.plan);
  Status status = bundle::verifyPlan(*variant.plan, {1, 1});
  EXPECT_EQ(status.code(), DLC_BAD_BUNDLE);
  return status.sentence();
}

TEST(PlanVerifier, AcceptsTheRichPlans) {
  EXPECT_TRUE(bundle::verifyPlan(*launchVariant().plan, {1, 1}).ok());
}

TEST(PlanVerifier, SaysWhatIsWrong) {
  auto launch = [](PlanT &plan) -> LaunchT & {
    return *plan.blocks[0]->steps[0]->action.AsLaunch();
  };
  EXPECT_EQ(refusal([](PlanT &p) { p.schema_version = 2; }),
            "plan schema version 2 is newer than this runtime reads (1): "
            "update the runtime");
  EXPECT_EQ(refusal([](PlanT &p) { p.kernel_abi = 7; }),
            "kernel ABI version 7 is not the one of this runtime (1)");
  EXPECT_EQ(refusal([](PlanT &p) { p.kernels[0]->binary = 1; }),
            "kernel \"dlc_copy_f16_00000000\": binary 1 does not exist");
  EXPECT_EQ(refusal([](PlanT &p) { p.kernels[0]->threads = 1025; }),
            "kernel \"dlc_copy_f16_00000000\" has 1025 threads in a block, "
            "expected 1 to 1024");
  EXPECT_EQ(refusal([&](PlanT &p) {
              launch(p).patches[0] = {0, PatchKind::Map, 0, 2};
            }),
            "step 0 of block 0: launch of \"dlc_copy_f16_00000000\": tensor "
            "map 2 does not exist");
  EXPECT_EQ(refusal([&](PlanT &p) { launch(p).kernel = 1; }),
            "step 0 of block 0: kernel 1 does not exist");
  EXPECT_EQ(refusal([](PlanT &p) { p.blocks[0]->steps[0]->stream = 2; }),
            "step 0 of block 0: stream 2 does not exist");
  EXPECT_EQ(refusal([](PlanT &p) { p.blocks[0]->steps[0]->after = {0}; }),
            "step 0 of block 0: it waits for step 0, which is not before it");
  EXPECT_EQ(refusal([](PlanT &p) { p.blocks[0]->steps[0]->action.Reset(); }),
            "step 0 of block 0: it is of a kind that this runtime does not "
            "know");
  EXPECT_EQ(refusal([](PlanT &p) { p.maps[1]->lower_corner.push_back(0); }),
            "tensor map 1: its parts have different ranks");
  EXPECT_EQ(refusal([](PlanT &p) { p.buffers[1]->bytes = 999; }),
            "buffer 1: expression 999 does not exist");
  EXPECT_EQ(refusal([](PlanT &p) { p.buffers[1]->alias = 1; }),
            "buffer 1 lies in buffer 1, which does not stand before it");
  EXPECT_EQ(refusal([](PlanT &p) { p.inputs[0]->buffer = 2; }),
            "input \"x\": its buffer is not in the input space");
  EXPECT_EQ(refusal([](PlanT &p) {
              FillT fill;
              fill.buffer = 0;
              p.blocks[0]->steps[0]->action.Set(std::move(fill));
            }),
            "step 0 of block 0: fill: buffer 0 may not be written to");
  EXPECT_EQ(refusal([](PlanT &p) {
              LoopT loop;
              loop.body = 0;
              p.blocks[0]->steps[0]->action.Set(std::move(loop));
            }),
            "step 0 of block 0: loop: block 0 does not stand behind it");
}

TEST(PlanVerifier, WantsEveryParameterFilledOnceByItsKind) {
  auto sentence = [](auto change) {
    return refusal([&](PlanT &p) {
      change(p.blocks[0]->steps[0]->action.AsLaunch()->patches);
    });
  };
  using Patches = std::vector<Patch>;
  auto move = [](Patch &patch, uint32_t byte) {
    patch = {byte, patch.what(), patch.buffer(), patch.value()};
  };
  const std::string place =
      "step 0 of block 0: launch of \"dlc_copy_f16_00000000\": ";
  EXPECT_EQ(sentence([&](Patches &p) { move(p[2], 316); }),
            place + "byte 316 of 320 is patched, where no member begins");
  // In the padding behind the last symbol.
  EXPECT_EQ(sentence([&](Patches &p) { move(p[2], 288); }),
            place + "byte 288 of 320 is patched, where no member begins");
  EXPECT_EQ(sentence([&](Patches &p) { move(p[0], 64); }),
            place + "byte 64 of 320 is patched, where no member begins");
  EXPECT_EQ(sentence([&](Patches &p) { move(p[0], 256); }),
            place + "byte 256 is a buffer, patched as a tensor map");
  EXPECT_EQ(sentence([&](Patches &p) { move(p[2], 0); }),
            place + "byte 0 is a tensor map, patched as a buffer");
  EXPECT_EQ(sentence([&](Patches &p) {
              std::swap(p[3], p[4]);
              move(p[3], 264);
              move(p[4], 272);
            }),
            place + "byte 264 is a buffer, patched as a cell");
  EXPECT_EQ(sentence([&](Patches &p) { move(p[2], 264); }),
            place + "byte 264 is patched twice");
  for (auto [index, what] : {std::pair(1, "tensor map at byte 128"),
                             {3, "buffer at byte 264"},
                             {4, "cell at byte 272"},
                             {5, "symbol at byte 280"}})
    EXPECT_EQ(sentence([&](Patches &p) { p.erase(p.begin() + index); }),
              place + "the " + what + " is patched by nothing");

  EXPECT_EQ(refusal([](PlanT &p) { p.kernels[0]->parameter_bytes = 328; }),
            "kernel \"dlc_copy_f16_00000000\" has 328 bytes of parameters, "
            "expected 288 (maps 2, buffers 2, cells 1, symbols 1)");
  EXPECT_EQ(refusal([](PlanT &p) { p.kernels[0]->cells = UINT32_MAX; }),
            "kernel \"dlc_copy_f16_00000000\" has 320 bytes of parameters, "
            "expected 34359738640 (maps 2, buffers 2, cells 4294967295, "
            "symbols 1)");
  // Without the padding behind the maps, as dlc writes it.
  bundle::VariantContent variant = launchVariant();
  variant.plan->kernels[0]->parameter_bytes = 288;
  EXPECT_TRUE(bundle::verifyPlan(*variant.plan, {1, 1}).ok());
}
