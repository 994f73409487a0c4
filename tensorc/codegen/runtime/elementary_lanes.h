/* Lanes of the f32 elementary functions: eight (tc_f32) or sixteen (tc_f32w) of them, one source for both.
 *
 * An elementary function is a long chain of dependent operations. Sixteen lanes halve the number of chains: one
 * 64-byte vector where the target has AVX-512, two 32-byte vectors side by side elsewhere, so that a core finds
 * independent work next to each other. Lanes never mix: every operation is one of each lane by itself.
 */
#ifndef TC_ELEMENTARY_LANES_H
#define TC_ELEMENTARY_LANES_H

#include "vectors.h"

/* Vectors pass by value only between functions of this unit. Not popped: compilers report at the call. */
#pragma GCC diagnostic ignored "-Wpsabi"

#ifndef TC_CONST
#define TC_CONST static constexpr __attribute__((unused))
/* Out of line, yet `inline`: g++ -O0 keeps other unused functions. */
#define TC_RARE static inline __attribute__((noinline, cold, unused))
#endif

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#define TCF_512 1
#endif

/* Two vectors side by side. */
template <typename T> struct tcf_two { T lo, hi; };

#define TCF_OPERATOR(op)                                                                                       \
    template <typename T> TC_INLINE tcf_two<T> operator op(tcf_two<T> a, tcf_two<T> b) {                       \
        return {a.lo op b.lo, a.hi op b.hi};                                                                   \
    }                                                                                                          \
    template <typename T, typename S> TC_INLINE tcf_two<T> operator op(tcf_two<T> a, S b) {                    \
        return {a.lo op b, a.hi op b};                                                                         \
    }
TCF_OPERATOR(+)
TCF_OPERATOR(-)
TCF_OPERATOR(*)
TCF_OPERATOR(/)
TCF_OPERATOR(&)
TCF_OPERATOR(|)
TCF_OPERATOR(^)
TCF_OPERATOR(<<)
TCF_OPERATOR(>>)
#undef TCF_OPERATOR
template <typename T> TC_INLINE tcf_two<T> operator-(tcf_two<T> a) { return {-a.lo, -a.hi}; }

#if defined(TCF_512)
typedef float tc_f32w __attribute__((vector_size(64)));
typedef tc_i32_t tc_i32w __attribute__((vector_size(64)));
#else
typedef tcf_two<tc_f32> tc_f32w;
typedef tcf_two<tc_i32> tc_i32w;
#endif

/* A function of the halves of sixteen lanes, where they are two vectors. */
#if defined(TCF_512)
#define TCF_BY_HALF(declaration, low, high)
#else
#define TCF_BY_HALF(declaration, low, high)                                                                    \
    TC_INLINE declaration { return {low, high}; }
#endif

TC_INLINE tc_i32 tcf_bits(tc_f32 x) { return (tc_i32)x; }
TC_INLINE tc_f32 tcf_float(tc_i32 x) { return (tc_f32)x; }
TC_INLINE tc_f32 tcf_fill(tc_f32, float c) { return (tc_f32){c, c, c, c, c, c, c, c}; }
#if defined(TCF_512)
TC_INLINE tc_i32w tcf_bits(tc_f32w x) { return (tc_i32w)x; }
TC_INLINE tc_f32w tcf_float(tc_i32w x) { return (tc_f32w)x; }
TC_INLINE tc_f32w tcf_fill(tc_f32w, float c) {
    return (tc_f32w){c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c};
}
#endif
TCF_BY_HALF(tc_i32w tcf_bits(tc_f32w x), tcf_bits(x.lo), tcf_bits(x.hi))
TCF_BY_HALF(tc_f32w tcf_float(tc_i32w x), tcf_float(x.lo), tcf_float(x.hi))
TCF_BY_HALF(tc_f32w tcf_fill(tc_f32w x, float c), tcf_fill(x.lo, c), tcf_fill(x.hi, c))

