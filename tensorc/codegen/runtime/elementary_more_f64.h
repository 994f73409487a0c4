/* More elementary functions of f64 lanes: log2 log10 sinh cosh asinh acosh atanh cbrt. Within 2 ulp, C Annex F
 * special values, in the manner of elementary_f64.h.
 */
#ifndef TC_ELEMENTARY_MORE_F64_H
#define TC_ELEMENTARY_MORE_F64_H

#include "elementary_pairs_f64.h"

TC_CONST double tcd_log2_e[2] = {
    0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56};
TC_CONST double tcd_log10_e[2] = {
    0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
TC_CONST double tcd_log10_2[2] = {
    0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59};
TC_CONST double tcd_cbrt_p[5] = {
    0x1.ab8580b093a9ep0, -0x1.2c41befc80b5cp0, 0x1.641615a73833cp-1, -0x1.c5180ba20717fp-3,
    0x1.d46f2272be69fp-6};
TC_CONST double tcd_cbrt_root[3] = {
    0x1p0, 0x1.965fea53d6e3dp-1, 0x1.428a2f98d728bp-1};

/* (k + log2(1 + f)) log_b(2): `k` stands in two words of its own scale, `factor` is 1 / ln(b). */
TC_INLINE tc_f64x4 tcd_log_of_base(tcd_two k, tc_f64x4 f, const double* factor) {
    tc_f64x4 s = f / (2.0 + f);
    tc_f64x4 z = s * s;
    tc_f64x4 r = z * tcd_horner<6>(tcd_splat(tcd_log_p[6]), z, tcd_log_p);
    tcd_two h = tcd_product(0.5 * f, f);
    tcd_two m = tcd_fast_sum(f, -h.high);
    m.low = m.low - h.low + s * (h.high + r);
    tcd_two p = tcd_product(m.high, tcd_splat(factor[0]));
    p.low = p.low + tcd_fma(m.high, tcd_splat(factor[1]), m.low * factor[0]);
    tcd_two sum = tcd_fast_sum(k.high, p.high);
    return sum.high + (sum.low + (k.low + p.low));
}

template <int base>
TC_INLINE tc_f64x4 tcd_log_base_normal(tc_f64x4 x, tc_f64x4 k_extra) {
    tc_i64x4 e = tcd_log_exponent(x);
    tc_f64x4 f = (tc_f64x4)((tc_i64x4)x - e) - 1.0;
    tc_f64x4 k = tcd_exponent_value(e) + k_extra;
    if constexpr (base == 2) {
        return tcd_log_of_base({k, tcd_splat(0.0)}, f, tcd_log2_e);
    } else {
        tcd_two scaled = tcd_product(k, tcd_splat(tcd_log10_2[0]));
        scaled.low = tcd_fma(k, tcd_splat(tcd_log10_2[1]), scaled.low);
        return tcd_log_of_base(scaled, f, tcd_log10_e);
    }
}

template <int base>
TC_RARE void tcd_log_base_rare(tcd_rare* lanes) {
    tc_f64x4 x = lanes->x;
    tc_i64x4 subnormal = x < 0x1p-1022;
    tc_f64x4 k_extra = subnormal ? tcd_splat(-52.0) : tcd_splat(0.0);
    tc_f64x4 y = tcd_log_base_normal<base>(subnormal ? x * 0x1p52 : x, k_extra);
    y = x >= 0.0 ? y : tcd_splat(__builtin_nan(""));
    y = x == 0.0 ? tcd_splat(-__builtin_inf()) : y;
    y = x == __builtin_inf() ? x : y;
    lanes->y = lanes->rare ? y : lanes->y;
}

template <int base>
TC_INLINE tc_f64x4 tcd_log_base(tc_f64x4 x) {
    tc_f64x4 y = tcd_log_base_normal<base>(x, tcd_splat(0.0));
    tc_i64x4 rare = tcd_outside(x, 0x0010000000000000u, 0x7ff0000000000000u);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_log_base_rare<base>(&lanes);
        return lanes.y;
    }
    return y;
}

TC_INLINE tc_f64x4 tc_log2_f64x4(tc_f64x4 x) { return tcd_log_base<2>(x); }
TC_INLINE tc_f64x4 tc_log10_f64x4(tc_f64x4 x) { return tcd_log_base<10>(x); }

/* e^t / 2 in the rare lanes, where the other half is nothing beside it. */
TC_RARE void tcd_half_exp_rare(tcd_rare* lanes) {
    tcd_exp_parts e = tcd_exp_split(tcd_clamp(lanes->x, 0.0, 712.0));
    tc_f64x4 full = tcd_scale_full({e.p, e.k_bits - 1});
    lanes->y = lanes->rare ? full : lanes->y;
}

