// SPDX-License-Identifier: Apache-2.0
// Kernels of contraction_cases.def.
#include "contraction_problems.cuh"
using namespace dlc::dev;
using namespace test;
#define MATMUL(name, In, Acc, Out, VA, VB, TB, VC, BM, BN, BK, WM, WN, ST, SK, \
               SP, TC)                                                         \
  DLC_KERNEL(name, MatmulP, 32 * WM * WN, 1, 0) {                              \
    using C = ContractionConfig<BM, BN, BK, WM, WN, ST, SK, Split::SP, TC>;    \
    if constexpr (kRuns<In, Split::SP, TC>)                                    \
      ContractionTile<Matmul<In, Acc, Out, VA, VB, TB, VC>, C>::run(           \
          p, blockIdx.x, smem);                                                \
  }
#define CONV(name, In, Acc, VA, VC, AM, BM, BN, BK, WM, WN, ST, SK, SP, TC)    \
  DLC_KERNEL(name, ConvP, 32 * WM * WN, 1, 0) {                                \
    using C =                                                                  \
        ContractionConfig<BM, BN, BK, WM, WN, ST, SK, Split::SP, TC, true>;    \
    if constexpr (kRuns<In, Split::SP, TC>)                                    \
      ContractionTile<Conv<In, Acc, VA, VC, AM>, C>::run(p, blockIdx.x, smem); \
  }
#if defined(DLC_HOST) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WGMMA(name, In, Out, VA, VB, VC, WG, MT, BN, ST, SK, SP)               \
  DLC_KERNEL(name, MatmulP, 128 * WG, 1, 0) {                                  \
    ContractionTile<                                                           \
        Matmul<In, float, Out, VA, VB, false, VC>,                             \
        WgmmaConfig<WG, MT, BN, ST, SK, Split::SP>>::run(p, blockIdx.x, smem); \
  }
#else
#define WGMMA(...)
#endif
// What this architecture has.
#if defined(DLC_HOST) || __CUDA_ARCH__ >= 900
template <class In, Split S, bool TC> constexpr bool kRuns = true;
#elif __CUDA_ARCH__ >= 800
template <class In, Split S, bool TC>
constexpr bool kRuns = S != Split::Cluster;
#else
template <class In, Split S, bool TC>
constexpr bool kRuns = S != Split::Cluster && (!TC || kSame<In, half_t>);
#endif
#include "contraction_cases.def"
