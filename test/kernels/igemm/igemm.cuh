// SPDX-License-Identifier: Apache-2.0
// One warp-specialised TMA + wgmma kernel for GEMM and implicit-GEMM convolution (NHWC), sm_90a.
//
//   D[pixel][channel] = act( sum_k A[pixel][k] * W[channel][k] + bias[channel] + residual[pixel][channel] )
//
// A is a plain [M][K] matrix (linear layer, 1x1 stride-1 convolution) or an NHWC tensor read through a TMA im2col map.
// W is [N][K], K running over (filter row, filter column, input channel). Operands fp16, s8 or e4m3; D fp16.
//
// "X" is the operand on wgmma's M side (64-row blocks), "Y" the one on its N side:
//   SWAP=false: X = pixels, Y = channels
//   SWAP=true : X = channels, Y = pixels. The tile may then have any multiple of 8 pixels, which fits few pixels (batch 1),
//               64 channels, and tile counts just under a multiple of the number of multiprocessors.
//
// Two epilogues:
//   persistent (LAT=false): panels of 64 channels are staged in shared memory and TMA-stored; a producer warp preloads
//       residual panels into the same slots while the main loop runs.
//   latency (LAT=true, SWAP only): one tile per cluster, optional split-K over the SK blocks of a cluster (partial sums pushed
//       with st.async, counted on an mbarrier), 16-byte stores straight to global memory.
//
// Measured on an NVIDIA H200 (CUDA 13.0; every configuration in the tables of gemm.cu and conv_kernels.h checked against a naive
// fp32 kernel, relative error 2.1e-4): 94.5% of the tensor cycles at 4096^3, 98% at 8192^3; what that is in TFLOP/s the power
// limit decides (742 in a single cool launch, 620-660 sustained). See h200-measured.md.
#pragma once
#include "names.cuh"

enum { T_F16 = 0 };
enum { ACT_NONE = 0, ACT_RELU = 1 };

template<int T, int N> struct Mma;
template<int N> struct Mma<T_F16, N> {
  using Acc = float;
  static DI void ss(float (&d)[N / 2], uint64_t a, uint64_t b, int sd) { Wgmma<half_t, N>::template ss<0, 0>(d, a, b, sd); }
};

// SWAP: operand roles. MT: 64-row wgmma blocks per consumer warpgroup. NC: consumer warpgroups. BY: wgmma N.
// ST: pipeline stages. KSUB: 128-byte k-blocks per stage. MC: blocks of a cluster that share (multicast) the Y tile.
// SK: blocks of a cluster that split K. PP: pingpong (each consumer warpgroup owns a whole tile) instead of cooperative.
// CONV: im2col activations. E: staging slots per consumer warpgroup. LAT: latency epilogue. T: operand type.
template<bool SWAP_, int MT_, int NC_, int BY_, int ST_, int KSUB_ = 1, int MC_ = 1, int SK_ = 1, bool PP_ = false, bool CONV_ = false,
         int E_ = 2, bool LAT_ = false, int T_ = T_F16>
