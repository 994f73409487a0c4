/* What the reduction headers share: plain extremes, NaN tests, and ways across the eight lanes. */
#ifndef TC_REDUCE_COMMON_H
#define TC_REDUCE_COMMON_H

#define TC_SAME(x) (x)
#define TC_PLUS(a, b) ((a) + (b))
#define TC_TIMES(a, b) ((a) * (b))

/* ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7)). */
TC_INLINE double tc_fold_sum_f64(tc_f64 x) {
    tc_f64x4 q = x.lo + x.hi;
    return (q[0] + q[2]) + (q[1] + q[3]);
}

/* The operand order matters: on NaN and on ties both give m. */
TC_INLINE tc_f32 tc_keep_max_f32(tc_f32 m, tc_f32 x) { return x > m ? x : m; }
TC_INLINE tc_f32 tc_keep_min_f32(tc_f32 m, tc_f32 x) { return x < m ? x : m; }
TC_INLINE tc_f64 tc_keep_max_f64(tc_f64 m, tc_f64 x) {
    tc_f64 r = {x.lo > m.lo ? x.lo : m.lo, x.hi > m.hi ? x.hi : m.hi};
    return r;
}
TC_INLINE tc_f64 tc_keep_min_f64(tc_f64 m, tc_f64 x) {
    tc_f64 r = {x.lo < m.lo ? x.lo : m.lo, x.hi < m.hi ? x.hi : m.hi};
    return r;
}

/* Lanes where a or b is NaN: one comparison sees to both. */
#if defined(__AVX__)
TC_INLINE tc_i32 tc_unordered_f32(tc_f32 a, tc_f32 b) { return (tc_i32)__builtin_ia32_cmpps256(a, b, 3); }
TC_INLINE tc_i64x4 tc_unordered_f64x4(tc_f64x4 a, tc_f64x4 b) {
    return (tc_i64x4)__builtin_ia32_cmppd256(a, b, 3);
}
#else
TC_INLINE tc_i32 tc_unordered_f32(tc_f32 a, tc_f32 b) { return (tc_i32)(a != a) | (tc_i32)(b != b); }
TC_INLINE tc_i64x4 tc_unordered_f64x4(tc_f64x4 a, tc_f64x4 b) {
    return (tc_i64x4)(a != a) | (tc_i64x4)(b != b);
}
#endif
TC_INLINE tc_i64 tc_unordered_f64(tc_f64 a, tc_f64 b) {
    tc_i64 r = {tc_unordered_f64x4(a.lo, b.lo), tc_unordered_f64x4(a.hi, b.hi)};
    return r;
}

/* Lanes moved by 4, 2 and 1: combining with each in turn leaves the fold of all eight in every lane. */
TC_INLINE tc_i32 tc_turn_i32(tc_i32 x, int by) {
    if (by == 4) return __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
    if (by == 2) return __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
}
TC_INLINE tc_f32 tc_turn_f32(tc_f32 x, int by) { return (tc_f32)tc_turn_i32((tc_i32)x, by); }
TC_INLINE tc_i64x4 tc_turn_i64x4(tc_i64x4 x, int by) {
    if (by == 2) return __builtin_shufflevector(x, x, 2, 3, 0, 1);
    return __builtin_shufflevector(x, x, 1, 0, 3, 2);
}
TC_INLINE tc_i64 tc_turn_i64(tc_i64 x, int by) {
    if (by == 4) { tc_i64 r = {x.hi, x.lo}; return r; }
    tc_i64 r = {tc_turn_i64x4(x.lo, by), tc_turn_i64x4(x.hi, by)};
    return r;
}
TC_INLINE tc_f64 tc_turn_f64(tc_f64 x, int by) {
    tc_i64 bits = {(tc_i64x4)x.lo, (tc_i64x4)x.hi};
    bits = tc_turn_i64(bits, by);
    tc_f64 r = {(tc_f64x4)bits.lo, (tc_f64x4)bits.hi};
    return r;
}

#endif
