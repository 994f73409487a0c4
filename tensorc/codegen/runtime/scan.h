/* Scans: the running sum, product, maximum or minimum, along the lanes or with a lane for each column.
 *
 * For a kind and type R: tc_scan_R_begin(s), then tc_scan_R_step(s, v) for each vector along the scanned axis, in
 * order; it gives the eight running values (lanes behind the end of the axis give anything). tc_scan_R_col_step
 * takes the next row instead, of eight columns. The order of the additions is in docs/numerics.md, "Scans".
 */
#ifndef TC_SCAN_H
#define TC_SCAN_H

#include "reduce_common.h"

/* Lane i takes lane i - 1 (2, 4), the first lanes those of `none`. */
#define TC_MOVES(V, S)                                                                                         \
    TC_INLINE V tc_move1_##S(V none, V x) { return __builtin_shufflevector(none, x, 0, 4, 5, 6); }             \
    TC_INLINE V tc_move2_##S(V none, V x) { return __builtin_shufflevector(none, x, 0, 1, 4, 5); }
TC_MOVES(tc_f64x4, f64x4)
TC_MOVES(tc_i64x4, i64x4)
#undef TC_MOVES
#define TC_MOVES(V, S)                                                                                         \
    TC_INLINE V tc_move1_##S(V none, V x) {                                                                    \
        return __builtin_shufflevector(none, x, 0, 8, 9, 10, 11, 12, 13, 14);                                  \
    }                                                                                                          \
    TC_INLINE V tc_move2_##S(V none, V x) {                                                                    \
        return __builtin_shufflevector(none, x, 0, 1, 8, 9, 10, 11, 12, 13);                                   \
    }                                                                                                          \
    TC_INLINE V tc_move4_##S(V none, V x) {                                                                    \
        return __builtin_shufflevector(none, x, 0, 1, 2, 3, 8, 9, 10, 11);                                     \
    }
TC_MOVES(tc_f32, f32)
TC_MOVES(tc_i32, i32)
#undef TC_MOVES

TC_INLINE tc_i64x4 tc_wrap_plus(tc_i64x4 a, tc_i64x4 b) { return (tc_i64x4)((tc_u64x4)a + (tc_u64x4)b); }
TC_INLINE tc_i64x4 tc_wrap_times(tc_i64x4 a, tc_i64x4 b) { return (tc_i64x4)((tc_u64x4)a * (tc_u64x4)b); }

/* Eight lanes that are two halves of four (S x 4): R the kind and operand type, enter and leave its casts. The
 * carry is added last, so that a step waits for one operation of the step before. */
