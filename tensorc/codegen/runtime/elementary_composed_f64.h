/* gelu, silu, softplus and logaddexp of f64 lanes, within 2 ulp, in the manner of elementary_f64.h. */
#ifndef TC_ELEMENTARY_COMPOSED_F64_H
#define TC_ELEMENTARY_COMPOSED_F64_H

#include "elementary_more_f64.h"

TC_CONST double tcd_gelu_near_p[10] = {
    0x1.884533d436509p-6, -0x1.1058377e2cee3p-4, 0x1.46d04297692d7p-7, -0x1.37403f6b9df4fp-10,
    0x1.e42b0d4b72fa9p-14, -0x1.3ce8f8f01b71p-17, 0x1.65899d386c4c2p-21, -0x1.620c7b570bf0dp-25,
    0x1.36539ea2ffc9ep-29, -0x1.b5d287010dc4dp-34};
TC_CONST double tcd_gelu_far_p[22] = {
    -0x1.da193c35318a4p-8, -0x1.76ff86859eb15p-4, 0x1.fc66cc64a14p-6, 0x1.47c1d03054e5p-7,
    -0x1.b08e0007b556cp-6, 0x1.92037bab3fd6p-6, -0x1.f11aab02ed857p-7, 0x1.ab6d038f7c5fp-8,
    -0x1.b75f4f8cd363bp-10, 0x1.05717465cfe28p-17, 0x1.7e61e3fd96282p-13, -0x1.c1b17f46b4ee9p-15,
    -0x1.4c0ebe8ec56aap-17, 0x1.2fff2a6101c97p-17, -0x1.2d9c9847d84f3p-24, -0x1.5ed947223f1aap-20,
    0x1.118edf5ef2f57p-23, 0x1.a2c4b9ec1e7b7p-23, -0x1.b4945fd007cb7p-26, -0x1.f4b67f52005ffp-26,
    0x1.87b43742e7e05p-29, 0x1.a9b82671b731fp-29};

/* t Q(t) = 2^k p for t in [3/4, 39], Q(t) = erfc(t / sqrt(2)) / 2: e^(-t^2 / 2) (15/32 + P(q)) / (1 + t),
 * q = (t - 5) / (t + 5). */
TC_INLINE tcd_exp_parts tcd_gelu_far(tc_f64x4 t) {
    tcd_two square = tcd_product(t, 0.5 * t);
    tcd_exp_reduced e = tcd_exp_reduce(-square.high);
    tcd_two power = tcd_fast_sum(tcd_splat(1.0), tcd_exp_two(e, -square.low));
    tc_f64x4 q = (t - 5.0) / (t + 5.0);
    tc_f64x4 p = tcd_horner<21>(tcd_splat(tcd_gelu_far_p[21]), q, tcd_gelu_far_p);
    tcd_two n = tcd_product_two(power, tcd_fast_sum(tcd_splat(0.46875), p));
    tcd_two gate = tcd_quotient(n, tcd_sum(t, tcd_splat(1.0)));
    tcd_two y = tcd_product(t, gate.high);
    return {y.high + tcd_fma(t, gate.low, y.low), e.k_bits};
}

/* Results that may be subnormal. */
TC_RARE void tcd_gelu_rare(tcd_rare* lanes) {
    tc_f64x4 y = -tcd_scale_full(tcd_gelu_far(tcd_clamp(-lanes->x, 0.75, 39.0)));
    lanes->y = lanes->rare ? y : lanes->y;
}

/* Up to 3/4, x (1/2 + x (3/8 + Q(x^2))), the sums and the product in two words. */
TC_INLINE tc_f64x4 tcd_gelu_near(tc_f64x4 x) {
    tc_f64x4 z = x * x;
    tc_f64x4 q = tcd_horner<9>(tcd_splat(tcd_gelu_near_p[9]), z, tcd_gelu_near_p);
    tc_f64x4 base = tcd_fma(x, tcd_splat(0.375), tcd_splat(0.5));
    tc_f64x4 low = tcd_fma(x, q, tcd_fma(x, tcd_splat(0.375), 0.5 - base));
    tcd_two y = tcd_product(x, base);
    return tcd_with_sign_of(y.high + tcd_fma(x, low, y.low), x);
}

/* Beyond, x less the gate of its size, or minus the gate. */
TC_INLINE tc_f64x4 tc_gelu_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tc_f64x4 gate = tcd_scale(tcd_gelu_far(tcd_clamp(t, 0.75, 37.0)));
    tc_f64x4 y = x < 0.0 ? -gate : x - gate;
    y = t > 0.75 ? y : tcd_gelu_near(x);
    tc_i64x4 rare = x < -37.0;
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_gelu_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* x, or x e^x with its product before the scale, so that a subnormal result is rounded once. */
TC_RARE void tcd_silu_rare(tcd_rare* lanes) {
    tc_f64x4 x = tcd_clamp(lanes->x, -760.0, 0.0);
    tcd_exp_parts e = tcd_exp_split(x);
    tc_f64x4 y = lanes->x < 0.0 ? tcd_scale_full({e.p * x, e.k_bits}) : lanes->x;
    lanes->y = lanes->rare ? y : lanes->y;
}

