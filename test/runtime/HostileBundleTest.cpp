// SPDX-License-Identifier: Apache-2.0
// A bundle that was damaged in any way is refused with a sentence, or runs
// without touching memory that is not its own. Built with sanitizers.
#include "RichBundle.h"

#include "dlc/runtime.h"

#include <gtest/gtest.h>
#include <random>

using namespace dlc;
using namespace dlc::test;

#if defined(__SANITIZE_ADDRESS__)
// Sizes that come from damaged bytes are refused as out of memory.
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=64:"
         "detect_leaks=1";
}
#else
#error "this test needs -fsanitize=address"
#endif

namespace {

/// Bytes at an address of 256's multiple whose end is the end of its memory,
/// so that nothing is copied and one byte too many is seen.
class Exact {
public:
  explicit Exact(std::span<const uint8_t> bytes) : Size(bytes.size()) {
    if (posix_memalign(&Data, 256, std::max<size_t>(Size, 1)) != 0)
      abort();
    if (Size)
      memcpy(Data, bytes.data(), Size);
  }
  Exact(const Exact &) = delete;
  ~Exact() { free(Data); }
  uint8_t *data() { return static_cast<uint8_t *>(Data); }
  std::span<uint8_t> span() { return {data(), Size}; }

private:
  void *Data = nullptr;
  size_t Size;
};

/// Opens and runs, whatever comes; the status of the first thing that failed.
dlc_status openAndRun(std::span<uint8_t> file) {
  dlc_bundle *bundle = nullptr;
  dlc_status status = dlc_bundle_open_memory(file.data(), file.size(), &bundle);
  if (status != DLC_OK)
    return status;
  dlc_variant info;
  for (size_t i = 0; i < dlc_bundle_variant_count(bundle); i++)
    EXPECT_EQ(dlc_bundle_variant(bundle, i, &info), DLC_OK);
  dlc_session_options options;
  dlc_session_options_init(&options);
  options.device = DLC_DEVICE_HOST;
  dlc_session *session = nullptr;
  status = dlc_session_create(bundle, &options, &session);
  std::vector<float> x(64, 1.5f);
  for (size_t i = 0; status == DLC_OK && i < dlc_session_input_count(session);
       i++) {
    dlc_port port;
    EXPECT_EQ(dlc_session_input_port(session, i, &port), DLC_OK);
    dlc_tensor tensor = {};
    int64_t count = 3;
    tensor.data = i == 0 ? static_cast<void *>(x.data()) : &count;
    tensor.bytes = i == 0 ? x.size() * 4 : 8;
    tensor.type = port.type;
    tensor.rank = port.rank;
    for (uint32_t d = 0; d < port.rank; d++)
      tensor.dims[d] = port.dims[d] < 0 ? 2 : port.dims[d];
    status = dlc_session_bind_input(session, i, &tensor);
    // count goes out of scope with the binding: run while it lives.
    if (status == DLC_OK && i + 1 == dlc_session_input_count(session))
      for (int run = 0; status == DLC_OK && run < 2; run++)
        status = dlc_session_run(session);
  }
  for (size_t i = 0; status == DLC_OK && i < dlc_session_output_count(session);
       i++) {
    dlc_tensor tensor;
    status = dlc_session_output(session, i, &tensor);
    std::vector<uint8_t> bytes(status == DLC_OK ? tensor.bytes : 0);
    if (status == DLC_OK)
      status = dlc_session_copy_to_host(session, bytes.data(), &tensor);
  }
  dlc_session_destroy(session);
  dlc_bundle_close(bundle);
  return status;
}

/// The same of a variant that was made wrong, and what was said of it.
std::pair<dlc_status, std::string> openAndRun(bundle::VariantContent variant) {
  BundleFile file = fileOf(std::move(variant));
  Exact bytes(file.span());
  dlc_status status = openAndRun(bytes.span());
  return {status, status == DLC_OK ? "" : dlc_last_error()};
}

} // namespace

TEST(HostileBundle, TheSoundOneRuns) {
  BundleFile file = richBundle();
  Exact bytes(file.span());
  EXPECT_EQ(openAndRun(bytes.span()), DLC_OK) << dlc_last_error();
}

TEST(HostileBundle, EveryFlippedByteIsRefused) {
  BundleFile file = richBundle();
  Exact bytes(file.span());
  for (size_t i = 0; i < file.size; i++)
    for (uint8_t mask : {0x01, 0x80, 0xff}) {
      bytes.data()[i] ^= mask;
      dlc_bundle *bundle = nullptr;
      EXPECT_EQ(dlc_bundle_open_memory(bytes.data(), file.size, &bundle),
                DLC_BAD_BUNDLE)
          << "byte " << i;
      EXPECT_STRNE(dlc_last_error(), "");
      bytes.data()[i] ^= mask;
    }
}

