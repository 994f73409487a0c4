/* argmax and argmin of every type, by rows and by columns: the first position of the extreme value.
 *
 * Zeros of both signs tie. The first NaN wins; it is rare, so a step tests for it once and looks for its position
 * out of the straight path. Positions are flat in the reduced axes and ascend from call to call. Beside 32-bit
 * operands only the low word of a position is kept, relative to the first position of the chunk: a chunk spans
 * less than 2^31. bool compares as i32.
 *
 * A lane that holds the worst value of its type may never have taken an operand. If that is the extreme of a whole
 * chunk, every operand of the chunk equals it, and the chunk's first position is the answer.
 */
#ifndef TC_REDUCE_ARG_H
#define TC_REDUCE_ARG_H

#include "reduce_common.h"

/* Bit i is lane i of the mask. */
TC_INLINE tc_u32_t tc_lane_bits(tc_bool m) {
#if defined(__AVX__)
    return (tc_u32_t)__builtin_ia32_movmskps256((tc_f32)m);
#else
    tc_u32_t bits = 0;
    for (int i = 0; i < 8; ++i) bits |= (tc_u32_t)(m[i] & 1) << i;
    return bits;
#endif
}
TC_INLINE int tc_any_nan_f32(tc_f32 a, tc_f32 b, tc_f32 c, tc_f32 d) {
    return tc_any_lane(tc_unordered_f32(a, b) | tc_unordered_f32(c, d));
}
TC_INLINE int tc_any_nan_f64(tc_f64 a, tc_f64 b, tc_f64 c, tc_f64 d) {
    tc_i64x4 lo = tc_unordered_f64x4(a.lo, b.lo) | tc_unordered_f64x4(c.lo, d.lo);
    tc_i64x4 hi = tc_unordered_f64x4(a.hi, b.hi) | tc_unordered_f64x4(c.hi, d.hi);
    return tc_any_lane((tc_i32)(lo | hi));
}
TC_INLINE int tc_any_nan_i32(tc_i32, tc_i32, tc_i32, tc_i32) { return 0; }
TC_INLINE int tc_any_nan_i64(tc_i64, tc_i64, tc_i64, tc_i64) { return 0; }
TC_INLINE tc_bool tc_isnan_i32(tc_i32) { return tc_splat_i32(0); }
TC_INLINE tc_bool tc_isnan_i64(tc_i64) { return tc_splat_i32(0); }

/* Where v beats the kept value, v and its position replace it. */
#define TC_TAKE(name, op)                                                                                      \
    TC_INLINE void tc_##name##_f32(tc_f32 *m, tc_i32 *at, tc_f32 v, tc_i32 position) {                         \
        tc_bool beats = (tc_bool)(v op *m);                                                                    \
        *m = v op *m ? v : *m;                                                                                 \
        *at = tc_where_i32(beats, position, *at);                                                              \
    }                                                                                                          \
    TC_INLINE void tc_##name##_i32(tc_i32 *m, tc_i32 *at, tc_i32 v, tc_i32 position) {                         \
        tc_bool beats = (tc_bool)(v op *m);                                                                    \
        *m = v op *m ? v : *m;                                                                                 \
        *at = tc_where_i32(beats, position, *at);                                                              \
    }                                                                                                          \
    TC_INLINE void tc_##name##_f64(tc_f64 *m, tc_i64 *at, tc_f64 v, tc_i64 position) {                         \
        at->lo = tc_where_i64x4((tc_i64x4)(v.lo op m->lo), position.lo, at->lo);                               \
        at->hi = tc_where_i64x4((tc_i64x4)(v.hi op m->hi), position.hi, at->hi);                               \
        m->lo = v.lo op m->lo ? v.lo : m->lo;                                                                  \
        m->hi = v.hi op m->hi ? v.hi : m->hi;                                                                  \
    }                                                                                                          \
    TC_INLINE void tc_##name##_i64(tc_i64 *m, tc_i64 *at, tc_i64 v, tc_i64 position) {                         \
        at->lo = tc_where_i64x4((tc_i64x4)(v.lo op m->lo), position.lo, at->lo);                               \
        at->hi = tc_where_i64x4((tc_i64x4)(v.hi op m->hi), position.hi, at->hi);                               \
        m->lo = v.lo op m->lo ? v.lo : m->lo;                                                                  \
        m->hi = v.hi op m->hi ? v.hi : m->hi;                                                                  \
    }
TC_TAKE(take_max, >)
TC_TAKE(take_min, <)
#undef TC_TAKE