TC_INLINE tc_f64x4 tcd_with_half_exp(tc_f64x4 t, tc_f64x4 y) {
    tc_i64x4 rare = tcd_beyond(t, 708.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {t, y, rare};
        tcd_half_exp_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* (e + e / (1 + e)) / 2 with e = e^t - 1 in two words. */
TC_INLINE tc_f64x4 tc_sinh_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tcd_two e = tcd_expm1_two(t);
    tcd_two d = tcd_sum(tcd_splat(1.0), e.high);
    d.low = d.low + e.low;
    tcd_two q = tcd_quotient(e, d);
    tcd_two sum = tcd_fast_sum(e.high, q.high);
    tc_f64x4 y = 0.5 * (sum.high + (sum.low + (e.low + q.low)));
    return tcd_with_sign_of(tcd_with_half_exp(t, y), x);
}

/* (d + 1 / d) / 2 with d = e^t in two words. */
TC_INLINE tc_f64x4 tc_cosh_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tcd_two e = tcd_expm1_two(t);
    tcd_two d = tcd_sum(tcd_splat(1.0), e.high);
    d.low = d.low + e.low;
    tcd_two q = tcd_quotient({tcd_splat(1.0), tcd_splat(0.0)}, d);
    tcd_two sum = tcd_fast_sum(d.high, q.high);
    return tcd_with_half_exp(t, 0.5 * (sum.high + (sum.low + (d.low + q.low))));
}

/* log(1 + u), u >= 0 in two words, as a sum. */
TC_INLINE tcd_two tcd_log1p_sum(tcd_two u) {
    tc_i64x4 e = tcd_log_exponent(1.0 + u.high);
    tc_f64x4 s = (tc_f64x4)(0x3ff0000000000000 - e);
    tc_f64x4 base = s - 1.0;
    tc_f64x4 f = tcd_fma(u.high, s, base);
    tc_f64x4 f_low = tcd_fma(u.low, s, tcd_fma(u.high, s, base - f));
    f_low = tcd_fma(f_low, tcd_fma(f, f, -f), f_low);
    return tcd_log_sum_two(tcd_exponent_value(e), f, f_low);
}

TC_INLINE tc_f64x4 tcd_log1p_two(tcd_two u) {
    tcd_two sum = tcd_log1p_sum(u);
    return sum.high + sum.low;
}

/* log(2 t) in the rare lanes, t large: there it is asinh and acosh. */
TC_RARE void tcd_log_twice_rare(tcd_rare* lanes) {
    tc_f64x4 y = tcd_log_normal(lanes->x, tcd_splat(1.0));
    y = lanes->x < __builtin_inf() ? y : lanes->x;
    y = lanes->x < 1.0 ? tcd_splat(__builtin_nan("")) : y;
    lanes->y = lanes->rare ? y : lanes->y;
}

TC_INLINE tc_f64x4 tcd_with_log_twice(tc_f64x4 t, tc_f64x4 y, tc_i64x4 rare) {
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {t, y, rare};
        tcd_log_twice_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* log(1 + t + (sqrt(1 + t^2) - 1)), every sum in two words. */
TC_INLINE tc_f64x4 tc_asinh_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tcd_two square = tcd_product(t, t);
    tcd_two q = tcd_sum(tcd_splat(1.0), square.high);
    q.low = q.low + square.low;
    tcd_two root = tcd_root(q);
    tcd_two u = tcd_sum(t, root.high - 1.0);
    u.low = u.low + root.low;
    tc_f64x4 y = tcd_with_log_twice(t, tcd_log1p_two(u), tcd_beyond(t, 0x1p500));
    return tcd_with_sign_of(y, x);
}

/* log(1 + (x - 1) + sqrt(x^2 - 1)). */
TC_INLINE tc_f64x4 tc_acosh_f64x4(tc_f64x4 x) {
    tcd_two square = tcd_product(x, x);
    tcd_two q = tcd_fast_sum(square.high, tcd_splat(-1.0));
    q.low = q.low + square.low;
    tcd_two root = tcd_root(q);
    tcd_two above = tcd_fast_sum(x, tcd_splat(-1.0));
    tcd_two u = tcd_fast_sum(root.high, above.high);
    u.low = u.low + (root.low + above.low);
    tc_i64x4 rare = tcd_outside(x, 0x3ff0000000000000u, 0x5f30000000000000u);
    return tcd_with_log_twice(x, tcd_log1p_two(u), rare);
}

