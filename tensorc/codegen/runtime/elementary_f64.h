/* Elementary functions of f64 lanes, within 2 ulp (most within 1), C Annex F special values.
 *
 * Each is written for four lanes (tc_exp_f64x4); tc_exp_f64 applies it to both halves of eight. The value of a
 * lane depends on that lane's argument alone, and every operation is an IEEE operation or an explicit fma, so
 * the bits are the same for every compiler and optimisation level. Arguments that need more than the straight
 * line (overflow, subnormals, huge angles) go through one out-of-line routine a vector.
 * tools/coefficients.py prints the constants; docs/numerics_functions.md records the errors.
 */
#ifndef TC_ELEMENTARY_F64_H
#define TC_ELEMENTARY_F64_H

#include "vectors.h"

/* Vectors pass by value only between functions of this unit. Not popped: compilers report at the call. */
#pragma GCC diagnostic ignored "-Wpsabi"

#ifndef TC_CONST
#define TC_CONST static constexpr __attribute__((unused))
/* Out of line, yet `inline`: g++ -O0 keeps other unused functions. */
#define TC_RARE static inline __attribute__((noinline, cold, unused))
#endif

TC_CONST double tcd_ln2[2] = {
    0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
TC_CONST double tcd_log2e[1] = {
    0x1.71547652b82fep0};
TC_CONST double tcd_half_pi[3] = {
    0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed9p-110};
TC_CONST double tcd_inv_half_pi[1] = {
    0x1.45f306dc9c883p-1};
TC_CONST double tcd_exp_p[10] = {
    0x1.000000000000ap-1, 0x1.555555555550ep-3, 0x1.55555555507e7p-5, 0x1.1111111124732p-7,
    0x1.6c16c18427844p-10, 0x1.a01a0137195c8p-13, 0x1.a0199a39aca21p-16, 0x1.71df0ff57856dp-19,
    0x1.28ad3964d741ep-22, 0x1.ad999cd03ecadp-26};
TC_CONST double tcd_exp2_p[11] = {
    0x1.62e42fefa39efp-1, 0x1.ebfbdff82c59cp-3, 0x1.c6b08d704a0d5p-5, 0x1.3b2ab6fba11fp-7,
    0x1.5d87fe78b39efp-10, 0x1.4309130c02677p-13, 0x1.ffcbfbf9330a8p-17, 0x1.62bfcddaf02a3p-20,
    0x1.b5260cde78d7p-24, 0x1.e611a6866d16dp-28, 0x1.e80feba3f6ad2p-32};
TC_CONST double tcd_expm1_p[11] = {
    0x1p-1, 0x1.5555555555559p-3, 0x1.5555555555559p-5, 0x1.111111110f707p-7,
    0x1.6c16c16c1692cp-10, 0x1.a01a01af984d5p-13, 0x1.a01a019da42b4p-16, 0x1.71ddf94d3cb09p-19,
    0x1.27e4fb3530944p-22, 0x1.af5cd77e315c2p-26, 0x1.1f33abda24d1fp-29};
TC_CONST double tcd_log_p[7] = {
    0x1.5555555555592p-1, 0x1.999999997ff66p-2, 0x1.24924941db18ap-2, 0x1.c71c521a42094p-3,
    0x1.74663b99eff49p-3, 0x1.39a20cc5af183p-3, 0x1.2f0243a8244dep-3};
TC_CONST double tcd_sin_p[6] = {
    -0x1.5555555555548p-3, 0x1.111111110f73p-7, -0x1.a01a019be9227p-13, 0x1.71de355531a9bp-19,
    -0x1.ae5e4b904d981p-26, 0x1.5d8b5c22cde5fp-33};
TC_CONST double tcd_cos_p[6] = {
    0x1.555555555554bp-5, -0x1.6c16c16c15015p-10, 0x1.a01a019c8f27fp-16, -0x1.27e4f7f195b0bp-22,
    0x1.1ee9dbd3b378p-29, -0x1.8fa687cec88dbp-37};
TC_CONST tc_u64_t tcd_turn[20] = {
    0x0000000000000000u, 0x28be60db9391054au, 0x7f09d5f47d4d3770u, 0x36d8a5664f10e410u,
    0x7f9458eaf7aef158u, 0x6dc91b8e909374b8u, 0x01924bba82746487u, 0x3f877ac72c4a69cfu,
    0xba208d7d4baed121u, 0x3a671c09ad17df90u, 0x4e64758e60d4ce7du, 0x272117e2ef7e4a0eu,
    0xc7fe25fff7816603u, 0xfbcbc462d6829b47u, 0xdb4d9fb3c9f2c26du, 0xd3d18fd9a797fa8bu,
    0x5d49eeb1faf97c5eu, 0xcf41ce7de294a4bau, 0x9afed7ec47e35742u, 0x1580cc11bf1edaeau};

TC_INLINE tc_f64x4 tcd_splat(double c) { return (tc_f64x4){c, c, c, c}; }

#if defined(__FMA__)
TC_INLINE tc_f64x4 tcd_fma(tc_f64x4 a, tc_f64x4 b, tc_f64x4 c) { return __builtin_ia32_vfmaddpd256(a, b, c); }
#else
TC_INLINE tc_f64x4 tcd_fma(tc_f64x4 a, tc_f64x4 b, tc_f64x4 c) {
    for (int i = 0; i < 4; i++) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}
#endif

/* Horner's rule: (...(first x + c[count - 1]) x + ...) x + c[0]. */
template <int count>
TC_INLINE tc_f64x4 tcd_horner(tc_f64x4 first, tc_f64x4 x, const double* c) {
    tc_f64x4 p = tcd_fma(first, x, tcd_splat(c[count - 1]));
    if constexpr (count == 1) {
        return p;
    } else {
        return tcd_horner<count - 1>(p, x, c);
    }
}

#if defined(__AVX__)
TC_INLINE bool tcd_any(tc_i64x4 mask) { return __builtin_ia32_movmskpd256((tc_f64x4)mask) != 0; }
#else
TC_INLINE bool tcd_any(tc_i64x4 mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }
#endif

#define TCD_SIGN (-0x7fffffffffffffff - 1)

TC_INLINE tc_f64x4 tcd_abs(tc_f64x4 x) { return (tc_f64x4)((tc_i64x4)x & ~TCD_SIGN); }
TC_INLINE tc_i64x4 tcd_sign_bit(tc_f64x4 x) { return (tc_i64x4)x & TCD_SIGN; }
TC_INLINE tc_f64x4 tcd_with_sign_of(tc_f64x4 magnitude, tc_f64x4 x) {
    return (tc_f64x4)((tc_i64x4)magnitude | tcd_sign_bit(x));
}

/* True where |x| > limit or x is NaN: one integer comparison, because bits of positive numbers are in order. */
TC_INLINE tc_i64x4 tcd_beyond(tc_f64x4 x, double limit) {
    return (tc_i64x4)tcd_abs(x) > (tc_i64x4)tcd_splat(limit);
}

/* Magic addend: the sum holds the nearest integer in its low bits. */
#define TCD_ROUND 0x1.8p52
#define TCD_ROUND_BITS 0x4338000000000000

/* Argument of an out-of-line routine, which replaces y in the rare lanes. By address: without AVX, the way
 * a 32-byte vector is passed differs between compilers. */
struct tcd_rare { tc_f64x4 x, y; tc_i64x4 rare; };

/* exp(x) = 2^k e^r; `k_bits` is k + TCD_ROUND_BITS. Two words of r, |r| <= ln(2) / 2. */
struct tcd_exp_reduced { tc_f64x4 r, r_low; tc_i64x4 k_bits; };

TC_INLINE tcd_exp_reduced tcd_exp_reduce(tc_f64x4 x) {
    tc_f64x4 magic = tcd_fma(x, tcd_splat(tcd_log2e[0]), tcd_splat(TCD_ROUND));
    tc_f64x4 k = magic - TCD_ROUND;
    tc_f64x4 a = tcd_fma(k, tcd_splat(-tcd_ln2[0]), x);
    tc_f64x4 r = tcd_fma(k, tcd_splat(-tcd_ln2[1]), a);
    return {r, tcd_fma(k, tcd_splat(-tcd_ln2[1]), a - r), (tc_i64x4)magic};
}

/* (e^r - 1) / r. */
TC_INLINE tc_f64x4 tcd_exp_slope(tc_f64x4 r) {
    return tcd_fma(tcd_horner<9>(tcd_splat(tcd_exp_p[9]), r, tcd_exp_p), r, tcd_splat(1.0));
}

/* p 2^k; k_bits is k + TCD_ROUND_BITS. */
struct tcd_exp_parts { tc_f64x4 p; tc_i64x4 k_bits; };

TC_INLINE tcd_exp_parts tcd_exp_split(tc_f64x4 x) {
    tcd_exp_reduced e = tcd_exp_reduce(x);
    return {tcd_fma(tcd_exp_slope(e.r), e.r, tcd_splat(1.0)), e.k_bits};
}

TC_INLINE tcd_exp_parts tcd_exp2_split(tc_f64x4 x) {
    tc_f64x4 magic = x + TCD_ROUND;
    tc_f64x4 r = x - (magic - TCD_ROUND);
    tc_f64x4 p = tcd_horner<10>(tcd_splat(tcd_exp2_p[10]), r, tcd_exp2_p);
    return {tcd_fma(p, r, tcd_splat(1.0)), (tc_i64x4)magic};
}

TC_INLINE tc_f64x4 tcd_power_of_two(tc_i64x4 k_bits) {
    return (tc_f64x4)((k_bits << 52) + 0x3ff0000000000000);
}

/* p 2^k where the result is a normal number. */
TC_INLINE tc_f64x4 tcd_scale(tcd_exp_parts e) { return (tc_f64x4)((tc_i64x4)e.p + (e.k_bits << 52)); }

/* p 2^k for |k| up to 2044: two exact factors, so that a subnormal result is rounded once. */
TC_INLINE tc_f64x4 tcd_scale_full(tcd_exp_parts e) {
    tc_i64x4 half = (e.k_bits - TCD_ROUND_BITS) >> 1;
    return e.p * tcd_power_of_two(half) * tcd_power_of_two(e.k_bits - TCD_ROUND_BITS - half);
}

TC_INLINE tc_f64x4 tcd_clamp(tc_f64x4 x, double low, double high) {
    x = x > high ? tcd_splat(high) : x;
    return x < low ? tcd_splat(low) : x;
}

TC_INLINE tc_f64x4 tcd_exp_full(tc_f64x4 x) {
    return tcd_scale_full(tcd_exp_split(tcd_clamp(x, -746.0, 710.0)));
}

TC_RARE void tcd_exp_rare(tcd_rare* lanes) {
    lanes->y = lanes->rare ? tcd_exp_full(lanes->x) : lanes->y;
}

TC_INLINE tc_f64x4 tc_exp_f64x4(tc_f64x4 x) {
    tc_f64x4 y = tcd_scale(tcd_exp_split(x));
    tc_i64x4 rare = tcd_beyond(x, 708.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_exp_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_RARE void tcd_exp2_rare(tcd_rare* lanes) {
    tc_f64x4 full = tcd_scale_full(tcd_exp2_split(tcd_clamp(lanes->x, -1076.0, 1025.0)));
    lanes->y = lanes->rare ? full : lanes->y;
}

TC_INLINE tc_f64x4 tc_exp2_f64x4(tc_f64x4 x) {
    tc_f64x4 y = tcd_scale(tcd_exp2_split(x));
    tc_i64x4 rare = tcd_beyond(x, 1021.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_exp2_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* 1 / (1 + e^-x) is e^x where e^-x overflows. */
TC_RARE void tcd_sigmoid_rare(tcd_rare* lanes) {
    tc_f64x4 x = lanes->x > 0.0 ? tcd_splat(0.0) : lanes->x;
    lanes->y = lanes->rare ? tcd_exp_full(x) : lanes->y;
}

/* 1 + e^-x = (1 + 2^k) + 2^k (e^r - 1) in two words, and a reciprocal corrected by its remainder. */
TC_INLINE tc_f64x4 tc_sigmoid_f64x4(tc_f64x4 x) {
    tcd_exp_reduced e = tcd_exp_reduce(-x);
    tc_f64x4 s = tcd_power_of_two(e.k_bits);
    tc_f64x4 q = tcd_exp_slope(e.r) * e.r;
    tc_f64x4 base = s + 1.0;
    tc_f64x4 base_low = s - base + 1.0;
    tc_f64x4 d = tcd_fma(s, q, base);
    tc_f64x4 d_low = tcd_fma(s, q, base - d) + tcd_fma(s, e.r_low, base_low);
    tc_f64x4 y = 1.0 / d;
    tc_f64x4 rest = tcd_fma(-d_low, y, tcd_fma(-d, y, tcd_splat(1.0)));
    y = tcd_fma(y, rest, y);
    tc_i64x4 rare = tcd_beyond(x, 708.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_sigmoid_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* A sum of two words; `low` is far below `high`. */
struct tcd_two { tc_f64x4 high, low; };

/* e^x - 1 = 2^k (1 + p) - 1 with p in two words: the sum cancels to less than half of p's scale at k = 1. */
TC_INLINE tcd_two tcd_expm1_two(tc_f64x4 x) {
    tcd_exp_reduced e = tcd_exp_reduce(x);
    tc_f64x4 q = tcd_horner<10>(tcd_splat(tcd_expm1_p[10]), e.r, tcd_expm1_p);
    tc_f64x4 t = e.r * e.r * q;
    tc_f64x4 p = e.r + t;
    tc_f64x4 p_low = (e.r - p) + t + e.r_low;
    tc_f64x4 s = tcd_power_of_two(e.k_bits);
    tc_f64x4 base = s - 1.0;
    tc_f64x4 base_low = s - base - 1.0;
    tc_f64x4 high = tcd_fma(s, p, base);
    return {high, tcd_fma(s, p_low, tcd_fma(s, p, base - high) + base_low)};
}

TC_RARE void tcd_expm1_rare(tcd_rare* lanes) {
    tc_f64x4 full = lanes->x < 0.0 ? tcd_splat(-1.0) : tcd_exp_full(lanes->x);
    lanes->y = lanes->rare ? full : lanes->y;
}

TC_INLINE tc_f64x4 tc_expm1_f64x4(tc_f64x4 x) {
    tcd_two e = tcd_expm1_two(x);
    tc_f64x4 y = tcd_with_sign_of(e.high + e.low, x);
    tc_i64x4 rare = tcd_beyond(x, 708.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_expm1_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* e / (e + 2) with e = e^2t - 1 in two words; tanh(22) is 1. */
TC_INLINE tc_f64x4 tc_tanh_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    t = t > 22.0 ? tcd_splat(22.0) : t;
    tcd_two e = tcd_expm1_two(t + t);
    tc_f64x4 d = e.high + 2.0;
    tc_f64x4 from_high = d - 2.0;
    tc_f64x4 d_low = (e.high - from_high) + (2.0 - (d - from_high)) + e.low;
    tc_f64x4 reciprocal = 1.0 / d;
    tc_f64x4 y = e.high * reciprocal;
    tc_f64x4 rest = tcd_fma(-y, d, e.high) + tcd_fma(-y, d_low, e.low);
    return tcd_with_sign_of(tcd_fma(rest, reciprocal, y), x);
}

/* k ln(2) + log(1 + f) + low, 1 + f in [sqrt(1/2), sqrt(2)]: with s = f / (2 + f) and h = f^2 / 2,
 * log(1 + f) = f - h + s (h + s^2 R(s^2)). */
TC_INLINE tcd_two tcd_log_sum_two(tc_f64x4 k, tc_f64x4 f, tc_f64x4 low) {
    tc_f64x4 s = f / (2.0 + f);
    tc_f64x4 z = s * s;
    tc_f64x4 r = z * tcd_horner<6>(tcd_splat(tcd_log_p[6]), z, tcd_log_p);
    tc_f64x4 h = 0.5 * f * f;
    tc_f64x4 high = tcd_fma(k, tcd_splat(tcd_ln2[0]), f);
    low = tcd_fma(k, tcd_splat(tcd_ln2[0]), -high) + f + low;
    return {high, low + tcd_fma(k, tcd_splat(tcd_ln2[1]), tcd_fma(s, h + r, -h))};
}

TC_INLINE tc_f64x4 tcd_log_sum(tc_f64x4 k, tc_f64x4 f, tc_f64x4 low) {
    tcd_two sum = tcd_log_sum_two(k, f, low);
    return sum.high + sum.low;
}

/* Exponent field of x's power of two: x / 2^k lies in [sqrt(1/2), sqrt(2)). */
TC_INLINE tc_i64x4 tcd_log_exponent(tc_f64x4 x) {
    return ((tc_i64x4)x - 0x3fe6a09e667f3bcd) & (TCD_SIGN >> 11);
}

/* The exponent field as a number, through the low bits of 2^52: AVX2 converts no 64-bit integers. */
TC_INLINE tc_f64x4 tcd_exponent_value(tc_i64x4 field) {
    tc_u64x4 biased = ((tc_u64x4)field >> 52) ^ 0x800u;
    return (tc_f64x4)(biased | 0x4330000000000000u) - 0x1.00000000008p52;
}

TC_INLINE tc_f64x4 tcd_log_normal(tc_f64x4 x, tc_f64x4 k_extra) {
    tc_i64x4 e = tcd_log_exponent(x);
    tc_f64x4 f = (tc_f64x4)((tc_i64x4)x - e) - 1.0;
    return tcd_log_sum(tcd_exponent_value(e) + k_extra, f, tcd_splat(0.0));
}

TC_INLINE tc_f64x4 tcd_log_full(tc_f64x4 x) {
    tc_i64x4 subnormal = x < 0x1p-1022;
    tc_f64x4 k_extra = subnormal ? tcd_splat(-52.0) : tcd_splat(0.0);
    tc_f64x4 y = tcd_log_normal(subnormal ? x * 0x1p52 : x, k_extra);
    y = x >= 0.0 ? y : tcd_splat(__builtin_nan(""));
    y = x == 0.0 ? tcd_splat(-__builtin_inf()) : y;
    return x == __builtin_inf() ? x : y;
}

/* True where x is outside [low, high), for bit patterns of positive numbers; NaN and x < 0 are outside. */
TC_INLINE tc_i64x4 tcd_outside(tc_f64x4 x, tc_u64_t low, tc_u64_t high) {
    tc_i64x4 shifted = (tc_i64x4)((tc_u64x4)x + (0x8000000000000000u - low));
    return shifted >= (tc_i64_t)(0x8000000000000000u + (high - low));
}

TC_RARE void tcd_log_rare(tcd_rare* lanes) {
    lanes->y = lanes->rare ? tcd_log_full(lanes->x) : lanes->y;
}

TC_INLINE tc_f64x4 tc_log_f64x4(tc_f64x4 x) {
    tc_f64x4 y = tcd_log_normal(x, tcd_splat(0.0));
    tc_i64x4 rare = tcd_outside(x, 0x0010000000000000u, 0x7ff0000000000000u);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_log_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_RARE void tcd_log1p_rare(tcd_rare* lanes) {
    lanes->y = lanes->rare ? tcd_log_full(1.0 + lanes->x) : lanes->y;
}

/* 1 + x rounds: k comes from the rounded sum, f = x 2^-k + (2^-k - 1) from x itself, with its error. */
TC_INLINE tc_f64x4 tc_log1p_f64x4(tc_f64x4 x) {
    tc_f64x4 u = 1.0 + x;
    tc_i64x4 e = tcd_log_exponent(u);
    tc_f64x4 s = (tc_f64x4)(0x3ff0000000000000 - e);
    tc_f64x4 base = s - 1.0;
    tc_f64x4 f = tcd_fma(x, s, base);
    tc_f64x4 f_low = tcd_fma(x, s, base - f);
    f_low = tcd_fma(-f, f_low, f_low);
    tc_f64x4 y = tcd_with_sign_of(tcd_log_sum(tcd_exponent_value(e), f, f_low), x);
    tc_i64x4 rare = tcd_outside(u, 0x0010000000000000u, 0x7fb0000000000000u);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_log1p_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* An angle n pi / 2 + r + r_low; the low two bits of `n_bits` are those of n. */
struct tcd_angle { tc_f64x4 r, r_low; tc_i64x4 n_bits; };

/* Three words of pi / 2, for |x| <= 2^20: x - n P1 is exact, the next product is kept in two words. */
TC_INLINE tcd_angle tcd_reduce_angle(tc_f64x4 x) {
    tc_f64x4 magic = tcd_fma(x, tcd_splat(tcd_inv_half_pi[0]), tcd_splat(TCD_ROUND));
    tc_f64x4 n = magic - TCD_ROUND;
    tc_f64x4 a = tcd_fma(n, tcd_splat(-tcd_half_pi[0]), x);
    tc_f64x4 b = n * tcd_half_pi[1];
    tc_f64x4 b_low = tcd_fma(n, tcd_splat(tcd_half_pi[1]), -b);
    tc_f64x4 r = a - b;
    tc_f64x4 r_low = (a - r) - b - b_low;
    return {r, tcd_fma(n, tcd_splat(-tcd_half_pi[2]), r_low), (tc_i64x4)magic};
}

/* sin of an angle, whose r is at most pi / 4 in magnitude. */
TC_INLINE tc_f64x4 tcd_sin_sum(tcd_angle angle) {
    tc_f64x4 r = angle.r;
    tc_f64x4 s = r * r;
    tc_f64x4 sin_p = tcd_horner<5>(tcd_splat(tcd_sin_p[5]), s, tcd_sin_p);
    tc_f64x4 sine = r + tcd_fma(r * s, sin_p, angle.r_low);
    tc_f64x4 cos_p = tcd_horner<5>(tcd_splat(tcd_cos_p[5]), s, tcd_cos_p);
    tc_f64x4 h = 0.5 * s;
    tc_f64x4 c = 1.0 - h;
    tc_f64x4 c_low = (1.0 - c) - h;
    tc_f64x4 cosine = c + tcd_fma(s * s, cos_p, tcd_fma(-r, angle.r_low, c_low));
    tc_f64x4 y = (angle.n_bits << 63) < 0 ? cosine : sine;
    return (tc_f64x4)((tc_i64x4)y ^ ((angle.n_bits >> 1) << 63));
}

/* The angle of one lane, x >= 1 finite, by Payne and Hanek: bits of 1 / (2 pi) from where they matter. */
TC_INLINE void tcd_reduce_huge(double x, int lane, tcd_angle* angle) {
    tc_u64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    tc_u64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    unsigned offset = (unsigned)(bits >> 52) - 1075u + 64u;
    tc_u64_t window[3];
    for (unsigned i = 0; i < 3; i++) {
        const tc_u64_t* word = tcd_turn + offset / 64u + i;
        unsigned shift = offset % 64u;
        window[i] = shift == 0 ? word[0] : (word[0] << shift) | (word[1] >> (64u - shift));
    }
    unsigned __int128 last = (unsigned __int128)mantissa * window[2];
    unsigned __int128 middle = (unsigned __int128)mantissa * window[1] + (tc_u64_t)(last >> 64);
    tc_u64_t first = mantissa * window[0] + (tc_u64_t)(middle >> 64);
    tc_u64_t n = (first + 0x2000000000000000u) >> 62;
    tc_i64_t rest = (tc_i64_t)(first - (n << 62));
    tc_i64_t rest_low = rest & 2047;
    double turn_high = (double)(rest - rest_low) * 0x1p-64;
    double turn_rest = (double)rest_low * 0x1p-64 + (double)(tc_u64_t)middle * 0x1p-128;
    double turn = turn_high + turn_rest;
    double turn_low = turn_rest - (turn - turn_high);
    double r = turn * (4.0 * tcd_half_pi[0]);
    double r_low = __builtin_fma(turn, 4.0 * tcd_half_pi[0], -r);
    r_low = __builtin_fma(turn, 4.0 * tcd_half_pi[1], r_low);
    angle->r[lane] = r;
    angle->r_low[lane] = __builtin_fma(turn_low, 4.0 * tcd_half_pi[0], r_low);
    angle->n_bits[lane] = (tc_i64_t)n;
}

/* The angles of the rare lanes, x >= 1; NaN for infinity and NaN. */
TC_INLINE tcd_angle tcd_reduce_rare(const tcd_rare* lanes) {
    tcd_angle angle = {tcd_splat(0.0), tcd_splat(0.0), (tc_i64x4){}};
    for (int i = 0; i < 4; i++) {
        if (lanes->rare[i] == 0) continue;
        double x = lanes->x[i];
        if (x < __builtin_inf()) {
            tcd_reduce_huge(x, i, &angle);
        } else {
            angle.r[i] = x - x;
        }
    }
    return angle;
}

/* sin(x + quarter_turns pi / 2) in the rare lanes. */
TC_RARE void tcd_sin_rare(tcd_rare* lanes, tc_i64_t quarter_turns) {
    tcd_angle angle = tcd_reduce_rare(lanes);
    angle.n_bits += quarter_turns;
    lanes->y = lanes->rare ? tcd_sin_sum(angle) : lanes->y;
}

TC_INLINE tc_f64x4 tcd_sin_positive(tc_f64x4 t, tc_i64_t quarter_turns) {
    tcd_angle angle = tcd_reduce_angle(t);
    angle.n_bits += quarter_turns;
    tc_f64x4 y = tcd_sin_sum(angle);
    tc_i64x4 rare = tcd_beyond(t, 0x1p20);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {t, y, rare};
        tcd_sin_rare(&lanes, quarter_turns);
        return lanes.y;
    }
    return y;
}

/* Of |x|, with the sign put back: the sums above would lose that of -0. */
TC_INLINE tc_f64x4 tc_sin_f64x4(tc_f64x4 x) {
    return (tc_f64x4)((tc_i64x4)tcd_sin_positive(tcd_abs(x), 0) ^ tcd_sign_bit(x));
}

TC_INLINE tc_f64x4 tc_cos_f64x4(tc_f64x4 x) { return tcd_sin_positive(tcd_abs(x), 1); }

TC_INLINE tc_f64 tc_exp_f64(tc_f64 x) { return {tc_exp_f64x4(x.lo), tc_exp_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_exp2_f64(tc_f64 x) { return {tc_exp2_f64x4(x.lo), tc_exp2_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_expm1_f64(tc_f64 x) { return {tc_expm1_f64x4(x.lo), tc_expm1_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_log_f64(tc_f64 x) { return {tc_log_f64x4(x.lo), tc_log_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_log1p_f64(tc_f64 x) { return {tc_log1p_f64x4(x.lo), tc_log1p_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_sin_f64(tc_f64 x) { return {tc_sin_f64x4(x.lo), tc_sin_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_cos_f64(tc_f64 x) { return {tc_cos_f64x4(x.lo), tc_cos_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_tanh_f64(tc_f64 x) { return {tc_tanh_f64x4(x.lo), tc_tanh_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_sigmoid_f64(tc_f64 x) { return {tc_sigmoid_f64x4(x.lo), tc_sigmoid_f64x4(x.hi)}; }

#endif