struct Cfg {
  static constexpr bool SWAP = SWAP_, PP = PP_, CONV = CONV_, LAT = LAT_;
  static constexpr int MT = MT_, NC = NC_, BY = BY_, ST = ST_, KSUB = KSUB_, MC = MC_, SK = SK_, E = E_, T = T_;
  static constexpr int ES = T_ == T_F16 ? 2 : 1, BK = 128 / ES;         // operand element size, elements per k-block
  static constexpr int BX = 64 * MT * (PP ? 1 : NC);                    // tile rows on the X side
  static constexpr int BP = SWAP ? BY : BX, BC = SWAP ? BX : BY;        // tile in pixels and channels
  static constexpr int CL = MC > SK ? MC : SK;                          // cluster size
  static constexpr int XB = BX * 128, YB = BY * 128;                    // bytes of one k-block
  static constexpr int WB = SWAP ? XB : YB, AB = SWAP ? YB : XB;        // the same as weights and activations
  static constexpr int STB = (XB + YB) * KSUB;                          // bytes of one stage
  static constexpr int JG = BY / 8, JS = (JG + SK - 1) / SK;            // 8-column groups, and per split-K slice
  static constexpr int PR = LAT ? JS * 8 : (SWAP ? BY : 64);            // pixels per staged panel
  static constexpr int NP = LAT || SWAP ? 1 : BY / 64;                  // panels per 64-row block
  static constexpr int PB = PR * 128;                                   // panel bytes
  static constexpr int SLOTS = LAT ? MT : E;
  static constexpr int DB = NC * SLOTS * PB;
  static constexpr int RECV = SK > 1 ? SK * NC * MT * JS * 2048 : 0;    // partial sums of this block's slice, per peer
  static constexpr int BIASB = LAT || SWAP ? 0 : NC * BY * 4;
  static constexpr int NBAR = 2 * ST + 2 * NC * SLOTS + 1;
  static constexpr int SMEM = ST * STB + DB + RECV + BIASB + 8 * NBAR;
  // Latency kernels: two producer warps, no register redistribution, two or three blocks per SM so that the next kernel's
  // blocks can start early. Throughput kernels: a producer warpgroup that gives its registers away. (A lone producer warp would
  // not help there: registers are allocated per quarter of an SM, and 9 warps cap a thread at 168 as 12 do.)
  static constexpr int THREADS = LAT ? 128 * NC + 64 : 128 * (NC + 1);
  static constexpr int MINB = LAT ? (MT * BY * NC <= 64 ? 3 : MT * BY * NC <= 128 ? 2 : 1) : 1;
  static constexpr int REGC = NC == 1 ? 208 : NC == 2 ? 232 : 160, REGP = NC == 3 ? 32 : 40;
  static_assert(!(MC > 1 && SK > 1) && (!LAT || SWAP) && (SK == 1 || LAT), "cluster use");
  static_assert((SWAP || BY % 64 == 0) && (!PP || NC == 2) && (BY / MC) % 8 == 0 && MT * BY <= 256, "tile");
  static_assert(SMEM <= 232448, "shared memory");
};

struct IgemmArgs {
  int M, N, kb;                       // pixels, channels, 128-byte k-blocks
  int tx, ty;                         // tiles along X (already divided by MC, rounded up) and Y
  int group;                          // X tiles walked before Y advances
  int P, Q, stride, pad, S, RS, C;    // convolution: output size, stride, padding, filter width, taps, input channels
  int trigger;                        // when the dependent grid may start: 0 at once, 1 after the last load, 2 at exit
  float scale;                        // s8 / e4m3 dequantisation
  uint32_t floor2;                    // clamp of ACT_RELU, two halves
  const float* bias;
  half_t* out;                        // latency epilogue only
};
struct IgemmParams { CUtensorMap act, wgt, out, res; IgemmArgs a; };

// Activation of a pair and packing. ReLU acts on the packed halves, one instruction for two elements (rounding is monotonic,
// so the result is the same); its floor is a run-time value, 0 for ReLU, -inf for none, so that one kernel serves both.
template<int ACT> DI uint32_t pack_act(float x, float y, uint32_t floor2) {
  if constexpr (ACT == ACT_RELU) return max_f16x2(pack_f16(x, y), floor2);
  else return pack_f16(x, y);
}
DI uint32_t swz(uint32_t panel, int row, int c16) { return panel + row * 128 + ((c16 ^ (row & 7)) << 4); }   // 16-byte chunk of a panel

template<class C> struct Tile {
  int x, y;
  DI Tile(const IgemmArgs& a, int t, int rank) {
    int gsz = a.group * a.ty, g = t / gsz, rem = t - g * gsz, gs = min(a.group, a.tx - g * a.group);
    y = rem / gs;
    x = g * a.group + rem - y * gs;
    if (C::MC > 1) x = x * C::MC + rank;
  }
  DI int pix() const { return (C::SWAP ? y : x) * C::BP; }
  DI int ch() const { return (C::SWAP ? x : y) * C::BC; }
};

