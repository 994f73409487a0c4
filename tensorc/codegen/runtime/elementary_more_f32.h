/* More elementary functions of f32 lanes, within 1 ulp over all inputs, C Annex F special values.
 *
 * log2, log10 and cbrt compute in float lanes, for eight and sixteen of them; the others in double lanes
 * (elementary_double.h), where sixteen are two times eight. docs/numerics_functions.md describes the methods.
 */
#ifndef TC_ELEMENTARY_MORE_F32_H
#define TC_ELEMENTARY_MORE_F32_H

#include "elementary_double.h"

/* Words of a logarithm: of the pieces' m, of e, of 2, and the polynomial's. */
struct tcf_base { const float *value, *value_low, *scale, *two, *p; };
TC_CONST tcf_base tcf_base_2 = {tcf_log2_value, tcf_log2_value_low, tcf_log2_scale, tcf_log2_two, tcf_log2_p};
TC_CONST tcf_base tcf_base_10 = {tcf_log10_value, tcf_log10_value_low, tcf_log10_scale, tcf_log10_two,
                                 tcf_log10_p};

/* As tcf_log_normal and tcf_log_sum, but r has a factor of two words. The first words of the pieces' logarithms
 * are short, so that k times that of log(2) plus one of them is exact. */
template <const tcf_base& base, typename V, typename I> TC_INLINE V tcf_log_base_normal(V x, I k_extra) {
    auto bits = tcf_bits(x) - TCF_LOG_FIRST;
    auto piece = bits >> 20;
    V m = tcf_float(tcf_bits(x) - (bits & TCF_EXPONENT_FIELD));
    V r = tcf_fma(m, tcf_lookup(tcf_log_inverse, piece), -1.0f);
    V k = tcf_convert((bits >> 23) + k_extra);
    V p = tcf_fma(tcf_fma(r, base.p[4], base.p[3]), r, base.p[2]);
    p = tcf_fma(tcf_fma(p, r, base.p[1]), r, base.p[0]);
    V t = r * base.scale[0];
    V low = tcf_fma(r, base.scale[1], tcf_fma(r, base.scale[0], -t)) + tcf_lookup(base.value_low, piece);
    low = tcf_fma(r * r, p, tcf_fma(k, base.two[1], low));
    V high = tcf_fma(k, base.two[0], tcf_lookup(base.value, piece));
    V sum = high + t;
    return sum + (high - sum + t + low);
}

template <const tcf_base& base> TC_RARE void tcf_log_base_rare(tcf_rare* lanes) {
    tc_f32 x = lanes->x;
    tc_bool subnormal = x < 0x1p-126f;
    tc_f32 y = tcf_log_base_normal<base>(subnormal ? x * 0x1p23f : x, subnormal & -23);
    y = x >= 0.0f ? y : tcf_fill(x, __builtin_nanf(""));
    y = x == 0.0f ? tcf_fill(x, -__builtin_inff()) : y;
    y = x == __builtin_inff() ? x : y;
    lanes->y = tcf_outside(x, TCF_NORMAL, TCF_INFINITE) ? y : lanes->y;
}

template <const tcf_base& base, typename V> TC_INLINE V tcf_log_base(V x) {
    V y = tcf_log_base_normal<base>(x, 0);
    if (__builtin_expect(tcf_any_outside(x, TCF_NORMAL, TCF_INFINITE), 0)) {
        return tcf_mend(tcf_log_base_rare<base>, x, y);
    }
    return y;
}

/* z = t^(-1/3) by its bits and two steps, y = t z^2, and a step with the remainder of y^3 in two words. Small t are
 * scaled, so that no word is subnormal. */