/* a * b + c, rounded once. */
#if defined(__FMA__)
TC_INLINE tc_f32 tcf_fma(tc_f32 a, tc_f32 b, tc_f32 c) { return __builtin_ia32_vfmaddps256(a, b, c); }
#else
TC_INLINE tc_f32 tcf_fma(tc_f32 a, tc_f32 b, tc_f32 c) {
    for (int i = 0; i < 8; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}
#endif
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_fma(tc_f32w a, tc_f32w b, tc_f32w c) {
    return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
}
#endif
TCF_BY_HALF(tc_f32w tcf_fma(tc_f32w a, tc_f32w b, tc_f32w c), tcf_fma(a.lo, b.lo, c.lo), tcf_fma(a.hi, b.hi, c.hi))
template <typename V> TC_INLINE V tcf_fma(V a, V b, float c) { return tcf_fma(a, b, tcf_fill(a, c)); }
template <typename V> TC_INLINE V tcf_fma(V a, float b, V c) { return tcf_fma(a, tcf_fill(a, b), c); }
template <typename V> TC_INLINE V tcf_fma(V a, float b, float c) {
    return tcf_fma(a, tcf_fill(a, b), tcf_fill(a, c));
}

/* x / 2. With AVX-512 not on the multipliers, of which elementary functions have most need. */
TC_INLINE tc_f32 tcf_halve(tc_f32 x) { return x * 0.5f; }
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_halve(tc_f32w x) {
    return __builtin_ia32_scalefps512_mask(x, tcf_fill(x, -1.0f), x, -1, 4);
}
#endif
TCF_BY_HALF(tc_f32w tcf_halve(tc_f32w x), tcf_halve(x.lo), tcf_halve(x.hi))

/* x where the lowest bit of `bits` is set, else y. */
TC_INLINE tc_f32 tcf_where_odd(tc_i32 bits, tc_f32 x, tc_f32 y) {
#if defined(__AVX__)
    return __builtin_ia32_blendvps256(y, x, (tc_f32)(bits << 31));
#else
    tc_i32 odd = -(bits & 1);
    return (tc_f32)((odd & (tc_i32)x) | (~odd & (tc_i32)y));
#endif
}
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_where_odd(tc_i32w bits, tc_f32w x, tc_f32w y) {
#if defined(__clang__)
    return (bits & 1) != 0 ? x : y;
#else
    return __builtin_ia32_blendmps_512_mask(y, x, __builtin_ia32_ptestmd512(bits, (tc_i32w){} + 1, -1));
#endif
}
#endif
TCF_BY_HALF(tc_f32w tcf_where_odd(tc_i32w bits, tc_f32w x, tc_f32w y), tcf_where_odd(bits.lo, x.lo, y.lo),
            tcf_where_odd(bits.hi, x.hi, y.hi))

/* x where the highest bit of `bits` is set, else y. */
TC_INLINE tc_f32 tcf_where_top(tc_i32 bits, tc_f32 x, tc_f32 y) {
#if defined(__AVX__)
    return __builtin_ia32_blendvps256(y, x, (tc_f32)bits);
#else
    tc_i32 set = bits >> 31;
    return (tc_f32)((set & (tc_i32)x) | (~set & (tc_i32)y));
#endif
}
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_where_top(tc_i32w bits, tc_f32w x, tc_f32w y) {
#if defined(__clang__)
    return bits < 0 ? x : y;
#else
    return __builtin_ia32_blendmps_512_mask(y, x, __builtin_ia32_cvtd2mask512(bits));
#endif
}
#endif
TCF_BY_HALF(tc_f32w tcf_where_top(tc_i32w bits, tc_f32w x, tc_f32w y), tcf_where_top(bits.lo, x.lo, y.lo),
            tcf_where_top(bits.hi, x.hi, y.hi))

/* a == b ? x : y. */
TC_INLINE tc_f32 tcf_where_equal(tc_f32 a, tc_f32 b, tc_f32 x, tc_f32 y) { return a == b ? x : y; }
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_where_equal(tc_f32w a, tc_f32w b, tc_f32w x, tc_f32w y) { return a == b ? x : y; }
#endif
TCF_BY_HALF(tc_f32w tcf_where_equal(tc_f32w a, tc_f32w b, tc_f32w x, tc_f32w y),
            tcf_where_equal(a.lo, b.lo, x.lo, y.lo), tcf_where_equal(a.hi, b.hi, x.hi, y.hi))

/* y, but +0 where x is below `floor`. */
TC_INLINE tc_f32 tcf_zero_below(tc_f32 x, float floor, tc_f32 y) {
    return (tc_f32)(~(x < tcf_fill(x, floor)) & (tc_i32)y);
}
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_zero_below(tc_f32w x, float floor, tc_f32w y) {
    return x < tcf_fill(x, floor) ? tcf_fill(x, 0) : y;
}
#endif
TCF_BY_HALF(tc_f32w tcf_zero_below(tc_f32w x, float floor, tc_f32w y), tcf_zero_below(x.lo, floor, y.lo),
            tcf_zero_below(x.hi, floor, y.hi))

/* x, but `limit` where x is above it; NaN stays. */
#if defined(__AVX__)
TC_INLINE tc_f32 tcf_at_most(tc_f32 x, float limit) { return __builtin_ia32_minps256(tcf_fill(x, limit), x); }
#else
TC_INLINE tc_f32 tcf_at_most(tc_f32 x, float limit) { return x > limit ? tcf_fill(x, limit) : x; }
#endif
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_at_most(tc_f32w x, float limit) {
#if defined(__clang__)
    return __builtin_ia32_minps512(tcf_fill(x, limit), x, 4);
#else
    return __builtin_ia32_minps512_mask(tcf_fill(x, limit), x, x, -1, 4);
#endif
}
#endif
TCF_BY_HALF(tc_f32w tcf_at_most(tc_f32w x, float limit), tcf_at_most(x.lo, limit), tcf_at_most(x.hi, limit))

/* -0 where x is below it; NaN and both zeros stay. */
#if defined(__AVX__)
TC_INLINE tc_f32 tcf_positive(tc_f32 x) { return __builtin_ia32_maxps256(tcf_fill(x, -0.0f), x); }
#else
TC_INLINE tc_f32 tcf_positive(tc_f32 x) { return x < 0.0f ? tcf_fill(x, -0.0f) : x; }
#endif
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_positive(tc_f32w x) {
#if defined(__clang__)
    return __builtin_ia32_maxps512(tcf_fill(x, -0.0f), x, 4);
#else
    return __builtin_ia32_maxps512_mask(tcf_fill(x, -0.0f), x, x, -1, 4);
#endif
}
#endif
TCF_BY_HALF(tc_f32w tcf_positive(tc_f32w x), tcf_positive(x.lo), tcf_positive(x.hi))

/* Lane i of the result is table[index[i] & 7]. */
#if defined(__AVX2__)
TC_INLINE tc_f32 tcf_lookup(const float* table, tc_i32 index) {
    tc_f32 row;
    __builtin_memcpy(&row, table, sizeof row);
    return __builtin_ia32_permvarsf256(row, index);
}
#else
TC_INLINE tc_f32 tcf_lookup(const float* table, tc_i32 index) {
    tc_f32 found;
    for (int i = 0; i < 8; i++) found[i] = table[index[i] & 7];
    return found;
}
#endif
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_lookup(const float* table, tc_i32w index) {
    tc_f32 row;
    __builtin_memcpy(&row, table, sizeof row);
    tc_f32w rows = __builtin_shufflevector(row, row, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
#if defined(__clang__)
    return __builtin_ia32_permvarsf512(rows, index);
#else
    return __builtin_ia32_permvarsf512_mask(rows, index, rows, -1);
#endif
}
#endif
TCF_BY_HALF(tc_f32w tcf_lookup(const float* table, tc_i32w index), tcf_lookup(table, index.lo),
            tcf_lookup(table, index.hi))

TC_INLINE tc_f32 tcf_convert(tc_i32 x) { return __builtin_convertvector(x, tc_f32); }
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_convert(tc_i32w x) { return __builtin_convertvector(x, tc_f32w); }
#endif
TCF_BY_HALF(tc_f32w tcf_convert(tc_i32w x), tcf_convert(x.lo), tcf_convert(x.hi))

#if defined(__AVX__)
TC_INLINE bool tcf_any(tc_i32 mask) { return __builtin_ia32_movmskps256((tc_f32)mask) != 0; }
#else
TC_INLINE bool tcf_any(tc_i32 mask) {
    tc_i64x4 words = (tc_i64x4)mask;
    return (words[0] | words[1] | words[2] | words[3]) != 0;
}
#endif

/* True if a lane is above `limit`. */
TC_INLINE bool tcf_any_above(tc_i32 x, tc_i32_t limit) { return tcf_any(x > limit); }
#if defined(TCF_512)
TC_INLINE bool tcf_any_above(tc_i32w x, tc_i32_t limit) {
    return __builtin_ia32_cmpd512_mask(x, (tc_i32w){} + limit, 6, -1) != 0;
}
#else
TC_INLINE bool tcf_any_above(tc_i32w x, tc_i32_t limit) {
#if defined(__AVX2__) && !defined(__clang__)
    return tcf_any_above((tc_i32)__builtin_ia32_pmaxsd256(x.lo, x.hi), limit);
#else
    return tcf_any_above(x.lo > x.hi ? x.lo : x.hi, limit);
#endif
}
#endif

/* True if x is below `limit` in a lane. */
TC_INLINE bool tcf_any_below(tc_f32 x, float limit) { return tcf_any(x < limit); }
#if defined(TCF_512)
TC_INLINE bool tcf_any_below(tc_f32w x, float limit) {
    return __builtin_ia32_cmpps512_mask(x, tcf_fill(x, limit), 1, -1, 4) != 0;
}
#else
TC_INLINE bool tcf_any_below(tc_f32w x, float limit) { return tcf_any((x.lo < limit) | (x.hi < limit)); }
#endif

/* True if |x| is above `limit` or NaN in a lane: integers, because the bits of positive floats are in order. */
template <typename V> TC_INLINE bool tcf_any_beyond(V x, float limit) {
    tc_i32_t bits;
    __builtin_memcpy(&bits, &limit, sizeof bits);
    return tcf_any_above(tcf_bits(x) & 0x7fffffff, bits);
}

template <typename V> TC_INLINE V tcf_abs(V x) { return tcf_float(tcf_bits(x) & 0x7fffffff); }

/* True if |x| is above `limit` or NaN in a lane that is not below `floor`. */
template <typename V> TC_INLINE bool tcf_any_beyond_from(V x, float limit, float floor) {
    tc_i32_t bits;
    __builtin_memcpy(&bits, &limit, sizeof bits);
    return tcf_any_above(tcf_bits(tcf_zero_below(x, floor, tcf_abs(x))), bits);
}
#if defined(TCF_512)
TC_INLINE bool tcf_any_beyond_from(tc_f32w x, float limit, float floor) {
    tc_i32_t bits;
    __builtin_memcpy(&bits, &limit, sizeof bits);
    auto kept = __builtin_ia32_cmpps512_mask(x, tcf_fill(x, floor), 5, -1, 4);
    return __builtin_ia32_cmpd512_mask((tc_i32w)x & 0x7fffffff, (tc_i32w){} + bits, 6, kept) != 0;
}
#endif

template <typename I> TC_INLINE I tcf_top_bit(I x) { return x & (-0x7fffffff - 1); }

/* y with its sign changed where the highest bit of `bits` is set. */
TC_INLINE tc_f32 tcf_flip_sign(tc_f32 y, tc_i32 bits) { return (tc_f32)((tc_i32)y ^ tcf_top_bit(bits)); }
#if defined(TCF_512)
TC_INLINE tc_f32w tcf_flip_sign(tc_f32w y, tc_i32w bits) {
    tc_i32w top = (tc_i32w){} + (-0x7fffffff - 1);
    return (tc_f32w)__builtin_ia32_pternlogd512_mask((tc_i32w)y, bits, top, 0x78, -1);
}
#endif
TCF_BY_HALF(tc_f32w tcf_flip_sign(tc_f32w y, tc_i32w bits), tcf_flip_sign(y.lo, bits.lo),
            tcf_flip_sign(y.hi, bits.hi))

/* One vector of sixteen lanes from two of eight, and back. g++ has no shuffle with an operand in memory. */
#if !defined(TCF_512)
TC_INLINE tc_f32w tcf_join(tc_f32 a, tc_f32 b) { return {a, b}; }
TC_INLINE tc_f32 tcf_low(tc_f32w x) { return x.lo; }
TC_INLINE tc_f32 tcf_high(tc_f32w x) { return x.hi; }
#else
TC_INLINE tc_f32 tcf_low(tc_f32w x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7); }
#if defined(__clang__)
TC_INLINE tc_f32w tcf_join(tc_f32 a, tc_f32 b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
TC_INLINE tc_f32 tcf_high(tc_f32w x) { return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15); }
#else
TC_INLINE tc_f32w tcf_join(tc_f32 a, tc_f32 b) {
    tc_f32w low = __builtin_ia32_ps512_256ps(a);
    return __builtin_ia32_insertf32x8_mask(low, b, 1, low, -1);
}
TC_INLINE tc_f32 tcf_high(tc_f32w x) { return __builtin_ia32_extractf32x8_mask(x, 1, (tc_f32){}, -1); }
#endif
#endif

#endif
