/* Circular functions of f64 lanes beyond sin and cos: tan asin acos atan atan2; and hypot. Within 2 ulp,
 * C Annex F special values, in the manner of elementary_f64.h.
 */
#ifndef TC_ELEMENTARY_ANGLES_F64_H
#define TC_ELEMENTARY_ANGLES_F64_H

#include "elementary_pairs_f64.h"

TC_CONST double tcd_quarter_pi[2] = {
    0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
TC_CONST double tcd_asin_p[13] = {
    0x1.5555555555577p-3, 0x1.333333332e11p-4, 0x1.6db6db72137aap-5, 0x1.f1c71a94a7cb1p-6,
    0x1.6e8bdee670e7fp-6, 0x1.1c49f00842e86p-6, 0x1.ca1f9384d8ee1p-7, 0x1.758563616ee28p-7,
    0x1.613d30ba125efp-7, 0x1.e5ee3537f47cfp-9, 0x1.639e15bbb6ce7p-6, -0x1.57ff1ca755b1dp-6,
    0x1.0b4710fc7f3f1p-5};
TC_CONST double tcd_atan_p[12] = {
    -0x1.5555555555554p-2, 0x1.9999999999584p-3, -0x1.249249246f5bdp-3, 0x1.c71c71b45a7b1p-4,
    -0x1.745d1450864c4p-4, 0x1.3b1364f5a644dp-4, -0x1.110bebc5c2c6p-4, 0x1.e167c131e5a6ap-5,
    -0x1.ab3c173a7ba4dp-5, 0x1.6fe577f6737bcp-5, -0x1.0fd67bea7958bp-5, 0x1.e8511a68edfeap-7};

/* tan of an angle: sine by cosine, each in two words, or minus the inverse for odd quarter turns. */
TC_INLINE tc_f64x4 tcd_tan_sum(tcd_angle angle) {
    tc_f64x4 r = angle.r;
    tcd_two s = tcd_product(r, r);
    tcd_two cube = tcd_product(r, s.high);
    cube.low = tcd_fma(r, s.low, cube.low);
    tc_f64x4 sin_p = tcd_horner<5>(tcd_splat(tcd_sin_p[5]), s.high, tcd_sin_p);
    tcd_two sine = tcd_fast_sum(r, tcd_fma(cube.high, sin_p, tcd_fma(cube.low, sin_p, angle.r_low)));
    tc_f64x4 cos_p = tcd_horner<5>(tcd_splat(tcd_cos_p[5]), s.high, tcd_cos_p);
    tcd_two cosine = tcd_fast_sum(tcd_splat(1.0), -0.5 * s.high);
    tc_f64x4 cos_low = tcd_fma(-r, angle.r_low, tcd_fma(s.low, tcd_splat(-0.5), cosine.low));
    cosine = tcd_fast_sum(cosine.high, tcd_fma(s.high * s.high, cos_p, cos_low));
    tc_i64x4 odd = (angle.n_bits << 63) < 0;
    tcd_two n = {odd ? cosine.high : sine.high, odd ? cosine.low : sine.low};
    tcd_two d = {odd ? sine.high : cosine.high, odd ? sine.low : cosine.low};
    tcd_two q = tcd_quotient(n, d);
    return (tc_f64x4)((tc_i64x4)(q.high + q.low) ^ (angle.n_bits << 63));
}

TC_RARE void tcd_tan_rare(tcd_rare* lanes) {
    lanes->y = lanes->rare ? tcd_tan_sum(tcd_reduce_rare(lanes)) : lanes->y;
}

TC_INLINE tc_f64x4 tc_tan_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tc_f64x4 y = tcd_tan_sum(tcd_reduce_angle(t));
    tc_i64x4 rare = tcd_beyond(t, 0x1p20);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {t, y, rare};
        tcd_tan_rare(&lanes);
        y = lanes.y;
    }
    return (tc_f64x4)((tc_i64x4)y ^ tcd_sign_bit(x));
}

/* asin(s) = s + low for s = |x| up to 1/2; above (`steep`) s = sqrt((1 - |x|) / 2) and
 * asin|x| = pi / 2 - 2 asin(s). NaN for |x| > 1. */
struct tcd_arc { tc_f64x4 s, low; tc_i64x4 steep; };

TC_INLINE tcd_arc tcd_reduce_arc(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tc_i64x4 steep = t > 0.5;
    tc_f64x4 z = steep ? tcd_fma(t, tcd_splat(-0.5), tcd_splat(0.5)) : t * t;
    tcd_two root = tcd_root({z, tcd_splat(0.0)});
    tc_f64x4 s = steep ? root.high : t;
    tc_f64x4 p = tcd_horner<12>(tcd_splat(tcd_asin_p[12]), z, tcd_asin_p);
    return {s, tcd_fma(s * z, p, steep ? root.low : tcd_splat(0.0)), steep};
}

