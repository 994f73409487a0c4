/* u32 and u64: the bits of i32 and i64 lanes, with the operations in which the top bit is no sign.
 *
 * What is not here is the same on signed lanes: sums, products, bits, shifts to the left, equality, selection.
 */
#ifndef TC_LANES_UNSIGNED_H
#define TC_LANES_UNSIGNED_H

#include "lanes_narrow.h"

#define TC_UNSIGNED_MEMORY(S, T, V, E, I)                                                                      \
    TC_INLINE V tc_splat_##S(E x) { return tc_splat_##T((I)x); }                                               \
    TC_INLINE V tc_load_##S(const E *p) { return tc_load_##T((const I *)p); }                                  \
    TC_INLINE V tc_load_part_##S(const E *p, int n) { return tc_load_part_##T((const I *)p, n); }              \
    TC_INLINE V tc_gather_##S(const E *p, tc_i64_t s) { return tc_gather_##T((const I *)p, s); }               \
    TC_INLINE V tc_gather_part_##S(const E *p, tc_i64_t s, int n) { return tc_gather_part_##T((const I *)p, s, n); }\
    TC_INLINE void tc_store_##S(E *p, V v) { tc_store_##T((I *)p, v); }                                        \
    TC_INLINE void tc_store_part_##S(E *p, V v, int n) { tc_store_part_##T((I *)p, v, n); }                    \
    TC_INLINE void tc_store_first_##S(E *p, V v) { tc_store_first_##T((I *)p, v); }                            \
    TC_INLINE void tc_scatter_##S(E *p, tc_i64_t s, V v) { tc_scatter_##T((I *)p, s, v); }                     \
    TC_INLINE void tc_scatter_part_##S(E *p, tc_i64_t s, V v, int n) { tc_scatter_part_##T((I *)p, s, v, n); } \
    TC_INLINE V tc_abs_##S(V x) { return x; }                                                                  \
    TC_INLINE V tc_relu_##S(V x) { return x; }
TC_UNSIGNED_MEMORY(u32, i32, tc_i32, tc_u32_t, tc_i32_t)
TC_UNSIGNED_MEMORY(u64, i64, tc_i64, tc_u64_t, tc_i64_t)
#undef TC_UNSIGNED_MEMORY

#define TC_COMPARISON(name, op)                                                                                \
    TC_INLINE tc_bool tc_##name##_u32(tc_i32 a, tc_i32 b) { return (tc_bool)((tc_u32)a op (tc_u32)b); }        \
    TC_INLINE tc_bool tc_##name##_u64(tc_i64 a, tc_i64 b) {                                                    \
        return tc_narrow_mask((tc_i64x4)((tc_u64x4)a.lo op (tc_u64x4)b.lo),                                    \
                              (tc_i64x4)((tc_u64x4)a.hi op (tc_u64x4)b.hi));                                   \
    }
TC_COMPARISON(less, <)
TC_COMPARISON(less_equal, <=)
TC_COMPARISON(greater, >)
TC_COMPARISON(greater_equal, >=)
#undef TC_COMPARISON

TC_INLINE tc_i32 tc_maximum_u32(tc_i32 a, tc_i32 b) { return tc_where_i32(tc_greater_u32(a, b), a, b); }
TC_INLINE tc_i32 tc_minimum_u32(tc_i32 a, tc_i32 b) { return tc_where_i32(tc_less_u32(a, b), a, b); }
TC_INLINE tc_i64 tc_maximum_u64(tc_i64 a, tc_i64 b) { return tc_where_i64(tc_greater_u64(a, b), a, b); }
TC_INLINE tc_i64 tc_minimum_u64(tc_i64 a, tc_i64 b) { return tc_where_i64(tc_less_u64(a, b), a, b); }
TC_INLINE tc_i32 tc_sign_u32(tc_i32 x) { return (tc_i32)(x != 0) & 1; }
TC_INLINE tc_i64 tc_sign_u64(tc_i64 x) { return tc_cast_bool_i64(tc_cast_i64_bool(x)); }

TC_INLINE tc_i32 tc_right_shift_u32(tc_i32 a, tc_i32 count) {
    return (tc_i32)((tc_u32)a >> ((tc_u32)count & 31)) & (tc_i32)((tc_u32)count <= 31);
}
TC_INLINE tc_i64x4 tc_right_shift_u64x4(tc_i64x4 a, tc_i64x4 count) {
    return (tc_i64x4)((tc_u64x4)a >> ((tc_u64x4)count & 63)) & (tc_i64x4)((tc_u64x4)count <= 63);
}
TC_INLINE tc_i64 tc_right_shift_u64(tc_i64 a, tc_i64 count) {
    tc_i64 r = {tc_right_shift_u64x4(a.lo, count.lo), tc_right_shift_u64x4(a.hi, count.hi)};
    return r;
}

