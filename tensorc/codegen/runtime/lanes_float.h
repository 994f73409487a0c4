/* Float lanes: IEEE operations, one rounding each.
 *
 * Every value is NumPy's but for maximum, minimum and relu, where -0 orders below +0 and NaN wins. Functions on
 * `f64x4` are the halves of the f64 ones.
 */
#ifndef TC_LANES_FLOAT_H
#define TC_LANES_FLOAT_H

TC_INLINE tc_f64 operator+(tc_f64 a, tc_f64 b) { tc_f64 r = {a.lo + b.lo, a.hi + b.hi}; return r; }
TC_INLINE tc_f64 operator-(tc_f64 a, tc_f64 b) { tc_f64 r = {a.lo - b.lo, a.hi - b.hi}; return r; }
TC_INLINE tc_f64 operator*(tc_f64 a, tc_f64 b) { tc_f64 r = {a.lo * b.lo, a.hi * b.hi}; return r; }
TC_INLINE tc_f64 operator/(tc_f64 a, tc_f64 b) { tc_f64 r = {a.lo / b.lo, a.hi / b.hi}; return r; }

/* Both orders of the hardware maximum differ on zeros of two signs (or gives -0, minus -0 gives +0) and on NaN
 * (which both `or` and the subtraction keep); for all else the difference is +0. */
TC_INLINE tc_f32 tc_maximum_f32(tc_f32 a, tc_f32 b) {
    tc_f32 p = a > b ? a : b, q = b > a ? b : a;
    return (tc_f32)((tc_i32)p | (tc_i32)q) - (tc_f32)((tc_i32)p ^ (tc_i32)q);
}
TC_INLINE tc_f32 tc_minimum_f32(tc_f32 a, tc_f32 b) {
    tc_f32 p = a < b ? a : b, q = b < a ? b : a;
    return (tc_f32)((tc_i32)p | (tc_i32)q);
}
TC_INLINE tc_f64x4 tc_maximum_f64x4(tc_f64x4 a, tc_f64x4 b) {
    tc_f64x4 p = a > b ? a : b, q = b > a ? b : a;
    return (tc_f64x4)((tc_i64x4)p | (tc_i64x4)q) - (tc_f64x4)((tc_i64x4)p ^ (tc_i64x4)q);
}
TC_INLINE tc_f64x4 tc_minimum_f64x4(tc_f64x4 a, tc_f64x4 b) {
    tc_f64x4 p = a < b ? a : b, q = b < a ? b : a;
    return (tc_f64x4)((tc_i64x4)p | (tc_i64x4)q);
}

/* relu(x) = maximum(x, +0): x where not 0 > x, so NaN too; adding +0 turns -0 into +0. g++ makes more than one
 * instruction of the comparison. */
#if defined(__AVX__)
TC_INLINE tc_f32 tc_relu_f32(tc_f32 x) {
    tc_f32 zero = tc_splat_f32(0);
    return __builtin_ia32_maxps256(zero, x) + zero;
}
TC_INLINE tc_f64x4 tc_relu_f64x4(tc_f64x4 x) {
    tc_f64x4 zero = tc_splat_f64x4(0);
    return __builtin_ia32_maxpd256(zero, x) + zero;
}
#else
TC_INLINE tc_f32 tc_relu_f32(tc_f32 x) {
    tc_f32 zero = tc_splat_f32(0);
    return (zero > x ? zero : x) + zero;
}
TC_INLINE tc_f64x4 tc_relu_f64x4(tc_f64x4 x) {
    tc_f64x4 zero = tc_splat_f64x4(0);
    return (zero > x ? zero : x) + zero;
}
#endif

TC_INLINE tc_f32 tc_negative_f32(tc_f32 x) { return (tc_f32)((tc_i32)x ^ tc_splat_i32(-0x7fffffff - 1)); }
TC_INLINE tc_f64x4 tc_negative_f64x4(tc_f64x4 x) {
    return (tc_f64x4)((tc_i64x4)x ^ tc_splat_i64x4(-0x7fffffffffffffff - 1));
}
TC_INLINE tc_f32 tc_abs_f32(tc_f32 x) { return (tc_f32)tc_magnitude_f32(x); }
TC_INLINE tc_f64x4 tc_abs_f64x4(tc_f64x4 x) { return (tc_f64x4)tc_magnitude_f64x4(x); }
TC_INLINE tc_f32 tc_copysign_f32(tc_f32 x, tc_f32 y) {
    return (tc_f32)(tc_magnitude_f32(x) | ((tc_i32)y & (-0x7fffffff - 1)));
}
TC_INLINE tc_f64x4 tc_copysign_f64x4(tc_f64x4 x, tc_f64x4 y) {
    return (tc_f64x4)(tc_magnitude_f64x4(x) | ((tc_i64x4)y & (-0x7fffffffffffffff - 1)));
}

