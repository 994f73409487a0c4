/* Comparisons, masks, selection, and everything on bool lanes.
 *
 * A mask lane is 0 or -1 and stays so through every function here. f64 and i64 comparisons narrow a pair of
 * 64-bit masks to eight 32-bit ones; selection widens them again.
 */
#ifndef TC_LANES_LOGIC_H
#define TC_LANES_LOGIC_H

TC_INLINE tc_bool tc_narrow_mask(tc_i64x4 lo, tc_i64x4 hi) {
    return __builtin_shufflevector((tc_i32)lo, (tc_i32)hi, 0, 2, 4, 6, 8, 10, 12, 14);
}
TC_INLINE tc_i64x4 tc_mask_low(tc_bool m) {
    return (tc_i64x4)__builtin_shufflevector(m, m, 0, 0, 1, 1, 2, 2, 3, 3);
}
TC_INLINE tc_i64x4 tc_mask_high(tc_bool m) {
    return (tc_i64x4)__builtin_shufflevector(m, m, 4, 4, 5, 5, 6, 6, 7, 7);
}

#define TC_COMPARISON(name, op)                                                                                \
    TC_INLINE tc_bool tc_##name##_f32(tc_f32 a, tc_f32 b) { return (tc_bool)(a op b); }                        \
    TC_INLINE tc_bool tc_##name##_i32(tc_i32 a, tc_i32 b) { return (tc_bool)(a op b); }                        \
    TC_INLINE tc_bool tc_##name##_f64(tc_f64 a, tc_f64 b) {                                                    \
        return tc_narrow_mask((tc_i64x4)(a.lo op b.lo), (tc_i64x4)(a.hi op b.hi));                             \
    }                                                                                                          \
    TC_INLINE tc_bool tc_##name##_i64(tc_i64 a, tc_i64 b) {                                                    \
        return tc_narrow_mask((tc_i64x4)(a.lo op b.lo), (tc_i64x4)(a.hi op b.hi));                             \
    }
TC_COMPARISON(equal, ==)
TC_COMPARISON(not_equal, !=)
TC_COMPARISON(less, <)
TC_COMPARISON(less_equal, <=)
TC_COMPARISON(greater, >)
TC_COMPARISON(greater_equal, >=)
#undef TC_COMPARISON

TC_INLINE tc_bool tc_equal_bool(tc_bool a, tc_bool b) { return ~(a ^ b); }
TC_INLINE tc_bool tc_not_equal_bool(tc_bool a, tc_bool b) { return a ^ b; }
TC_INLINE tc_bool tc_less_bool(tc_bool a, tc_bool b) { return ~a & b; }
TC_INLINE tc_bool tc_less_equal_bool(tc_bool a, tc_bool b) { return ~a | b; }
TC_INLINE tc_bool tc_greater_bool(tc_bool a, tc_bool b) { return a & ~b; }
TC_INLINE tc_bool tc_greater_equal_bool(tc_bool a, tc_bool b) { return a | ~b; }

/* A blend of a mask variable: `m ? a : b` on vectors would test m against zero first. */
TC_INLINE tc_f32 tc_where_f32(tc_bool m, tc_f32 a, tc_f32 b) {
#if defined(__AVX__)
    return __builtin_ia32_blendvps256(b, a, (tc_f32)m);
#else
    return (tc_f32)(((tc_i32)a & m) | ((tc_i32)b & ~m));
#endif
}
TC_INLINE tc_f64x4 tc_where_f64x4(tc_i64x4 m, tc_f64x4 a, tc_f64x4 b) {
#if defined(__AVX__)
    return __builtin_ia32_blendvpd256(b, a, (tc_f64x4)m);
#else
    return (tc_f64x4)(((tc_i64x4)a & m) | ((tc_i64x4)b & ~m));
#endif
}
TC_INLINE tc_i64x4 tc_where_i64x4(tc_i64x4 m, tc_i64x4 a, tc_i64x4 b) {
    return (tc_i64x4)tc_where_f64x4(m, (tc_f64x4)a, (tc_f64x4)b);
}
TC_INLINE tc_i32 tc_where_i32(tc_bool m, tc_i32 a, tc_i32 b) {
    return (tc_i32)tc_where_f32(m, (tc_f32)a, (tc_f32)b);
}
TC_INLINE tc_f64 tc_where_f64(tc_bool m, tc_f64 a, tc_f64 b) {
    tc_f64 r = {tc_where_f64x4(tc_mask_low(m), a.lo, b.lo), tc_where_f64x4(tc_mask_high(m), a.hi, b.hi)};
    return r;
}
TC_INLINE tc_i64 tc_where_i64(tc_bool m, tc_i64 a, tc_i64 b) {
    tc_i64 r = {tc_where_i64x4(tc_mask_low(m), a.lo, b.lo), tc_where_i64x4(tc_mask_high(m), a.hi, b.hi)};
    return r;
}
TC_INLINE tc_bool tc_where_bool(tc_bool m, tc_bool a, tc_bool b) { return (m & a) | (~m & b); }

