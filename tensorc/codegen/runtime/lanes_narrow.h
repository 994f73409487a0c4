/* Types that are narrower in memory than in lanes: i8 i16 u8 u16 in i32 lanes, f16 and bf16 in f32 lanes.
 *
 * A lane holds a value of its type at all times: tc_wrap_<type> (integers), tc_clamp_<type> (of a float that was cast
 * to i32) and tc_round_<type> (to nearest even, NaN stays NaN) make one. In memory f16 and bf16 are 16 bits, which
 * loads and stores convert exactly. tc_odd_<from>_<to> rounds to odd, so that a rounding to fewer bits that follows
 * is the only one. Source: S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums" (2008).
 */
#ifndef TC_LANES_NARROW_H
#define TC_LANES_NARROW_H

#include "lanes_convert.h"

typedef tc_i8_t tc_i8x8 __attribute__((vector_size(8)));
typedef tc_u8_t tc_u8x8 __attribute__((vector_size(8)));
typedef tc_u16_t tc_u16x8 __attribute__((vector_size(16)));
typedef tc_i8_t tc_i8x32 __attribute__((vector_size(32)));
typedef tc_u8_t tc_u8x32 __attribute__((vector_size(32)));
typedef tc_i16_t tc_i16x16 __attribute__((vector_size(32)));
typedef tc_u16_t tc_u16x16 __attribute__((vector_size(32)));
typedef tc_i8_t tc_i8_memory __attribute__((vector_size(8), aligned(1), may_alias));
typedef tc_u8_t tc_u8_memory __attribute__((vector_size(8), aligned(1), may_alias));
typedef tc_i16_t tc_i16_memory __attribute__((vector_size(16), aligned(2), may_alias));
typedef tc_u16_t tc_u16_memory __attribute__((vector_size(16), aligned(2), may_alias));

/* Neighbours in memory as i32 lanes. g++ makes several instructions of the generic conversion. */
#if defined(__AVX2__) && !defined(__clang__)
TC_INLINE tc_i8x16 tc_bytes(tc_u64_t word) {
    typedef long long pair __attribute__((vector_size(16)));
    pair both = {(long long)word, 0};
    return (tc_i8x16)both;
}
TC_INLINE tc_i32 tc_widen_i8(tc_i8x8 x) { return __builtin_ia32_pmovsxbd256(tc_bytes((tc_u64_t)x)); }
TC_INLINE tc_i32 tc_widen_u8(tc_u8x8 x) { return __builtin_ia32_pmovzxbd256(tc_bytes((tc_u64_t)x)); }
TC_INLINE tc_i32 tc_widen_i16(tc_i16x8 x) { return __builtin_ia32_pmovsxwd256(x); }
TC_INLINE tc_i32 tc_widen_u16(tc_u16x8 x) { return __builtin_ia32_pmovzxwd256((tc_i16x8)x); }
#else
TC_INLINE tc_i32 tc_widen_i8(tc_i8x8 x) { return __builtin_convertvector(x, tc_i32); }
TC_INLINE tc_i32 tc_widen_u8(tc_u8x8 x) { return __builtin_convertvector(x, tc_i32); }
TC_INLINE tc_i32 tc_widen_i16(tc_i16x8 x) { return __builtin_convertvector(x, tc_i32); }
TC_INLINE tc_i32 tc_widen_u16(tc_u16x8 x) { return __builtin_convertvector(x, tc_i32); }
#endif

/* The low bytes, or the low halves, of the lanes. */
#define TC_LOW_BYTES(x) __builtin_shufflevector(x, x, 0, 4, 8, 12, 16, 20, 24, 28)
#define TC_LOW_HALVES(x) __builtin_shufflevector(x, x, 0, 2, 4, 6, 8, 10, 12, 14)
TC_INLINE tc_i8x8 tc_narrow_i8(tc_i32 v) { return TC_LOW_BYTES((tc_i8x32)v); }
TC_INLINE tc_u8x8 tc_narrow_u8(tc_i32 v) { return TC_LOW_BYTES((tc_u8x32)v); }
TC_INLINE tc_i16x8 tc_narrow_i16(tc_i32 v) { return TC_LOW_HALVES((tc_i16x16)v); }
TC_INLINE tc_u16x8 tc_narrow_u16(tc_i32 v) { return TC_LOW_HALVES((tc_u16x16)v); }
#undef TC_LOW_BYTES
#undef TC_LOW_HALVES

TC_INLINE tc_i32 tc_wrap_i8(tc_i32 x) { return (tc_i32)((tc_u32)x << 24) >> 24; }
TC_INLINE tc_i32 tc_wrap_i16(tc_i32 x) { return (tc_i32)((tc_u32)x << 16) >> 16; }
TC_INLINE tc_i32 tc_wrap_u8(tc_i32 x) { return x & 0xff; }
TC_INLINE tc_i32 tc_wrap_u16(tc_i32 x) { return x & 0xffff; }

