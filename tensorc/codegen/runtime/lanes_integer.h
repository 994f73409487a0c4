/* Integer lanes: two's complement, wrapping; division floors, by zero gives 0; nothing traps.
 *
 * Arithmetic that could overflow runs on unsigned lanes. A shift by the width or more, or by a negative count,
 * gives 0, and to the right the sign.
 */
#ifndef TC_LANES_INTEGER_H
#define TC_LANES_INTEGER_H

#define TC_PAIR_OPERATOR(op)                                                                                   \
    TC_INLINE tc_i64 operator op(tc_i64 a, tc_i64 b) {                                                         \
        tc_i64 r = {(tc_i64x4)((tc_u64x4)a.lo op (tc_u64x4)b.lo), (tc_i64x4)((tc_u64x4)a.hi op (tc_u64x4)b.hi)};\
        return r;                                                                                              \
    }
TC_PAIR_OPERATOR(+)
TC_PAIR_OPERATOR(-)
TC_PAIR_OPERATOR(*)
#undef TC_PAIR_OPERATOR

#define TC_INTEGER(T, U, S, splat)                                                                             \
    TC_INLINE T tc_maximum_##S(T a, T b) { return a > b ? a : b; }                                             \
    TC_INLINE T tc_minimum_##S(T a, T b) { return a < b ? a : b; }                                             \
    TC_INLINE T tc_relu_##S(T x) { return tc_maximum_##S(x, splat(0)); }                                       \
    TC_INLINE T tc_negative_##S(T x) { return (T)(0 - (U)x); }                                                 \
    TC_INLINE T tc_abs_##S(T x) {                                                                              \
        T sign = (T)(x < 0);                                                                                   \
        return (T)((U)(x ^ sign) - (U)sign);                                                                   \
    }                                                                                                          \
    TC_INLINE T tc_sign_##S(T x) { return (T)(x < 0) - (T)(x > 0); }                                           \
    TC_INLINE T tc_square_##S(T x) { return (T)((U)x * (U)x); }                                                \
    TC_INLINE T tc_floor_##S(T x) { return x; }                                                                \
    TC_INLINE T tc_ceil_##S(T x) { return x; }                                                                 \
    TC_INLINE T tc_trunc_##S(T x) { return x; }                                                                \
    TC_INLINE T tc_round_##S(T x) { return x; }                                                                \
    TC_INLINE T tc_bitwise_and_##S(T a, T b) { return a & b; }                                                 \
    TC_INLINE T tc_bitwise_or_##S(T a, T b) { return a | b; }                                                  \
    TC_INLINE T tc_bitwise_xor_##S(T a, T b) { return a ^ b; }                                                 \
    TC_INLINE T tc_bitwise_invert_##S(T a) { return ~a; }                                                      \
    TC_INLINE T tc_left_shift_##S(T a, T count) {                                                              \
        T last = splat((int)sizeof(a[0]) * 8 - 1);                                                             \
        return (T)((U)a << (U)(count & last)) & (T)((U)count <= (U)last);                                      \
    }                                                                                                          \
    TC_INLINE T tc_right_shift_##S(T a, T count) {                                                             \
        T last = splat((int)sizeof(a[0]) * 8 - 1);                                                             \
        return a >> ((U)count <= (U)last ? count : last);                                                      \
    }
TC_INTEGER(tc_i32, tc_u32, i32, tc_splat_i32)
TC_INTEGER(tc_i64x4, tc_u64x4, i64x4, tc_splat_i64x4)
#undef TC_INTEGER

#define TC_PAIR_1(name)                                                                                        \
    TC_INLINE tc_i64 tc_##name##_i64(tc_i64 x) {                                                               \
        tc_i64 r = {tc_##name##_i64x4(x.lo), tc_##name##_i64x4(x.hi)};                                         \
        return r;                                                                                              \
    }
#define TC_PAIR_2(name)                                                                                        \
    TC_INLINE tc_i64 tc_##name##_i64(tc_i64 a, tc_i64 b) {                                                     \
        tc_i64 r = {tc_##name##_i64x4(a.lo, b.lo), tc_##name##_i64x4(a.hi, b.hi)};                             \
        return r;                                                                                              \
    }
TC_PAIR_2(maximum)
TC_PAIR_2(minimum)
TC_PAIR_1(relu)
TC_PAIR_1(negative)
TC_PAIR_1(abs)
TC_PAIR_1(sign)
TC_PAIR_1(square)
TC_PAIR_1(floor)
TC_PAIR_1(ceil)
TC_PAIR_1(trunc)
TC_PAIR_1(round)
TC_PAIR_2(bitwise_and)
TC_PAIR_2(bitwise_or)
TC_PAIR_2(bitwise_xor)
TC_PAIR_1(bitwise_invert)
TC_PAIR_2(left_shift)
TC_PAIR_2(right_shift)
#undef TC_PAIR_1
#undef TC_PAIR_2

/* i32 quotients go through f64: a / b is either an integer or at least 2^-31 of itself away from one, so the
 * rounded quotient floors to the exact one. Only INT_MIN // -1 leaves the range, and wraps. */
