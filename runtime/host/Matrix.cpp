// SPDX-License-Identifier: Apache-2.0
// Tensor cores: ldmatrix, mma.sync, tiles of a warp, wgmma. Compiled once for
// each instruction set (DLC_MATRIX_OPS names the table), chosen at run time.
//
// Operands become fp32 tiles, then D[rows][cols] += A[rows][k] B[k][cols].
// Products of halves and bytes are exact in fp32; sums are fp32, as on the
// hardware. Bytes: sums of one call stay below 2^24, so they are exact too and
// the accumulator itself is int32.
#include "runtime/host/State.h"
#include <algorithm>
#include <cmath>

namespace dlc::host {
namespace {
typedef float V8 __attribute__((vector_size(32), aligned(4), may_alias));
template <int N> struct Vector {
  typedef float Type __attribute__((vector_size(N * 4), aligned(4), may_alias));
};

template <int R, int V, int N>
inline void block(int k, const float *a, int lda, const float *b, int ldb,
                  float *d, int ldd) {
  using Vec = typename Vector<N>::Type;
  Vec acc[R][V];
  for (int r = 0; r < R; r++)
    for (int v = 0; v < V; v++)
      acc[r][v] = *reinterpret_cast<const Vec *>(d + r * ldd + v * N);
  for (int i = 0; i < k; i++) {
    Vec bv[V];
    for (int v = 0; v < V; v++)
      bv[v] = *reinterpret_cast<const Vec *>(b + i * ldb + v * N);
    for (int r = 0; r < R; r++)
      for (int v = 0; v < V; v++)
        acc[r][v] += a[r * lda + i] * bv[v];
  }
  for (int r = 0; r < R; r++)
    for (int v = 0; v < V; v++)
      *reinterpret_cast<Vec *>(d + r * ldd + v * N) = acc[r][v];
}
// rows % 8 == 0, cols % 8 == 0
void multiply(int rows, int cols, int k, const float *a, int lda,
              const float *b, int ldb, float *d, int ldd) {
  int c = 0;
#ifdef __AVX512F__
  for (; c + 32 <= cols; c += 32)
    for (int r = 0; r < rows; r += 8)
      block<8, 2, 16>(k, a + r * lda, lda, b + c, ldb, d + r * ldd + c, ldd);
#endif
  for (; c + 16 <= cols; c += 16)
    for (int r = 0; r < rows; r += 4)
      block<4, 2, 8>(k, a + r * lda, lda, b + c, ldb, d + r * ldd + c, ldd);
  for (; c + 8 <= cols; c += 8)
    for (int r = 0; r < rows; r += 8)
      block<8, 1, 8>(k, a + r * lda, lda, b + c, ldb, d + r * ldd + c, ldd);
}

constexpr int elementBytes(Kind k) {
  return k == S8 || k == E4M3 ? 1 : k == TF32 || k == F32 ? 4 : 2;
}
float fromHalf(uint32_t h) {
  const uint32_t sign = h << 16 & 0x80000000u, e = h >> 10 & 31, m = h & 1023;
  if (e == 31)
    return __builtin_bit_cast(float, sign | 0x7f800000u | m << 13);
  if (e)
    return __builtin_bit_cast(float, sign | (e + 112) << 23 | m << 13);
  const float f = float(m) * 0x1p-24f;
  return sign ? -f : f;
}
constexpr float fromE4m3(int v) {
  const int e = v >> 3 & 15, m = v & 7;
  float f = float(e ? 8 + m : m) * 0x1p-10f;
  for (int i = 0; i < (e ? e : 1); i++)
    f *= 2;
  if (e == 15 && m == 7)
    f = NAN;
  return v >> 7 ? -f : f;
}
// constexpr: an initialiser would run this file's instructions at load.
struct E4m3Table {
  float f[256];
  constexpr E4m3Table() : f{} {
    for (int i = 0; i < 256; i++)
      f[i] = fromE4m3(i);
  }
};
constexpr E4m3Table e4m3;
float element(Kind kind, const uint8_t *p) {
  uint16_t h = 0;
  uint32_t w = 0;
  switch (kind) {
  case F16:
    memcpy(&h, p, 2);
    return fromHalf(h);
  case BF16:
    memcpy(&h, p, 2);
    return __builtin_bit_cast(float, uint32_t(h) << 16);
  case TF32: // the hardware ignores the low bits
    memcpy(&w, p, 4);
    return __builtin_bit_cast(float, w & 0xFFFFE000u);
  case S8:
    return float(int8_t(*p));
  case E4M3:
    return e4m3.f[*p];
  case F32:
    memcpy(&w, p, 4);
    return __builtin_bit_cast(float, w);
  }
  return 0;
}
// 16 bytes; tf32 as cvt.rna rounds it, to nearest, ties away from zero.
inline void chunkRounded(const uint8_t *p, float *out) {
  uint32_t x[4];
  memcpy(x, p, 16);
  for (int i = 0; i < 4; i++)
    out[i] = __builtin_bit_cast(float, (x[i] & 0x7f800000u) == 0x7f800000u
                                           ? x[i]
                                           : (x[i] + 0x1000u) & ~0x1fffu);
}
inline void chunk(Kind kind, const uint8_t *p, float *out) {
#ifdef __F16C__
  if (kind == F16) {
    typedef short V8s __attribute__((vector_size(16), aligned(1), may_alias));
    *reinterpret_cast<V8 *>(out) =
        __builtin_ia32_vcvtph2ps256(*reinterpret_cast<const V8s *>(p));
    return;
  }
#endif
  if (kind == F32) {
    memcpy(out, p, 16);
    return;
  }
  if (kind == BF16) {
    uint16_t h[8];
    memcpy(h, p, 16);
    for (int i = 0; i < 8; i++)
      out[i] = __builtin_bit_cast(float, uint32_t(h[i]) << 16);
    return;
  }
  for (int i = 0, es = elementBytes(kind); i < 16 / es; i++)
    out[i] = element(kind, p + i * es);
}
inline void transpose8(const float (*in)[8], float *out, int ld) {
  V8 r[8], t[8];
  for (int i = 0; i < 8; i++)
    r[i] = *reinterpret_cast<const V8 *>(in[i]);
#define LO(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HI(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
  for (int i = 0; i < 8; i += 2) {
    t[i] = LO(r[i], r[i + 1]);
    t[i + 1] = HI(r[i], r[i + 1]);
  }
#undef LO
#undef HI
#define LO(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HI(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
  for (int i = 0; i < 8; i += 4) {
    r[i] = LO(t[i], t[i + 2]);
    r[i + 1] = HI(t[i], t[i + 2]);
    r[i + 2] = LO(t[i + 1], t[i + 3]);
    r[i + 3] = HI(t[i + 1], t[i + 3]);
  }
#undef LO
#undef HI
  for (int i = 0; i < 4; i++) {
    *reinterpret_cast<V8 *>(out + i * ld) =
        __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    *reinterpret_cast<V8 *>(out + (i + 4) * ld) =
        __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}
inline const uint8_t *at(uint32_t a, uint32_t bytes) {
  BlockView &v = view();
  if ((a & 0xFFFFFF) + bytes > v.smemBytes)
    badShared(a, bytes);
  return a >> 24 == v.rank ? v.smem + (a & 0xFFFFFF) : remote(a);
}

void ldmatrixOp(void *const *lanes, uint32_t mask) {
  auto *const *m = reinterpret_cast<Ldmatrix *const *>(lanes);
  if (mask != ~0u)
    fail("ldmatrix by an incomplete warp (lanes %#x)", mask);
  for (int i = 0; i < m[0]->count; i++) {
    uint16_t t[8][8];
    for (int r = 0; r < 8; r++)
      memcpy(t[r], at(m[i * 8 + r]->address, 16), 16);
    for (int l = 0; l < 32; l++) {
      const int p = l / 4, q = l % 4 * 2;
      *m[l]->out[i] = m[0]->transpose ? t[q][p] | uint32_t(t[q + 1][p]) << 16
                                      : t[p][q] | uint32_t(t[p][q + 1]) << 16;
    }
  }
}
void stmatrixOp(void *const *lanes, uint32_t mask) {
  auto *const *m = reinterpret_cast<Ldmatrix *const *>(lanes);
  if (mask != ~0u)
    fail("stmatrix by an incomplete warp (lanes %#x)", mask);
  for (int i = 0; i < m[0]->count; i++) {
    uint16_t t[8][8];
    for (int l = 0; l < 32; l++)
      for (int e = 0; e < 2; e++)
        (m[0]->transpose ? t[l % 4 * 2 + e][l / 4] : t[l / 4][l % 4 * 2 + e]) =
            uint16_t(*m[l]->out[i] >> 16 * e);
    for (int r = 0; r < 8; r++) {
      const uint32_t a = m[i * 8 + r]->address;
      memcpy(const_cast<uint8_t *>(at(a, 16)), t[r], 16);
      if (worker->adversarial)
        noteWrite(a);
    }
  }
}

// D fragments of 16-row groups: thread l of warp w holds d[4j + e] =
// D[16w + l/4 + 8(e>>1)][8j + 2(l%4) + (e&1)].
template <bool Scatter>
inline void fragments(int lane, int n, float *d, float *dense, int ld) {
  float *p = dense + lane / 4 * ld + lane % 4 * 2, *q = p + 8 * ld;
  for (int j = 0; j < n / 8; j++, d += 4, p += 8, q += 8) {
    if (Scatter) {
      memcpy(d, p, 8);
      memcpy(d + 2, q, 8);
    } else {
      memcpy(p, d, 8);
      memcpy(q, d + 2, 8);
    }
  }
}
// Adds the dense int tile to int accumulators.
inline void addInts(int lane, int n, int *d, float *dense, int ld) {
  float t[128];
  fragments<true>(lane, n, t, dense, ld);
  for (int q = 0; q < n / 2; q++)
    d[q] += int(t[q]);
}
// Four registers: 16 rows x 32 bytes.
void unpackA(Kind kind, int lane, const uint32_t *a, float *out, int ld) {
  if (elementBytes(kind) == 2) {
    float v[8];
    chunk(kind, reinterpret_cast<const uint8_t *>(a), v);
    float *p = out + lane / 4 * ld + lane % 4 * 2;
    memcpy(p, v, 8);
    memcpy(p + 8 * ld, v + 2, 8);
    memcpy(p + 8, v + 4, 8);
    memcpy(p + 8 * ld + 8, v + 6, 8);
    return;
  }
  const int es = elementBytes(kind), per = 4 / es;
  for (int i = 0; i < 4; i++)
    for (int e = 0; e < per; e++)
      out[(lane / 4 + 8 * (i & 1)) * ld + lane % 4 * per + e +
          16 / es * (i >> 1)] =
          element(kind, reinterpret_cast<const uint8_t *>(a + i) + e * es);
}

// The fp32 tiles of one call, kept by the thread.
struct Scratch {
  alignas(64) float a[128 * 128], b[128 * 256], d[128 * 256];
};
Scratch &scratch() {
  static thread_local std::unique_ptr<Scratch> s;
  if (!s)
    s = std::make_unique<Scratch>();
  return *s;
}

struct Mma {
  Kind kind;
  int mt, nt;
  void *d;
  const uint32_t *a, *b;
};
void mmaOp(void *const *lanes, uint32_t mask) {
  auto *const *m = reinterpret_cast<Mma *const *>(lanes);
  if (mask != ~0u)
    fail("mma by an incomplete warp (lanes %#x)", mask);
  const Kind kind = m[0]->kind;
  const int mt = m[0]->mt, nt = m[0]->nt, n = nt * 8;
  const int es = elementBytes(kind), per = 4 / es, k = 32 / es;
  if (mt > 8 || nt > 32)
    fail("warp tile of %d x %d fragments: at most 8 x 32", mt, nt);
  auto &[A, B, D] = scratch();
  for (int l = 0; l < 32; l++) {
    for (int i = 0; i < mt; i++) {
      unpackA(kind, l, m[l]->a + i * 4, A + i * 16 * k, k);
      if (kind != S8)
        fragments<false>(l, n, static_cast<float *>(m[l]->d) + i * nt * 4,
                         D + i * 16 * n, n);
    }
    for (int j = 0; j < nt; j++)
      for (int i = 0; i < 2; i++)
        for (int e = 0; e < per; e++)
          B[(l % 4 * per + e + 16 / es * i) * n + j * 8 + l / 4] = element(
              kind,
              reinterpret_cast<const uint8_t *>(m[l]->b + j * 2 + i) + e * es);
  }
  if (kind == S8)
    memset(D, 0, sizeof(float) * size_t(mt * 16 * n));
  multiply(mt * 16, n, k, A, k, B, n, D, n);
  for (int l = 0; l < 32; l++)
    for (int i = 0; i < mt; i++)
      if (kind == S8)
        addInts(l, n, static_cast<int *>(m[l]->d) + i * nt * 4, D + i * 16 * n,
                n);
      else
        fragments<true>(l, n, static_cast<float *>(m[l]->d) + i * nt * 4,
                        D + i * 16 * n, n);
}
void warpMma(Kind kind, int mt, int nt, void *d, const uint32_t *a,
             const uint32_t *b) {
  Mma m{kind, mt, nt, d, a, b};
  warpCollective(~0u, mmaOp, &m);
}

inline uint32_t rowSwizzle(int row, int rowBytes) {
  return uint32_t(rowBytes >= 128  ? row & 7
                  : rowBytes == 64 ? row >> 1 & 3
                                   : 0);
}
void warpTileOp(void *const *lanes, uint32_t mask) {
  auto *const *m = reinterpret_cast<const WarpTile *const *>(lanes);
  if (mask != ~0u)
    fail("mma by an incomplete warp (lanes %#x)", mask);
  const WarpTile &t = *m[0];
  const int n = t.nt * 8, rows = t.mt * 16, es = elementBytes(t.kind),
            per = 16 / es, k = t.kBytes / es, chunks = t.kBytes / 16;
  if (t.mt > 8 || t.nt > 32 || k > 128)
    fail("warp tile of %d x %d fragments, k %d: at most 8 x 32, 128", t.mt,
         t.nt, k);
  auto load = [kind = t.kind](const uint8_t *p, float *out) {
    if (kind == TF32)
      chunkRounded(p, out);
    else
      chunk(kind, p, out);
  };
  auto &[A, B, D] = scratch();
  for (int r = 0; r < rows; r++) {
    const int row = t.aRow + r;
    const uint8_t *p =
        at(t.a + uint32_t(row * t.aRowBytes), uint32_t(t.aRowBytes));
    const uint32_t x = rowSwizzle(row, t.aRowBytes);
    for (int c = 0; c < chunks; c++)
      load(p + (uint32_t(c) ^ x) * 16, A + r * k + c * per);
  }
  if (t.kMajor) {
    for (int r = 0; r < k; r++) {
      const uint8_t *p =
          at(t.b + uint32_t(r * t.bRowBytes), uint32_t(t.bRowBytes));
      const uint32_t x = rowSwizzle(r, t.bRowBytes);
      for (int c = 0; c < n / per; c++)
        load(p + (uint32_t(t.bRow / per + c) ^ x) * 16, B + r * n + c * per);
      for (int c = n / per * per; c < n; c++) { // 8 columns of bytes
        const int e = t.bRow + c;
        B[r * n + c] =
            element(t.kind, p + (uint32_t(e / per) ^ x) * 16 + e % per * es);
      }
    }
  } else {
    float w[8][16], v[8][8];
    for (int j = 0; j < n; j += 8)
      for (int c = 0; c < chunks; c++) {
        for (int i = 0; i < 8; i++) {
          const int row = t.bRow + j + i;
          load(at(t.b + uint32_t(row * t.bRowBytes), uint32_t(t.bRowBytes)) +
                   (uint32_t(c) ^ rowSwizzle(row, t.bRowBytes)) * 16,
               w[i]);
        }
        if (per == 4) {
          for (int i = 0; i < 8; i++)
            for (int q = 0; q < 4; q++)
              B[(c * 4 + q) * n + j + i] = w[i][q];
          continue;
        }
        for (int h = 0; h < per; h += 8) {
          for (int i = 0; i < 8; i++)
            memcpy(v[i], w[i] + h, 32);
          transpose8(v, B + (c * per + h) * n + j, n);
        }
      }
  }
  if (t.kind == S8)
    memset(D, 0, sizeof(float) * size_t(rows * n));
  else
    for (int l = 0; l < 32; l++)
      for (int i = 0; i < t.mt; i++)
        fragments<false>(l, n, static_cast<float *>(m[l]->d) + i * t.nt * 4,
                         D + i * 16 * n, n);
  multiply(rows, n, k, A, k, B, n, D, n);
  for (int l = 0; l < 32; l++)
    for (int i = 0; i < t.mt; i++)
      if (t.kind == S8)
        addInts(l, n, static_cast<int *>(m[l]->d) + i * t.nt * 4,
                D + i * 16 * n, n);
      else
        fragments<true>(l, n, static_cast<float *>(m[l]->d) + i * t.nt * 4,
                        D + i * 16 * n, n);
}
void warpTile(const WarpTile &t) {
  warpCollective(~0u, warpTileOp, const_cast<WarpTile *>(&t));
}

// ---- wgmma: recorded at issue, executed by the wait ------------------------

// An operand of `rows` x 32 bytes of k behind a descriptor. byK: out[k][row],
// else out[row][k].
void descriptorTile(Kind kind, uint64_t desc, int rows, bool mnMajor, bool byK,
                    float *out, int ld) {
  const uint32_t start = (desc & 0x3FFF) << 4, lbo = (desc >> 16 & 0x3FFF) << 4,
                 sbo = (desc >> 32 & 0x3FFF) << 4;
  const int mode = int(desc >> 62), swz = mode == 0 ? 0 : 256 >> mode,
            per = 16 / elementBytes(kind);
  auto read = [&](uint32_t a) {
    a = swizzle(a, swz);
    if (a + 16 > view().smemBytes)
      badShared(a, 16);
    if (worker->adversarial)
      checkProxy(*me()->block, a);
    return view().smem + a;
  };
  float t[8][8];
  if (!mnMajor) {
    for (int r = 0; r < rows; r += 8)
      for (int c = 0; c < 2; c++) {
        const uint32_t a = start + uint32_t(r / 8) * sbo +
                           uint32_t(c) * (swz ? 16 : lbo),
                       pitch = uint32_t(swz ? swz : 16);
        if (!byK) {
          for (int i = 0; i < 8; i++)
            chunk(kind, read(a + uint32_t(i) * pitch),
                  out + (r + i) * ld + c * per);
          continue;
        }
        float w[8][16];
        for (int i = 0; i < 8; i++)
          chunk(kind, read(a + uint32_t(i) * pitch), w[i]);
        if (per == 4) {
          for (int i = 0; i < 8; i++)
            for (int j = 0; j < 4; j++)
              out[(c * 4 + j) * ld + r + i] = w[i][j];
          continue;
        }
        for (int h = 0; h < per; h += 8) {
          for (int i = 0; i < 8; i++)
            memcpy(t[i], w[i] + h, 32);
          transpose8(t, out + (c * per + h) * ld + r, ld);
        }
      }
    return;
  }
  const int atom = swz ? swz / 2 : 8; // 16-bit elements along MN in one atom
  for (int k = 0; k < 16; k++)
    for (int r = 0; r < rows; r += 8) {
      const uint32_t a =
          swz ? start + uint32_t(k / 8) * sbo + uint32_t(k % 8 * swz) +
                    uint32_t(r / atom) * lbo + uint32_t(r % atom * 2)
              : start + uint32_t(k / 8) * lbo + uint32_t(k % 8 * 16) +
                    uint32_t(r / 8) * sbo;
      float v[16] = {};
      chunk(kind, read(a), v);
      if (byK)
        memcpy(out + k * ld + r, v, 32);
      else
        for (int i = 0; i < 8; i++)
          out[(r + i) * ld + k] = v[i];
    }
}

Warpgroup &warpgroup() { return me()->block->groups[me()->id / 128]; }
// All ops on the same accumulators in one go: D is gathered once, and k is
// longer.
void execute(Warpgroup &g, size_t end) {
  constexpr int maxRun = 4; // k of bytes: 4 * 32 = 128
  auto &[A, B, D] = scratch();
  for (size_t first = g.finished; first < end; first++) {
    if (!g.ops[first])
      continue;
    const WgOp f = *g.ops[first];
    size_t run[maxRun];
    int count = 0;
    for (size_t i = first; i < end && count < maxRun; i++)
      if (g.ops[i] && g.ops[i]->d[0] == f.d[0])
        run[count++] = i;
    const int n = f.n, per = 32 / elementBytes(f.kind), k = count * per;
    int start = 0;
    for (int i = 0; i < count; i++)
      if (!g.ops[run[i]]->accumulate)
        start = i;
    const bool fresh = !g.ops[run[start]]->accumulate;
    if (fresh || f.kind == S8)
      memset(D, 0, sizeof(float) * size_t(64 * n));
    else
      for (int t = 0; t < 128; t++)
        fragments<false>(t % 32, n, static_cast<float *>(f.d[t]),
                         D + t / 32 * 16 * n, n);
    for (int i = start; i < count; i++) {
      const WgOp &o = *g.ops[run[i]];
      if (o.seen != 128)
        fail("wgmma issued by %d of 128 threads", o.seen);
      if (o.regs)
        for (int t = 0; t < 128; t++)
          unpackA(o.kind, t % 32, o.a[t], A + t / 32 * 16 * k + i * per, k);
      else
        descriptorTile(o.kind, o.da, 64, o.transA, false, A + i * per, k);
      descriptorTile(o.kind, o.db, n, o.transB, true, B + i * per * n, n);
    }
    multiply(64, n, k - start * per, A + start * per, k, B + start * per * n, n,
             D, n);
    for (int t = 0; t < 128; t++) {
      if (f.kind != S8) {
        fragments<true>(t % 32, n, static_cast<float *>(f.d[t]),
                        D + t / 32 * 16 * n, n);
        continue;
      }
      if (fresh)
        memset(f.d[t], 0, size_t(n) * 2);
      addInts(t % 32, n, static_cast<int *>(f.d[t]), D + t / 32 * 16 * n, n);
    }
    for (int i = 0; i < count; i++)
      g.spare.push_back(std::move(g.ops[run[i]]));
  }
  g.finished = std::max(g.finished, end);
}
void wgmma(Kind kind, int n, void *d, uint64_t da, const uint32_t *ra,
           uint64_t db, bool transA, bool transB, bool accumulate) {
  Fiber *t = me();
  Warpgroup &g = warpgroup();
  const size_t index = t->wgOps++;
  if (index == g.ops.size()) {
    if (g.spare.empty())
      g.spare.push_back(std::make_unique<WgOp>());
    g.ops.push_back(std::move(g.spare.back()));
    g.spare.pop_back();
    WgOp &o = *g.ops[index];
    o.da = da;
    o.db = db;
    o.kind = kind;
    o.n = n;
    o.seen = 0;
    o.regs = ra;
    o.transA = transA;
    o.transB = transB;
    o.accumulate = accumulate;
  }
  if (!g.ops[index])
    fail("a thread issues a wgmma after others have waited for it");
  WgOp &o = *g.ops[index];
  if (o.da != da || o.db != db || o.n != n || o.accumulate != accumulate)
    fail("the threads of a warpgroup issue different wgmmas");
  o.d[t->id % 128] = d;
  if (ra)
    memcpy(o.a[t->id % 128], ra, 16);
  if (++o.seen == 128 && worker->adversarial && worker->random() % 2)
    execute(g, index + 1);
}
void wgCommit() {
  Fiber *t = me();
  Warpgroup &g = warpgroup();
  if (t->wgGroups++ == g.groupEnd.size())
    g.groupEnd.push_back(t->wgOps);
}
void wgWait(int pending) {
  Fiber *t = me();
  Warpgroup &g = warpgroup();
  if (++g.arrived < 128) {
    g.waiting.push_back(t);
    return park();
  }
  if (g.groupEnd.size() > size_t(pending))
    execute(g, g.groupEnd[g.groupEnd.size() - 1 - size_t(pending)]);
  g.arrived = 0;
  for (Fiber *f : g.waiting)
    wake(f);
  g.waiting.clear();
  maybeYield();
}
} // namespace

extern const MatrixOps DLC_MATRIX_OPS;
const MatrixOps DLC_MATRIX_OPS = {ldmatrixOp, stmatrixOp, warpMma, warpTile,
                                  wgmma,      wgCommit,   wgWait};
} // namespace dlc::host
