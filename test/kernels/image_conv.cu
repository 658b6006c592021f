// SPDX-License-Identifier: Apache-2.0
// Kernels of image_conv_cases.def, with functors as the emitter prints them.
#include "dlc/image_conv.cuh"
using namespace dlc::dev;
using Index = int32_t;
struct ImageP {
  void *buffer[4];   // x [N][C][H][W], weights, y [N][P][Q][K], bias
  int64_t symbol[1]; // N
};
template <class In_, class Source, class Geometry> struct Images {
  using In = In_;
  using Out = In_;
  using Y = typename Geometry::Y;
  using X = typename Geometry::X;
  static DLC_DEVICE Index images(const ImageP &p) { return Index(p.symbol[0]); }
  static DLC_DEVICE In value(const ImageP &p, Index n, Index c, Index y,
                             Index x) {
    return convert<In>(
        ld(static_cast<const Source *>(p.buffer[0]),
           ((n * Geometry::Channels + c) * Y::In + y) * X::In + x));
  }
  static DLC_DEVICE const In *weights(const ImageP &p) {
    return static_cast<const In *>(p.buffer[1]);
  }
  static DLC_DEVICE Out result(const ImageP &p, Index, Index o, Index y,
                               Index x, float sum) {
    const float v = sum + ldc(static_cast<const float *>(p.buffer[3]), o);
    // Not the same everywhere, so that a result in the wrong place shows.
    const float least = 0.01f * float(y - x);
    return convert<Out>(v > least ? v : least);
  }
  static DLC_DEVICE Out *output(const ImageP &p) {
    return static_cast<Out *>(p.buffer[2]);
  }
};
template <class In, class Config> constexpr bool exists() {
#if defined(DLC_HOST) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  return true;
#elif __CUDA_ARCH__ >= 800
  return !Config::kWgmma;
#else
  return !Config::kWgmma && kSame<In, half_t>;
#endif
}
template <class In, class Source, class Geometry, class Config>
DLC_DEVICE void runCase(const ImageP &p, uint8_t *smem) {
  if constexpr (exists<In, Config>())
    ImageConv<Images<In, Source, Geometry>, Geometry, Config>::run(
        p, blockIdx.x, smem);
}
#define AXIS(...) ImageAxis<__VA_ARGS__>
#define IMAGE_CONV(name, In, Source, channels, outputs, parts, YAxis, XAxis,   \
                   BM, BN, rows, columns, wgmma)                               \
  DLC_KERNEL(name, ImageP, 2 * BM, 1, 0) {                                     \
    using Geometry =                                                           \
        ImageConvGeometry<YAxis, XAxis, channels, outputs, parts>;             \
    runCase<In, Source, Geometry,                                              \
            ImageConvConfig<BM, BN, rows, columns, wgmma>>(p, smem);           \
  }
#include "image_conv_cases.def"
