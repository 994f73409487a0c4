/* Powers of f64 lanes, within 2 ulp, C Annex F special values. In the manner of elementary_f64.h. */
#ifndef TC_ELEMENTARY_POWER_F64_H
#define TC_ELEMENTARY_POWER_F64_H

#include "elementary_pairs_f64.h"

TC_CONST double tcd_two_thirds[2] = {
    0x1.5555555555555p-1, 0x1.5555555555555p-55};
TC_CONST double tcd_log_long_p[8] = {
    0x1.9999999999996p-2, 0x1.2492492492f4fp-2, 0x1.c71c71c596e9dp-3, 0x1.745d1829243d3p-3,
    0x1.3b1364d7952fp-3, 0x1.11206cf9acd93p-3, 0x1.de3dca95b90ccp-4, 0x1.eac2d4ee80eecp-4};

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
