// SPDX-License-Identifier: Apache-2.0
// Kernels of tma_cases.def; nothing where there is no wgmma.
#include "tma_problems.cuh"
using namespace dlc::dev;
using namespace test;
#if defined(DLC_HOST) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TMA_MATMUL(name, In, Out, A, B, VC, SW, G, MT, BY, ST, KS, SK, SC)     \
  DLC_KERNEL(name, MatmulP,                                                    \
             (TmaConfig<SW, G, MT, BY, ST, KS, SK, Schedule::SC>::kThreads),   \
             (TmaConfig<SW, G, MT, BY, ST, KS, SK, Schedule::SC>::kMinBlocks), \
             0) {                                                              \
    TmaContraction<                                                            \
        Matmul<In, Out, Source::A, Source::B, VC>,                             \
        TmaConfig<SW, G, MT, BY, ST, KS, SK, Schedule::SC>>::run(p,            \
                                                                 blockIdx.x,   \
                                                                 smem);        \
  }
#define TMA_CONV(name, In, VC, SW, G, MT, BY, ST, KS, SK, SC)                  \
  DLC_KERNEL(name, ConvP,                                                      \
             (TmaConfig<SW, G, MT, BY, ST, KS, SK, Schedule::SC>::kThreads),   \
             (TmaConfig<SW, G, MT, BY, ST, KS, SK, Schedule::SC>::kMinBlocks), \
             0) {                                                              \
    TmaContraction<Conv<In, VC>, TmaConfig<SW, G, MT, BY, ST, KS, SK,          \
                                           Schedule::SC>>::run(p, blockIdx.x,  \
                                                               smem);          \
  }
#include "tma_cases.def"
#endif
