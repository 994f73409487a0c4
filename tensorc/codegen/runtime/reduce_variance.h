/* var and std of f32 and f64, by rows and by columns, chunk by chunk in one pass with f64 accumulators.
 *
 * In a chunk of n operands d = x - K, K its first one, has the spread of the data and not its mean: with S1 and S2 the
 * sums of d and d * d the mean is K + S1 / n, and M2, the squared distances from it, S2 - S1 * (S1 / n), or 0 where
 * that is negative. S2 is at most n + 1 times M2, and near it unless K is an outlier. Chunks are put together in order
 * by the rule of Chan, Golub and LeVeque (1979): two parts of n1 and n2 operands whose means differ by delta have
 * M2 = M2_1 + M2_2 + delta^2 * n1 * n2 / (n1 + n2). Means are kept as distances from the first chunk's K, which they
 * would otherwise hide. The variance is M2 / max(n - correction, 0), rounded once to the operand's type.
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

/* `count` operands of mean origin + mean and squared distances `spread` from it. Of no operands it is NaN. */
struct tc_spread { double count, origin, mean, spread; };
TC_INLINE void tc_spread_begin(struct tc_spread *s) {
    s->count = s->origin = s->mean = 0;
    s->spread = __builtin_nan("");
}
TC_INLINE struct tc_spread tc_spread_of(double first, double second, double shift, tc_i64_t count) {
    double n = (double)count, mean = first / n, spread = second - first * mean;
    return {n, shift, mean, spread < 0 ? 0 : spread};
}
TC_INLINE void tc_spread_merge(struct tc_spread *s, const struct tc_spread *next) {
    if (s->count == 0) { *s = *next; return; }
    double n = s->count + next->count, share = next->count / n;
    double delta = (next->origin - s->origin) + (next->mean - s->mean);
    s->mean += delta * share;
    s->spread = (s->spread + next->spread) + delta * delta * (s->count * share);
    s->count = n;
}
TC_INLINE double tc_variance_of(const struct tc_spread *s, tc_i64_t count, double correction) {
    double freedom = (double)count - correction;
    return s->spread / (freedom > 0 ? freedom : 0);
}

/* The same in each lane. */
struct tc_spreads { double count; tc_f64 origin, mean, spread; };
TC_INLINE void tc_spreads_begin(struct tc_spreads *s) {
    s->count = 0;
    s->origin = s->mean = tc_splat_f64(0);
    s->spread = tc_splat_f64(__builtin_nan(""));
}
TC_INLINE struct tc_spreads tc_spreads_of(const struct tc_moments *m, tc_f64 shift, tc_i64_t count) {
    tc_f64 mean = m->first / tc_splat_f64((double)count), zero = tc_splat_f64(0);
    tc_f64 spread = m->second - m->first * mean;
    return {(double)count, shift, mean, tc_where_f64(tc_less_f64(spread, zero), zero, spread)};
}
TC_INLINE void tc_spreads_merge(struct tc_spreads *s, const struct tc_spreads *next) {
    if (s->count == 0) { *s = *next; return; }
    double n = s->count + next->count, share = next->count / n;
    tc_f64 delta = (next->origin - s->origin) + (next->mean - s->mean);
    s->mean = s->mean + delta * tc_splat_f64(share);
    s->spread = (s->spread + next->spread) + delta * delta * tc_splat_f64(s->count * share);
    s->count = n;
}
TC_INLINE tc_f64 tc_variances_of(const struct tc_spreads *s, tc_i64_t count, double correction) {
    double freedom = (double)count - correction;
    return s->spread / tc_splat_f64(freedom > 0 ? freedom : 0);
}

/* std takes the root in f64, before the only rounding to the type. */
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
    struct tc_##K##_##T { struct tc_moments a, b; tc_f64 shift; struct tc_spread total; };                     \
    TC_INLINE void tc_##K##_##T##_begin(struct tc_##K##_##T *s) { tc_spread_begin(&s->total); }                \
    TC_INLINE void tc_##K##_##T##_open(struct tc_##K##_##T *s, V first) {                                      \
        tc_moments_zero(&s->a);                                                                                \
        tc_moments_zero(&s->b);                                                                                \
        s->shift = tc_splat_f64((double)tc_first_##T(first));                                                  \
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
    TC_INLINE void tc_##K##_##T##_chunk(struct tc_##K##_##T *s, tc_i64_t count) {                              \
        tc_moments_merge(&s->a, &s->b);                                                                        \
        double first = tc_fold_sum_f64(s->a.first), second = tc_fold_sum_f64(s->a.second);                     \
        struct tc_spread next = tc_spread_of(first, second, tc_first_f64(s->shift), count);                    \
        tc_spread_merge(&s->total, &next);                                                                     \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_merge(struct tc_##K##_##T *s, const struct tc_##K##_##T *next) {             \
        tc_spread_merge(&s->total, &next->total);                                                              \
    }                                                                                                          \
    TC_INLINE V tc_##K##_##T##_result(const struct tc_##K##_##T *s, tc_i64_t count, double correction) {       \
        return tc_rounded_##T(tc_moment_of_##K(tc_variance_of(&s->total, count, correction)));                 \
    }                                                                                                          \
    struct tc_##K##_##T##_col { struct tc_moments lanes; tc_f64 shift; struct tc_spreads total; };             \
    TC_INLINE void tc_##K##_##T##_col_begin(struct tc_##K##_##T##_col *s) { tc_spreads_begin(&s->total); }     \
    TC_INLINE void tc_##K##_##T##_col_open(struct tc_##K##_##T##_col *s, V first) {                            \
        tc_moments_zero(&s->lanes);                                                                            \
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
    TC_INLINE void tc_##K##_##T##_col_chunk(struct tc_##K##_##T##_col *s, tc_i64_t count) {                    \
        struct tc_spreads next = tc_spreads_of(&s->lanes, s->shift, count);                                    \
        tc_spreads_merge(&s->total, &next);                                                                    \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_col_merge(struct tc_##K##_##T##_col *s,                                      \
                                            const struct tc_##K##_##T##_col *next) {                           \
        tc_spreads_merge(&s->total, &next->total);                                                             \
    }                                                                                                          \
    TC_INLINE V tc_##K##_##T##_col_result(const struct tc_##K##_##T##_col *s, tc_i64_t count, double c) {      \
        return tc_cast_f64_##T(tc_moment_##K(tc_variances_of(&s->total, count, c)));                           \
    }

TC_VARIANCE(var, f32, tc_f32)
TC_VARIANCE(std, f32, tc_f32)
TC_VARIANCE(var, f64, tc_f64)
TC_VARIANCE(std, f64, tc_f64)
#undef TC_VARIANCE

#endif
