/* var and std of f32 and f64, by rows and by columns, in one pass with f64 accumulators.
 *
 * With K the first operand, d = x - K has the spread of the data and not its mean, so that M2 = S2 - S1 * S1 / n
 * cancels little: the relative error of M2 is at most (n + 1) times that of S2, since K is one of the operands, and
 * a small multiple of it when K is no outlier. S1 and S2 are the sums of d and d * d, each operation rounded in
 * f64. The variance is M2 / max(n - correction, 0), rounded once to the operand's type; a negative M2 is 0.
 */
#ifndef TC_REDUCE_VARIANCE_H
#define TC_REDUCE_VARIANCE_H

#include "reduce_common.h"

struct tc_moments { tc_f64 first, second; };

TC_INLINE void tc_moments_zero(struct tc_moments *m) { m->first = m->second = tc_splat_f64(0); }
TC_INLINE void tc_moments_add(struct tc_moments *m, tc_f64 d) {
    m->first = m->first + d;
    m->second = m->second + d * d;
}
TC_INLINE void tc_moments_merge(struct tc_moments *m, const struct tc_moments *other) {
    m->first = m->first + other->first;
    m->second = m->second + other->second;
}

TC_INLINE double tc_variance_of(double first, double second, tc_i64_t count, double correction) {
    double freedom = (double)count - correction, spread = second - first * first / (double)count;
    return (spread < 0 ? 0 : spread) / (freedom > 0 ? freedom : 0);
}

/* std takes the root in f64, before the only rounding to the type. */
TC_INLINE tc_f64 tc_variance(tc_f64 first, tc_f64 second, tc_i64_t count, double correction) {
    tc_f64 n = tc_splat_f64((double)count), zero = tc_splat_f64(0);
    double freedom = (double)count - correction;
    tc_f64 spread = second - first * first / n;
    spread = tc_where_f64(tc_less_f64(spread, zero), zero, spread);
    return spread / tc_splat_f64(freedom > 0 ? freedom : 0);
}
TC_INLINE tc_f64 tc_moment_var(tc_f64 variance) { return variance; }
TC_INLINE tc_f64 tc_moment_std(tc_f64 variance) { return tc_sqrt_f64(variance); }
TC_INLINE double tc_moment_of_var(double variance) { return variance; }
TC_INLINE double tc_moment_of_std(double variance) { return __builtin_sqrt(variance); }
TC_INLINE tc_f32 tc_rounded_f32(double x) { return tc_splat_f32((float)x); }
TC_INLINE tc_f64 tc_rounded_f64(double x) { return tc_splat_f64(x); }

/* x - shift, as fma(x, 1, -shift) where that is one instruction: additions and conversions fill the adders. */
TC_INLINE tc_f64 tc_shifted(tc_f64 x, tc_f64 shift) {
#if defined(__FMA__)
    tc_f64x4 one = tc_splat_f64x4(1);
    tc_f64 r = {__builtin_ia32_vfmaddpd256(x.lo, one, -shift.lo), __builtin_ia32_vfmaddpd256(x.hi, one, -shift.hi)};
    return r;
#else
    return x - shift;
#endif
}

