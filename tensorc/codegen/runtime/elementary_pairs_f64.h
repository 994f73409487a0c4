/* Arithmetic on f64 lanes in two words, for the elementary functions.
 *
 * Sources: T. Dekker (1971) and D. Knuth for the sums; the products and quotients take their remainder by fma.
 */
#ifndef TC_ELEMENTARY_PAIRS_F64_H
#define TC_ELEMENTARY_PAIRS_F64_H

#include "elementary_f64.h"

/* a + b exactly. */
TC_INLINE tcd_two tcd_sum(tc_f64x4 a, tc_f64x4 b) {
    tc_f64x4 s = a + b;
    tc_f64x4 from_b = s - a;
    return {s, (a - (s - from_b)) + (b - from_b)};
}

/* a + b exactly, where |a| >= |b| or a is 0. */
TC_INLINE tcd_two tcd_fast_sum(tc_f64x4 a, tc_f64x4 b) {
    tc_f64x4 s = a + b;
    return {s, (a - s) + b};
}

TC_INLINE tcd_two tcd_product(tc_f64x4 a, tc_f64x4 b) {
    tc_f64x4 p = a * b;
    return {p, tcd_fma(a, b, -p)};
}

TC_INLINE tcd_two tcd_product_two(tcd_two a, tcd_two b) {
    tcd_two p = tcd_product(a.high, b.high);
    p.low = p.low + tcd_fma(a.high, b.low, a.low * b.high);
    return p;
}

/* n / d; the low words are far below the high ones. */
TC_INLINE tcd_two tcd_quotient(tcd_two n, tcd_two d) {
    tc_f64x4 reciprocal = 1.0 / d.high;
    tc_f64x4 q = n.high * reciprocal;
    tc_f64x4 rest = tcd_fma(-q, d.high, n.high) + tcd_fma(-q, d.low, n.low);
    return {q, rest * reciprocal};
}

#if defined(__AVX__)
TC_INLINE tc_f64x4 tcd_sqrt(tc_f64x4 x) { return __builtin_ia32_sqrtpd256(x); }
#else
TC_INLINE tc_f64x4 tcd_sqrt(tc_f64x4 x) {
    for (int i = 0; i < 4; i++) x[i] = __builtin_sqrt(x[i]);
    return x;
}
#endif

/* The square root; that of 0 is 0. */
TC_INLINE tcd_two tcd_root(tcd_two x) {
    tc_f64x4 root = tcd_sqrt(x.high);
    tc_f64x4 rest = tcd_fma(-root, root, x.high) + x.low;
    tc_f64x4 divisor = root == 0.0 ? tcd_splat(1.0) : root + root;
    return {root, rest / divisor};
}

/* e^(x + low) = 2^k (1 + p); the result is p. `low` may reach 2^-44, hence its factor e^r. */
TC_INLINE tc_f64x4 tcd_exp_two(tcd_exp_reduced e, tc_f64x4 low) {
    tc_f64x4 slope = tcd_exp_slope(e.r);
    tc_f64x4 r_low = e.r_low + low;
    return tcd_fma(slope, e.r, tcd_fma(r_low, slope * e.r, r_low));
}

/* As tcd_rare, for two arguments. */
struct tcd_rare_two { tc_f64x4 a, b, y; tc_i64x4 rare; };

#endif
