/* erfc and powers of f64 lanes, within 2 ulp, C Annex F special values. In the manner of elementary_f64.h. */
#ifndef TC_ELEMENTARY_POWER_F64_H
#define TC_ELEMENTARY_POWER_F64_H

#include "elementary_pairs_f64.h"

TC_CONST double tcd_erfc_near_p[11] = {
    0x1.06eba8214db68p-3, -0x1.812746b0379cp-2, 0x1.ce2f21a0411d2p-4, -0x1.b82ce31204a74p-6,
    0x1.565bccf6ed4e4p-8, -0x1.c02daedcc7fep-11, 0x1.f9a26d37954b9p-14, -0x1.f4c11395d0f84p-17,
    0x1.b8d8846f4870bp-20, -0x1.54f789b3b3d86p-23, 0x1.82e68d1991f52p-27};
TC_CONST double tcd_erfc_far_p[22] = {
    -0x1.169ba4580a04dp-6, -0x1.1df1ad154a28dp-3, 0x1.f7f5df66fd75bp-7, 0x1.16ecefcfa5241p-4,
    -0x1.9ddb23c3e8d16p-4, 0x1.7fee004e16363p-4, -0x1.0fb06dfe50a32p-4, 0x1.3079edf5dbfap-5,
    -0x1.0962388332cbfp-6, 0x1.49c672c3d8869p-8, -0x1.8d4a9c271b156p-11, -0x1.a1df5c9ccad5ep-13,
    0x1.3be07394c541cp-13, -0x1.99517469f36dbp-16, -0x1.7891f467f1b2bp-17, 0x1.7ecdccc91152ap-18,
    0x1.3dc688167da9fp-22, -0x1.b5d70ba710d2cp-21, 0x1.2ed6a26fac79bp-24, 0x1.aaea31aa9568ap-24,
    -0x1.d542d76e61207p-27, -0x1.14a7eb8c4b8ccp-27};
TC_CONST double tcd_two_thirds[2] = {
    0x1.5555555555555p-1, 0x1.5555555555555p-55};
TC_CONST double tcd_log_long_p[8] = {
    0x1.9999999999996p-2, 0x1.2492492492f4fp-2, 0x1.c71c71c596e9dp-3, 0x1.745d1829243d3p-3,
    0x1.3b1364d7952fp-3, 0x1.11206cf9acd93p-3, 0x1.de3dca95b90ccp-4, 0x1.eac2d4ee80eecp-4};

/* e^(x + low) = 2^k (1 + p); the result is p. `low` may reach 2^-44, hence its factor e^r. */
TC_INLINE tc_f64x4 tcd_exp_two(tcd_exp_reduced e, tc_f64x4 low) {
    tc_f64x4 slope = tcd_exp_slope(e.r);
    tc_f64x4 r_low = e.r_low + low;
    return tcd_fma(slope, e.r, tcd_fma(r_low, slope * e.r, r_low));
}

/* erfc(t) = 2^k p for t in [3/4, 28]: e^(-t^2) (5/4 + P(q)) / (1 + 2 t), q = (t - 4) / (t + 4). */
TC_INLINE tcd_exp_parts tcd_erfc_far(tc_f64x4 t) {
    tcd_two square = tcd_product(t, t);
    tcd_exp_reduced e = tcd_exp_reduce(-square.high);
    tcd_two power = tcd_fast_sum(tcd_splat(1.0), tcd_exp_two(e, -square.low));
    tc_f64x4 q = (t - 4.0) / (t + 4.0);
    tc_f64x4 p = tcd_horner<21>(tcd_splat(tcd_erfc_far_p[21]), q, tcd_erfc_far_p);
    tcd_two n = tcd_product_two(power, tcd_fast_sum(tcd_splat(1.25), p));
    tcd_two y = tcd_quotient(n, tcd_fast_sum(t + t, tcd_splat(1.0)));
    return {y.high + y.low, e.k_bits};
}

/* Results that may be subnormal, and NaN. */
TC_RARE void tcd_erfc_rare(tcd_rare* lanes) {
    tc_f64x4 y = tcd_scale_full(tcd_erfc_far(tcd_clamp(lanes->x, 0.75, 28.0)));
    lanes->y = lanes->rare ? y : lanes->y;
}

/* Up to 3/4, 1 - x - x Q(x^2); below -3/4, 2 - erfc(-x). */
TC_INLINE tc_f64x4 tc_erfc_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tc_f64x4 z = x * x;
    tc_f64x4 q = tcd_horner<10>(tcd_splat(tcd_erfc_near_p[10]), z, tcd_erfc_near_p);
    tcd_two one = tcd_fast_sum(tcd_splat(1.0), -x);
    tc_f64x4 near = one.high + tcd_fma(-x, q, one.low);
    tc_f64x4 far = tcd_scale(tcd_erfc_far(tcd_clamp(t, 0.75, 26.0)));
    tc_f64x4 y = x < 0.0 ? 2.0 - far : far;
    y = t < 0.75 ? near : y;
    tc_i64x4 rare = ((t > 26.0) & ~(x < 0.0)) | (x != x);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_erfc_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_INLINE tc_f64 tc_erfc_f64(tc_f64 x) { return {tc_erfc_f64x4(x.lo), tc_erfc_f64x4(x.hi)}; }

