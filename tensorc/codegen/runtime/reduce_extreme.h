/* max and min of every type, any and all, by rows and by columns: any order gives the same value.
 *
 * Floats: NaN wins, and -0 orders below +0. The loop keeps plain hardware maxima, which lose both facts, and beside
 * them whether a NaN was seen and the AND (max) or OR (min) of the sign bits; the result settles them. A max of
 * zero is -0 only if every operand had its sign set, a min of zero is -0 if any had.
 */
#ifndef TC_REDUCE_EXTREME_H
#define TC_REDUCE_EXTREME_H

#include "reduce_common.h"

TC_INLINE tc_i32 tc_bits_f32(tc_f32 x) { return (tc_i32)x; }
TC_INLINE tc_i64 tc_bits_f64(tc_f64 x) {
    tc_i64 r = {(tc_i64x4)x.lo, (tc_i64x4)x.hi};
    return r;
}

/* The value of eight independent lanes, from plain extremes, NaN flags and gathered signs. */
TC_INLINE tc_f32 tc_settle_f32(tc_f32 m, tc_i32 nan, tc_i32 sign) {
    tc_f32 zero = (tc_f32)(sign & (-0x7fffffff - 1));
    return tc_where_f32(nan, tc_splat_f32(__builtin_nanf("")), tc_where_f32((tc_bool)(m == 0), zero, m));
}
TC_INLINE tc_f64x4 tc_settle_f64x4(tc_f64x4 m, tc_i64x4 nan, tc_i64x4 sign) {
    tc_f64x4 zero = (tc_f64x4)(sign & (-0x7fffffffffffffff - 1));
    tc_f64x4 number = tc_where_f64x4((tc_i64x4)(m == 0), zero, m);
    return tc_where_f64x4(nan, tc_splat_f64x4(__builtin_nan("")), number);
}
TC_INLINE tc_f64 tc_settle_f64(tc_f64 m, tc_i64 nan, tc_i64 sign) {
    tc_f64 r = {tc_settle_f64x4(m.lo, nan.lo, sign.lo), tc_settle_f64x4(m.hi, nan.hi, sign.hi)};
    return r;
}

#define TC_ACROSS(x, combine, turn)                                                                            \
    x = combine(x, turn(x, 4));                                                                                \
    x = combine(x, turn(x, 2));                                                                                \
    x = combine(x, turn(x, 1))

