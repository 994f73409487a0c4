/* sum and prod, by rows and by columns: the trees of docs/numerics.md, "Rows" and "Columns".
 *
 * A state `tc_<kind>_<type>` takes operands of that type. f32 sums add blocks of at most eight terms per lane in
 * f32 and everything above in f64; f32 products widen first. Integers and bool accumulate in i64 and wrap.
 */
#ifndef TC_REDUCE_SUM_H
#define TC_REDUCE_SUM_H

#include "reduce_common.h"

/* The shape of tc_fold_sum_f64 for the other three. */
TC_INLINE double tc_fold_prod_f64(tc_f64 x) {
    tc_f64x4 q = x.lo * x.hi;
    return (q[0] * q[2]) * (q[1] * q[3]);
}
TC_INLINE tc_i64_t tc_fold_sum_i64(tc_i64 x) {
    tc_u64x4 q = (tc_u64x4)x.lo + (tc_u64x4)x.hi;
    return (tc_i64_t)((q[0] + q[2]) + (q[1] + q[3]));
}
TC_INLINE tc_i64_t tc_fold_prod_i64(tc_i64 x) {
    tc_u64x4 q = (tc_u64x4)x.lo * (tc_u64x4)x.hi;
    return (tc_i64_t)((q[0] * q[2]) * (q[1] * q[3]));
}

/* `total op part` on scalars: integers through unsigned, so that they wrap. */
TC_INLINE double tc_total_sum_f64(double a, double b) { return a + b; }
TC_INLINE double tc_total_prod_f64(double a, double b) { return a * b; }
TC_INLINE tc_i64_t tc_total_sum_i64(tc_i64_t a, tc_i64_t b) { return (tc_i64_t)((tc_u64_t)a + (tc_u64_t)b); }
TC_INLINE tc_i64_t tc_total_prod_i64(tc_i64_t a, tc_i64_t b) { return (tc_i64_t)((tc_u64_t)a * (tc_u64_t)b); }

TC_INLINE tc_f32 tc_round_total_f32(double x) { return tc_splat_f32((float)x); }
TC_INLINE tc_f64 tc_round_total_f64(double x) { return tc_splat_f64(x); }
TC_INLINE tc_i64 tc_round_total_i64(tc_i64_t x) { return tc_splat_i64(x); }

/* R: kind and operand type; V: operand lanes; B: lanes of a block; L: lanes and C: scalar of the accumulators;
 * A: accumulator type; E: result type; empty: the value of no operands, where totals start. */
#define TC_ROWS(R, K, V, B, L, C, A, E, enter, leave, op, v_identity, b_identity, identity, empty, T)          \
    struct tc_##R { B a0, a1, a2, a3; L lanes; C total; };                                                     \
    TC_INLINE void tc_##R##_begin(struct tc_##R *s) {                                                          \
        s->a0 = s->a1 = s->a2 = s->a3 = b_identity;                                                            \
        s->lanes = tc_splat_##A(identity);                                                                     \
        s->total = empty;                                                                                      \
    }                                                                                                          \
    TC_INLINE void tc_##R##_step(struct tc_##R *s, V v0, V v1, V v2, V v3) {                                   \
        s->a0 = op(s->a0, enter(v0));                                                                          \
        s->a1 = op(s->a1, enter(v1));                                                                          \
        s->a2 = op(s->a2, enter(v2));                                                                          \
        s->a3 = op(s->a3, enter(v3));                                                                          \
    }                                                                                                          \
    TC_INLINE void tc_##R##_tail(struct tc_##R *s, int j, V v, int n) {                                        \
        B term = enter(tc_where_##T(tc_active(n), v, v_identity));                                             \
        switch (j & 3) {                                                                                       \
        case 0: s->a0 = op(s->a0, term); break;                                                                \
        case 1: s->a1 = op(s->a1, term); break;                                                                \
        case 2: s->a2 = op(s->a2, term); break;                                                                \
        default: s->a3 = op(s->a3, term);                                                                      \
        }                                                                                                      \
    }                                                                                                          \
    TC_INLINE void tc_##R##_block(struct tc_##R *s) {                                                          \
        s->lanes = op(s->lanes, leave(op(op(s->a0, s->a1), op(s->a2, s->a3))));                                \
        s->a0 = s->a1 = s->a2 = s->a3 = b_identity;                                                            \
    }                                                                                                          \
    TC_INLINE void tc_##R##_chunk(struct tc_##R *s) {                                                          \
        s->total = tc_total_##K##_##A(s->total, tc_fold_##K##_##A(s->lanes));                                  \
        s->lanes = tc_splat_##A(identity);                                                                     \
    }                                                                                                          \
    TC_INLINE void tc_##R##_merge(struct tc_##R *s, const struct tc_##R *next) {                               \
        s->total = tc_total_##K##_##A(s->total, next->total);                                                  \
    }                                                                                                          \
    TC_INLINE tc_##E tc_##R##_result(const struct tc_##R *s, tc_i64_t count, double correction) {              \
        (void)count, (void)correction;                                                                         \
        return tc_round_total_##E(s->total);                                                                   \
    }