template <typename V> TC_INLINE V tcf_cbrt(V x) {
    V magnitude = tcf_abs(x);
    auto small = tcf_bits(magnitude) - 0x21800000;
    V t = tcf_where_top(small, magnitude * 0x1p96f, magnitude);
    V guess = tcf_fma(tcf_convert(tcf_bits(t) >> 8), -1.0f / 3.0f, 0x1p23f + 5546746.0f);
    V z = tcf_float((tcf_bits(guess) - 0x4b000000) << 8);
    V e = tcf_fma(t * z, -(z * z), 1.0f);
    z = tcf_fma(z * e, tcf_fma(tcf_fma(e, 14.0f / 81.0f, 2.0f / 9.0f), e, 1.0f / 3.0f), z);
    e = tcf_fma(t * z, -(z * z), 1.0f);
    z = tcf_fma(z * e, 1.0f / 3.0f, z);
    V inverse = z * z;
    V y = t * inverse;
    V square = y * y;
    V rest = tcf_fma(square, y, -t) + tcf_fma(y, y, -square) * y;
    y = tcf_fma(rest * (-1.0f / 3.0f), inverse, y);
    y = tcf_where_top(small, y * 0x1p-32f, y);
    y = tcf_where_top(tcf_bits(magnitude) - 0x7f800000, y, magnitude);
    return tcf_flip_sign(y, tcf_bits(x));
}

/* sin(r) / cos(r), or with an odd number of quarter turns -cos(r) / sin(r). */
TC_INLINE tc_f32 tcf_tan_normal(tc_f32 x) {
    tcf_d a = tcf_widen_all(x);
    tcf_d magic = tcf_fma_d(a, tcf_inv_half_pi_wide[0], TCF_ROUND_WIDE);
    tcf_d n = magic - TCF_ROUND_WIDE;
    tcf_d r = tcf_fma_d(n, -tcf_half_pi_wide[1], tcf_fma_d(n, -tcf_half_pi_wide[0], a));
    tcf_d s = r * r;
    tcf_d sine = r * tcf_fma_d(tcf_horner_d(s, tcf_sin_wide_p), s, 1.0);
    tcf_d cosine = tcf_fma_d(tcf_horner_d(s, tcf_cos_wide_p), s, 1.0);
    tcf_d_bits odd = -(tcf_bits(magic) & 1), sign = tcf_bits(magic) << 63;
    tcf_d_bits change = (tcf_bits(sine) ^ tcf_bits(cosine)) & odd;
    tcf_d over = tcf_double(tcf_bits(sine) ^ change ^ sign);
    return tcf_narrow_all(over / tcf_double(tcf_bits(cosine) ^ change));
}

TC_RARE void tcf_tan_rare(tcf_rare* lanes) {
    tc_f32 x = lanes->x;
    for (int i = 0; i < 8; i++) {
        if (__builtin_fabsf(x[i]) <= TCF_SIN_WIDE_LIMIT) continue;
        if (!(__builtin_fabsf(x[i]) < __builtin_inff())) {
            lanes->y[i] = x[i] - x[i];
            continue;
        }
        unsigned __int128 turn = tcf_turn_fraction(x[i]);
        double sine = tcf_sin_phase(turn);
        lanes->y[i] = (float)(sine / tcf_sin_phase(turn + ((unsigned __int128)1 << 126)));
    }
}

TC_INLINE tc_f32 tcf_tan(tc_f32 x) {
    tc_f32 y = tcf_tan_normal(x);
    if (__builtin_expect(tcf_any_beyond(x, TCF_SIN_WIDE_LIMIT), 0)) return tcf_mend(tcf_tan_rare, x, y);
    return y;
}

/* asin(|x|), or pi / 2 less twice this, as u + u^3 P(u^2). */
struct tcf_arc { tcf_d size, angle; };

TC_INLINE tcf_arc tcf_asin_part(tc_f32 x) {
    tcf_d a = tcf_widen_all(tcf_abs(x));
    tcf_d z = tcf_where_above(a, tcf_splat_d(0.5), tcf_fma_d(a, -0.5, 0.5), a * a);
    tcf_d u = tcf_sqrt_d(z);
    return {a, u * tcf_fma_d(tcf_horner_d(z, tcf_asin_wide), z, 1.0)};
}