/* log(x) + k_extra ln(2) in two words to about 65 bits, x positive and normal: with s = f / (2 + f) in two
 * words, log(1 + f) = s (2 + s^2 (2/3 + s^2 R(s^2))). */
TC_INLINE tcd_two tcd_log_two(tc_f64x4 x, tc_f64x4 k_extra) {
    tc_i64x4 e = tcd_log_exponent(x);
    tc_f64x4 k = tcd_exponent_value(e) + k_extra;
    tc_f64x4 f = (tc_f64x4)((tc_i64x4)x - e) - 1.0;
    tcd_two s = tcd_quotient({f, tcd_splat(0.0)}, tcd_fast_sum(tcd_splat(2.0), f));
    s = tcd_fast_sum(s.high, s.low);
    tcd_two z = tcd_product_two(s, s);
    tc_f64x4 tail = z.high * tcd_horner<7>(tcd_splat(tcd_log_long_p[7]), z.high, tcd_log_long_p);
    tcd_two r = tcd_fast_sum(tcd_splat(tcd_two_thirds[0]), tail);
    r.low = r.low + tcd_two_thirds[1];
    tcd_two c = tcd_product_two(z, r);
    tcd_two w = tcd_fast_sum(tcd_splat(2.0), c.high);
    w.low = w.low + c.low;
    tcd_two m = tcd_product_two(s, w);
    tcd_two base = tcd_product(k, tcd_splat(tcd_ln2[0]));
    base.low = tcd_fma(k, tcd_splat(tcd_ln2[1]), base.low);
    tcd_two sum = tcd_fast_sum(base.high, m.high);
    return tcd_fast_sum(sum.high, sum.low + (base.low + m.low));
}

/* |a|^b of Annex F in every case; 1^b and a^0 are 1. */
TC_INLINE tc_f64x4 tcd_power_magnitude(tc_f64x4 a, tc_f64x4 b) {
    tc_f64x4 t = tcd_abs(a);
    tc_i64x4 subnormal = t < 0x1p-1022;
    tc_f64x4 infinity = tcd_splat(__builtin_inf());
    tcd_two l = tcd_log_two(subnormal ? t * 0x1p54 : t, subnormal ? tcd_splat(-54.0) : tcd_splat(0.0));
    tc_i64x4 special = (t == 0.0) | (t == infinity);
    l.high = special ? (t == 0.0 ? -infinity : infinity) : l.high;
    tc_f64x4 p = b * l.high;
    tc_i64x4 inside = tcd_abs(p) < 800.0;
    tc_f64x4 low = inside ? tcd_fma(b, l.low, tcd_fma(b, l.high, -p)) : tcd_splat(0.0);
    tcd_exp_reduced e = tcd_exp_reduce(tcd_clamp(p, -800.0, 800.0));
    tc_f64x4 y = tcd_scale_full({1.0 + tcd_exp_two(e, low), e.k_bits});
    y = ((t != t) | (b != b)) ? tcd_splat(__builtin_nan("")) : y;
    tc_i64x4 one = (b == 0.0) | (a == 1.0) | ((a == -1.0) & (b == b));
    return one ? tcd_splat(1.0) : y;
}

TC_RARE void tcd_power_rare(tcd_rare_two* lanes) {
    tc_f64x4 a = lanes->a;
    tc_f64x4 t = tcd_abs(lanes->b);
    tc_i64x4 exact = t < 0x1p52;
    tc_i64x4 whole = ~exact | ((t + 0x1p52) - 0x1p52 == t);
    tc_i64x4 last_bit = (tc_i64x4)(exact ? t + 0x1p52 : t) << 63;
    tc_i64x4 odd = whole & (t < 0x1p53) & (last_bit < 0);
    tc_f64x4 y = tcd_power_magnitude(a, lanes->b);
    y = (tc_f64x4)((tc_i64x4)y ^ (tcd_sign_bit(a) & odd));
    tc_i64x4 outside = (a < 0.0) & (a > -__builtin_inf()) & ~whole;
    y = outside ? tcd_splat(__builtin_nan("")) : y;
    lanes->y = lanes->rare ? y : lanes->y;
}

/* e^(b log(a)), the product in two words. */
TC_INLINE tc_f64x4 tc_power_f64x4(tc_f64x4 a, tc_f64x4 b) {
    tcd_two l = tcd_log_two(a, tcd_splat(0.0));
    tc_f64x4 p = b * l.high;
    tcd_exp_reduced e = tcd_exp_reduce(p);
    tc_f64x4 low = tcd_fma(b, l.low, tcd_fma(b, l.high, -p));
    tc_f64x4 y = tcd_scale({1.0 + tcd_exp_two(e, low), e.k_bits});
    tc_i64x4 rare = tcd_outside(a, 0x0010000000000000u, 0x7ff0000000000000u) | tcd_beyond(p, 708.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare_two lanes = {a, b, y, rare};
        tcd_power_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_INLINE tc_f64 tc_power_f64(tc_f64 a, tc_f64 b) {
    return {tc_power_f64x4(a.lo, b.lo), tc_power_f64x4(a.hi, b.hi)};
}

#endif