// Shared-memory layout and this block's share of the work.
template<class C> struct Ctx {
  uint32_t sX, sY, sD, sR, sB, full, empty, rfull, rempty, rbar;
  int block, rank, cid, ncl, T, k0, k1;
  DI Ctx(uint32_t base, const IgemmArgs& a, int block_, int nblocks) : block(block_) {
    sX = base; sY = sX + C::ST * C::KSUB * C::XB; sD = base + C::ST * C::STB; sR = sD + C::DB; sB = sR + C::RECV;
    full = sB + C::BIASB; empty = full + 8 * C::ST; rfull = empty + 8 * C::ST; rempty = rfull + 8 * C::NC * C::SLOTS; rbar = rempty + 8 * C::NC * C::SLOTS;
    rank = C::CL > 1 ? (int)cluster_rank() : 0;
    cid = block / C::CL; ncl = nblocks / C::CL; T = a.tx * a.ty;
    const int ku = a.kb / C::KSUB;              // the host guarantees kb % KSUB == 0 and ku >= SK
    k0 = C::SK > 1 ? ku * rank / C::SK * C::KSUB : 0;
    k1 = C::SK > 1 ? ku * (rank + 1) / C::SK * C::KSUB : a.kb;
  }
};

// ---- producers, one thread each --------------------------------------------------------------------
// Coordinates advance by counters: a run-time division per load is a few hundred clocks of a single thread, and that is what
// limited the first version of the small tiles.

// Weights never wait for the previous kernel.
template<class C> DI void produce_weights(const Ctx<C>& c, const CUtensorMap& map, const IgemmArgs& a) {
  int s = 0, fresh = C::ST; uint32_t ph = 1;    // slots never used yet need no wait
  const int blk0 = C::CONV ? c.k0 / a.RS : 0, rs0 = C::CONV ? c.k0 - blk0 * a.RS : 0;
  for (int t = c.cid; t < c.T; t += c.ncl) {
    Tile<C> tl(a, t, c.rank);
    const int ch = tl.ch() + (!C::SWAP && C::MC > 1 ? c.rank * (C::BY / C::MC) : 0);
    int rs = rs0, cblk = blk0 * C::BK, kc = C::CONV ? rs0 * a.C + cblk : c.k0 * C::BK;
    for (int k = c.k0; k < c.k1; k += C::KSUB) {
      if (fresh > 0) fresh--; else mbar_wait(c.empty + 8 * s, ph);
      const uint32_t bar = c.full + 8 * s;
      mbar_expect(bar, C::WB * C::KSUB);
#pragma unroll
      for (int u = 0; u < C::KSUB; u++) {
        const uint32_t o = s * C::KSUB + u;
        if (C::SWAP) tma_load2d(c.sX + o * C::XB, &map, bar, kc, ch);
        else if (C::MC == 1) tma_load2d(c.sY + o * C::YB, &map, bar, kc, ch);
        else tma_load2d_mc(c.sY + o * C::YB + c.rank * (C::YB / C::MC), &map, bar, kc, ch, (1 << C::MC) - 1);
        if (C::CONV) { kc += a.C; if (++rs == a.RS) { rs = 0; cblk += C::BK; kc = cblk; } } else kc += C::BK;
      }
      if (++s == C::ST) { s = 0; ph ^= 1; }
    }
  }
}