TC_INLINE tc_f64x4 tc_asin_f64x4(tc_f64x4 x) {
    tcd_arc arc = tcd_reduce_arc(x);
    tcd_two sum = tcd_fast_sum(tcd_splat(tcd_half_pi[0]), -2.0 * arc.s);
    tc_f64x4 steep = sum.high + (sum.low + tcd_fma(arc.low, tcd_splat(-2.0), tcd_splat(tcd_half_pi[1])));
    return tcd_with_sign_of(arc.steep ? steep : arc.s + arc.low, x);
}

/* Quarter turns (0, 1 or 2) plus asin(x) negated, or plus or minus 2 asin(s). */
TC_INLINE tc_f64x4 tc_acos_f64x4(tc_f64x4 x) {
    tcd_arc arc = tcd_reduce_arc(x);
    tc_i64x4 negative = x < 0.0;
    tc_f64x4 turns = negative ? tcd_splat(2.0) : tcd_splat(0.0);
    turns = arc.steep ? turns : tcd_splat(1.0);
    tc_f64x4 factor = arc.steep ? tcd_splat(2.0) : tcd_splat(-1.0);
    factor = negative ? -factor : factor;
    tcd_two sum = tcd_fast_sum(turns * tcd_half_pi[0], factor * arc.s);
    return sum.high + (sum.low + tcd_fma(factor, arc.low, turns * tcd_half_pi[1]));
}

/* The angle in [0, pi] of the point (x or, where `left`, -x; y), x and y >= 0 not both 0: an arc tangent beside
 * multiples of pi / 4, of the smaller by the larger or, above tan(pi / 8), of their difference by their sum. */
TC_INLINE tc_f64x4 tcd_angle_of(tc_f64x4 y, tc_f64x4 x, tc_i64x4 left) {
    tc_i64x4 steep = y > x;
    tc_f64x4 small = steep ? x : y;
    tc_f64x4 large = steep ? y : x;
    tc_i64x4 middle = small > large * 0.4142135623730950;
    tcd_two difference = tcd_fast_sum(-large, small);
    tcd_two sum = tcd_fast_sum(large, small);
    tc_f64x4 zero = tcd_splat(0.0);
    tcd_two n = {middle ? difference.high : small, middle ? difference.low : zero};
    tcd_two d = {middle ? sum.high : large, middle ? sum.low : zero};
    tcd_two q = tcd_quotient(n, d);
    tc_f64x4 z = q.high * q.high;
    tc_f64x4 p = tcd_horner<11>(tcd_splat(tcd_atan_p[11]), z, tcd_atan_p);
    tc_f64x4 low = tcd_fma(q.high * z, p, q.low);
    tc_f64x4 multiple = middle ? tcd_splat(1.0) : zero;
    multiple = steep ? 2.0 - multiple : multiple;
    multiple = left ? 4.0 - multiple : multiple;
    tc_i64x4 flip = (steep ^ left) & TCD_SIGN;
    tcd_two base = tcd_product(multiple, tcd_splat(tcd_quarter_pi[0]));
    base.low = tcd_fma(multiple, tcd_splat(tcd_quarter_pi[1]), base.low);
    tcd_two total = tcd_fast_sum(base.high, (tc_f64x4)((tc_i64x4)q.high ^ flip));
    return total.high + (total.low + (base.low + (tc_f64x4)((tc_i64x4)low ^ flip)));
}

/* Beyond 2^60 it is pi / 2. */
TC_INLINE tc_f64x4 tc_atan_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    t = t > 0x1p60 ? tcd_splat(0x1p60) : t;
    return tcd_with_sign_of(tcd_angle_of(t, tcd_splat(1.0), (tc_i64x4){}), x);
}

/* Magnitudes where squares and quotients of the straight line are normal numbers: [2^-400, 2^400). */
TC_INLINE tc_i64x4 tcd_extreme(tc_f64x4 t) {
    return tcd_outside(t, 0x26f0000000000000u, 0x58f0000000000000u);
}