/* NaN stays, both zeros give +0. */
TC_INLINE tc_f32 tc_sign_f32(tc_f32 x) {
    tc_f32 zero = tc_splat_f32(0), unit = tc_copysign_f32(tc_splat_f32(1), x);
    return tc_where_f32((tc_bool)(x != x), x, tc_where_f32((tc_bool)(x == zero), zero, unit));
}
TC_INLINE tc_f64x4 tc_sign_f64x4(tc_f64x4 x) {
    tc_f64x4 zero = tc_splat_f64x4(0), unit = tc_copysign_f64x4(tc_splat_f64x4(1), x);
    tc_f64x4 ordered = tc_where_f64x4((tc_i64x4)(x == zero), zero, unit);
    return tc_where_f64x4((tc_i64x4)(x != x), x, ordered);
}

TC_INLINE tc_f32 tc_square_f32(tc_f32 x) { return x * x; }
TC_INLINE tc_f64x4 tc_square_f64x4(tc_f64x4 x) { return x * x; }
TC_INLINE tc_f32 tc_reciprocal_f32(tc_f32 x) { return tc_splat_f32(1) / x; }
TC_INLINE tc_f64x4 tc_reciprocal_f64x4(tc_f64x4 x) { return tc_splat_f64x4(1) / x; }

#if defined(__AVX__)
TC_INLINE tc_f32 tc_sqrt_f32(tc_f32 x) { return __builtin_ia32_sqrtps256(x); }
TC_INLINE tc_f64x4 tc_sqrt_f64x4(tc_f64x4 x) { return __builtin_ia32_sqrtpd256(x); }
/* Immediates: 1 down, 2 up, 3 towards zero, 0 nearest even; 8 raises no inexact flag. */
TC_INLINE tc_f32 tc_floor_f32(tc_f32 x) { return __builtin_ia32_roundps256(x, 9); }
TC_INLINE tc_f32 tc_ceil_f32(tc_f32 x) { return __builtin_ia32_roundps256(x, 10); }
TC_INLINE tc_f32 tc_trunc_f32(tc_f32 x) { return __builtin_ia32_roundps256(x, 11); }
TC_INLINE tc_f32 tc_round_f32(tc_f32 x) { return __builtin_ia32_roundps256(x, 8); }
TC_INLINE tc_f64x4 tc_floor_f64x4(tc_f64x4 x) { return __builtin_ia32_roundpd256(x, 9); }
TC_INLINE tc_f64x4 tc_ceil_f64x4(tc_f64x4 x) { return __builtin_ia32_roundpd256(x, 10); }
TC_INLINE tc_f64x4 tc_trunc_f64x4(tc_f64x4 x) { return __builtin_ia32_roundpd256(x, 11); }
TC_INLINE tc_f64x4 tc_round_f64x4(tc_f64x4 x) { return __builtin_ia32_roundpd256(x, 8); }
#else
#define TC_BY_LANE(name, libm)                                                                                 \
    TC_INLINE tc_f32 tc_##name##_f32(tc_f32 x) {                                                               \
        for (int i = 0; i < 8; ++i) x[i] = libm##f(x[i]);                                                      \
        return x;                                                                                              \
    }                                                                                                          \
    TC_INLINE tc_f64x4 tc_##name##_f64x4(tc_f64x4 x) {                                                         \
        for (int i = 0; i < 4; ++i) x[i] = libm(x[i]);                                                         \
        return x;                                                                                              \
    }
TC_BY_LANE(sqrt, __builtin_sqrt)
TC_BY_LANE(floor, __builtin_floor)
TC_BY_LANE(ceil, __builtin_ceil)
TC_BY_LANE(trunc, __builtin_trunc)
TC_BY_LANE(round, __builtin_rint)
#undef TC_BY_LANE
#endif
TC_INLINE tc_f32 tc_rsqrt_f32(tc_f32 x) { return tc_reciprocal_f32(tc_sqrt_f32(x)); }
TC_INLINE tc_f64x4 tc_rsqrt_f64x4(tc_f64x4 x) { return tc_reciprocal_f64x4(tc_sqrt_f64x4(x)); }