/* Positions of eight lanes, from the words kept beside them: all of a position, or its low half. */
TC_INLINE tc_i32 tc_position_i32(tc_i64_t at) { return tc_splat_i32((tc_i32_t)(tc_u32_t)(tc_u64_t)at); }
TC_INLINE tc_i64 tc_position_i64(tc_i64_t at) { return tc_splat_i64(at); }
TC_INLINE tc_i64 tc_whole_position_i32(tc_i32 at, tc_i64_t first) {
    return tc_cast_i32_i64((tc_i32)((tc_u32)at - (tc_u32)tc_position_i32(first))) + tc_splat_i64(first);
}
TC_INLINE tc_i64 tc_whole_position_i64(tc_i64 at, tc_i64_t first) {
    (void)first;
    return at;
}

/* The first of the candidate positions. */
TC_INLINE tc_i64_t tc_least_i64(tc_i64 x) {
    x = tc_minimum_i64(x, tc_turn_i64(x, 4));
    x = tc_minimum_i64(x, tc_turn_i64(x, 2));
    x = tc_minimum_i64(x, tc_turn_i64(x, 1));
    return x.lo[0];
}

/* D: max or min; T, V: operand; U, W, C: type compared in; B, P: kept positions. */
#define TC_ARG(D, op, T, V, U, W, C, B, P, enter, keep, worst)                                                 \
    struct tc_arg##D##_##T {                                                                                   \
        W m0, m1;                                                                                              \
        P at0, at1;                                                                                            \
        tc_i64_t first, position, nan;                                                                         \
        C best;                                                                                                \
    };                                                                                                         \
    TC_INLINE void tc_arg##D##_##T##_fresh(struct tc_arg##D##_##T *s) {                                        \
        s->m0 = s->m1 = tc_splat_##U(worst);                                                                   \
        s->at0 = s->at1 = tc_splat_##B(0);                                                                     \
        s->first = -1;                                                                                         \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_begin(struct tc_arg##D##_##T *s) {                                        \
        tc_arg##D##_##T##_fresh(s);                                                                            \
        s->position = s->nan = -1;                                                                             \
        s->best = worst;                                                                                       \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_step(struct tc_arg##D##_##T *s, V v0, V v1, V v2, V v3, tc_i64_t base) {  \
        W w0 = enter(v0), w1 = enter(v1), w2 = enter(v2), w3 = enter(v3);                                      \
        s->first = s->first < 0 ? base : s->first;                                                             \
        tc_take_##D##_##U(&s->m0, &s->at0, w0, tc_position_##B(base));                                         \
        tc_take_##D##_##U(&s->m1, &s->at1, w1, tc_position_##B(base + 8));                                     \
        tc_take_##D##_##U(&s->m0, &s->at0, w2, tc_position_##B(base + 16));                                    \
        tc_take_##D##_##U(&s->m1, &s->at1, w3, tc_position_##B(base + 24));                                    \
        if (__builtin_expect(tc_any_nan_##U(w0, w1, w2, w3), 0) && s->nan < 0) {                               \
            tc_u32_t low = tc_lane_bits(tc_isnan_##U(w0)) | tc_lane_bits(tc_isnan_##U(w1)) << 8;               \
            tc_u32_t high = tc_lane_bits(tc_isnan_##U(w2)) | tc_lane_bits(tc_isnan_##U(w3)) << 8;              \
            s->nan = base + __builtin_ctz(low | high << 16);                                                   \
        }                                                                                                      \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_tail(struct tc_arg##D##_##T *s, int j, V v, int n, tc_i64_t base) {       \
        (void)j;                                                                                               \
        W w = tc_where_##U(tc_active(n), enter(v), tc_splat_##U(worst));                                       \
        s->first = s->first < 0 ? base : s->first;                                                             \
        tc_take_##D##_##U(&s->m0, &s->at0, w, tc_position_##B(base));                                          \
        tc_u32_t nans = tc_lane_bits(tc_isnan_##U(w));                                                         \
        if (__builtin_expect(nans != 0, 0) && s->nan < 0) s->nan = base + __builtin_ctz(nans);                 \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_block(struct tc_arg##D##_##T *s) { (void)s; }                             \
    TC_INLINE void tc_arg##D##_##T##_take(struct tc_arg##D##_##T *s, C best, tc_i64_t position) {              \
        if (s->position >= 0 && !(best op s->best)) return;                                                    \
        s->best = best;                                                                                        \
        s->position = position;                                                                                \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_chunk(struct tc_arg##D##_##T *s) {                                        \
        if (s->first < 0) return;                                                                              \
        W m = keep(s->m0, s->m1);                                                                              \
        m = keep(m, tc_turn_##U(m, 4));                                                                        \
        m = keep(m, tc_turn_##U(m, 2));                                                                        \
        m = keep(m, tc_turn_##U(m, 1));                                                                        \
        tc_i64 none = tc_splat_i64(0x7fffffffffffffff), lane = tc_iota_i64(0, 1);                              \
        tc_i64 at0 = tc_whole_position_##B(s->at0, s->first) + lane;                                           \
        tc_i64 at1 = tc_whole_position_##B(s->at1, s->first) + lane;                                           \
        at0 = tc_where_i64(tc_equal_##U(s->m0, m), at0, none);                                                 \
        at1 = tc_where_i64(tc_equal_##U(s->m1, m), at1, none);                                                 \
        C best = tc_first_##U(m);                                                                              \
        tc_i64_t position = best == worst ? s->first : tc_least_i64(tc_minimum_i64(at0, at1));                 \
        tc_arg##D##_##T##_take(s, best, position);                                                             \
        tc_arg##D##_##T##_fresh(s);                                                                            \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_merge(struct tc_arg##D##_##T *s, const struct tc_arg##D##_##T *next) {    \
        s->nan = s->nan < 0 ? next->nan : s->nan;                                                              \
        if (next->position >= 0) tc_arg##D##_##T##_take(s, next->best, next->position);                        \
    }                                                                                                          \
    TC_INLINE tc_i64 tc_arg##D##_##T##_result(const struct tc_arg##D##_##T *s, tc_i64_t count, double c) {     \
        (void)count, (void)c;                                                                                  \
        return tc_splat_i64(s->nan < 0 ? s->position : s->nan);                                                \
    }

/* By columns a lane has its own position and first NaN. */
#define TC_ARG_COLUMNS(D, T, V, U, W, B, P, enter, better, worst)                                              \
    struct tc_arg##D##_##T##_col {                                                                             \
        W m, best;                                                                                             \
        P at;                                                                                                  \
        tc_i64 position, nan;                                                                                  \
        tc_i64_t first;                                                                                        \
    };                                                                                                         \
    TC_INLINE void tc_arg##D##_##T##_col_begin(struct tc_arg##D##_##T##_col *s) {                              \
        s->m = s->best = tc_splat_##U(worst);                                                                  \
        s->at = tc_splat_##B(0);                                                                               \
        s->position = s->nan = tc_splat_i64(-1);                                                               \
        s->first = -1;                                                                                         \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_col_row(struct tc_arg##D##_##T##_col *s, W w, tc_i64_t base) {            \
        tc_take_##D##_##U(&s->m, &s->at, w, tc_position_##B(base));                                            \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_col_nan(struct tc_arg##D##_##T##_col *s, W w, tc_i64_t base) {            \
        tc_bool first = tc_isnan_##U(w) & tc_less_i64(s->nan, tc_splat_i64(0));                                \
        s->nan = tc_where_i64(first, tc_splat_i64(base), s->nan);                                              \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_col_step(struct tc_arg##D##_##T##_col *s, V v0, V v1, V v2, V v3, V v4,   \
                                              V v5, V v6, V v7, tc_i64_t base) {                               \
        W w[8] = {enter(v0), enter(v1), enter(v2), enter(v3), enter(v4), enter(v5), enter(v6), enter(v7)};     \
        s->first = s->first < 0 ? base : s->first;                                                             \
        tc_arg##D##_##T##_col_row(s, w[0], base);                                                              \
        tc_arg##D##_##T##_col_row(s, w[1], base + 1);                                                          \
        tc_arg##D##_##T##_col_row(s, w[2], base + 2);                                                          \
        tc_arg##D##_##T##_col_row(s, w[3], base + 3);                                                          \
        tc_arg##D##_##T##_col_row(s, w[4], base + 4);                                                          \
        tc_arg##D##_##T##_col_row(s, w[5], base + 5);                                                          \
        tc_arg##D##_##T##_col_row(s, w[6], base + 6);                                                          \
        tc_arg##D##_##T##_col_row(s, w[7], base + 7);                                                          \
        int any = tc_any_nan_##U(w[0], w[1], w[2], w[3]) | tc_any_nan_##U(w[4], w[5], w[6], w[7]);             \
        if (__builtin_expect(any, 0)) {                                                                        \
            tc_arg##D##_##T##_col_nan(s, w[0], base);                                                          \
            tc_arg##D##_##T##_col_nan(s, w[1], base + 1);                                                      \
            tc_arg##D##_##T##_col_nan(s, w[2], base + 2);                                                      \
            tc_arg##D##_##T##_col_nan(s, w[3], base + 3);                                                      \
            tc_arg##D##_##T##_col_nan(s, w[4], base + 4);                                                      \
            tc_arg##D##_##T##_col_nan(s, w[5], base + 5);                                                      \
            tc_arg##D##_##T##_col_nan(s, w[6], base + 6);                                                      \
            tc_arg##D##_##T##_col_nan(s, w[7], base + 7);                                                      \
        }                                                                                                      \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_col_tail(struct tc_arg##D##_##T##_col *s, int j, V v, tc_i64_t base) {    \
        (void)j;                                                                                               \
        s->first = s->first < 0 ? base : s->first;                                                             \
        tc_arg##D##_##T##_col_row(s, enter(v), base);                                                          \
        tc_arg##D##_##T##_col_nan(s, enter(v), base);                                                          \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_col_block(struct tc_arg##D##_##T##_col *s) { (void)s; }                   \
    TC_INLINE void tc_arg##D##_##T##_col_take(struct tc_arg##D##_##T##_col *s, W best, tc_i64 position) {      \
        tc_bool taken = tc_##better##_##U(best, s->best) | tc_less_i64(s->position, tc_splat_i64(0));          \
        taken = taken & tc_greater_equal_i64(position, tc_splat_i64(0));                                       \
        s->best = tc_where_##U(taken, best, s->best);                                                          \
        s->position = tc_where_i64(taken, position, s->position);                                              \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_col_chunk(struct tc_arg##D##_##T##_col *s) {                              \
        if (s->first < 0) return;                                                                              \
        tc_bool unset = tc_equal_##U(s->m, tc_splat_##U(worst));                                               \
        tc_i64 at = tc_whole_position_##B(s->at, s->first);                                                    \
        tc_arg##D##_##T##_col_take(s, s->m, tc_where_i64(unset, tc_splat_i64(s->first), at));                  \
        s->m = tc_splat_##U(worst);                                                                            \
        s->first = -1;                                                                                         \
    }                                                                                                          \
    TC_INLINE void tc_arg##D##_##T##_col_merge(struct tc_arg##D##_##T##_col *s,                                \
                                               const struct tc_arg##D##_##T##_col *next) {                     \
        s->nan = tc_where_i64(tc_less_i64(s->nan, tc_splat_i64(0)), next->nan, s->nan);                        \
        tc_arg##D##_##T##_col_take(s, next->best, next->position);                                             \
    }                                                                                                          \
    TC_INLINE tc_i64 tc_arg##D##_##T##_col_result(const struct tc_arg##D##_##T##_col *s, tc_i64_t count,       \
                                                  double correction) {                                         \
        (void)count, (void)correction;                                                                         \
        return tc_where_i64(tc_less_i64(s->nan, tc_splat_i64(0)), s->position, s->nan);                        \
    }

#define TC_ARG_BOTH(T, V, U, W, C, B, P, enter, keep_max, keep_min, low, high)                                 \
    TC_ARG(max, >, T, V, U, W, C, B, P, enter, keep_max, low)                                                  \
    TC_ARG(min, <, T, V, U, W, C, B, P, enter, keep_min, high)                                                 \
    TC_ARG_COLUMNS(max, T, V, U, W, B, P, enter, greater, low)                                                 \
    TC_ARG_COLUMNS(min, T, V, U, W, B, P, enter, less, high)

TC_ARG_BOTH(f32, tc_f32, f32, tc_f32, float, i32, tc_i32, TC_SAME, tc_keep_max_f32, tc_keep_min_f32,
            -__builtin_inff(), __builtin_inff())
TC_ARG_BOTH(f64, tc_f64, f64, tc_f64, double, i64, tc_i64, TC_SAME, tc_keep_max_f64, tc_keep_min_f64,
            -__builtin_inf(), __builtin_inf())
TC_ARG_BOTH(i32, tc_i32, i32, tc_i32, tc_i32_t, i32, tc_i32, TC_SAME, tc_maximum_i32, tc_minimum_i32,
            -0x7fffffff - 1, 0x7fffffff)
TC_ARG_BOTH(i64, tc_i64, i64, tc_i64, tc_i64_t, i64, tc_i64, TC_SAME, tc_maximum_i64, tc_minimum_i64,
            -0x7fffffffffffffff - 1, 0x7fffffffffffffff)
TC_ARG_BOTH(bool, tc_bool, i32, tc_i32, tc_i32_t, i32, tc_i32, tc_cast_bool_i32, tc_maximum_i32, tc_minimum_i32,
            -0x7fffffff - 1, 0x7fffffff)

#undef TC_ARG
#undef TC_ARG_COLUMNS
#undef TC_ARG_BOTH

#endif