/* Both scaled by a power of two; a quotient too small for that is the angle itself, right of the axis. */
TC_RARE void tcd_atan2_rare(tcd_rare_two* lanes) {
    tc_f64x4 y = tcd_abs(lanes->a);
    tc_f64x4 x = tcd_abs(lanes->b);
    tc_i64x4 left = tcd_sign_bit(lanes->b) < 0;
    tc_f64x4 infinity = tcd_splat(__builtin_inf());
    tc_f64x4 one = tcd_splat(1.0);
    tc_i64x4 both_infinite = (x == infinity) & (y == infinity);
    tc_i64x4 both_zero = (x == 0.0) & (y == 0.0);
    tc_i64x4 nan = (x != x) | (y != y);
    x = (both_infinite | both_zero) ? one : x;
    y = both_infinite ? one : y;
    tc_f64x4 large = y > x ? y : x;
    tc_f64x4 scale = large < one ? tcd_splat(0x1p600) : tcd_splat(0x1p-600);
    tc_f64x4 ratio = y / x;
    tc_i64x4 tiny = ~left & (ratio < 0x1p-60);
    tc_f64x4 scaled_y = y * scale;
    tc_f64x4 scaled_x = x * scale;
    scaled_y = y == infinity ? one : x == infinity ? tcd_splat(0.0) : scaled_y;
    scaled_x = x == infinity ? one : y == infinity ? tcd_splat(0.0) : scaled_x;
    tc_f64x4 angle = tcd_angle_of(scaled_y, scaled_x, left);
    angle = tiny ? ratio : angle;
    angle = nan ? tcd_splat(__builtin_nan("")) : angle;
    lanes->y = lanes->rare ? angle : lanes->y;
}

TC_INLINE tc_f64x4 tc_atan2_f64x4(tc_f64x4 y, tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(y);
    tc_f64x4 u = tcd_abs(x);
    tc_f64x4 angle = tcd_angle_of(t, u, tcd_sign_bit(x) < 0);
    tc_i64x4 rare = tcd_extreme(t) | tcd_extreme(u);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare_two lanes = {y, x, angle, rare};
        tcd_atan2_rare(&lanes);
        angle = lanes.y;
    }
    return tcd_with_sign_of(angle, y);
}

/* sqrt(large^2 + small^2), squares and root in two words. */
TC_INLINE tc_f64x4 tcd_hypot_sum(tc_f64x4 large, tc_f64x4 small) {
    tcd_two a = tcd_product(large, large);
    tcd_two b = tcd_product(small, small);
    tcd_two sum = tcd_fast_sum(a.high, b.high);
    sum.low = sum.low + (a.low + b.low);
    tcd_two root = tcd_root(sum);
    return root.high + root.low;
}

TC_RARE void tcd_hypot_rare(tcd_rare_two* lanes) {
    tc_f64x4 large = lanes->a;
    tc_f64x4 small = lanes->b;
    tc_i64x4 low = large < 1.0;
    tc_f64x4 scale = low ? tcd_splat(0x1p600) : tcd_splat(0x1p-600);
    tc_f64x4 back = low ? tcd_splat(0x1p-600) : tcd_splat(0x1p600);
    tc_f64x4 y = tcd_hypot_sum(large * scale, small * scale) * back;
    y = ((large != large) | (small != small)) ? tcd_splat(__builtin_nan("")) : y;
    tc_f64x4 infinity = tcd_splat(__builtin_inf());
    y = ((large == infinity) | (small == infinity)) ? infinity : y;
    lanes->y = lanes->rare ? y : lanes->y;
}

TC_INLINE tc_f64x4 tc_hypot_f64x4(tc_f64x4 x, tc_f64x4 y) {
    tc_f64x4 t = tcd_abs(x);
    tc_f64x4 u = tcd_abs(y);
    tc_f64x4 large = t > u ? t : u;
    tc_f64x4 small = t > u ? u : t;
    tc_f64x4 found = tcd_hypot_sum(large, small);
    tc_i64x4 rare = tcd_extreme(large) | tcd_beyond(small, 0x1p400);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare_two lanes = {large, small, found, rare};
        tcd_hypot_rare(&lanes);
        return lanes.y;
    }
    return found;
}

TC_INLINE tc_f64 tc_tan_f64(tc_f64 x) { return {tc_tan_f64x4(x.lo), tc_tan_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_asin_f64(tc_f64 x) { return {tc_asin_f64x4(x.lo), tc_asin_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_acos_f64(tc_f64 x) { return {tc_acos_f64x4(x.lo), tc_acos_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_atan_f64(tc_f64 x) { return {tc_atan_f64x4(x.lo), tc_atan_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_atan2_f64(tc_f64 y, tc_f64 x) {
    return {tc_atan2_f64x4(y.lo, x.lo), tc_atan2_f64x4(y.hi, x.hi)};
}
TC_INLINE tc_f64 tc_hypot_f64(tc_f64 x, tc_f64 y) {
    return {tc_hypot_f64x4(x.lo, y.lo), tc_hypot_f64x4(x.hi, y.hi)};
}

#endif