#define TC_EXTREME_FLOAT(K, T, V, I, B, signs, worst)                                                          \
    struct tc_##K##_##T { V m0, m1; I nan, sign; };                                                            \
    TC_INLINE void tc_##K##_##T##_begin(struct tc_##K##_##T *s) {                                              \
        s->m0 = s->m1 = tc_splat_##T(worst);                                                                   \
        s->nan = tc_splat_##B(0);                                                                              \
        s->sign = tc_bits_##T(s->m0);                                                                          \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_step(struct tc_##K##_##T *s, V v0, V v1, V v2, V v3) {                       \
        I nan = tc_bitwise_or_##B(tc_unordered_##T(v0, v1), tc_unordered_##T(v2, v3));                         \
        I low = signs##_##B(tc_bits_##T(v0), tc_bits_##T(v1));                                                 \
        I high = signs##_##B(tc_bits_##T(v2), tc_bits_##T(v3));                                                \
        s->m0 = tc_keep_##K##_##T(s->m0, tc_keep_##K##_##T(v0, v1));                                           \
        s->m1 = tc_keep_##K##_##T(s->m1, tc_keep_##K##_##T(v2, v3));                                           \
        s->nan = tc_bitwise_or_##B(s->nan, nan);                                                               \
        s->sign = signs##_##B(s->sign, signs##_##B(low, high));                                                \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_row(struct tc_##K##_##T *s, V v) {                                           \
        s->m0 = tc_keep_##K##_##T(s->m0, v);                                                                   \
        s->nan = tc_bitwise_or_##B(s->nan, tc_unordered_##T(v, v));                                            \
        s->sign = signs##_##B(s->sign, tc_bits_##T(v));                                                        \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_tail(struct tc_##K##_##T *s, int j, V v, int n) {                            \
        (void)j;                                                                                               \
        tc_##K##_##T##_row(s, tc_where_##T(tc_active(n), v, tc_splat_##T(worst)));                             \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_block(struct tc_##K##_##T *s) { (void)s; }                                   \
    TC_INLINE void tc_##K##_##T##_chunk(struct tc_##K##_##T *s) { (void)s; }                                   \
    TC_INLINE void tc_##K##_##T##_merge(struct tc_##K##_##T *s, const struct tc_##K##_##T *next) {             \
        s->m0 = tc_keep_##K##_##T(s->m0, next->m0);                                                            \
        s->m1 = tc_keep_##K##_##T(s->m1, next->m1);                                                            \
        s->nan = tc_bitwise_or_##B(s->nan, next->nan);                                                         \
        s->sign = signs##_##B(s->sign, next->sign);                                                            \
    }                                                                                                          \
    TC_INLINE V tc_##K##_##T##_result(const struct tc_##K##_##T *s, tc_i64_t count, double correction) {       \
        (void)count, (void)correction;                                                                         \
        V m = tc_keep_##K##_##T(s->m0, s->m1);                                                                 \
        I nan = s->nan, sign = s->sign;                                                                        \
        TC_ACROSS(m, tc_keep_##K##_##T, tc_turn_##T);                                                          \
        TC_ACROSS(nan, tc_bitwise_or_##B, tc_turn_##B);                                                        \
        TC_ACROSS(sign, signs##_##B, tc_turn_##B);                                                             \
        return tc_settle_##T(m, nan, sign);                                                                    \
    }                                                                                                          \
    struct tc_##K##_##T##_col { struct tc_##K##_##T rows; };                                                   \
    TC_COLUMNS_OF_ROWS(K, T, V)                                                                                \
    TC_INLINE V tc_##K##_##T##_col_result(const struct tc_##K##_##T##_col *s, tc_i64_t count, double c) {      \
        (void)count, (void)c;                                                                                  \
        return tc_settle_##T(tc_keep_##K##_##T(s->rows.m0, s->rows.m1), s->rows.nan, s->rows.sign);            \
    }

/* Columns keep the row state, lane by lane: eight rows are two steps. */
#define TC_COLUMNS_OF_ROWS(K, T, V)                                                                            \
    TC_INLINE void tc_##K##_##T##_col_begin(struct tc_##K##_##T##_col *s) { tc_##K##_##T##_begin(&s->rows); }  \
    TC_INLINE void tc_##K##_##T##_col_step(struct tc_##K##_##T##_col *s, V v0, V v1, V v2, V v3, V v4, V v5,   \
                                           V v6, V v7) {                                                       \
        tc_##K##_##T##_step(&s->rows, v0, v1, v2, v3);                                                         \
        tc_##K##_##T##_step(&s->rows, v4, v5, v6, v7);                                                         \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_col_tail(struct tc_##K##_##T##_col *s, int j, V v) {                         \
        (void)j;                                                                                               \
        tc_##K##_##T##_row(&s->rows, v);                                                                       \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_col_block(struct tc_##K##_##T##_col *s) { (void)s; }                         \
    TC_INLINE void tc_##K##_##T##_col_chunk(struct tc_##K##_##T##_col *s) { (void)s; }                         \
    TC_INLINE void tc_##K##_##T##_col_merge(struct tc_##K##_##T##_col *s,                                      \
                                            const struct tc_##K##_##T##_col *next) {                           \
        tc_##K##_##T##_merge(&s->rows, &next->rows);                                                           \
    }