TC_INLINE tc_i32x4 tc_floor_divide_i32x4(tc_i32x4 a, tc_i32x4 b) {
    tc_f64x4 dividend = {(double)a[0], (double)a[1], (double)a[2], (double)a[3]};
    tc_f64x4 divisor = {(double)b[0], (double)b[1], (double)b[2], (double)b[3]};
    tc_f64x4 safe = divisor == 0 ? tc_splat_f64x4(1) : divisor;
    tc_f64x4 quotient = tc_floor_f64x4(dividend / safe);
    tc_f64x4 wrapped = quotient > 2147483647.0 ? tc_splat_f64x4(-2147483648.0) : quotient;
    tc_i32x4 whole = __builtin_convertvector(wrapped, tc_i32x4);
    return whole & (tc_i32x4)(b != 0);
}
TC_INLINE tc_i32 tc_floor_divide_i32(tc_i32 a, tc_i32 b) {
    tc_i32x4 lo = tc_floor_divide_i32x4(__builtin_shufflevector(a, a, 0, 1, 2, 3),
                                        __builtin_shufflevector(b, b, 0, 1, 2, 3));
    tc_i32x4 hi = tc_floor_divide_i32x4(__builtin_shufflevector(a, a, 4, 5, 6, 7),
                                        __builtin_shufflevector(b, b, 4, 5, 6, 7));
    return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7);
}
TC_INLINE tc_i32 tc_remainder_i32(tc_i32 a, tc_i32 b) {
    tc_u32 product = (tc_u32)tc_floor_divide_i32(a, b) * (tc_u32)b;
    return (tc_i32)((tc_u32)a - product) & (tc_i32)(b != 0);
}

TC_NOINLINE tc_i64_t tc_scalar_floor_divide_i64(tc_i64_t a, tc_i64_t b) {
    if (b == 0) return 0;
    if (b == -1) return (tc_i64_t)(0 - (tc_u64_t)a);
    tc_i64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}
TC_NOINLINE tc_i64_t tc_scalar_remainder_i64(tc_i64_t a, tc_i64_t b) {
    if (b == 0 || b == -1) return 0;
    tc_i64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* Integer powers by squaring. A negative exponent is refused before it gets here; as a lane it gives 0. */
TC_NOINLINE tc_i64_t tc_scalar_power_i64(tc_i64_t base, tc_i64_t exponent) {
    if (exponent < 0) return 0;
    tc_u64_t result = 1, square = (tc_u64_t)base;
    for (tc_u64_t left = (tc_u64_t)exponent; left != 0; left >>= 1) {
        if (left & 1) result *= square;
        square *= square;
    }
    return (tc_i64_t)result;
}

#define TC_SCALAR_LANES(name)                                                                                  \
    TC_NOINLINE tc_i64 tc_each_##name##_i64(tc_i64 a, tc_i64 b) {                                              \
        for (int i = 0; i < 4; ++i) a.lo[i] = tc_scalar_##name##_i64(a.lo[i], b.lo[i]);                        \
        for (int i = 0; i < 4; ++i) a.hi[i] = tc_scalar_##name##_i64(a.hi[i], b.hi[i]);                        \
        return a;                                                                                              \
    }
TC_SCALAR_LANES(floor_divide)
TC_SCALAR_LANES(remainder)
TC_SCALAR_LANES(power)
#undef TC_SCALAR_LANES

/* Where all operands are below 2^50, quotients go through f64: a / b is an integer or at least 1 / |b| away from one,
 * and its rounding error is below 1 / (4 |b|). Adding 1.5 * 2^52 puts such an integer into the low bits of an f64. */
TC_INLINE int tc_below_2_50(tc_i64 a, tc_i64 b) {
    tc_u64x4 half = (tc_u64x4)tc_splat_i64x4(1LL << 50);
    tc_u64x4 high = ((tc_u64x4)a.lo + half) | ((tc_u64x4)a.hi + half) | ((tc_u64x4)b.lo + half) | ((tc_u64x4)b.hi + half);
    return ((high[0] | high[1] | high[2] | high[3]) >> 51) == 0;
}
TC_INLINE tc_f64x4 tc_small_to_f64x4(tc_i64x4 x) {
    return (tc_f64x4)(x + tc_splat_i64x4(0x4338000000000000LL)) - tc_splat_f64x4(0x1.8p52);
}
TC_INLINE tc_i64x4 tc_small_divide_i64x4(tc_i64x4 a, tc_i64x4 b) {
    tc_i64x4 zero = (tc_i64x4)(b == 0);
    tc_f64x4 quotient = tc_floor_f64x4(tc_small_to_f64x4(a) / tc_small_to_f64x4(b - zero));
    return ((tc_i64x4)(quotient + tc_splat_f64x4(0x1.8p52)) - tc_splat_i64x4(0x4338000000000000LL)) & ~zero;
}
TC_INLINE tc_i64 tc_small_divide_i64(tc_i64 a, tc_i64 b) {
    tc_i64 r = {tc_small_divide_i64x4(a.lo, b.lo), tc_small_divide_i64x4(a.hi, b.hi)};
    return r;
}
TC_INLINE tc_i64 tc_floor_divide_i64(tc_i64 a, tc_i64 b) {
    return tc_below_2_50(a, b) ? tc_small_divide_i64(a, b) : tc_each_floor_divide_i64(a, b);
}
TC_INLINE tc_i64 tc_remainder_i64(tc_i64 a, tc_i64 b) {
    if (!tc_below_2_50(a, b)) return tc_each_remainder_i64(a, b);
    tc_i64 rest = a - tc_small_divide_i64(a, b) * b;
    tc_i64 r = {rest.lo & (tc_i64x4)(b.lo != 0), rest.hi & (tc_i64x4)(b.hi != 0)};
    return r;
}
TC_INLINE tc_i64 tc_power_i64(tc_i64 a, tc_i64 b) { return tc_each_power_i64(a, b); }

/* The low 32 bits of a power depend on the low 32 bits of the base only. */
TC_INLINE tc_i32 tc_power_i32(tc_i32 a, tc_i32 b) {
    for (int i = 0; i < 8; ++i) a[i] = (tc_i32_t)(tc_u32_t)tc_scalar_power_i64(a[i], b[i]);
    return a;
}

#endif