template<class C, bool RES> DI void produce_activations(const Ctx<C>& c, const CUtensorMap& map, const CUtensorMap& mres, const IgemmArgs& a) {
  const int KI = (c.k1 - c.k0) / C::KSUB, R = C::CONV ? a.RS / a.S : 1;
  const int blk0 = C::CONV ? c.k0 / a.RS : 0, fr0 = C::CONV ? (c.k0 - blk0 * a.RS) / a.S : 0, fs0 = C::CONV ? c.k0 - blk0 * a.RS - fr0 * a.S : 0;
  int s = 0, fresh = min(C::ST, KI); uint32_t ph = 1; bool waited = false;
  for (int t = c.cid; t < c.T; t += c.ncl) {
    Tile<C> tl(a, t, c.rank);
    const int pix = tl.pix() + (C::SWAP && C::MC > 1 ? c.rank * (C::BY / C::MC) : 0);
    int pn = 0, pp = 0, pq = 0;                 // im2col start: image, row, column of the tile's first pixel
    if (C::CONV) {
      pn = pix / (a.P * a.Q);
      const int r = pix - pn * a.P * a.Q;
      pp = r / a.Q; pq = (r - pp * a.Q) * a.stride - a.pad; pp = pp * a.stride - a.pad;
    }
    int ch = (C::CONV ? blk0 : c.k0) * C::BK, fr = fr0, fs = fs0;
    if (!waited) {                              // everything that can be done before the previous kernel's output is complete
      for (int i = 0; i < fresh; i++) mbar_expect(c.full + 8 * i, C::AB * C::KSUB);
      pdl_wait(); waited = true;
    }
    for (int k = c.k0; k < c.k1; k += C::KSUB) {
      const uint32_t bar = c.full + 8 * s;
      if (fresh > 0) fresh--; else { mbar_wait(c.empty + 8 * s, ph); mbar_expect(bar, C::AB * C::KSUB); }
#pragma unroll
      for (int u = 0; u < C::KSUB; u++) {
        const uint32_t o = s * C::KSUB + u, dst = C::SWAP ? c.sY + o * C::YB + (C::MC > 1 ? c.rank * (C::YB / C::MC) : 0) : c.sX + o * C::XB;
        if (C::CONV) {
          if (C::SWAP && C::MC > 1) tma_load_im2col_mc(dst, &map, bar, ch, pq, pp, pn, fs, fr, (1 << C::MC) - 1);
          else tma_load_im2col(dst, &map, bar, ch, pq, pp, pn, fs, fr);
          if (++fs == a.S) { fs = 0; if (++fr == R) { fr = 0; ch += C::BK; } }
        } else {
          if (C::SWAP && C::MC > 1) tma_load2d_mc(dst, &map, bar, ch, pix, (1 << C::MC) - 1);
          else tma_load2d(dst, &map, bar, ch, pix);
          ch += C::BK;
        }
      }
      if (++s == C::ST) { s = 0; ph ^= 1; }
      if (C::LAT && RES) if (k == c.k0 + (min(C::ST, KI) - 1) * C::KSUB)      // the residual, once the pipeline is full
        for (int w = 0; w < C::NC; w++) for (int i = 0; i < C::MT; i++) {
          const int q = w * C::SLOTS + i;
          mbar_expect(c.rfull + 8 * q, C::PB);
          tma_load2d(c.sD + q * C::PB, &mres, c.rfull + 8 * q, tl.ch() + (w * C::MT + i) * 64, tl.pix() + c.rank * C::PR);
        }
    }
  }
  if (a.trigger == 1) pdl_launch();
}

// Persistent epilogue: residual panels into the staging slots, in the order the consumers use them.
template<class C> DI void produce_residual(const Ctx<C>& c, const CUtensorMap& map, const IgemmArgs& a) {
  pdl_wait();
  int n[C::NC], seq = 0;
#pragma unroll
  for (int w = 0; w < C::NC; w++) n[w] = 0;
  for (int t = c.cid; t < c.T; t += c.ncl, seq++) {
    Tile<C> tl(a, t, c.rank);
#pragma unroll 1
    for (int i = 0; i < C::MT * C::NP; i++)
#pragma unroll
      for (int w = 0; w < C::NC; w++) {
        if (C::PP && w != (seq & 1)) continue;
        const int slot = w * C::SLOTS + n[w] % C::SLOTS; const uint32_t ph = (n[w] / C::SLOTS) & 1; n[w]++;
        const int row = (C::PP ? 0 : w * C::MT * 64) + (i / C::NP) * 64, p = i % C::NP;
        mbar_wait(c.rempty + 8 * slot, ph ^ 1);
        mbar_expect(c.rfull + 8 * slot, C::PB);
        tma_load2d(c.sD + slot * C::PB, &map, c.rfull + 8 * slot, tl.ch() + (C::SWAP ? row : p * 64), tl.pix() + (C::SWAP ? 0 : row));
      }
  }
}

