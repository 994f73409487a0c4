/* Conversions between lane types.
 *
 * Float to integer truncates, saturates, and takes NaN to 0: lanes out of range are replaced before the
 * instruction sees them, since what it gives there is undefined and differs between compilers. Integer to float
 * and f64 to f32 round to nearest even. To bool is `!= 0`, so NaN is true; from bool is 0 or 1.
 */
#ifndef TC_LANES_CONVERT_H
#define TC_LANES_CONVERT_H

TC_INLINE tc_f32x4 tc_low_f32x4(tc_f32 x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3); }
TC_INLINE tc_f32x4 tc_high_f32x4(tc_f32 x) { return __builtin_shufflevector(x, x, 4, 5, 6, 7); }
TC_INLINE tc_i32x4 tc_low_i32x4(tc_i32 x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3); }
TC_INLINE tc_i32x4 tc_high_i32x4(tc_i32 x) { return __builtin_shufflevector(x, x, 4, 5, 6, 7); }

/* g++ makes several instructions of the generic widening conversions, and clang lacks these builtins. */
#if defined(__AVX2__) && !defined(__clang__)
TC_INLINE tc_f64x4 tc_widen_f32x4(tc_f32x4 x) { return __builtin_ia32_cvtps2pd256(x); }
TC_INLINE tc_f64x4 tc_f64x4_of_i32x4(tc_i32x4 x) { return __builtin_ia32_cvtdq2pd256(x); }
TC_INLINE tc_i64x4 tc_widen_i32x4(tc_i32x4 x) { return (tc_i64x4)__builtin_ia32_pmovsxdq256(x); }
#else
TC_INLINE tc_f64x4 tc_widen_f32x4(tc_f32x4 x) { return __builtin_convertvector(x, tc_f64x4); }
TC_INLINE tc_f64x4 tc_f64x4_of_i32x4(tc_i32x4 x) { return __builtin_convertvector(x, tc_f64x4); }
TC_INLINE tc_i64x4 tc_widen_i32x4(tc_i32x4 x) { return __builtin_convertvector(x, tc_i64x4); }
#endif

TC_INLINE tc_f32 tc_cast_f32_f32(tc_f32 x) { return x; }
TC_INLINE tc_f64 tc_cast_f64_f64(tc_f64 x) { return x; }
TC_INLINE tc_i32 tc_cast_i32_i32(tc_i32 x) { return x; }
TC_INLINE tc_i64 tc_cast_i64_i64(tc_i64 x) { return x; }
TC_INLINE tc_bool tc_cast_bool_bool(tc_bool x) { return x; }

TC_INLINE tc_f64 tc_cast_f32_f64(tc_f32 x) {
    tc_f64 r = {tc_widen_f32x4(tc_low_f32x4(x)), tc_widen_f32x4(tc_high_f32x4(x))};
    return r;
}
TC_INLINE tc_f32 tc_cast_f64_f32(tc_f64 x) {
    tc_f32x4 lo = __builtin_convertvector(x.lo, tc_f32x4), hi = __builtin_convertvector(x.hi, tc_f32x4);
    return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7);
}
TC_INLINE tc_f32 tc_cast_i32_f32(tc_i32 x) { return __builtin_convertvector(x, tc_f32); }
TC_INLINE tc_f64 tc_cast_i32_f64(tc_i32 x) {
    tc_f64 r = {tc_f64x4_of_i32x4(tc_low_i32x4(x)), tc_f64x4_of_i32x4(tc_high_i32x4(x))};
    return r;
}
TC_INLINE tc_i64 tc_cast_i32_i64(tc_i32 x) {
    tc_i64 r = {tc_widen_i32x4(tc_low_i32x4(x)), tc_widen_i32x4(tc_high_i32x4(x))};
    return r;
}
TC_INLINE tc_i32 tc_cast_i64_i32(tc_i64 x) { return tc_narrow_mask(x.lo, x.hi); }
/* The halves of x as 2^84 + (high + 2^31) 2^32 and 2^52 + low, by their bits. The difference is exact, the last sum
 * is x rounded once. */
TC_INLINE tc_f64x4 tc_f64x4_of_i64x4(tc_i64x4 x) {
    tc_u64x4 bits = (tc_u64x4)x;
    tc_u64x4 high = (bits >> 32) ^ 0x4530000080000000u, low = (bits & 0xffffffffu) | 0x4330000000000000u;
    return ((tc_f64x4)high - (0x1p84 + 0x1p63 + 0x1p52)) + (tc_f64x4)low;
}
TC_INLINE tc_f64 tc_cast_i64_f64(tc_i64 x) {
    tc_f64 r = {tc_f64x4_of_i64x4(x.lo), tc_f64x4_of_i64x4(x.hi)};
    return r;
}
/* Below 2^53 f64 holds x, so that rounding it is the only rounding. */
TC_INLINE tc_f32 tc_cast_i64_f32(tc_i64 x) {
    tc_u64x4 lo = (tc_u64x4)x.lo + 0x20000000000000u, hi = (tc_u64x4)x.hi + 0x20000000000000u;
    if (__builtin_expect(!tc_any_lane((tc_i32)((lo | hi) >> 54 != 0)), 1)) return tc_cast_f64_f32(tc_cast_i64_f64(x));
    tc_i64x4 a = x.lo, b = x.hi;
    tc_f32 r = {(float)a[0], (float)a[1], (float)a[2], (float)a[3],
                (float)b[0], (float)b[1], (float)b[2], (float)b[3]};
    return r;
}

