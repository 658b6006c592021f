// SPDX-License-Identifier: Apache-2.0
// The targets by name.
#include "ir/Target.h"

#include "llvm/ADT/StringExtras.h"

using namespace dlc;

namespace {
/// One representative board per architecture.
struct Row {
  const char *name;
  int sm, multiprocessors, sharedKb, sharedSmKb, l2Mb;
  double gbPerSecond, fp32, fp16, tf32, int8; // the last four in 1e12/s
};
constexpr Row rows[] = {
    {"sm_75", 75, 40, 64, 64, 4, 320, 8.1, 65, 0, 130},              // T4
    {"sm_80", 80, 108, 163, 164, 40, 1555, 19.5, 312, 156, 624},     // A100
    {"sm_86", 86, 84, 99, 100, 6, 768, 31.2, 125, 62, 250},          // A40
    {"sm_87", 87, 16, 163, 164, 4, 204, 5.3, 42, 21, 85},            // Orin
    {"sm_89", 89, 142, 99, 100, 96, 864, 90.5, 362, 181, 733},       // L40S
    {"sm_90", 90, 132, 227, 228, 50, 3350, 67, 990, 495, 1979},      // H100
    {"sm_90a", 90, 132, 227, 228, 50, 4800, 67, 990, 495, 1979},     // H200
    {"sm_100", 100, 148, 227, 228, 126, 8000, 80, 2250, 1125, 4500}, // B200
    {"sm_103", 103, 148, 227, 228, 126, 8000, 80, 2500, 1250, 165},  // B300
    {"sm_120", 120, 170, 99, 100, 96, 1792, 105, 419, 105, 838},     // RTX 5090
};

Target make(const Row &r) {
  Target t;
  t.name = t.arch = r.name;
  t.sm = r.sm;
  t.multiprocessors = r.multiprocessors;
  t.sharedPerBlock = int64_t(r.sharedKb) << 10;
  t.sharedPerSm = int64_t(r.sharedSmKb) << 10;
  t.l2Bytes = int64_t(r.l2Mb) << 20;
  t.bandwidth = r.gbPerSecond * 1e9;
  t.fp32Flops = r.fp32 * 1e12;
  t.fp16Flops = r.fp16 * 1e12;
  t.tf32Flops = r.tf32 * 1e12;
  t.int8Ops = r.int8 * 1e12;
  return t;
}
} // namespace

std::vector<std::string> Target::names() {
  std::vector<std::string> all;
  for (const Row &r : rows)
    all.push_back(r.name);
  all.push_back("portable");
  all.push_back("host");
  return all;
}

llvm::Expected<Target> Target::parse(llvm::StringRef name) {
  for (const Row &r : rows)
    if (name == r.name)
      return make(r);
  if (name == "portable") {
    Target t = make(rows[0]);
    t.kind = Kind::Portable;
    t.name = "portable";
    t.arch = "compute_75";
    t.sharedPerBlock = 48 << 10;
    return t;
  }
  if (name == "host") {
    Target t;
    t.kind = Kind::Host;
    t.name = t.arch = "host";
    // The emulator runs what sm_80 has: mma.sync and cp.async.
    t.sm = 80;
    t.multiprocessors = 4;
    t.sharedPerBlock = t.sharedPerSm = 227 << 10;
    t.bandwidth = 1e10;
    t.fp32Flops = 4e9;
    t.fp16Flops = t.tf32Flops = 1e10;
    t.int8Ops = 1e10;
    return t;
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "unknown target \"" + name +
                                     "\", expected one of " +
                                     llvm::join(names(), ", "));
}
