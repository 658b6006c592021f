// SPDX-License-Identifier: Apache-2.0
// Tensor cores of a warpgroup (sm_90a): Wgmma<T, N>, D[64][N] += A B^T with 32
// bytes of k, operands in shared memory behind descriptors (A also in
// registers).
//
//   Wgmma<T, N>::ss<TA, TB>(d, a, b, keep)   T half_t bf16_t (TA, TB: 1 for an
//                                            operand with rows of k)
//   Wgmma<T, N>::ss(d, a, b, keep)           T float (tf32), int8_t
//   Wgmma<T, N>::rs<TB>(d, regs, b, keep)    16-bit A in registers
//   wgmma_fence(), wgmma_commit(), wgmma_wait<N>(), wgmma_hold(d)
//   descriptor128(a)                         rows of 128 bytes, 128 B swizzle
//   descriptor_plain(a, half, group)         rows of 16 bytes that follow each
//                                            other: the other half of a row of
//                                            k is `half` bytes further on,
//                                            eight rows `group`; they may
//                                            overlap
//
// keep = 0 starts from zero. d[4 j + e] of lane l of warp w is row 16 w + l / 4
// + 8 (e / 2), column 8 j + 2 (l % 4) + e % 2. N is a multiple of 8 up to 256.
#pragma once
#include "dlc/ptx/shared.cuh"