/* Integers and masks: two accumulators, `combine` in any order. */
#define TC_EXTREME_WHOLE(K, T, V, combine, worst)                                                              \
    struct tc_##K##_##T { V m0, m1; };                                                                         \
    TC_INLINE void tc_##K##_##T##_begin(struct tc_##K##_##T *s) { s->m0 = s->m1 = tc_splat_##T(worst); }       \
    TC_INLINE void tc_##K##_##T##_step(struct tc_##K##_##T *s, V v0, V v1, V v2, V v3) {                       \
        s->m0 = combine(s->m0, combine(v0, v1));                                                               \
        s->m1 = combine(s->m1, combine(v2, v3));                                                               \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_row(struct tc_##K##_##T *s, V v) { s->m0 = combine(s->m0, v); }              \
    TC_INLINE void tc_##K##_##T##_tail(struct tc_##K##_##T *s, int j, V v, int n) {                            \
        (void)j;                                                                                               \
        s->m0 = combine(s->m0, tc_where_##T(tc_active(n), v, tc_splat_##T(worst)));                            \
    }                                                                                                          \
    TC_INLINE void tc_##K##_##T##_block(struct tc_##K##_##T *s) { (void)s; }                                   \
    TC_INLINE void tc_##K##_##T##_chunk(struct tc_##K##_##T *s) { (void)s; }                                   \
    TC_INLINE void tc_##K##_##T##_merge(struct tc_##K##_##T *s, const struct tc_##K##_##T *next) {             \
        s->m0 = combine(s->m0, next->m0);                                                                      \
        s->m1 = combine(s->m1, next->m1);                                                                      \
    }                                                                                                          \
    TC_INLINE V tc_##K##_##T##_result(const struct tc_##K##_##T *s, tc_i64_t count, double correction) {       \
        (void)count, (void)correction;                                                                         \
        V m = combine(s->m0, s->m1);                                                                           \
        TC_ACROSS(m, combine, tc_turn_##T);                                                                    \
        return m;                                                                                              \
    }                                                                                                          \
    struct tc_##K##_##T##_col { struct tc_##K##_##T rows; };                                                   \
    TC_COLUMNS_OF_ROWS(K, T, V)                                                                                \
    TC_INLINE V tc_##K##_##T##_col_result(const struct tc_##K##_##T##_col *s, tc_i64_t count, double c) {      \
        (void)count, (void)c;                                                                                  \
        return combine(s->rows.m0, s->rows.m1);                                                                \
    }

TC_INLINE tc_bool tc_turn_bool(tc_bool x, int by) { return tc_turn_i32(x, by); }

TC_EXTREME_FLOAT(max, f32, tc_f32, tc_i32, i32, tc_bitwise_and, -__builtin_inff())
TC_EXTREME_FLOAT(min, f32, tc_f32, tc_i32, i32, tc_bitwise_or, __builtin_inff())
TC_EXTREME_FLOAT(max, f64, tc_f64, tc_i64, i64, tc_bitwise_and, -__builtin_inf())
TC_EXTREME_FLOAT(min, f64, tc_f64, tc_i64, i64, tc_bitwise_or, __builtin_inf())
TC_EXTREME_WHOLE(max, i32, tc_i32, tc_maximum_i32, -0x7fffffff - 1)
TC_EXTREME_WHOLE(min, i32, tc_i32, tc_minimum_i32, 0x7fffffff)
TC_EXTREME_WHOLE(max, i64, tc_i64, tc_maximum_i64, -0x7fffffffffffffff - 1)
TC_EXTREME_WHOLE(min, i64, tc_i64, tc_minimum_i64, 0x7fffffffffffffff)
TC_EXTREME_WHOLE(max, bool, tc_bool, tc_maximum_bool, 0)
TC_EXTREME_WHOLE(min, bool, tc_bool, tc_minimum_bool, 1)
TC_EXTREME_WHOLE(any, bool, tc_bool, tc_maximum_bool, 0)
TC_EXTREME_WHOLE(all, bool, tc_bool, tc_minimum_bool, 1)

#undef TC_EXTREME_FLOAT
#undef TC_EXTREME_WHOLE
#undef TC_COLUMNS_OF_ROWS
#undef TC_ACROSS

#endif
