/* Eight f64 lanes (tcf_d) inside f32 functions: what cancels or needs two words of float is plain there.
 *
 * One 64-byte vector with AVX-512, otherwise two of 32 side by side. A result goes back to f32 with one rounding,
 * which also makes subnormal results and overflow.
 */
#ifndef TC_ELEMENTARY_DOUBLE_H
#define TC_ELEMENTARY_DOUBLE_H

#include "elementary_f32.h"
#include "elementary_more_tables.h"

#if defined(TCF_512)
typedef double tcf_d __attribute__((vector_size(64)));
typedef tc_i64_t tcf_d_bits __attribute__((vector_size(64)));

TC_INLINE tcf_d tcf_splat_d(double c) { return (tcf_d){c, c, c, c, c, c, c, c}; }
TC_INLINE tcf_d_bits tcf_bits(tcf_d x) { return (tcf_d_bits)x; }
TC_INLINE tcf_d tcf_double(tcf_d_bits x) { return (tcf_d)x; }
TC_INLINE tcf_d tcf_fma_d(tcf_d a, tcf_d b, tcf_d c) { return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4); }
#if defined(__clang__)
TC_INLINE tcf_d tcf_sqrt_d(tcf_d x) { return __builtin_ia32_sqrtpd512(x, 4); }
TC_INLINE tcf_d tcf_widen_all(tc_f32 x) { return __builtin_convertvector(x, tcf_d); }
TC_INLINE tc_f32 tcf_narrow_all(tcf_d x) { return __builtin_convertvector(x, tc_f32); }
#else
TC_INLINE tcf_d tcf_sqrt_d(tcf_d x) { return __builtin_ia32_sqrtpd512_mask(x, x, -1, 4); }
TC_INLINE tcf_d tcf_widen_all(tc_f32 x) { return __builtin_ia32_cvtps2pd512_mask(x, (tcf_d){}, -1, 4); }
TC_INLINE tc_f32 tcf_narrow_all(tcf_d x) { return __builtin_ia32_cvtpd2ps512_mask(x, (tc_f32){}, -1, 4); }
#endif
#else
typedef tcf_two<tc_f64x4> tcf_d;
typedef tcf_two<tc_i64x4> tcf_d_bits;

TC_INLINE tcf_d tcf_splat_d(double c) { return {tcf_splat_wide(c), tcf_splat_wide(c)}; }
TC_INLINE tcf_d_bits tcf_bits(tcf_d x) { return {(tc_i64x4)x.lo, (tc_i64x4)x.hi}; }
TC_INLINE tcf_d tcf_double(tcf_d_bits x) { return {(tc_f64x4)x.lo, (tc_f64x4)x.hi}; }
TC_INLINE tcf_d tcf_fma_d(tcf_d a, tcf_d b, tcf_d c) {
    return {tcf_fma_wide(a.lo, b.lo, c.lo), tcf_fma_wide(a.hi, b.hi, c.hi)};
}
#if defined(__AVX__)
TC_INLINE tc_f64x4 tcf_sqrt_wide(tc_f64x4 x) { return __builtin_ia32_sqrtpd256(x); }
#else
TC_INLINE tc_f64x4 tcf_sqrt_wide(tc_f64x4 x) {
    for (int i = 0; i < 4; i++) x[i] = __builtin_sqrt(x[i]);
    return x;
}
#endif
TC_INLINE tcf_d tcf_sqrt_d(tcf_d x) { return {tcf_sqrt_wide(x.lo), tcf_sqrt_wide(x.hi)}; }
TC_INLINE tcf_d tcf_widen_all(tc_f32 x) { return {tcf_widen_low(x), tcf_widen_high(x)}; }
TC_INLINE tc_f32 tcf_narrow_all(tcf_d x) { return tcf_narrow(x.lo, x.hi); }
#endif

TC_INLINE tcf_d tcf_fma_d(tcf_d a, tcf_d b, double c) { return tcf_fma_d(a, b, tcf_splat_d(c)); }
TC_INLINE tcf_d tcf_fma_d(tcf_d a, double b, tcf_d c) { return tcf_fma_d(a, tcf_splat_d(b), c); }
TC_INLINE tcf_d tcf_fma_d(tcf_d a, double b, double c) { return tcf_fma_d(a, tcf_splat_d(b), tcf_splat_d(c)); }

/* a > b ? x : y and a == b ? x : y. */
template <typename T> TC_INLINE T tcf_where_above(T a, T b, T x, T y) { return a > b ? x : y; }
template <typename T>
TC_INLINE tcf_two<T> tcf_where_above(tcf_two<T> a, tcf_two<T> b, tcf_two<T> x, tcf_two<T> y) {
    return {a.lo > b.lo ? x.lo : y.lo, a.hi > b.hi ? x.hi : y.hi};
}
template <typename T> TC_INLINE T tcf_where_same(T a, T b, T x, T y) { return a == b ? x : y; }
template <typename T>
TC_INLINE tcf_two<T> tcf_where_same(tcf_two<T> a, tcf_two<T> b, tcf_two<T> x, tcf_two<T> y) {
    return {a.lo == b.lo ? x.lo : y.lo, a.hi == b.hi ? x.hi : y.hi};
}

