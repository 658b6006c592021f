// SPDX-License-Identifier: Apache-2.0
// For tests of device templates: element types on the host's side, random
// data, launching a kernel of a module on the emulator, comparing.
#pragma once
#include "runtime/host/Engine.h"
#include "test/kernels/Cuda.h"
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <string>
#include <vector>

namespace test {
/// Element types, named as in device code.
struct half_t {
  uint16_t bits;
};
struct bf16_t {
  uint16_t bits;
};
inline double toDouble(half_t h) {
  const int e = h.bits >> 10 & 31, m = h.bits & 1023;
  double v = e == 31 ? (m ? NAN : INFINITY)
             : e     ? std::ldexp(1024 + m, e - 25)
                     : std::ldexp(m, -24);
  return h.bits >> 15 ? -v : v;
}
inline double toDouble(bf16_t h) {
  const uint32_t u = uint32_t(h.bits) << 16;
  float f;
  memcpy(&f, &u, 4);
  return f;
}
template <class T> double toDouble(T x) { return double(x); }
/// To the nearest value of T that is cheap to find: test data need no more.
template <class T> T fromDouble(double x) { return T(x); }
template <> inline bf16_t fromDouble<bf16_t>(double x) {
  const float f = float(x);
  uint32_t u;
  memcpy(&u, &f, 4);
  return {uint16_t(u >> 16)};
}
template <> inline half_t fromDouble<half_t>(double x) {
  const float f = float(x);
  uint32_t u;
  memcpy(&u, &f, 4);
  const int e = int(u >> 23 & 255) - 112;
  if (e <= 0)
    return {uint16_t(u >> 16 & 0x8000)};
  return {
      uint16_t((u >> 16 & 0x8000) | (uint32_t(e) << 10) | (u >> 13 & 1023))};
}
template <class T> constexpr bool isInteger = std::is_integral_v<T>;

/// Random elements: about normal with this scale, or small integers.
template <class T>
std::vector<T> randomData(size_t n, double scale, std::mt19937 &rng) {
  std::vector<T> v(n);
  std::normal_distribution<double> normal(0, scale);
  for (T &x : v)
    x = isInteger<T> ? fromDouble<T>(double(int(rng() % 21)) - 10)
                     : fromDouble<T>(normal(rng));
  return v;
}

/// Kernels bound to the engine; or, with DLC_TEST_CUBINS naming a folder of
/// NAME.cubin, the same kernels on a GPU.
class Module {
public:
  /// path: the shared object; name: of the source, without its suffix.
  Module(const char *path, const char *name) {
    if (const char *folder = getenv("DLC_TEST_CUBINS")) {
      cuda = Cuda::get().load(std::string(folder) + "/" + name + ".cubin");
      return;
    }
    const char *mutant = getenv("DLC_TEST_KERNELS"); // of mutants.py
    if (!(host = dlopen(mutant ? mutant : path, RTLD_NOW)))
      return;
    reinterpret_cast<void (*)(const void *)>(dlsym(host, "dlc_host_bind"))(
        dlc_host_engine());
  }
  bool onGpu() const { return getenv("DLC_TEST_CUBINS"); }
  void *symbol(const std::string &symbolName) const {
    return cuda   ? Cuda::get().function(cuda, symbolName)
           : host ? dlsym(host, symbolName.c_str())
                  : nullptr;
  }
  dlc_host_entry entry(const std::string &kernel) const {
    return reinterpret_cast<dlc_host_entry>(symbol(kernel));
  }

private:
  void *host = nullptr, *cuda = nullptr;
};

class Launcher {
public:
  uint32_t grid = 1, threads = 32, cluster = 1, smem = 0;
  /// The parameters begin with as many maps, over buffers in the order of
  /// reads() and writes().
  std::vector<MapOver> maps;
  template <class T> void reads(const std::vector<T> &v) {
    buffers.push_back({v.data(), v.size() * sizeof(T), 0, 0});
  }
  template <class T> void writes(std::vector<T> &v) {
    buffers.push_back({v.data(), v.size() * sizeof(T), 1, 0});
  }
  /// Empty, or why it failed.
  template <class Params>
  std::string run(dlc_host_entry entry, const Params *params,
                  uint64_t seed) const {
    if (getenv("DLC_TEST_CUBINS")) {
      const auto *bytes = reinterpret_cast<const uint8_t *>(params);
      return Cuda::get().run(reinterpret_cast<void *>(entry),
                             {bytes, bytes + sizeof(Params)}, grid, threads,
                             smem, cluster, buffers, maps);
    }
    Params own = *params;
    for (size_t i = 0; i < maps.size(); i++)
      if (encode(maps[i], reinterpret_cast<uint8_t *>(&own) + i * 128))
        return "the engine does not take map " + std::to_string(i);
    dlc_host_launch_config c{};
    c.struct_bytes = sizeof c;
    c.grid[0] = grid;
    c.grid[1] = c.grid[2] = c.block[1] = c.block[2] = 1;
    c.block[0] = threads;
    c.cluster = cluster;
    c.smem_bytes = smem;
    c.workers = 2;
    c.seed = seed;
    c.buffers = buffers.data();
    c.buffer_count = uint32_t(buffers.size());
    char error[1000] = "";
    return dlc_host_launch(entry, &own, &c, error, sizeof error) ? error : "";
  }

private:
  int encode(const MapOver &m, void *to) const {
    const void *base = buffers[m.buffer].base;
    return m.im2col ? dlc_host_encode_im2col(to, base, 2, m.dims, m.strides,
                                             m.lower, m.upper, m.box[0],
                                             m.box[1], m.step, 128)
                    : dlc_host_encode_tiled(to, base, 2, m.rank, m.dims,
                                            m.strides, m.box, 128);
  }
  std::vector<dlc_host_buffer> buffers;
};

/// Both bounds of docs on comparison: the norm within t, each element within
/// 8 t (|ref| + rms). Empty, or what is wrong.
inline std::string compare(const std::vector<double> &out,
                           const std::vector<double> &ref, double t) {
  double e2 = 0, r2 = 0;
  for (size_t i = 0; i < ref.size(); i++) {
    e2 += (out[i] - ref[i]) * (out[i] - ref[i]);
    r2 += ref[i] * ref[i];
  }
  const double rms = std::sqrt(r2 / double(ref.size() ? ref.size() : 1));
  for (size_t i = 0; i < ref.size(); i++)
    if (!(std::fabs(out[i] - ref[i]) <= 8 * t * (std::fabs(ref[i]) + rms)))
      return "element " + std::to_string(i) + " of " +
             std::to_string(ref.size()) + " is " + std::to_string(out[i]) +
             ", expected " + std::to_string(ref[i]);
  if (!(std::sqrt(e2) <= t * std::sqrt(r2)))
    return "relative error " + std::to_string(std::sqrt(e2 / r2));
  return {};
}
template <class T> double tolerance(bool tf32 = false) {
  return isInteger<T>                ? 0
         : std::is_same_v<T, double> ? 1e-13
         : std::is_same_v<T, half_t> ? 1.5e-3
         : std::is_same_v<T, bf16_t> ? 1e-2
         : tf32                      ? 1e-3
                                     : 1e-5;
}
/// Adversarial schedules first: they check bounds, a fast one may crash.
inline uint64_t kSeeds[] = {1, 2, 0};
} // namespace test