TC_INLINE tc_i32 tc_clamp_i32(tc_i32 x, tc_i32_t low, tc_i32_t high) {
    return tc_minimum_i32(tc_maximum_i32(x, tc_splat_i32(low)), tc_splat_i32(high));
}
TC_INLINE tc_i32 tc_clamp_i8(tc_i32 x) { return tc_clamp_i32(x, -128, 127); }
TC_INLINE tc_i32 tc_clamp_i16(tc_i32 x) { return tc_clamp_i32(x, -32768, 32767); }
TC_INLINE tc_i32 tc_clamp_u8(tc_i32 x) { return tc_clamp_i32(x, 0, 255); }
TC_INLINE tc_i32 tc_clamp_u16(tc_i32 x) { return tc_clamp_i32(x, 0, 65535); }

/* Bits of f16 to f32 lanes and back, and f32 lanes rounded to f16. Without instructions for it: f16 and f32 differ by
 * 112 in their exponents, and below 2^-14, where f16 has a fixed unit of 2^-24, adding 1/2 rounds to that unit. */
#if defined(__F16C__)
TC_INLINE tc_f32 tc_of_bits_f16(tc_u16x8 bits) { return __builtin_ia32_vcvtph2ps256((tc_i16x8)bits); }
TC_INLINE tc_u16x8 tc_to_bits_f16(tc_f32 x) { return (tc_u16x8)__builtin_ia32_vcvtps2ph256(x, 0); }
TC_INLINE tc_f32 tc_round_f16(tc_f32 x) { return tc_of_bits_f16(tc_to_bits_f16(x)); }
#else
TC_INLINE tc_f32 tc_of_bits_f16(tc_u16x8 bits) {
    tc_i32 wide = tc_widen_u16(bits), magnitude = wide & 0x7fff;
    tc_i32 number = (tc_i32)((tc_f32)(magnitude << 13) * 0x1p112f);
    tc_i32 special = (tc_i32)(magnitude >= 0x7c00) & 0x7f800000;
    return (tc_f32)(number | special | (tc_i32)((tc_u32)(wide & 0x8000) << 16));
}
TC_INLINE tc_u16x8 tc_to_bits_f16(tc_f32 x) {
    tc_i32 magnitude = tc_magnitude_f32(x), sign = ((tc_i32)x >> 16) & 0x8000;
    tc_i32 number = (tc_i32)((tc_f32)magnitude * 0x1p-112f) >> 13;
    tc_i32 special = 0x7c00 | ((tc_i32)(magnitude > 0x7f800000) & 0x200);
    return tc_narrow_u16(sign | tc_where_i32((tc_bool)(magnitude >= 0x7f800000), special, number));
}
TC_INLINE tc_f32 tc_round_f16(tc_f32 x) {
    tc_i32 magnitude = tc_magnitude_f32(x), sign = (tc_i32)x & (-0x7fffffff - 1);
    tc_i32 normal = (magnitude + 0xfff + ((magnitude >> 13) & 1)) & ~0x1fff;
    tc_i32 small = (tc_i32)(((tc_f32)magnitude + 0.5f) - 0.5f);
    tc_i32 number = tc_where_i32((tc_bool)(magnitude < 0x38800000), small, normal);
    number = tc_where_i32((tc_bool)(number >= 0x47800000), tc_splat_i32(0x7f800000), number);
    number = tc_where_i32((tc_bool)(magnitude > 0x7f800000), magnitude | 0x400000, number);
    return (tc_f32)(sign | number);
}
#endif

TC_INLINE tc_f32 tc_of_bits_bf16(tc_u16x8 bits) { return (tc_f32)((tc_u32)tc_widen_u16(bits) << 16); }
TC_INLINE tc_u16x8 tc_to_bits_bf16(tc_f32 x) { return tc_narrow_u16((tc_i32)((tc_u32)x >> 16)); }
TC_INLINE tc_f32 tc_round_bf16(tc_f32 x) {
    tc_u32 bits = (tc_u32)x;
    tc_i32 number = (tc_i32)(bits + 0x7fff + ((bits >> 16) & 1));
    return (tc_f32)(tc_where_i32((tc_bool)(x == x), number, (tc_i32)bits | 0x400000) & -0x10000);
}