// ---- epilogues, one consumer warpgroup -------------------------------------------------------------
// SWAP fragments: d[4j..4j+3] = channel l/4 (pixels 8j+2(l%4)+{0,1}), channel l/4+8 (the same pixels).

template<class C, bool RES, int ACT, class Acc>
DI void store_latency(const Ctx<C>& c, const IgemmArgs& a, Acc (&d)[C::MT][C::BY / 2], const float (&bl)[C::MT][2], int wg, int tid, int ch0, int pix0) {
  constexpr int MT = C::MT, NC = C::NC, SK = C::SK, JS = C::JS, JG = C::JG;
  const int lane = tid & 31, w = tid / 32;
  if constexpr (SK > 1) {
    // Slice r of the columns is summed by block r. st.async carries its own completion count: against plain remote stores and a
    // cluster barrier this took the reduction from 0.7-0.9 us to 0.4-0.5 us per layer.
    cluster_wait();                             // every block of the cluster has started and armed its barrier
#pragma unroll
    for (int dst = 0; dst < SK; dst++) {
      const uint32_t slot = c.sR + (c.rank * NC + wg) * MT * JS * 2048 + tid * 16, peer = mapa(slot, dst), bar = mapa(c.rbar, dst);
#pragma unroll
      for (int i = 0; i < MT; i++)
#pragma unroll
        for (int jj = 0; jj < JS; jj++) {
          const int j = 4 * (dst * JS + jj), o = (i * JS + jj) * 2048;
          if (j >= 4 * JG) continue;
          if (dst == c.rank) sts128f(slot + o, d[i][j], d[i][j + 1], d[i][j + 2], d[i][j + 3]);   // read back by this thread
          else st_async_v4(peer + o, bar, d[i][j], d[i][j + 1], d[i][j + 2], d[i][j + 3]);
        }
    }
    if (c.rank * JS < JG) mbar_wait(c.rbar, 0);
  }
#pragma unroll
  for (int i = 0; i < MT; i++) {
    const int q = wg * C::SLOTS + i; const uint32_t panel = c.sD + q * C::PB;
    if (RES) mbar_wait(c.rfull + 8 * q, 0);
#pragma unroll
    for (int jj = 0; jj < JS; jj++) {
      float4 v;
      if constexpr (SK > 1) {
        if (c.rank * JS + jj >= JG) break;
        v = lds128f(c.sR + ((wg * MT + i) * JS + jj) * 2048 + tid * 16);
#pragma unroll
        for (int r = 1; r < SK; r++) {
          const float4 p = lds128f(c.sR + (((r * NC + wg) * MT + i) * JS + jj) * 2048 + tid * 16);
          v.x += p.x; v.y += p.y; v.z += p.z; v.w += p.w;
        }
      } else v = make_f4(d[i][4 * jj], d[i][4 * jj + 1], d[i][4 * jj + 2], d[i][4 * jj + 3]);
      const uint32_t ad = swz(panel, jj * 8 + (lane & 7), w * 2 + ((lane >> 3) & 1)); uint32_t r0 = 0, r1 = 0;
      if (RES) ldmatrix2t(ad, r0, r1);
      stmatrix2t(ad, pack_act<ACT>(v.x + bl[i][0] + lo_f16(r0), v.y + bl[i][0] + hi_f16(r0), a.floor2),
                 pack_act<ACT>(v.z + bl[i][1] + lo_f16(r1), v.w + bl[i][1] + hi_f16(r1), a.floor2));
    }
  }
  wg_sync<NC>(wg);
#pragma unroll
  for (int i = 0; i < MT; i++) {
    const int ch = ch0 + (wg * MT + i) * 64;
#pragma unroll
    for (int q = tid; q < C::PR * 8; q += 128) {
      const int row = q / 8, c16 = q & 7, p = c.rank * C::PR + row;
      if (p < C::BY && pix0 + p < a.M && ch < a.N)
        *reinterpret_cast<uint4*>(a.out + (size_t)(pix0 + p) * a.N + ch + c16 * 8) = lds128(swz(c.sD + (wg * C::SLOTS + i) * C::PB, row, c16));
    }
  }
}