namespace dlc::dev {
template <class T, int N> struct Wgmma;
/// Tile base aligned to 1,024 bytes; k advances by 32 bytes (+ 2 per slice).
DLC_DEVICE uint64_t descriptor128(uint32_t a) {
  return uint64_t((a & 0x3FFFF) >> 4) | 1ull << 16 |
         uint64_t(1024 >> 4) << 32 | 1ull << 62;
}
/// Addresses and distances are multiples of 16.
DLC_DEVICE uint64_t descriptor_plain(uint32_t a, uint32_t half,
                                     uint32_t group) {
  return uint64_t((a & 0x3FFFF) >> 4) | uint64_t(half >> 4) << 16 |
         uint64_t(group >> 4) << 32;
}
#ifdef DLC_HOST
namespace twin {
template <class T> constexpr ::dlc::host::Kind wgmmaKind() {
  return kSame<T, half_t>   ? ::dlc::host::F16
         : kSame<T, bf16_t> ? ::dlc::host::BF16
         : kSame<T, float>  ? ::dlc::host::TF32
                            : ::dlc::host::S8;
}
} // namespace twin
template <class T, int N> struct Wgmma {
  template <int TA = 0, int TB = 0, class Acc>
  static DLC_DEVICE void ss(Acc (&d)[N / 2], uint64_t a, uint64_t b,
                            int keep) {
    ::dlc::host::engine->wgmma(twin::wgmmaKind<T>(), N, d, a, nullptr, b, TA,
                               TB, keep);
  }
  template <int TB = 0, class Acc>
  static DLC_DEVICE void rs(Acc (&d)[N / 2], const uint32_t (&a)[4],
                            uint64_t b, int keep) {
    ::dlc::host::engine->wgmma(twin::wgmmaKind<T>(), N, d, 0, a, b, false, TB,
                               keep);
  }
};
DLC_DEVICE void wgmma_fence() {}
DLC_DEVICE void wgmma_commit() { ::dlc::host::engine->wgCommit(); }
template <int N> DLC_DEVICE void wgmma_wait() {
  ::dlc::host::engine->wgWait(N);
}
template <class Acc, int N> DLC_DEVICE void wgmma_hold(Acc (&)[N]) {}
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
DLC_DEVICE void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
DLC_DEVICE void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> DLC_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
/// Keeps uses of accumulators from moving across an asynchronous wgmma.
template <int N> DLC_DEVICE void wgmma_hold(float (&d)[N]) {
  DLC_UNROLL
  for (int i = 0; i < N; i++)
    asm volatile("" : "+f"(d[i])::"memory");
}
template <int N> DLC_DEVICE void wgmma_hold(int32_t (&d)[N]) {
  DLC_UNROLL
  for (int i = 0; i < N; i++)
    asm volatile("" : "+r"(d[i])::"memory");
}

// Names and operands of the first 4 i accumulators.
// clang-format off
#define DLC_NAMES_1 "%0,%1,%2,%3"
#define DLC_NAMES_2 DLC_NAMES_1 "," "%4,%5,%6,%7"
#define DLC_NAMES_3 DLC_NAMES_2 "," "%8,%9,%10,%11"
#define DLC_NAMES_4 DLC_NAMES_3 "," "%12,%13,%14,%15"
#define DLC_NAMES_5 DLC_NAMES_4 "," "%16,%17,%18,%19"
#define DLC_NAMES_6 DLC_NAMES_5 "," "%20,%21,%22,%23"
#define DLC_NAMES_7 DLC_NAMES_6 "," "%24,%25,%26,%27"
#define DLC_NAMES_8 DLC_NAMES_7 "," "%28,%29,%30,%31"
#define DLC_NAMES_9 DLC_NAMES_8 "," "%32,%33,%34,%35"
#define DLC_NAMES_10 DLC_NAMES_9 "," "%36,%37,%38,%39"
#define DLC_NAMES_11 DLC_NAMES_10 "," "%40,%41,%42,%43"
#define DLC_NAMES_12 DLC_NAMES_11 "," "%44,%45,%46,%47"
#define DLC_NAMES_13 DLC_NAMES_12 "," "%48,%49,%50,%51"
#define DLC_NAMES_14 DLC_NAMES_13 "," "%52,%53,%54,%55"
#define DLC_NAMES_15 DLC_NAMES_14 "," "%56,%57,%58,%59"
#define DLC_NAMES_16 DLC_NAMES_15 "," "%60,%61,%62,%63"
#define DLC_NAMES_17 DLC_NAMES_16 "," "%64,%65,%66,%67"
#define DLC_NAMES_18 DLC_NAMES_17 "," "%68,%69,%70,%71"
#define DLC_NAMES_19 DLC_NAMES_18 "," "%72,%73,%74,%75"
#define DLC_NAMES_20 DLC_NAMES_19 "," "%76,%77,%78,%79"
#define DLC_NAMES_21 DLC_NAMES_20 "," "%80,%81,%82,%83"
#define DLC_NAMES_22 DLC_NAMES_21 "," "%84,%85,%86,%87"
#define DLC_NAMES_23 DLC_NAMES_22 "," "%88,%89,%90,%91"
#define DLC_NAMES_24 DLC_NAMES_23 "," "%92,%93,%94,%95"
#define DLC_NAMES_25 DLC_NAMES_24 "," "%96,%97,%98,%99"
#define DLC_NAMES_26 DLC_NAMES_25 "," "%100,%101,%102,%103"
#define DLC_NAMES_27 DLC_NAMES_26 "," "%104,%105,%106,%107"
#define DLC_NAMES_28 DLC_NAMES_27 "," "%108,%109,%110,%111"
#define DLC_NAMES_29 DLC_NAMES_28 "," "%112,%113,%114,%115"
#define DLC_NAMES_30 DLC_NAMES_29 "," "%116,%117,%118,%119"
#define DLC_NAMES_31 DLC_NAMES_30 "," "%120,%121,%122,%123"
#define DLC_NAMES_32 DLC_NAMES_31 "," "%124,%125,%126,%127"
#define DLC_SUMS_1(C) C(d[0]),C(d[1]),C(d[2]),C(d[3])
#define DLC_SUMS_2(C) DLC_SUMS_1(C), C(d[4]),C(d[5]),C(d[6]),C(d[7])
#define DLC_SUMS_3(C) DLC_SUMS_2(C), C(d[8]),C(d[9]),C(d[10]),C(d[11])
#define DLC_SUMS_4(C) DLC_SUMS_3(C), C(d[12]),C(d[13]),C(d[14]),C(d[15])
#define DLC_SUMS_5(C) DLC_SUMS_4(C), C(d[16]),C(d[17]),C(d[18]),C(d[19])
#define DLC_SUMS_6(C) DLC_SUMS_5(C), C(d[20]),C(d[21]),C(d[22]),C(d[23])
#define DLC_SUMS_7(C) DLC_SUMS_6(C), C(d[24]),C(d[25]),C(d[26]),C(d[27])
#define DLC_SUMS_8(C) DLC_SUMS_7(C), C(d[28]),C(d[29]),C(d[30]),C(d[31])
#define DLC_SUMS_9(C) DLC_SUMS_8(C), C(d[32]),C(d[33]),C(d[34]),C(d[35])
#define DLC_SUMS_10(C) DLC_SUMS_9(C), C(d[36]),C(d[37]),C(d[38]),C(d[39])
#define DLC_SUMS_11(C) DLC_SUMS_10(C), C(d[40]),C(d[41]),C(d[42]),C(d[43])
#define DLC_SUMS_12(C) DLC_SUMS_11(C), C(d[44]),C(d[45]),C(d[46]),C(d[47])
#define DLC_SUMS_13(C) DLC_SUMS_12(C), C(d[48]),C(d[49]),C(d[50]),C(d[51])
#define DLC_SUMS_14(C) DLC_SUMS_13(C), C(d[52]),C(d[53]),C(d[54]),C(d[55])
#define DLC_SUMS_15(C) DLC_SUMS_14(C), C(d[56]),C(d[57]),C(d[58]),C(d[59])
#define DLC_SUMS_16(C) DLC_SUMS_15(C), C(d[60]),C(d[61]),C(d[62]),C(d[63])
#define DLC_SUMS_17(C) DLC_SUMS_16(C), C(d[64]),C(d[65]),C(d[66]),C(d[67])
#define DLC_SUMS_18(C) DLC_SUMS_17(C), C(d[68]),C(d[69]),C(d[70]),C(d[71])
#define DLC_SUMS_19(C) DLC_SUMS_18(C), C(d[72]),C(d[73]),C(d[74]),C(d[75])
#define DLC_SUMS_20(C) DLC_SUMS_19(C), C(d[76]),C(d[77]),C(d[78]),C(d[79])
#define DLC_SUMS_21(C) DLC_SUMS_20(C), C(d[80]),C(d[81]),C(d[82]),C(d[83])
#define DLC_SUMS_22(C) DLC_SUMS_21(C), C(d[84]),C(d[85]),C(d[86]),C(d[87])
#define DLC_SUMS_23(C) DLC_SUMS_22(C), C(d[88]),C(d[89]),C(d[90]),C(d[91])
#define DLC_SUMS_24(C) DLC_SUMS_23(C), C(d[92]),C(d[93]),C(d[94]),C(d[95])
#define DLC_SUMS_25(C) DLC_SUMS_24(C), C(d[96]),C(d[97]),C(d[98]),C(d[99])
#define DLC_SUMS_26(C) DLC_SUMS_25(C), C(d[100]),C(d[101]),C(d[102]),C(d[103])
#define DLC_SUMS_27(C) DLC_SUMS_26(C), C(d[104]),C(d[105]),C(d[106]),C(d[107])
#define DLC_SUMS_28(C) DLC_SUMS_27(C), C(d[108]),C(d[109]),C(d[110]),C(d[111])
#define DLC_SUMS_29(C) DLC_SUMS_28(C), C(d[112]),C(d[113]),C(d[114]),C(d[115])
#define DLC_SUMS_30(C) DLC_SUMS_29(C), C(d[116]),C(d[117]),C(d[118]),C(d[119])
#define DLC_SUMS_31(C) DLC_SUMS_30(C), C(d[120]),C(d[121]),C(d[122]),C(d[123])
#define DLC_SUMS_32(C) DLC_SUMS_31(C), C(d[124]),C(d[125]),C(d[126]),C(d[127])
#define DLC_F(x) "+f"(x)
#define DLC_R(x) "+r"(x)
// I: N / 8; A .. E: numbers of the operands after the accumulators.
#define DLC_WGMMA_16(T, type, I, A, B, P, X, Y, R0, R1, R2, R3, RB, RP, RX)   \
  template <> struct Wgmma<T, 8 * I> {                                         \
    template <int TA = 0, int TB = 0>                                          \
    static DLC_DEVICE void ss(float (&d)[4 * I], uint64_t a, uint64_t b,       \
                              int keep) {                                      \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" P ", 0;\n"                \
                   "wgmma.mma_async.sync.aligned.m64n" DLC_N_##I               \
                   "k16.f32." type "." type " {" DLC_NAMES_##I "}, %" A ", %" B \
                   ", p, 1, 1, %" X ", %" Y ";}"                               \
                   : DLC_SUMS_##I(DLC_F)                                       \
                   : "l"(a), "l"(b), "r"(keep), "n"(TA), "n"(TB));             \
    }                                                                          \
    template <int TB = 0>                                                      \
    static DLC_DEVICE void rs(float (&d)[4 * I], const uint32_t (&a)[4],       \
                              uint64_t b, int keep) {                          \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" RP ", 0;\n"               \
                   "wgmma.mma_async.sync.aligned.m64n" DLC_N_##I               \
                   "k16.f32." type "." type " {" DLC_NAMES_##I "}, {%" R0 ",%" \
                   R1 ",%" R2 ",%" R3 "}, %" RB ", p, 1, 1, %" RX ";}"         \
                   : DLC_SUMS_##I(DLC_F)                                       \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),       \
                     "r"(keep), "n"(TB));                                      \
    }                                                                          \
  };