#define TC_COLUMNS(R, V, B, L, A, E, enter, leave, op, b_identity, identity, empty)                            \
    struct tc_##R##_col { B block; L lanes, total; };                                                          \
    TC_INLINE void tc_##R##_col_begin(struct tc_##R##_col *s) {                                                \
        s->block = b_identity;                                                                                 \
        s->lanes = tc_splat_##A(identity);                                                                     \
        s->total = tc_splat_##A(empty);                                                                        \
    }                                                                                                          \
    TC_INLINE void tc_##R##_col_step(struct tc_##R##_col *s, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) { \
        B low = op(op(op(enter(v0), enter(v1)), enter(v2)), enter(v3));                                        \
        B all = op(op(op(op(low, enter(v4)), enter(v5)), enter(v6)), enter(v7));                               \
        s->lanes = op(s->lanes, leave(all));                                                                   \
    }                                                                                                          \
    TC_INLINE void tc_##R##_col_tail(struct tc_##R##_col *s, int j, V v) {                                     \
        (void)j;                                                                                               \
        s->block = op(s->block, enter(v));                                                                     \
    }                                                                                                          \
    TC_INLINE void tc_##R##_col_block(struct tc_##R##_col *s) {                                                \
        s->lanes = op(s->lanes, leave(s->block));                                                              \
        s->block = b_identity;                                                                                 \
    }                                                                                                          \
    TC_INLINE void tc_##R##_col_chunk(struct tc_##R##_col *s) {                                                \
        s->total = op(s->total, s->lanes);                                                                     \
        s->lanes = tc_splat_##A(identity);                                                                     \
    }                                                                                                          \
    TC_INLINE void tc_##R##_col_merge(struct tc_##R##_col *s, const struct tc_##R##_col *next) {               \
        s->total = op(s->total, next->total);                                                                  \
    }                                                                                                          \
    TC_INLINE tc_##E tc_##R##_col_result(const struct tc_##R##_col *s, tc_i64_t count, double correction) {    \
        (void)count, (void)correction;                                                                         \
        return tc_cast_##A##_##E(s->total);                                                                    \
    }

/* -0 is the identity of a float sum: adding it changes nothing, not even -0. Totals start at +0 all the same, as in
 * NumPy: a sum of nothing, or of nothing but -0, is +0. */
#define TC_SUM_AND_PROD(T, V, A, L, C, E, enter, zero)                                                         \
    TC_ROWS(sum_##T, sum, V, L, L, C, A, E, enter, TC_SAME, TC_PLUS, tc_splat_##T(zero), tc_splat_##A(zero),   \
            zero, 0, T)                                                                                        \
    TC_COLUMNS(sum_##T, V, L, L, A, E, enter, TC_SAME, TC_PLUS, tc_splat_##A(zero), zero, 0)                   \
    TC_PROD(T, V, A, L, C, E, enter)
#define TC_PROD(T, V, A, L, C, E, enter)                                                                       \
    TC_ROWS(prod_##T, prod, V, L, L, C, A, E, enter, TC_SAME, TC_TIMES, tc_splat_##T(1), tc_splat_##A(1), 1,   \
            1, T)                                                                                              \
    TC_COLUMNS(prod_##T, V, L, L, A, E, enter, TC_SAME, TC_TIMES, tc_splat_##A(1), 1, 1)

TC_ROWS(sum_f32, sum, tc_f32, tc_f32, tc_f64, double, f64, f32, TC_SAME, tc_cast_f32_f64, TC_PLUS,
        tc_splat_f32(-0.0f), tc_splat_f32(-0.0f), -0.0, 0, f32)
TC_COLUMNS(sum_f32, tc_f32, tc_f32, tc_f64, f64, f32, TC_SAME, tc_cast_f32_f64, TC_PLUS, tc_splat_f32(-0.0f),
           -0.0, 0)
TC_PROD(f32, tc_f32, f64, tc_f64, double, f32, tc_cast_f32_f64)
TC_SUM_AND_PROD(f64, tc_f64, f64, tc_f64, double, f64, TC_SAME, -0.0)
TC_SUM_AND_PROD(i32, tc_i32, i64, tc_i64, tc_i64_t, i64, tc_cast_i32_i64, 0)
TC_SUM_AND_PROD(i64, tc_i64, i64, tc_i64, tc_i64_t, i64, TC_SAME, 0)
TC_ROWS(sum_bool, sum, tc_bool, tc_i32, tc_i64, tc_i64_t, i64, i64, tc_cast_bool_i32, tc_cast_i32_i64, TC_PLUS,
        tc_splat_bool(0), tc_splat_i32(0), 0, 0, bool)
TC_COLUMNS(sum_bool, tc_bool, tc_i32, tc_i64, i64, i64, tc_cast_bool_i32, tc_cast_i32_i64, TC_PLUS,
           tc_splat_i32(0), 0, 0)
TC_PROD(bool, tc_bool, i64, tc_i64, tc_i64_t, i64, tc_cast_bool_i64)

#undef TC_ROWS
#undef TC_COLUMNS
#undef TC_SUM_AND_PROD
#undef TC_PROD

#endif