// One staged panel. i: 64-row block of the warpgroup, p: 64-column panel of it (SWAP: 0, the panel holds all BY pixels).
template<class C, bool RES, int ACT, class Acc>
DI void fill_panel(const Ctx<C>& c, const IgemmArgs& a, Acc (&d)[C::BY / 2], const float (&bl)[2], uint32_t panel, int p, int wg, int tid) {
  const int lane = tid & 31, w = tid / 32;
  if constexpr (!C::SWAP) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const Acc* v = &d[p * 32 + j * 8];
      const uint32_t ba = c.sB + (wg * C::BY + p * 64 + j * 16 + (lane & 3) * 2) * 4, ad = swz(panel, w * 16 + (lane & 15), j * 2 + (lane >> 4));
      const float2 b0 = lds64f(ba), b1 = lds64f(ba + 32);
      uint32_t r0 = 0, r1 = 0, r2 = 0, r3 = 0;
      if (RES) ldmatrix4(ad, r0, r1, r2, r3);
      float f[8];
#pragma unroll
      for (int q = 0; q < 8; q++) f[q] = C::T == T_F16 ? (float)v[q] : (float)v[q] * a.scale;
      stmatrix4(ad, pack_act<ACT>(f[0] + b0.x + lo_f16(r0), f[1] + b0.y + hi_f16(r0), a.floor2),
                pack_act<ACT>(f[2] + b0.x + lo_f16(r1), f[3] + b0.y + hi_f16(r1), a.floor2),
                pack_act<ACT>(f[4] + b1.x + lo_f16(r2), f[5] + b1.y + hi_f16(r2), a.floor2),
                pack_act<ACT>(f[6] + b1.x + lo_f16(r3), f[7] + b1.y + hi_f16(r3), a.floor2));
    }
  } else {
    const int c16 = w * 2 + ((lane >> 3) & 1); const float b0 = bl[0], b1 = bl[1];
#pragma unroll
    for (int j = 0; j < C::BY / 16; j++) {
      const Acc* v = &d[j * 8];
      const uint32_t ad = swz(panel, j * 16 + ((lane >> 4) << 3) + (lane & 7), c16);
      uint32_t r0 = 0, r1 = 0, r2 = 0, r3 = 0;
      if (RES) ldmatrix4t(ad, r0, r1, r2, r3);
      stmatrix4t(ad, pack_act<ACT>((float)v[0] + b0 + lo_f16(r0), (float)v[1] + b0 + hi_f16(r0), a.floor2),
                 pack_act<ACT>((float)v[2] + b1 + lo_f16(r1), (float)v[3] + b1 + hi_f16(r1), a.floor2),
                 pack_act<ACT>((float)v[4] + b0 + lo_f16(r2), (float)v[5] + b0 + hi_f16(r2), a.floor2),
                 pack_act<ACT>((float)v[6] + b1 + lo_f16(r3), (float)v[7] + b1 + hi_f16(r3), a.floor2));
    }
    if constexpr (C::BY % 16 == 8) {
      const Acc* v = &d[(C::BY / 16) * 8];
      const uint32_t ad = swz(panel, (C::BY / 16) * 16 + (lane & 7), c16);
      uint32_t r0 = 0, r1 = 0;
      if (RES) ldmatrix2t(ad, r0, r1);
      stmatrix2t(ad, pack_act<ACT>((float)v[0] + b0 + lo_f16(r0), (float)v[1] + b0 + hi_f16(r0), a.floor2),
                 pack_act<ACT>((float)v[2] + b1 + lo_f16(r1), (float)v[3] + b1 + hi_f16(r1), a.floor2));
    }
  }
}