/* Splats, loads, stores, gathers and scatters, as in lanes_memory.h: of lanes V through vectors E8 of elements E. */
#define TC_NARROW_MEMORY(S, V, E, E8, memory, enter, leave)                                                    \
    TC_INLINE V tc_load_##S(const E *p) { return enter(*(const memory *)p); }                                  \
    TC_INLINE V tc_load_part_##S(const E *p, int n) {                                                          \
        E8 r = {0, 0, 0, 0, 0, 0, 0, 0};                                                                       \
        for (int i = 0; i < n; ++i) r[i] = p[i];                                                               \
        return enter(r);                                                                                       \
    }                                                                                                          \
    TC_INLINE V tc_gather_##S(const E *p, tc_i64_t s) {                                                        \
        E8 r = {p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s]};                       \
        return enter(r);                                                                                       \
    }                                                                                                          \
    TC_INLINE V tc_gather_part_##S(const E *p, tc_i64_t stride, int n) {                                       \
        E8 r = {0, 0, 0, 0, 0, 0, 0, 0};                                                                       \
        for (int i = 0; i < n; ++i) r[i] = p[i * stride];                                                      \
        return enter(r);                                                                                       \
    }                                                                                                          \
    TC_INLINE void tc_store_##S(E *p, V v) { *(memory *)p = leave(v); }                                        \
    TC_INLINE void tc_store_part_##S(E *p, V v, int n) {                                                       \
        E8 r = leave(v);                                                                                       \
        for (int i = 0; i < n; ++i) p[i] = r[i];                                                               \
    }                                                                                                          \
    TC_INLINE void tc_store_first_##S(E *p, V v) { *p = leave(v)[0]; }                                         \
    TC_INLINE void tc_scatter_part_##S(E *p, tc_i64_t stride, V v, int n) {                                    \
        E8 r = leave(v);                                                                                       \
        for (int i = 0; i < n; ++i) p[i * stride] = r[i];                                                      \
    }                                                                                                          \
    TC_INLINE void tc_scatter_##S(E *p, tc_i64_t stride, V v) { tc_scatter_part_##S(p, stride, v, 8); }
TC_NARROW_MEMORY(i8, tc_i32, tc_i8_t, tc_i8x8, tc_i8_memory, tc_widen_i8, tc_narrow_i8)
TC_NARROW_MEMORY(u8, tc_i32, tc_u8_t, tc_u8x8, tc_u8_memory, tc_widen_u8, tc_narrow_u8)
TC_NARROW_MEMORY(i16, tc_i32, tc_i16_t, tc_i16x8, tc_i16_memory, tc_widen_i16, tc_narrow_i16)
TC_NARROW_MEMORY(u16, tc_i32, tc_u16_t, tc_u16x8, tc_u16_memory, tc_widen_u16, tc_narrow_u16)
TC_NARROW_MEMORY(f16, tc_f32, tc_u16_t, tc_u16x8, tc_u16_memory, tc_of_bits_f16, tc_to_bits_f16)
TC_NARROW_MEMORY(bf16, tc_f32, tc_u16_t, tc_u16x8, tc_u16_memory, tc_of_bits_bf16, tc_to_bits_bf16)
#undef TC_NARROW_MEMORY

TC_INLINE tc_i32 tc_splat_i8(tc_i8_t x) { return tc_splat_i32(x); }
TC_INLINE tc_i32 tc_splat_i16(tc_i16_t x) { return tc_splat_i32(x); }
TC_INLINE tc_i32 tc_splat_u8(tc_u8_t x) { return tc_splat_i32(x); }
TC_INLINE tc_i32 tc_splat_u16(tc_u16_t x) { return tc_splat_i32(x); }
/* A number, which a caller may pass with more bits than the type has, and an element of memory. */
TC_INLINE tc_f32 tc_splat_f16(float x) { return tc_round_f16(tc_splat_f32(x)); }
TC_INLINE tc_f32 tc_splat_bf16(float x) { return tc_round_bf16(tc_splat_f32(x)); }
TC_INLINE tc_u16x8 tc_same_bits(tc_u16_t x) { tc_u16x8 r = {x, x, x, x, x, x, x, x}; return r; }
TC_INLINE tc_f32 tc_splat_bits_f16(tc_u16_t x) { return tc_of_bits_f16(tc_same_bits(x)); }
TC_INLINE tc_f32 tc_splat_bits_bf16(tc_u16_t x) { return tc_of_bits_bf16(tc_same_bits(x)); }

/* Where the nearest f32 is even and not x, x lies between it and an odd neighbour. */
TC_INLINE tc_f32 tc_odd_f64_f32(tc_f64 x) {
    tc_f32 nearest = tc_cast_f64_f32(x);
    tc_f64 back = tc_cast_f32_f64(nearest);
    tc_bool inexact = tc_not_equal_f64(back, x) & tc_equal_f64(x, x);
    tc_bool even = (tc_bool)(((tc_i32)nearest & 1) == 0), above = tc_greater_f64(tc_abs_f64(back), tc_abs_f64(x));
    return (tc_f32)((tc_i32)nearest + ((above | 1) & inexact & even));
}
/* From 2^53 on the low 11 bits become one, which tells whether any was set. */
TC_INLINE tc_i64x4 tc_sticky(tc_i64x4 x, tc_i64x4 large) {
    tc_i64x4 rest = (tc_i64x4)((x & 0x7ff) != 0) & 0x800;
    return tc_where_i64x4(large, (x & ~0x7ffLL) | rest, x);
}
TC_INLINE tc_i64x4 tc_beyond_f64(tc_i64x4 x) {
    return (tc_i64x4)((((tc_u64x4)x + 0x20000000000000u) >> 54) != 0);
}
TC_INLINE tc_f64 tc_odd_i64_f64(tc_i64 x) {
    tc_i64 exact = {tc_sticky(x.lo, tc_beyond_f64(x.lo)), tc_sticky(x.hi, tc_beyond_f64(x.hi))};
    return tc_cast_i64_f64(exact);
}

#endif