#define TC_VARIANCE(K, T, V)                                                                                   \
    struct tc_##K##_##T { struct tc_moments a, b; tc_f64 shift; double first, second; };                       \
    TC_INLINE void tc_##K##_##T##_begin(struct tc_##K##_##T *s, V first) {                                     \
        tc_moments_zero(&s->a);                                                                                \
        tc_moments_zero(&s->b);                                                                                \
        s->shift = tc_splat_f64((double)tc_first_##T(first));                                                  \
        s->first = s->second = 0;                                                                              \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_step(struct tc_##K##_##T *s, V v0, V v1, V v2, V v3) {                       \
        tc_moments_add(&s->a, tc_shifted(tc_cast_##T##_f64(v0), s->shift));                                    \
        tc_moments_add(&s->b, tc_shifted(tc_cast_##T##_f64(v1), s->shift));                                    \
        tc_moments_add(&s->a, tc_shifted(tc_cast_##T##_f64(v2), s->shift));                                    \
        tc_moments_add(&s->b, tc_shifted(tc_cast_##T##_f64(v3), s->shift));                                    \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_tail(struct tc_##K##_##T *s, int j, V v, int n) {                            \
        tc_f64 d = tc_where_f64(tc_active(n), tc_shifted(tc_cast_##T##_f64(v), s->shift), tc_splat_f64(0));    \
        if (j & 1) tc_moments_add(&s->b, d);                                                                   \
        else tc_moments_add(&s->a, d);                                                                         \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_block(struct tc_##K##_##T *s) { (void)s; }                                   \
    TC_INLINE void tc_##K##_##T##_chunk(struct tc_##K##_##T *s) {                                              \
        tc_moments_merge(&s->a, &s->b);                                                                        \
        s->first += tc_fold_sum_f64(s->a.first);                                                               \
        s->second += tc_fold_sum_f64(s->a.second);                                                             \
        tc_moments_zero(&s->a);                                                                                \
        tc_moments_zero(&s->b);                                                                                \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_merge(struct tc_##K##_##T *s, const struct tc_##K##_##T *next) {             \
        s->first += next->first;                                                                               \
        s->second += next->second;                                                                             \
    }                                                                                                          \
    TC_INLINE V tc_##K##_##T##_result(const struct tc_##K##_##T *s, tc_i64_t count, double correction) {       \
        double variance = tc_variance_of(s->first, s->second, count, correction);                              \
        return tc_rounded_##T(tc_moment_of_##K(variance));                                                     \
    }                                                                                                          \
    struct tc_##K##_##T##_col { struct tc_moments lanes, total; tc_f64 shift; };                               \
    TC_INLINE void tc_##K##_##T##_col_begin(struct tc_##K##_##T##_col *s, V first) {                           \
        tc_moments_zero(&s->lanes);                                                                            \
        tc_moments_zero(&s->total);                                                                            \
        s->shift = tc_cast_##T##_f64(first);                                                                   \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_col_tail(struct tc_##K##_##T##_col *s, int j, V v) {                         \
        (void)j;                                                                                               \
        tc_moments_add(&s->lanes, tc_shifted(tc_cast_##T##_f64(v), s->shift));                                 \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_col_step(struct tc_##K##_##T##_col *s, V v0, V v1, V v2, V v3, V v4, V v5,   \
                                           V v6, V v7) {                                                       \
        tc_##K##_##T##_col_tail(s, 0, v0);                                                                     \
        tc_##K##_##T##_col_tail(s, 1, v1);                                                                     \
        tc_##K##_##T##_col_tail(s, 2, v2);                                                                     \
        tc_##K##_##T##_col_tail(s, 3, v3);                                                                     \
        tc_##K##_##T##_col_tail(s, 4, v4);                                                                     \
        tc_##K##_##T##_col_tail(s, 5, v5);                                                                     \
        tc_##K##_##T##_col_tail(s, 6, v6);                                                                     \
        tc_##K##_##T##_col_tail(s, 7, v7);                                                                     \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_col_block(struct tc_##K##_##T##_col *s) { (void)s; }                         \
    TC_INLINE void tc_##K##_##T##_col_chunk(struct tc_##K##_##T##_col *s) {                                    \
        tc_moments_merge(&s->total, &s->lanes);                                                                \
        tc_moments_zero(&s->lanes);                                                                            \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_col_merge(struct tc_##K##_##T##_col *s,                                      \
                                            const struct tc_##K##_##T##_col *next) {                           \
        tc_moments_merge(&s->total, &next->total);                                                             \
    }                                                                                                          \
    TC_INLINE V tc_##K##_##T##_col_result(const struct tc_##K##_##T##_col *s, tc_i64_t count, double c) {      \
        return tc_cast_f64_##T(tc_moment_##K(tc_variance(s->total.first, s->total.second, count, c)));         \
    }

TC_VARIANCE(var, f32, tc_f32)
TC_VARIANCE(std, f32, tc_f32)
TC_VARIANCE(var, f64, tc_f64)
TC_VARIANCE(std, f64, tc_f64)
#undef TC_VARIANCE

#endif
