// SPDX-License-Identifier: Apache-2.0
// TMA: tiles and im2col through tensor maps, bulk copies, st.async.
#include "runtime/host/Engine.h"
#include "runtime/host/State.h"

namespace dlc::host {
// One 16-byte chunk at a time; src null: zeros.
static void copyRow(uint32_t dst, const uint8_t *src, int bytes, int swz) {
  if (src && worker->adversarial)
    checkGlobal(src, uint64_t(bytes), false);
  for (int x = 0; x < bytes; x += 16) {
    const uint32_t to = swizzle(dst + uint32_t(x), swz);
    const size_t n = size_t(bytes - x < 16 ? bytes - x : 16);
    uint8_t *chunk = sharedAt(to, uint32_t(n));
    if (src)
      memcpy(chunk, src + x, n);
    else
      memset(chunk, 0, n);
    if (worker->adversarial)
      noteAsyncWrite(to);
  }
}
// n elements of a row from c0 on; those outside the tensor are zero.
static void loadRow(uint32_t dst, const TensorMap &m, const uint8_t *p, int c0,
                    int n) {
  const int es = m.elementBytes;
  const int lo = c0 < 0 ? (-c0 < n ? -c0 : n) : 0;
  int64_t hi = int64_t(m.dim[0]) - c0;
  if (hi > n)
    hi = n;
  if (!p || hi <= lo)
    return copyRow(dst, nullptr, n * es, m.swizzle);
  if (lo == 0 && hi == n)
    return copyRow(dst, p + int64_t(c0) * es, n * es, m.swizzle);
  const uint8_t *from = p + (int64_t(c0) + lo) * es;
  const auto bytes = size_t(hi - lo) * size_t(es);
  if (worker->adversarial)
    checkGlobal(from, bytes, false);
  alignas(16) uint8_t t[1024] = {};
  memcpy(t + lo * es, from, bytes);
  for (int x = 0; x < n * es; x += 16) {
    const uint32_t to = swizzle(dst + uint32_t(x), m.swizzle);
    const size_t n16 = size_t(n * es - x < 16 ? n * es - x : 16);
    memcpy(sharedAt(to, uint32_t(n16)), t + x, n16);
    if (worker->adversarial)
      noteAsyncWrite(to);
  }
}
struct Coords {
  int c[5];
};
static void loadTile(uint32_t dst, const TensorMap &m, const Coords &k, int ow,
                     int oh) {
  const int es = m.elementBytes;
  if (m.im2col) { // walks pixels through the box [lower, dim + upper)
    int w = k.c[1], h = k.c[2], n = k.c[3];
    const int width = int(m.dim[1]), height = int(m.dim[2]);
    for (int p = 0; p < m.pixels; p++, dst += uint32_t(m.channels * es)) {
      const int x = w + ow, y = h + oh;
      const bool in =
          x >= 0 && x < width && y >= 0 && y < height && n < int(m.dim[3]);
      loadRow(dst, m,
              in ? m.base + uint64_t(n) * m.stride[2] +
                       uint64_t(y) * m.stride[1] + uint64_t(x) * m.stride[0]
                 : nullptr,
              k.c[0], m.channels);
      if ((w += m.elementStride[1]) > width - 1 + m.upper[0]) {
        w = m.lower[0];
        if ((h += m.elementStride[2]) > height - 1 + m.upper[1]) {
          h = m.lower[1];
          n++;
        }
      }
    }
    return;
  }
  int i[5] = {};
  for (bool more = true; more;) {
    const uint8_t *p = m.base;
    for (int d = 1; d < m.rank; d++) {
      const int64_t x = int64_t(k.c[d]) + i[d];
      if (x < 0 || x >= int64_t(m.dim[d])) {
        p = nullptr;
        break;
      }
      p += uint64_t(x) * m.stride[d - 1];
    }
    loadRow(dst, m, p, k.c[0], m.box[0]);
    dst += uint32_t(m.box[0] * es);
    more = false;
    for (int d = 1; d < m.rank && !more; d++)
      if (++i[d] < m.box[d])
        more = true;
      else
        i[d] = 0;
  }
}
void tmaLoad(uint32_t dst, const TensorMap *map, uint32_t bar,
             const int (&c)[5], int ow, int oh, uint32_t ctas) {
  Coords k;
  memcpy(k.c, c, sizeof k.c);
  int bytes = map->elementBytes;
  if (map->im2col)
    bytes *= map->channels * map->pixels;
  else
    for (int d = 0; d < map->rank; d++)
      bytes *= map->box[d];
  for (uint32_t cta = 0; cta < worker->blocks.size(); cta++)
    if (ctas ? ctas >> cta & 1 : cta == dst >> 24)
      later([=] {
        loadTile((dst & 0xFFFFFF) | cta << 24, *map, k, ow, oh);
        mbarComplete((bar & 0xFFFFFF) | cta << 24, bytes);
      });
}
void bulkLoad(uint32_t dst, const void *src, uint32_t bytes, uint32_t bar) {
  if (worker->adversarial)
    checkGlobal(src, bytes, false);
  later([=] {
    memcpy(sharedAt(dst, bytes), src, bytes);
    mbarComplete(bar, int(bytes));
  });
}
void stAsync(uint32_t a, uint32_t bar, const void *v, int bytes) {
  struct {
    uint8_t b[16];
  } x{};
  memcpy(x.b, v, size_t(bytes));
  later([=] {
    memcpy(sharedAt(a, uint32_t(bytes)), x.b, size_t(bytes));
    mbarComplete(bar, bytes);
  });
}
void tmaStore(const TensorMap *m, uint32_t src, const int (&c)[5]) {
  const int es = m->elementBytes, width = m->box[0];
  for (int y = 0; y < m->box[1]; y++) {
    if (c[1] + y < 0 || c[1] + y >= int64_t(m->dim[1]))
      continue;
    uint8_t *row = m->base + uint64_t(c[1] + y) * m->stride[0];
    for (int x = 0; x < width * es; x += 16) {
      const uint32_t from =
          swizzle(src + uint32_t(y * width * es + x), m->swizzle);
      const uint8_t *chunk = sharedAt(from, 16);
      if (worker->adversarial)
        checkProxy(blockAt(from), from & 0xFFFFFF);
      for (int e = 0; e < 16 / es; e++) {
        const int64_t g = int64_t(c[0]) + x / es + e;
        if (g < 0 || g >= int64_t(m->dim[0]))
          continue;
        if (worker->adversarial)
          checkGlobal(row + g * es, uint64_t(es), true);
        memcpy(row + g * es, chunk + e * es, size_t(es));
      }
    }
  }
}
} // namespace dlc::host