#define TC_SCAN_HALVES(R, V, A, S, enter, leave, op, identity)                                                 \
    struct tc_scan_##R { S carry; };                                                                           \
    TC_INLINE void tc_scan_##R##_begin(struct tc_scan_##R *s) { s->carry = tc_splat_##A##x4(identity); }       \
    TC_INLINE V tc_scan_##R##_step(struct tc_scan_##R *s, V v) {                                               \
        S none = tc_splat_##A##x4(identity);                                                                   \
        tc_##A x = enter(v);                                                                                   \
        x.lo = op(tc_move1_##A##x4(none, x.lo), x.lo);                                                         \
        x.hi = op(tc_move1_##A##x4(none, x.hi), x.hi);                                                         \
        x.lo = op(tc_move2_##A##x4(none, x.lo), x.lo);                                                         \
        x.hi = op(tc_move2_##A##x4(none, x.hi), x.hi);                                                         \
        x.hi = op(__builtin_shufflevector(x.lo, x.lo, 3, 3, 3, 3), x.hi);                                      \
        tc_##A r = {op(s->carry, x.lo), op(s->carry, x.hi)};                                                   \
        s->carry = op(s->carry, __builtin_shufflevector(x.hi, x.hi, 3, 3, 3, 3));                              \
        return leave(r);                                                                                       \
    }                                                                                                          \
    struct tc_scan_##R##_col { tc_##A carry; };                                                                \
    TC_INLINE void tc_scan_##R##_col_begin(struct tc_scan_##R##_col *s) { s->carry = tc_splat_##A(identity); } \
    TC_INLINE V tc_scan_##R##_col_step(struct tc_scan_##R##_col *s, V v) {                                     \
        tc_##A x = enter(v);                                                                                   \
        s->carry.lo = op(s->carry.lo, x.lo);                                                                   \
        s->carry.hi = op(s->carry.hi, x.hi);                                                                   \
        return leave(s->carry);                                                                                \
    }

/* Eight lanes in one vector; T spells the type, M its moves. */
#define TC_SCAN_WHOLE(R, V, T, M, op, identity)                                                                \
    struct tc_scan_##R { V carry; };                                                                           \
    TC_INLINE void tc_scan_##R##_begin(struct tc_scan_##R *s) { s->carry = tc_splat_##T(identity); }           \
    TC_INLINE V tc_scan_##R##_step(struct tc_scan_##R *s, V x) {                                               \
        V none = tc_splat_##T(identity);                                                                       \
        x = op(tc_move1_##M(none, x), x);                                                                      \
        x = op(tc_move2_##M(none, x), x);                                                                      \
        x = op(tc_move4_##M(none, x), x);                                                                      \
        V r = op(s->carry, x);                                                                                 \
        s->carry = op(s->carry, __builtin_shufflevector(x, x, 7, 7, 7, 7, 7, 7, 7, 7));                        \
        return r;                                                                                              \
    }                                                                                                          \
    struct tc_scan_##R##_col { V carry; };                                                                     \
    TC_INLINE void tc_scan_##R##_col_begin(struct tc_scan_##R##_col *s) { s->carry = tc_splat_##T(identity); } \
    TC_INLINE V tc_scan_##R##_col_step(struct tc_scan_##R##_col *s, V x) {                                     \
        return s->carry = op(s->carry, x);                                                                     \
    }

/* -0 is the identity of a float sum: a running sum of nothing but -0 is -0, as in NumPy. */
TC_SCAN_HALVES(sum_f32, tc_f32, f64, tc_f64x4, tc_cast_f32_f64, tc_cast_f64_f32, TC_PLUS, -0.0)
TC_SCAN_HALVES(sum_f64, tc_f64, f64, tc_f64x4, TC_SAME, TC_SAME, TC_PLUS, -0.0)
TC_SCAN_HALVES(sum_i64, tc_i64, i64, tc_i64x4, TC_SAME, TC_SAME, tc_wrap_plus, 0)
TC_SCAN_HALVES(prod_f32, tc_f32, f64, tc_f64x4, tc_cast_f32_f64, tc_cast_f64_f32, TC_TIMES, 1)
TC_SCAN_HALVES(prod_f64, tc_f64, f64, tc_f64x4, TC_SAME, TC_SAME, TC_TIMES, 1)
TC_SCAN_HALVES(prod_i64, tc_i64, i64, tc_i64x4, TC_SAME, TC_SAME, tc_wrap_times, 1)
TC_SCAN_HALVES(max_f64, tc_f64, f64, tc_f64x4, TC_SAME, TC_SAME, tc_maximum_f64x4, -__builtin_inf())
TC_SCAN_HALVES(min_f64, tc_f64, f64, tc_f64x4, TC_SAME, TC_SAME, tc_minimum_f64x4, __builtin_inf())
TC_SCAN_HALVES(max_i64, tc_i64, i64, tc_i64x4, TC_SAME, TC_SAME, tc_maximum_i64x4, -0x7fffffffffffffff - 1)
TC_SCAN_HALVES(min_i64, tc_i64, i64, tc_i64x4, TC_SAME, TC_SAME, tc_minimum_i64x4, 0x7fffffffffffffff)
TC_SCAN_WHOLE(max_f32, tc_f32, f32, f32, tc_maximum_f32, -__builtin_inff())
TC_SCAN_WHOLE(min_f32, tc_f32, f32, f32, tc_minimum_f32, __builtin_inff())
TC_SCAN_WHOLE(max_i32, tc_i32, i32, i32, tc_maximum_i32, -0x7fffffff - 1)
TC_SCAN_WHOLE(min_i32, tc_i32, i32, i32, tc_minimum_i32, 0x7fffffff)
TC_SCAN_WHOLE(max_bool, tc_bool, bool, i32, tc_maximum_bool, 0)
TC_SCAN_WHOLE(min_bool, tc_bool, bool, i32, tc_minimum_bool, 1)

#undef TC_SCAN_HALVES
#undef TC_SCAN_WHOLE

#endif