/* x between the limits; NaN stays. */
TC_INLINE tcf_d tcf_clamp_d(tcf_d x, double low, double high) {
    x = tcf_where_above(x, tcf_splat_d(high), tcf_splat_d(high), x);
    return tcf_where_above(tcf_splat_d(low), x, tcf_splat_d(low), x);
}

/* c[0] + x (c[1] + x (...)). */
template <int count> TC_INLINE tcf_d tcf_horner_d(tcf_d x, const double (&c)[count]) {
    tcf_d p = tcf_fma_d(x, c[count - 1], c[count - 2]);
#pragma GCC unroll 16
    for (int i = count - 3; i >= 0; i--) p = tcf_fma_d(p, x, c[i]);
    return p;
}

/* x = n unit + r; the low bits of n_bits are those of n. */
struct tcf_split_d { tcf_d r; tcf_d_bits n_bits; };

/* x 2^n. NaN stays: the low bits of one that comes from f32 or from an operation are 0. */
TC_INLINE tcf_d tcf_scale_d(tcf_d x, tcf_d_bits n_bits) { return tcf_double(tcf_bits(x) + (n_bits << 52)); }

TC_INLINE tcf_split_d tcf_exp_split_d(tcf_d x) {
    tcf_d magic = tcf_fma_d(x, tcf_log2e_wide[0], TCF_ROUND_WIDE);
    return {tcf_fma_d(magic - TCF_ROUND_WIDE, -tcf_ln2_wide[0], x), tcf_bits(magic)};
}

/* e^x and 2^x for |x| up to 700. */
TC_INLINE tcf_d tcf_exp_d(tcf_d x) {
    tcf_split_d s = tcf_exp_split_d(x);
    return tcf_scale_d(tcf_fma_d(tcf_horner_d(s.r, tcf_exp_wide), s.r, tcf_splat_d(1.0)), s.n_bits);
}

TC_INLINE tcf_d tcf_exp2_d(tcf_d x) {
    tcf_d magic = x + TCF_ROUND_WIDE;
    tcf_d r = x - (magic - TCF_ROUND_WIDE);
    return tcf_scale_d(tcf_fma_d(tcf_horner_d(r, tcf_exp2_wide), r, tcf_splat_d(1.0)), tcf_bits(magic));
}

/* erfc(a) = e^(-a^2) w P(1 - 6 w), w = 1 / (a + 3), for a of a float between 0 and 11: a^2 is exact. */
TC_INLINE tcf_d tcf_erfc_tail_d(tcf_d a) {
    tcf_d w = tcf_splat_d(1.0) / (a + 3.0);
    return tcf_exp_d(-(a * a)) * (w * tcf_horner_d(tcf_fma_d(w, -6.0, 1.0), tcf_erfc_wide));
}

/* log(1 + w) for 0 <= w < 2^130. A float of (1 + w) / 16 gives k and the piece of elementary_f32.h. */
TC_INLINE tcf_d tcf_log1p_d(tcf_d w) {
    tc_i32 bits = tcf_bits(tcf_narrow_all((w + 1.0) * 0.0625)) - TCF_LOG_FIRST;
    tc_i32 piece = bits >> 20;
    tc_f32 scaled = tcf_float(tcf_bits(tcf_lookup(tcf_log_inverse, piece)) - (bits & TCF_EXPONENT_FIELD));
    tcf_d inverse = tcf_widen_all(scaled) * 0.0625;
    tcf_d r = tcf_fma_d(w, inverse, inverse - 1.0);
    tcf_d k = tcf_widen_all(tcf_convert((bits >> 23) + 4));
    tcf_d base = tcf_fma_d(k, tcf_ln2_wide[0], tcf_widen_all(tcf_lookup(tcf_log_value, piece)));
    return base + tcf_fma_d(tcf_horner_d(r, tcf_log_wide), r * r, r);
}

/* log2(x) for x > 0, to 2^-36 of its value; x = 0, infinity and NaN as in C. */
TC_INLINE tcf_d tcf_log2_d(tc_f32 x) {
    tc_bool subnormal = x < 0x1p-126f;
    tc_f32 normal = subnormal ? x * 0x1p23f : x;
    tc_i32 bits = tcf_bits(normal) - TCF_LOG_FIRST;
    tc_i32 piece = bits >> 20;
    tcf_d m = tcf_widen_all(tcf_float(tcf_bits(normal) - (bits & TCF_EXPONENT_FIELD)));
    tcf_d r = tcf_fma_d(m, tcf_widen_all(tcf_lookup(tcf_log_inverse, piece)), -1.0);
    tc_f32 k = tcf_convert((bits >> 23) + (subnormal & -23)) + tcf_lookup(tcf_log2_value, piece);
    k = x == 0.0f ? tcf_fill(x, -__builtin_inff()) : k;
    k = x < __builtin_inff() ? k : x;
    tcf_d base = tcf_widen_all(k) + tcf_widen_all(tcf_lookup(tcf_log2_value_low, piece));
    return base + tcf_horner_d(r, tcf_log2_wide) * r;
}

#endif