TC_INLINE tc_f32 tcf_asin(tc_f32 x) {
    tcf_arc arc = tcf_asin_part(x);
    tcf_d other = tcf_fma_d(arc.angle, -2.0, tcf_half_pi_wide[0]);
    tcf_d y = tcf_where_above(arc.size, tcf_splat_d(0.5), other, arc.angle);
    return tcf_flip_sign(tcf_narrow_all(y), tcf_bits(x));
}

TC_INLINE tc_f32 tcf_acos(tc_f32 x) {
    tcf_arc arc = tcf_asin_part(x);
    tcf_d zero = tcf_splat_d(0.0), a = tcf_widen_all(x);
    tcf_d twice = arc.angle + arc.angle;
    tcf_d outer = tcf_where_above(zero, a, tcf_splat_d(2.0 * tcf_half_pi_wide[0]) - twice, twice);
    tcf_d inner = tcf_splat_d(tcf_half_pi_wide[0]) - tcf_where_above(zero, a, -arc.angle, arc.angle);
    return tcf_narrow_all(tcf_where_above(arc.size, tcf_splat_d(0.5), outer, inner));
}

/* atan(a / b) for a, b >= 0 that are not both 0 and finite: with t the smaller of a / b and its inverse,
 * u = t or (t - 1) / (t + 1), which leaves |u| <= tan(pi / 8), in one division. */
TC_INLINE tcf_d tcf_atan_ratio(tcf_d a, tcf_d b) {
    tcf_d low = tcf_where_above(a, b, b, a), high = tcf_where_above(a, b, a, b);
    tcf_d border = high * 0x1.a827999fcef3p-2;
    tcf_d u = tcf_where_above(low, border, low - high, low) / tcf_where_above(low, border, low + high, high);
    tcf_d s = u * u;
    tcf_d eighth = tcf_where_above(low, border, tcf_splat_d(0.5 * tcf_half_pi_wide[0]), tcf_splat_d(0.0));
    tcf_d y = tcf_fma_d(u, tcf_fma_d(tcf_horner_d(s, tcf_atan_wide), s, 1.0), eighth);
    return tcf_where_above(a, b, tcf_splat_d(tcf_half_pi_wide[0]) - y, y);
}

TC_INLINE tc_f32 tcf_atan(tc_f32 x) {
    tcf_d y = tcf_atan_ratio(tcf_widen_all(tcf_at_most(tcf_abs(x), 0x1p100f)), tcf_splat_d(1.0));
    return tcf_flip_sign(tcf_narrow_all(y), tcf_bits(x));
}

/* With e^x = 2^n e^r, A = 2^(n - 1) and B = 2^(-n - 1): sinh(x) = (A - B) cosh(r) + (A + B) sinh(r), which
 * cancels nowhere, and cosh(x) the other way round. Beyond 100 both overflow in the last rounding. */
struct tcf_hyperbolic { tcf_d sine, cosine, sum, difference; };

TC_INLINE tcf_hyperbolic tcf_hyperbolic_parts(tc_f32 x) {
    tcf_split_d split = tcf_exp_split_d(tcf_widen_all(tcf_at_most(tcf_abs(x), 100.0f)));
    tcf_d r = split.r, s = r * r;
    tcf_d_bits n = split.n_bits << 52;
    tcf_d up = tcf_double(n + 0x3fe0000000000000), down = tcf_double(-n + 0x3fe0000000000000);
    tcf_d sine = r * tcf_fma_d(tcf_horner_d(s, tcf_sinh_wide), s, 1.0);
    return {sine, tcf_fma_d(tcf_horner_d(s, tcf_cosh_wide), s, 1.0), up + down, up - down};
}

TC_INLINE tc_f32 tcf_sinh(tc_f32 x) {
    tcf_hyperbolic h = tcf_hyperbolic_parts(x);
    return tcf_flip_sign(tcf_narrow_all(tcf_fma_d(h.difference, h.cosine, h.sum * h.sine)), tcf_bits(x));
}

TC_INLINE tc_f32 tcf_cosh(tc_f32 x) {
    tcf_hyperbolic h = tcf_hyperbolic_parts(x);
    return tcf_narrow_all(tcf_fma_d(h.sum, h.cosine, h.difference * h.sine));
}