TC_INLINE tc_bool tc_logical_and_bool(tc_bool a, tc_bool b) { return a & b; }
TC_INLINE tc_bool tc_logical_or_bool(tc_bool a, tc_bool b) { return a | b; }
TC_INLINE tc_bool tc_logical_not_bool(tc_bool a) { return ~a; }

TC_INLINE tc_bool tc_bitwise_and_bool(tc_bool a, tc_bool b) { return a & b; }
TC_INLINE tc_bool tc_bitwise_or_bool(tc_bool a, tc_bool b) { return a | b; }
TC_INLINE tc_bool tc_bitwise_xor_bool(tc_bool a, tc_bool b) { return a ^ b; }
TC_INLINE tc_bool tc_bitwise_invert_bool(tc_bool a) { return ~a; }

/* Arithmetic on bool as in NumPy: + is or, * is and. */
TC_INLINE tc_bool tc_add_bool(tc_bool a, tc_bool b) { return a | b; }
TC_INLINE tc_bool tc_multiply_bool(tc_bool a, tc_bool b) { return a & b; }
TC_INLINE tc_bool tc_maximum_bool(tc_bool a, tc_bool b) { return a | b; }
TC_INLINE tc_bool tc_minimum_bool(tc_bool a, tc_bool b) { return a & b; }
TC_INLINE tc_bool tc_abs_bool(tc_bool a) { return a; }
TC_INLINE tc_bool tc_floor_bool(tc_bool a) { return a; }
TC_INLINE tc_bool tc_ceil_bool(tc_bool a) { return a; }
TC_INLINE tc_bool tc_trunc_bool(tc_bool a) { return a; }
TC_INLINE tc_bool tc_round_bool(tc_bool a) { return a; }

TC_INLINE tc_bool tc_isnan_f32(tc_f32 x) { return (tc_bool)(x != x); }
TC_INLINE tc_bool tc_isnan_f64(tc_f64 x) {
    return tc_narrow_mask((tc_i64x4)(x.lo != x.lo), (tc_i64x4)(x.hi != x.hi));
}
TC_INLINE tc_i32 tc_magnitude_f32(tc_f32 x) { return (tc_i32)x & 0x7fffffff; }
TC_INLINE tc_i64x4 tc_magnitude_f64x4(tc_f64x4 x) { return (tc_i64x4)x & 0x7fffffffffffffff; }
TC_INLINE tc_bool tc_isinf_f32(tc_f32 x) { return (tc_bool)(tc_magnitude_f32(x) == 0x7f800000); }
TC_INLINE tc_bool tc_isfinite_f32(tc_f32 x) { return (tc_bool)(tc_magnitude_f32(x) < 0x7f800000); }
TC_INLINE tc_bool tc_isinf_f64(tc_f64 x) {
    return tc_narrow_mask((tc_i64x4)(tc_magnitude_f64x4(x.lo) == 0x7ff0000000000000),
                          (tc_i64x4)(tc_magnitude_f64x4(x.hi) == 0x7ff0000000000000));
}
TC_INLINE tc_bool tc_isfinite_f64(tc_f64 x) {
    return tc_narrow_mask((tc_i64x4)(tc_magnitude_f64x4(x.lo) < 0x7ff0000000000000),
                          (tc_i64x4)(tc_magnitude_f64x4(x.hi) < 0x7ff0000000000000));
}

/* Whether any of the eight lanes is true. */
TC_INLINE int tc_any_lane(tc_bool m) {
#if defined(__AVX__)
    return __builtin_ia32_movmskps256((tc_f32)m) != 0;
#else
    int any = 0;
    for (int i = 0; i < 8; ++i) any |= m[i];
    return any != 0;
#endif
}

/* Whether the first n lanes are all 0 or more. */
TC_INLINE int tc_nonnegative_i32(tc_i32 x, int n) { return !tc_any_lane((tc_bool)(x < 0) & tc_active(n)); }
TC_INLINE int tc_nonnegative_i64(tc_i64 x, int n) {
    return !tc_any_lane(tc_less_i64(x, tc_splat_i64(0)) & tc_active(n));
}

#endif