TEST(HostileBundle, EveryTruncationIsRefused) {
  BundleFile file = richBundle();
  for (size_t size = 0; size < file.size; size++) {
    Exact bytes(file.span().first(size));
    dlc_bundle *bundle = nullptr;
    EXPECT_EQ(dlc_bundle_open_memory(bytes.data(), size, &bundle),
              DLC_BAD_BUNDLE)
        << size << " bytes";
  }
  std::vector<uint8_t> longer(file.span().begin(), file.span().end());
  longer.push_back(0);
  Exact bytes(longer);
  dlc_bundle *bundle = nullptr;
  EXPECT_EQ(dlc_bundle_open_memory(bytes.data(), longer.size(), &bundle),
            DLC_BAD_BUNDLE);
}

TEST(HostileBundle, FlipsBehindRightChecksumsDoNoHarm) {
  BundleFile file = richBundle();
  size_t refused = 0, ran = 0;
  for (size_t i = 0; i < file.size; i++)
    for (uint8_t mask : {0x01, 0x04, 0x80, 0xff}) {
      Exact bytes(file.span());
      bytes.data()[i] ^= mask;
      bundle::repairChecksums(bytes.span());
      dlc_status status = openAndRun(bytes.span());
      (status == DLC_OK ? ran : refused)++;
      EXPECT_NE(status, DLC_INTERNAL) << dlc_last_error();
    }
  // Both happen: the checks are reached, and names may be anything.
  EXPECT_GT(refused, file.size / 4);
  EXPECT_GT(ran, file.size / 20);
}

TEST(HostileBundle, RandomDamageBehindRightChecksumsDoesNoHarm) {
  BundleFile file = richBundle();
  std::mt19937 random(7);
  for (int round = 0; round < 20000; round++) {
    Exact bytes(file.span());
    for (uint32_t edits = 1 + random() % 4; edits > 0; edits--) {
      size_t at = random() % file.size;
      uint32_t kind = random() % 3;
      if (kind == 0) {
        bytes.data()[at] = uint8_t(random());
      } else if (kind == 1 && at + 8 <= file.size) {
        // What indices and sizes are made of.
        static const uint64_t kValues[] = {0,          1,         255,
                                           UINT32_MAX, INT32_MAX, 1ull << 31,
                                           UINT64_MAX, INT64_MAX, 1ull << 63,
                                           0x80,       1ull << 40};
        uint64_t value = kValues[random() % std::size(kValues)];
        memcpy(bytes.data() + at, &value, random() % 2 ? 4 : 8);
      } else {
        // A piece of the file somewhere else.
        size_t from = random() % file.size;
        size_t size = std::min(
            {size_t(1 + random() % 32), file.size - at, file.size - from});
        memmove(bytes.data() + at, bytes.data() + from, size);
      }
    }
    bundle::repairChecksums(bytes.span());
    EXPECT_NE(openAndRun(bytes.span()), DLC_INTERNAL) << dlc_last_error();
  }
}

TEST(HostileBundle, CellsWhoseSumWrapsAreRefused) {
  // 65,536 cells of 2^48 and 8 bytes are 2^64 and half a megabyte.
  PlanMaker m;
  uint32_t huge = m.pool.constant(int64_t(1) << 48);
  uint32_t x = m.buffer(Space::Input, m.pool.constant(4));
  m.port(m.plan->inputs, "x", ElementType::F32, {m.pool.constant(1)}, x);
  for (int i = 0; i < 65536; i++)
    m.buffer(Space::Cell, huge);
  m.fill(2, m.pool.constant(64), 0x55);
  auto [status, sentence] = openAndRun(hostVariant(m));
  EXPECT_EQ(status, DLC_UNSUPPORTED);
  EXPECT_EQ(sentence, "the device cells up to b1 have 281474976710664 bytes "
                      "for these shapes");
}

TEST(HostileBundle, ParametersThatAreNotFilledAreRefused) {
  auto changed = [](auto change) {
    bundle::VariantContent variant = launchVariant();
    change(*variant.plan->kernels[0],
           variant.plan->blocks[0]->steps[0]->action.AsLaunch()->patches);
    return openAndRun(std::move(variant)).first;
  };
  using Patches = std::vector<Patch>;
  // Opened, and then found to be for a GPU.
  EXPECT_EQ(changed([](KernelT &, Patches &) {}), DLC_UNSUPPORTED);
  for (size_t i = 0; i < 6; i++)
    EXPECT_EQ(changed([&](KernelT &, Patches &p) {
                p.erase(p.begin() + ptrdiff_t(i));
              }),
              DLC_BAD_BUNDLE)
        << i;
  EXPECT_EQ(changed([](KernelT &, Patches &p) { p.push_back(p[3]); }),
            DLC_BAD_BUNDLE);
  EXPECT_EQ(changed([](KernelT &k, Patches &) { k.parameter_bytes = 280; }),
            DLC_BAD_BUNDLE);
  EXPECT_EQ(changed([](KernelT &k, Patches &) { k.maps = UINT32_MAX; }),
            DLC_BAD_BUNDLE);
  EXPECT_EQ(changed([](KernelT &k, Patches &) { k.symbols++; }),
            DLC_BAD_BUNDLE);
}