#define DLC_WGMMA_PLAIN(T, Acc, C, shape, scale, I, A, B, P)                   \
  template <> struct Wgmma<T, 8 * I> {                                         \
    static DLC_DEVICE void ss(Acc (&d)[4 * I], uint64_t a, uint64_t b,         \
                              int keep) {                                      \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" P ", 0;\n"                \
                   "wgmma.mma_async.sync.aligned.m64n" DLC_N_##I shape         \
                   " {" DLC_NAMES_##I "}, %" A ", %" B ", p" scale ";}"        \
                   : DLC_SUMS_##I(C)                                           \
                   : "l"(a), "l"(b), "r"(keep));                               \
    }                                                                          \
  };
#define DLC_WGMMA_ROW(I, A, B, P, X, Y, RP, RX)                                \
  DLC_WGMMA_16(half_t, "f16", I, A, B, P, X, Y, A, B, P, X, Y, RP, RX)         \
  DLC_WGMMA_16(bf16_t, "bf16", I, A, B, P, X, Y, A, B, P, X, Y, RP, RX)        \
  DLC_WGMMA_PLAIN(float, float, DLC_F, "k8.f32.tf32.tf32", ", 1, 1", I, A, B, P)
#define DLC_WGMMA_BYTES(I, A, B, P)                                            \
  DLC_WGMMA_PLAIN(int8_t, int32_t, DLC_R, "k32.s32.s8.s8", "", I, A, B, P)
#define DLC_N_1 "8"
#define DLC_N_2 "16"
#define DLC_N_3 "24"
#define DLC_N_4 "32"
#define DLC_N_5 "40"
#define DLC_N_6 "48"
#define DLC_N_7 "56"
#define DLC_N_8 "64"
#define DLC_N_9 "72"
#define DLC_N_10 "80"
#define DLC_N_11 "88"
#define DLC_N_12 "96"
#define DLC_N_13 "104"
#define DLC_N_14 "112"
#define DLC_N_15 "120"
#define DLC_N_16 "128"
#define DLC_N_17 "136"
#define DLC_N_18 "144"
#define DLC_N_19 "152"
#define DLC_N_20 "160"
#define DLC_N_21 "168"
#define DLC_N_22 "176"
#define DLC_N_23 "184"
#define DLC_N_24 "192"
#define DLC_N_25 "200"
#define DLC_N_26 "208"
#define DLC_N_27 "216"
#define DLC_N_28 "224"
#define DLC_N_29 "232"
#define DLC_N_30 "240"
#define DLC_N_31 "248"
#define DLC_N_32 "256"
DLC_WGMMA_ROW(1, "4", "5", "6", "7", "8", "9", "10")
DLC_WGMMA_ROW(2, "8", "9", "10", "11", "12", "13", "14")
DLC_WGMMA_ROW(3, "12", "13", "14", "15", "16", "17", "18")
DLC_WGMMA_ROW(4, "16", "17", "18", "19", "20", "21", "22")
DLC_WGMMA_ROW(5, "20", "21", "22", "23", "24", "25", "26")
DLC_WGMMA_ROW(6, "24", "25", "26", "27", "28", "29", "30")
DLC_WGMMA_ROW(7, "28", "29", "30", "31", "32", "33", "34")
DLC_WGMMA_ROW(8, "32", "33", "34", "35", "36", "37", "38")
DLC_WGMMA_ROW(9, "36", "37", "38", "39", "40", "41", "42")
DLC_WGMMA_ROW(10, "40", "41", "42", "43", "44", "45", "46")
DLC_WGMMA_ROW(11, "44", "45", "46", "47", "48", "49", "50")
DLC_WGMMA_ROW(12, "48", "49", "50", "51", "52", "53", "54")
DLC_WGMMA_ROW(13, "52", "53", "54", "55", "56", "57", "58")
DLC_WGMMA_ROW(14, "56", "57", "58", "59", "60", "61", "62")
DLC_WGMMA_ROW(15, "60", "61", "62", "63", "64", "65", "66")
DLC_WGMMA_ROW(16, "64", "65", "66", "67", "68", "69", "70")
DLC_WGMMA_ROW(17, "68", "69", "70", "71", "72", "73", "74")
DLC_WGMMA_ROW(18, "72", "73", "74", "75", "76", "77", "78")
DLC_WGMMA_ROW(19, "76", "77", "78", "79", "80", "81", "82")
DLC_WGMMA_ROW(20, "80", "81", "82", "83", "84", "85", "86")
DLC_WGMMA_ROW(21, "84", "85", "86", "87", "88", "89", "90")
DLC_WGMMA_ROW(22, "88", "89", "90", "91", "92", "93", "94")
DLC_WGMMA_ROW(23, "92", "93", "94", "95", "96", "97", "98")
DLC_WGMMA_ROW(24, "96", "97", "98", "99", "100", "101", "102")
DLC_WGMMA_ROW(25, "100", "101", "102", "103", "104", "105", "106")
DLC_WGMMA_ROW(26, "104", "105", "106", "107", "108", "109", "110")
DLC_WGMMA_ROW(27, "108", "109", "110", "111", "112", "113", "114")
DLC_WGMMA_ROW(28, "112", "113", "114", "115", "116", "117", "118")
DLC_WGMMA_ROW(29, "116", "117", "118", "119", "120", "121", "122")
DLC_WGMMA_ROW(30, "120", "121", "122", "123", "124", "125", "126")
DLC_WGMMA_ROW(31, "124", "125", "126", "127", "128", "129", "130")
DLC_WGMMA_ROW(32, "128", "129", "130", "131", "132", "133", "134")
DLC_WGMMA_BYTES(1, "4", "5", "6")
DLC_WGMMA_BYTES(2, "8", "9", "10")
DLC_WGMMA_BYTES(3, "12", "13", "14")
DLC_WGMMA_BYTES(4, "16", "17", "18")
DLC_WGMMA_BYTES(6, "24", "25", "26")
DLC_WGMMA_BYTES(8, "32", "33", "34")
DLC_WGMMA_BYTES(10, "40", "41", "42")
DLC_WGMMA_BYTES(12, "48", "49", "50")
DLC_WGMMA_BYTES(14, "56", "57", "58")
DLC_WGMMA_BYTES(16, "64", "65", "66")
DLC_WGMMA_BYTES(18, "72", "73", "74")
DLC_WGMMA_BYTES(20, "80", "81", "82")
DLC_WGMMA_BYTES(22, "88", "89", "90")
DLC_WGMMA_BYTES(24, "96", "97", "98")
DLC_WGMMA_BYTES(26, "104", "105", "106")
DLC_WGMMA_BYTES(28, "112", "113", "114")
DLC_WGMMA_BYTES(30, "120", "121", "122")
DLC_WGMMA_BYTES(32, "128", "129", "130")
// clang-format on
#endif
} // namespace dlc::dev