TC_RARE void tcd_atanh_rare(tcd_rare* lanes) {
    tc_f64x4 y = lanes->x == 1.0 ? tcd_splat(__builtin_inf()) : tcd_splat(__builtin_nan(""));
    lanes->y = lanes->rare ? y : lanes->y;
}

/* log(1 + 2 t / (1 - t)) / 2. */
TC_INLINE tc_f64x4 tc_atanh_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tcd_two u = tcd_quotient({t + t, tcd_splat(0.0)}, tcd_fast_sum(tcd_splat(1.0), -t));
    tc_f64x4 y = 0.5 * tcd_log1p_two(u);
    tc_i64x4 rare = tcd_beyond(t, 0x1.fffffffffffffp-1);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {t, y, rare};
        tcd_atanh_rare(&lanes);
        y = lanes.y;
    }
    return tcd_with_sign_of(y, x);
}

/* t = a 2^(3 q), a in [1, 8): w = a^(-1/3) by one step of third order, a w^2 by one of Newton's. */
TC_INLINE tc_f64x4 tcd_cbrt_normal(tc_f64x4 t) {
    tc_f64x4 field = (tc_f64x4)((tc_i64x4)((tc_u64x4)t >> 52) | 0x4330000000000000) - 0x1p52;
    tc_f64x4 magic = tcd_fma(field - 1.0, tcd_splat(1.0 / 3.0), tcd_splat(TCD_ROUND));
    tc_f64x4 rest = tcd_fma(magic - TCD_ROUND, tcd_splat(-3.0), field);
    tc_f64x4 m = (tc_f64x4)(((tc_i64x4)t & 0xfffffffffffff) | 0x3ff0000000000000);
    tc_f64x4 root = rest == 1.0 ? tcd_splat(tcd_cbrt_root[1]) : tcd_splat(tcd_cbrt_root[2]);
    root = rest == 0.0 ? tcd_splat(tcd_cbrt_root[0]) : root;
    tc_f64x4 a = m * (rest == 1.0 ? tcd_splat(2.0) : tcd_splat(4.0));
    a = rest == 0.0 ? m : a;
    tc_f64x4 w = root * tcd_horner<4>(tcd_splat(tcd_cbrt_p[4]), m, tcd_cbrt_p);
    tc_f64x4 h = tcd_fma(-a * w, w * w, tcd_splat(1.0));
    w = tcd_fma(w * h, tcd_fma(h, tcd_splat(2.0 / 9.0), tcd_splat(1.0 / 3.0)), w);
    tc_f64x4 y = a * w * w;
    tcd_two square = tcd_product(y, y);
    tc_f64x4 left = tcd_fma(-square.low, y, tcd_fma(-square.high, y, a));
    y = tcd_fma(left, w * w * (1.0 / 3.0), y);
    return (tc_f64x4)((tc_i64x4)y + (((tc_i64x4)magic - TCD_ROUND_BITS - 341) << 52));
}

TC_RARE void tcd_cbrt_rare(tcd_rare* lanes) {
    tc_f64x4 x = lanes->x;
    tc_f64x4 y = tcd_cbrt_normal(x * 0x1p54) * 0x1p-18;
    y = x > 0.0 ? y : x;
    y = x < 0x1p-1022 ? y : x;
    lanes->y = lanes->rare ? y : lanes->y;
}

TC_INLINE tc_f64x4 tc_cbrt_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tc_f64x4 y = tcd_cbrt_normal(t);
    tc_i64x4 rare = tcd_outside(t, 0x0010000000000000u, 0x7ff0000000000000u);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {t, y, rare};
        tcd_cbrt_rare(&lanes);
        y = lanes.y;
    }
    return tcd_with_sign_of(y, x);
}

TC_INLINE tc_f64 tc_log2_f64(tc_f64 x) { return {tc_log2_f64x4(x.lo), tc_log2_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_log10_f64(tc_f64 x) { return {tc_log10_f64x4(x.lo), tc_log10_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_sinh_f64(tc_f64 x) { return {tc_sinh_f64x4(x.lo), tc_sinh_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_cosh_f64(tc_f64 x) { return {tc_cosh_f64x4(x.lo), tc_cosh_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_asinh_f64(tc_f64 x) { return {tc_asinh_f64x4(x.lo), tc_asinh_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_acosh_f64(tc_f64 x) { return {tc_acosh_f64x4(x.lo), tc_acosh_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_atanh_f64(tc_f64 x) { return {tc_atanh_f64x4(x.lo), tc_atanh_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_cbrt_f64(tc_f64 x) { return {tc_cbrt_f64x4(x.lo), tc_cbrt_f64x4(x.hi)}; }

#endif