/* x / (1 + e^-x), the divisor as in sigmoid, corrected by the remainder. */
TC_INLINE tc_f64x4 tc_silu_f64x4(tc_f64x4 x) {
    tcd_exp_reduced e = tcd_exp_reduce(-x);
    tc_f64x4 s = tcd_power_of_two(e.k_bits);
    tc_f64x4 q = tcd_exp_slope(e.r) * e.r;
    tc_f64x4 base = s + 1.0;
    tc_f64x4 base_low = s - base + 1.0;
    tc_f64x4 d = tcd_fma(s, q, base);
    tc_f64x4 d_low = tcd_fma(s, q, base - d) + tcd_fma(s, e.r_low, base_low);
    tc_f64x4 inverse = 1.0 / d;
    tc_f64x4 y = x * inverse;
    tc_f64x4 rest = tcd_fma(-d_low, y, tcd_fma(-d, y, x));
    y = tcd_with_sign_of(tcd_fma(rest, inverse, y), x);
    tc_i64x4 rare = tcd_beyond(x, 700.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_silu_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* 0 where x is below it; NaN and both zeros stay. */
TC_INLINE tc_f64x4 tcd_positive(tc_f64x4 x) { return x < 0.0 ? tcd_splat(0.0) : x; }

/* e^(x + low) in two words, a normal number. */
TC_INLINE tcd_two tcd_exp_in_two(tc_f64x4 x, tc_f64x4 low) {
    tcd_exp_reduced e = tcd_exp_reduce(x);
    tcd_two power = tcd_fast_sum(tcd_splat(1.0), tcd_exp_two(e, low));
    tc_f64x4 scale = tcd_power_of_two(e.k_bits);
    return {power.high * scale, power.low * scale};
}

/* x, or e^x. */
TC_RARE void tcd_softplus_rare(tcd_rare* lanes) {
    tc_f64x4 y = lanes->x < 0.0 ? tcd_exp_full(lanes->x) : lanes->x;
    lanes->y = lanes->rare ? y : lanes->y;
}

TC_INLINE tc_f64x4 tc_softplus_f64x4(tc_f64x4 x) {
    tc_f64x4 y = tcd_positive(x) + tcd_log1p_two(tcd_exp_in_two(-tcd_abs(x), tcd_splat(0.0)));
    tc_i64x4 rare = tcd_beyond(x, 700.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_softplus_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* a + e^b for a distance b where e^b is no normal number, or NaN. */
TC_RARE void tcd_logaddexp_rare(tcd_rare_two* lanes) {
    lanes->y = lanes->rare ? lanes->a + tcd_exp_full(lanes->b) : lanes->y;
}

/* The larger operand and log(1 + e^-distance), the distance and the sum in two words; the distance of equal
 * infinities is 0. */
TC_INLINE tc_f64x4 tc_logaddexp_f64x4(tc_f64x4 x, tc_f64x4 y) {
    tc_f64x4 high = y > x ? y : x;
    tc_f64x4 low = y > x ? x : y;
    tcd_two distance = tcd_sum(low, -high);
    tc_f64x4 d = x == y ? tcd_splat(0.0) : distance.high;
    tcd_two log = tcd_log1p_sum(tcd_exp_in_two(d, x == y ? tcd_splat(0.0) : distance.low));
    tcd_two sum = tcd_sum(high, log.high);
    tc_f64x4 z = tcd_abs(high) < 1.0 ? sum.high + (sum.low + log.low) : high + (log.high + log.low);
    tc_i64x4 rare = tcd_beyond(d, 700.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare_two lanes = {high, d, z, rare};
        tcd_logaddexp_rare(&lanes);
        return lanes.y;
    }
    return z;
}

TC_INLINE tc_f64 tc_gelu_f64(tc_f64 x) { return {tc_gelu_f64x4(x.lo), tc_gelu_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_silu_f64(tc_f64 x) { return {tc_silu_f64x4(x.lo), tc_silu_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_softplus_f64(tc_f64 x) { return {tc_softplus_f64x4(x.lo), tc_softplus_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_logaddexp_f64(tc_f64 x, tc_f64 y) {
    return {tc_logaddexp_f64x4(x.lo, y.lo), tc_logaddexp_f64x4(x.hi, y.hi)};
}

#endif