TC_INLINE tc_i32 tc_cast_f32_i32(tc_f32 x) {
    tc_bool above = (tc_bool)(x >= 2147483648.0f), below = (tc_bool)(x < -2147483648.0f);
    tc_bool inside = (tc_bool)(x == x) & ~(above | below);
    tc_i32 whole = __builtin_convertvector((tc_f32)((tc_i32)x & inside), tc_i32);
    return tc_where_i32(above, tc_splat_i32(0x7fffffff), tc_where_i32(below, tc_splat_i32(-0x7fffffff - 1), whole));
}
TC_INLINE tc_i32x4 tc_i32x4_of_f64x4(tc_f64x4 x) {
    tc_f64x4 top = tc_splat_f64x4(2147483647.0), bottom = tc_splat_f64x4(-2147483648.0);
    tc_f64x4 number = (tc_f64x4)((tc_i64x4)x & (tc_i64x4)(x == x));
    tc_f64x4 capped = number > top ? top : number;
    return __builtin_convertvector(capped < bottom ? bottom : capped, tc_i32x4);
}
TC_INLINE tc_i32 tc_cast_f64_i32(tc_f64 x) {
    return __builtin_shufflevector(tc_i32x4_of_f64x4(x.lo), tc_i32x4_of_f64x4(x.hi), 0, 1, 2, 3, 4, 5, 6, 7);
}
TC_INLINE tc_i64x4 tc_i64x4_of_f64x4(tc_f64x4 x) {
    tc_i64x4 above = (tc_i64x4)(x >= 9223372036854775808.0), below = (tc_i64x4)(x < -9223372036854775808.0);
    tc_i64x4 inside = (tc_i64x4)(x == x) & ~(above | below);
    tc_f64x4 safe = (tc_f64x4)((tc_i64x4)x & inside);
    tc_i64x4 whole = {(tc_i64_t)safe[0], (tc_i64_t)safe[1], (tc_i64_t)safe[2], (tc_i64_t)safe[3]};
    whole = tc_where_i64x4(below, tc_splat_i64x4(-0x7fffffffffffffff - 1), whole);
    return tc_where_i64x4(above, tc_splat_i64x4(0x7fffffffffffffff), whole);
}
TC_INLINE tc_i64 tc_cast_f64_i64(tc_f64 x) {
    tc_i64 r = {tc_i64x4_of_f64x4(x.lo), tc_i64x4_of_f64x4(x.hi)};
    return r;
}
/* f32 to f64 is exact, so the two steps are one conversion. */
TC_INLINE tc_i64 tc_cast_f32_i64(tc_f32 x) { return tc_cast_f64_i64(tc_cast_f32_f64(x)); }

TC_INLINE tc_bool tc_cast_f32_bool(tc_f32 x) { return (tc_bool)(x != 0); }
TC_INLINE tc_bool tc_cast_i32_bool(tc_i32 x) { return (tc_bool)(x != 0); }
TC_INLINE tc_bool tc_cast_f64_bool(tc_f64 x) {
    return tc_narrow_mask((tc_i64x4)(x.lo != 0), (tc_i64x4)(x.hi != 0));
}
TC_INLINE tc_bool tc_cast_i64_bool(tc_i64 x) {
    return tc_narrow_mask((tc_i64x4)(x.lo != 0), (tc_i64x4)(x.hi != 0));
}
TC_INLINE tc_i32 tc_cast_bool_i32(tc_bool x) { return x & 1; }
TC_INLINE tc_i64 tc_cast_bool_i64(tc_bool x) { return tc_cast_i32_i64(x & 1); }
TC_INLINE tc_f32 tc_cast_bool_f32(tc_bool x) { return (tc_f32)(x & (tc_i32)tc_splat_f32(1)); }
TC_INLINE tc_f64 tc_cast_bool_f64(tc_bool x) {
    tc_i64x4 one = (tc_i64x4)tc_splat_f64x4(1);
    tc_f64 r = {(tc_f64x4)(tc_mask_low(x) & one), (tc_f64x4)(tc_mask_high(x) & one)};
    return r;
}

#endif