// ---- the kernel ------------------------------------------------------------------------------------
template<class C, bool RES, int ACT>
DI void igemm_body(const IgemmParams& p, uint8_t* smraw, const int block, const int nblocks) {
  constexpr int MT = C::MT, NC = C::NC, BY = C::BY, ST = C::ST, KSUB = C::KSUB, MC = C::MC, SK = C::SK, E = C::SLOTS;
  using Acc = typename Mma<C::T, BY>::Acc;
  const IgemmArgs& a = p.a;
  const Ctx<C> c(s32(smraw), a, block, nblocks);
  const int wg = __shfl_sync(~0u, threadIdx.x / 128, 0), wid = __shfl_sync(~0u, threadIdx.x / 32, 0), tid = threadIdx.x & 127, lane = tid & 31;

  if (threadIdx.x == 0) {
    tma_prefetch_map(&p.act); tma_prefetch_map(&p.wgt);
    for (int i = 0; i < ST; i++) { mbar_init(c.full + 8 * i, 2); mbar_init(c.empty + 8 * i, (C::PP ? 1 : NC) * MC); }
    for (int i = 0; i < NC * E; i++) { mbar_init(c.rfull + 8 * i, 1); mbar_init(c.rempty + 8 * i, 1); }
    if (SK > 1) {                               // partial sums of this block's slice, from the SK-1 peers
      const int js = min(C::JS, C::JG - c.rank * C::JS);
      mbar_init(c.rbar, 1);
      if (js > 0) mbar_expect(c.rbar, (SK - 1) * NC * MT * js * 2048);
    }
    fence_init();
  }
  if (C::LAT && a.trigger == 0) pdl_launch();
  __syncthreads();
  if (C::CL > 1) cluster_arrive();              // peers' barriers initialised, peers' shared memory live
  if (MC > 1) cluster_wait();

  if (wg == NC) {
    if (!C::LAT) reg_dec<C::REGP>();
    // Left to itself the compiler recomputes the shared-memory base from the cluster rank at every use, tens of clocks each
    // time; a value that has been through a shuffle it keeps.
    const Ctx<C> q(__shfl_sync(~0u, s32(smraw), 0), a, block, nblocks);
    if (wid == NC * 4) { if (elect()) produce_weights<C>(q, p.wgt, a); }
    else if (wid == NC * 4 + 1) { if (elect()) produce_activations<C, RES>(q, p.act, p.res, a); }
    else if (!C::LAT && RES && wid == NC * 4 + 2) { if (elect()) produce_residual<C>(q, p.res, a); }
  } else {
    if (!C::LAT) reg_inc<C::REGC>();
    Acc d[MT][BY / 2];
    float bl[MT][2], bv[2];                     // bias: per channel row (SWAP), or staged through shared memory
    const int KI = (c.k1 - c.k0) / KSUB, wrow = C::PP ? 0 : wg * MT * 64;
    int np = 0, seq = C::PP ? wg : 0;           // panels stored so far by this warpgroup; tile number of this block
    if (C::PP && wg == 1 && c.cid < c.T) bar_arrive_c<8, 256>();
    int it = seq * KI, s = it % ST; uint32_t ph = (it / ST) & 1;
    // One arrival per warpgroup frees a slot (a warp that has waited for the wgmma group knows all four are done with it).
    auto release = [&](int slot) {
      if (MC == 1) { if (tid == 0) mbar_arrive(c.empty + 8 * slot); }
      else if (tid < MC) mbar_arrive_remote(c.empty + 8 * slot, tid);
    };
    for (int t = c.cid + seq * c.ncl; t < c.T; t += (C::PP ? 2 : 1) * c.ncl) {
      Tile<C> tl(a, t, c.rank);
      const int ch0 = tl.ch(), pix0 = tl.pix();
      if (C::SWAP) {
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
          for (int h = 0; h < 2; h++) {
            const int ch = ch0 + wrow + i * 64 + (tid / 32) * 16 + (lane >> 2) + 8 * h;
            bl[i][h] = ch < a.N ? __ldg(a.bias + ch) : 0.f;
          }
      } else {
#pragma unroll
        for (int h = 0; h < (BY + 127) / 128; h++) { const int q = h * 128 + tid; bv[h] = q < BY && ch0 + q < a.N ? __ldg(a.bias + ch0 + q) : 0.f; }
      }
      if (C::PP) { if (wg == 0) bar_sync_c<8, 256>(); else bar_sync_c<9, 256>(); }    // this warpgroup's turn on the tensor cores
      int prev = -1;
#pragma unroll 1
      for (int k = c.k0; k < c.k1; k += KSUB) {
        mbar_wait(c.full + 8 * s, ph);
        wg_fence();
#pragma unroll
        for (int u = 0; u < KSUB; u++) {
          const uint32_t ax = c.sX + (s * KSUB + u) * C::XB + wrow * 128, ay = c.sY + (s * KSUB + u) * C::YB;
#pragma unroll
          for (int kk = 0; kk < 4; kk++)
#pragma unroll
            for (int i = 0; i < MT; i++) Mma<C::T, BY>::ss(d[i], desc128(ax + i * 8192) + kk * 2, desc128(ay) + kk * 2, (k > c.k0) || u || kk);
        }
        wg_commit();
        wg_wait<1>();                           // the previous stage's products are complete
        if (prev >= 0) release(prev);
        // a single staging slot goes back to the residual producer once the store has left it, under the main loop
        if (!C::LAT && RES && E == 1) if (k == c.k0 && np > 0 && tid == 0) { bulk_wait_read<0>(); mbar_arrive(c.rempty + 8 * wg); }
        prev = s; if (++s == ST) { s = 0; ph ^= 1; }
      }
      if (C::PP) { if (t + c.ncl < c.T) { if (wg == 0) bar_arrive_c<9, 256>(); else bar_arrive_c<8, 256>(); } }
      wg_wait<0>();
#pragma unroll
      for (int i = 0; i < MT; i++) wg_hold(d[i]);
      release(prev);
      if (C::PP) { it += 2 * KI; s = it % ST; ph = (it / ST) & 1; }

      if constexpr (C::LAT) store_latency<C, RES, ACT>(c, a, d, bl, wg, tid, ch0, pix0);
      else {
        if (!C::SWAP) {
#pragma unroll
          for (int h = 0; h < (BY + 127) / 128; h++) { const int q = h * 128 + tid; if (q < BY) sts32f(c.sB + (wg * BY + q) * 4, bv[h]); }
          if (RES) wg_sync<NC>(wg);
        }
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
          for (int pn = 0; pn < C::NP; pn++, np++) {
            const int slot = wg * E + np % E; const uint32_t panel = c.sD + slot * C::PB;
            if (RES) mbar_wait(c.rfull + 8 * slot, (np / E) & 1);
            else { if (tid == 0) bulk_wait_read<E - 1>(); wg_sync<NC>(wg); }
            fill_panel<C, RES, ACT>(c, a, d[i], bl[i], panel, pn, wg, tid);
            fence_async();
            wg_sync<NC>(wg);
            if (tid == 0) {
              const int row = wrow + i * 64;
              tma_store2d(&p.out, panel, ch0 + (C::SWAP ? row : pn * 64), pix0 + (C::SWAP ? 0 : row));
              bulk_commit();
              if (RES && E > 1 && np > 0) { bulk_wait_read<1>(); mbar_arrive(c.rempty + 8 * (wg * E + (np - 1) % E)); }
            }
          }
      }
    }
    if (!C::LAT && tid == 0) bulk_wait<0>();
  }
  // Multicast: no block may leave while peers can still signal it. Split-K needs nothing: a block waits for everything addressed
  // to it, and what it sent is already on its way to blocks that wait.
  if (MC > 1) { __syncwarp(); cluster_arrive(); cluster_wait(); }
}