/* log1p(a + a^2 / (1 + sqrt(1 + a^2))). */
TC_INLINE tc_f32 tcf_asinh(tc_f32 x) {
    tc_f32 size = tcf_abs(x);
    tcf_d a = tcf_widen_all(tcf_at_most(size, 0x1.fffffep127f));
    tcf_d s = a * a;
    tc_f32 y = tcf_narrow_all(tcf_log1p_d(a + s / (tcf_sqrt_d(s + 1.0) + 1.0)));
    return tcf_flip_sign(tcf_where_equal(size, tcf_fill(x, __builtin_inff()), size, y), tcf_bits(x));
}

/* With d = x - 1, log1p(d + sqrt(d (d + 2))). Below 1 the root is of d, and NaN. */
TC_INLINE tc_f32 tcf_acosh(tc_f32 x) {
    tcf_d d = tcf_widen_all(tcf_at_most(x, 0x1.fffffep127f)) - 1.0;
    tcf_d square = tcf_where_above(tcf_splat_d(0.0), d, d, d * (d + 2.0));
    tc_f32 y = tcf_narrow_all(tcf_log1p_d(d + tcf_sqrt_d(square)));
    return tcf_where_equal(x, tcf_fill(x, __builtin_inff()), x, y);
}

/* Half of log1p(2 a / (1 - a)). */
TC_INLINE tc_f32 tcf_atanh(tc_f32 x) {
    tc_f32 size = tcf_abs(x);
    tcf_d a = tcf_widen_all(size);
    tc_f32 y = tcf_narrow_all(tcf_log1p_d((a + a) / (tcf_splat_d(1.0) - a)) * 0.5);
    y = tcf_where_equal(size, tcf_fill(x, 1.0f), tcf_fill(x, __builtin_inff()), y);
    y = tcf_where_above(size, tcf_fill(x, 1.0f), tcf_fill(x, __builtin_nanf("")), y);
    return tcf_flip_sign(y, tcf_bits(x));
}

/* Above 11 the tail is 0 in f32. */
TC_INLINE tc_f32 tcf_erfc(tc_f32 x) {
    tcf_d y = tcf_erfc_tail_d(tcf_widen_all(tcf_at_most(tcf_abs(x), 11.0f)));
    return tcf_narrow_all(tcf_where_above(tcf_splat_d(0.0), tcf_widen_all(x), tcf_splat_d(2.0) - y, y));
}

#define TCF_TWO_WIDTHS(name, function)                                                                         \
    TC_INLINE tc_f32 tc_##name##_f32(tc_f32 x) { return function(x); }                                         \
    TC_INLINE tc_f32w tc_##name##_f32w(tc_f32w x) { return function(x); }
#define TCF_IN_DOUBLE(name)                                                                                    \
    TC_INLINE tc_f32 tc_##name##_f32(tc_f32 x) { return tcf_##name(x); }                                       \
    TC_INLINE tc_f32w tc_##name##_f32w(tc_f32w x) {                                                            \
        return tcf_join(tcf_##name(tcf_low(x)), tcf_##name(tcf_high(x)));                                      \
    }
TCF_TWO_WIDTHS(log2, tcf_log_base<tcf_base_2>)
TCF_TWO_WIDTHS(log10, tcf_log_base<tcf_base_10>)
TCF_TWO_WIDTHS(cbrt, tcf_cbrt)
TCF_IN_DOUBLE(tan)
TCF_IN_DOUBLE(asin)
TCF_IN_DOUBLE(acos)
TCF_IN_DOUBLE(atan)
TCF_IN_DOUBLE(sinh)
TCF_IN_DOUBLE(cosh)
TCF_IN_DOUBLE(asinh)
TCF_IN_DOUBLE(acosh)
TCF_IN_DOUBLE(atanh)
TCF_IN_DOUBLE(erfc)
#undef TCF_TWO_WIDTHS
#undef TCF_IN_DOUBLE

#endif