TC_NOINLINE tc_u64_t tc_scalar_power_u64(tc_u64_t base, tc_u64_t exponent) {
    tc_u64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) result *= base;
        base *= base;
    }
    return result;
}
TC_INLINE tc_u64_t tc_scalar_floor_divide_u64(tc_u64_t a, tc_u64_t b) { return b == 0 ? 0 : a / b; }
TC_INLINE tc_u64_t tc_scalar_remainder_u64(tc_u64_t a, tc_u64_t b) { return b == 0 ? 0 : a % b; }
TC_INLINE tc_u32_t tc_scalar_floor_divide_u32(tc_u32_t a, tc_u32_t b) { return b == 0 ? 0 : a / b; }
TC_INLINE tc_u32_t tc_scalar_remainder_u32(tc_u32_t a, tc_u32_t b) { return b == 0 ? 0 : a % b; }
TC_INLINE tc_u32_t tc_scalar_power_u32(tc_u32_t a, tc_u32_t b) { return (tc_u32_t)tc_scalar_power_u64(a, b); }

#define TC_SCALAR_LANES(name)                                                                                  \
    TC_INLINE tc_i32 tc_##name##_u32(tc_i32 a, tc_i32 b) {                                                     \
        for (int i = 0; i < 8; ++i)                                                                            \
            a[i] = (tc_i32_t)tc_scalar_##name##_u32((tc_u32_t)a[i], (tc_u32_t)b[i]);                           \
        return a;                                                                                              \
    }                                                                                                          \
    TC_INLINE tc_i64 tc_##name##_u64(tc_i64 a, tc_i64 b) {                                                     \
        for (int i = 0; i < 4; ++i)                                                                            \
            a.lo[i] = (tc_i64_t)tc_scalar_##name##_u64((tc_u64_t)a.lo[i], (tc_u64_t)b.lo[i]);                  \
        for (int i = 0; i < 4; ++i)                                                                            \
            a.hi[i] = (tc_i64_t)tc_scalar_##name##_u64((tc_u64_t)a.hi[i], (tc_u64_t)b.hi[i]);                  \
        return a;                                                                                              \
    }
TC_SCALAR_LANES(floor_divide)
TC_SCALAR_LANES(remainder)
TC_SCALAR_LANES(power)
#undef TC_SCALAR_LANES

TC_INLINE tc_i64 tc_cast_u32_i64(tc_i32 x) {
    tc_i64 r = tc_cast_i32_i64(x);
    r.lo = r.lo & 0xffffffff;
    r.hi = r.hi & 0xffffffff;
    return r;
}
/* The halves of x as 2^84 + high 2^32 and 2^52 + low, by their bits, as in tc_f64x4_of_i64x4. */
TC_INLINE tc_f64x4 tc_f64x4_of_u64x4(tc_i64x4 x) {
    tc_u64x4 bits = (tc_u64x4)x;
    tc_u64x4 high = (bits >> 32) | 0x4530000000000000u, low = (bits & 0xffffffffu) | 0x4330000000000000u;
    return ((tc_f64x4)high - (0x1p84 + 0x1p52)) + (tc_f64x4)low;
}
TC_INLINE tc_f64 tc_cast_u64_f64(tc_i64 x) {
    tc_f64 r = {tc_f64x4_of_u64x4(x.lo), tc_f64x4_of_u64x4(x.hi)};
    return r;
}
TC_INLINE tc_i64x4 tc_sticky_u64x4(tc_i64x4 x) { return tc_sticky(x, (tc_i64x4)(((tc_u64x4)x >> 53) != 0)); }
TC_INLINE tc_f64 tc_odd_u64_f64(tc_i64 x) {
    tc_i64 exact = {tc_sticky_u64x4(x.lo), tc_sticky_u64x4(x.hi)};
    return tc_cast_u64_f64(exact);
}
TC_INLINE tc_f32 tc_cast_u64_f32(tc_i64 x) { return tc_cast_f64_f32(tc_odd_u64_f64(x)); }

/* Through the signed type: the value less half the range, whose bits then differ in the top one only. */
TC_INLINE tc_f64x4 tc_positive_f64x4(tc_f64x4 x) { return x > 0 ? x : tc_splat_f64x4(0); }
TC_INLINE tc_i32x4 tc_u32x4_of_f64x4(tc_f64x4 x) {
    tc_f64x4 top = tc_splat_f64x4(4294967295.0), number = tc_positive_f64x4(x);
    return tc_i32x4_of_f64x4(tc_trunc_f64x4(number < top ? number : top) - 2147483648.0) ^ (-0x7fffffff - 1);
}
TC_INLINE tc_i32 tc_cast_f64_u32(tc_f64 x) {
    return __builtin_shufflevector(tc_u32x4_of_f64x4(x.lo), tc_u32x4_of_f64x4(x.hi), 0, 1, 2, 3, 4, 5, 6, 7);
}
TC_INLINE tc_i64x4 tc_u64x4_of_f64x4(tc_f64x4 x) {
    tc_f64x4 number = tc_positive_f64x4(x);
    tc_i64x4 large = (tc_i64x4)(number >= 0x1p63), over = (tc_i64x4)(number >= 0x1p64);
    tc_f64x4 half = (tc_f64x4)((tc_i64x4)tc_splat_f64x4(0x1p63) & large);
    tc_i64x4 whole = tc_i64x4_of_f64x4(number - half) ^ (large & (-0x7fffffffffffffff - 1));
    return whole | over;
}
TC_INLINE tc_i64 tc_cast_f64_u64(tc_f64 x) {
    tc_i64 r = {tc_u64x4_of_f64x4(x.lo), tc_u64x4_of_f64x4(x.hi)};
    return r;
}

#endif