using dlc::host::TensorMap;
static bool sane(const TensorMap &m) {
  const int es = m.elementBytes, swz = m.swizzle;
  return (es == 1 || es == 2 || es == 4 || es == 8) &&
         (swz == 0 || swz == 32 || swz == 64 || swz == 128) &&
         reinterpret_cast<uintptr_t>(m.base) % 16 == 0;
}
int dlc_host_encode_tiled(void *map, const void *base, uint32_t elementBytes,
                          uint32_t rank, const uint64_t *dims,
                          const uint64_t *strides, const uint32_t *box,
                          uint32_t swizzle) {
  TensorMap m{};
  m.base = static_cast<uint8_t *>(const_cast<void *>(base));
  m.elementBytes = uint8_t(elementBytes);
  m.swizzle = uint8_t(swizzle);
  if (rank < 1 || rank > 5 || !sane(m))
    return 1;
  m.rank = uint8_t(rank);
  for (uint32_t d = 0; d < rank; d++) {
    if (!dims[d] || dims[d] > 1ull << 32 || !box[d] || box[d] > 256)
      return 1;
    if (d && strides[d - 1] % 16)
      return 1;
    m.dim[d] = uint32_t(dims[d]);
    m.box[d] = uint16_t(box[d]);
    m.elementStride[d] = 1;
    if (d)
      m.stride[d - 1] = strides[d - 1];
  }
  const uint32_t inner = box[0] * elementBytes;
  if (inner % 16 || (swizzle && inner > swizzle))
    return 1;
  memcpy(map, &m, sizeof m);
  return 0;
}
int dlc_host_encode_im2col(void *map, const void *base, uint32_t elementBytes,
                           const uint64_t dims[4], const uint64_t strides[3],
                           const int32_t lower[2], const int32_t upper[2],
                           uint32_t channels, uint32_t pixels,
                           const uint32_t traversal[2], uint32_t swizzle) {
  TensorMap m{};
  m.base = static_cast<uint8_t *>(const_cast<void *>(base));
  m.elementBytes = uint8_t(elementBytes);
  m.swizzle = uint8_t(swizzle);
  const uint32_t inner = channels * elementBytes;
  if (!sane(m) || channels > 256 || pixels > 1024 || inner % 16 ||
      (swizzle && inner > swizzle))
    return 1;
  m.rank = 4;
  m.im2col = 1;
  m.channels = uint16_t(channels);
  m.pixels = uint16_t(pixels);
  for (int d = 0; d < 4; d++) {
    if (!dims[d] || dims[d] > 1ull << 32 || (d && strides[d - 1] % 16))
      return 1;
    m.dim[d] = uint32_t(dims[d]);
    m.elementStride[d] = 1;
    if (d)
      m.stride[d - 1] = strides[d - 1];
  }
  for (int d = 0; d < 2; d++) {
    if (traversal[d] < 1 || traversal[d] > 8)
      return 1;
    m.lower[d] = int16_t(lower[d]);
    m.upper[d] = int16_t(upper[d]);
    m.elementStride[d + 1] = uint8_t(traversal[d]);
  }
  memcpy(map, &m, sizeof m);
  return 0;
}