/* a * b + c, rounded once. */
#if defined(__FMA__)
TC_INLINE tc_f32 tc_fma_f32(tc_f32 a, tc_f32 b, tc_f32 c) { return __builtin_ia32_vfmaddps256(a, b, c); }
TC_INLINE tc_f64x4 tc_fma_f64x4(tc_f64x4 a, tc_f64x4 b, tc_f64x4 c) {
    return __builtin_ia32_vfmaddpd256(a, b, c);
}
#else
TC_INLINE tc_f32 tc_fma_f32(tc_f32 a, tc_f32 b, tc_f32 c) {
    for (int i = 0; i < 8; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}
TC_INLINE tc_f64x4 tc_fma_f64x4(tc_f64x4 a, tc_f64x4 b, tc_f64x4 c) {
    for (int i = 0; i < 4; ++i) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}
#endif
TC_INLINE tc_f64 tc_fma_f64(tc_f64 a, tc_f64 b, tc_f64 c) {
    tc_f64 r = {tc_fma_f64x4(a.lo, b.lo, c.lo), tc_fma_f64x4(a.hi, b.hi, c.hi)};
    return r;
}

#define TC_PAIR_1(name)                                                                                        \
    TC_INLINE tc_f64 tc_##name##_f64(tc_f64 x) {                                                               \
        tc_f64 r = {tc_##name##_f64x4(x.lo), tc_##name##_f64x4(x.hi)};                                         \
        return r;                                                                                              \
    }
#define TC_PAIR_2(name)                                                                                        \
    TC_INLINE tc_f64 tc_##name##_f64(tc_f64 a, tc_f64 b) {                                                     \
        tc_f64 r = {tc_##name##_f64x4(a.lo, b.lo), tc_##name##_f64x4(a.hi, b.hi)};                             \
        return r;                                                                                              \
    }
TC_PAIR_2(maximum)
TC_PAIR_2(minimum)
TC_PAIR_2(copysign)
TC_PAIR_1(relu)
TC_PAIR_1(negative)
TC_PAIR_1(abs)
TC_PAIR_1(sign)
TC_PAIR_1(square)
TC_PAIR_1(reciprocal)
TC_PAIR_1(sqrt)
TC_PAIR_1(rsqrt)
TC_PAIR_1(floor)
TC_PAIR_1(ceil)
TC_PAIR_1(trunc)
TC_PAIR_1(round)
#undef TC_PAIR_1
#undef TC_PAIR_2

/* Python's // and % on floats, through the exact C remainder; see NumPy's divmod. */
extern "C" double fmod(double, double);
extern "C" float fmodf(float, float);

#define TC_FLOAT_DIVISION(T, C, fmod_of, floor_of, copysign_of)                                                \
    TC_NOINLINE C tc_scalar_floor_divide_##T(C a, C b) {                                                       \
        if (b == 0) return a / b;                                                                              \
        C rest = fmod_of(a, b), quotient = (a - rest) / b;                                                     \
        if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;                                                 \
        if (quotient == 0) return copysign_of((C)0, a / b);                                                    \
        C whole = floor_of(quotient);                                                                          \
        return quotient - whole > (C)0.5 ? whole + 1 : whole;                                                  \
    }                                                                                                          \
    TC_NOINLINE C tc_scalar_remainder_##T(C a, C b) {                                                          \
        C rest = fmod_of(a, b);                                                                                \
        if (b == 0) return rest;                                                                               \
        if (rest == 0) return copysign_of((C)0, b);                                                            \
        return (b < 0) != (rest < 0) ? rest + b : rest;                                                        \
    }
TC_FLOAT_DIVISION(f32, float, fmodf, __builtin_floorf, __builtin_copysignf)
TC_FLOAT_DIVISION(f64, double, fmod, __builtin_floor, __builtin_copysign)
#undef TC_FLOAT_DIVISION

#define TC_SCALAR_LANES(name)                                                                                  \
    TC_INLINE tc_f32 tc_##name##_f32(tc_f32 a, tc_f32 b) {                                                     \
        for (int i = 0; i < 8; ++i) a[i] = tc_scalar_##name##_f32(a[i], b[i]);                                 \
        return a;                                                                                              \
    }                                                                                                          \
    TC_INLINE tc_f64 tc_##name##_f64(tc_f64 a, tc_f64 b) {                                                     \
        for (int i = 0; i < 4; ++i) a.lo[i] = tc_scalar_##name##_f64(a.lo[i], b.lo[i]);                        \
        for (int i = 0; i < 4; ++i) a.hi[i] = tc_scalar_##name##_f64(a.hi[i], b.hi[i]);                        \
        return a;                                                                                              \
    }
TC_SCALAR_LANES(floor_divide)
TC_SCALAR_LANES(remainder)
#undef TC_SCALAR_LANES

#endif
