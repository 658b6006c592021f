// SPDX-License-Identifier: Apache-2.0
// Instantiations of igemm.cuh named in configs.def.
#include "igemm.cuh"
#define ONE(name, RES, ...)                                                    \
  DLC_KERNEL(name, IgemmParams, 384, 1, 0) {                                   \
    igemm_body<Cfg<__VA_ARGS__>, RES, ACT_RELU>(p, smem, blockIdx.x,           \
                                                gridDim.x);                    \
  }
#define IGEMM(n, SW, MT, NC, BY, ST, KS, MC, SK, PP, E, LAT)                   \
  ONE(g_##n, false, SW, MT, NC, BY, ST, KS, MC, SK, PP, false, E, LAT)         \
  ONE(g_##n##_r, true, SW, MT, NC, BY, ST, KS, MC, SK, PP, false, E, LAT)      \
  ONE(c_##n, false, SW, MT, NC, BY, ST, KS, MC, SK, PP, true, E, LAT)          \
  ONE(c_##n##_r, true, SW, MT, NC, BY, ST, KS, MC, SK, PP, true, E, LAT)
#include "configs.def"
#undef IGEMM
#ifdef DLC_HOST
// What a launcher must know of each configuration.
struct Info {
  int values[12];
};
template <class C> constexpr Info info() {
  return {{C::THREADS, C::SMEM, C::CL, C::BP, C::BC, C::BX, C::BY, C::MC, C::SK,
           C::PR, C::SWAP, C::LAT}};
}
extern "C" {
#define IGEMM(n, SW, MT, NC, BY, ST, KS, MC, SK, PP, E, LAT)                   \
  __attribute__((visibility("default"))) Info info_##n =                       \
      info<Cfg<SW, MT, NC, BY, ST, KS, MC, SK, PP, false, E, LAT>>();
#include "configs.def"
}
#endif
