/* Elementary functions of two f32 operands, in double lanes: C Annex F special values. */
#ifndef TC_ELEMENTARY_BINARY_F32_H
#define TC_ELEMENTARY_BINARY_F32_H

#include "elementary_more_f32.h"

/* Limits that no ratio of two floats reaches replace infinities, and 1 a zero under a zero. */
TC_INLINE tc_f32 tcf_atan2(tc_f32 y, tc_f32 x) {
    tcf_d zero = tcf_splat_d(0.0), far = tcf_splat_d(0x1p400);
    tcf_d a = tcf_widen_all(tcf_abs(y)), b = tcf_widen_all(tcf_abs(x));
    a = tcf_where_above(a, far, far, a);
    b = tcf_where_above(b, far, far, b);
    tcf_d divisor = tcf_where_same(b, zero, tcf_where_same(a, zero, tcf_splat_d(1.0), zero), b);
    tcf_d angle = tcf_atan_ratio(a, divisor);
    tcf_d side = tcf_widen_all(tcf_float(tcf_top_bit(tcf_bits(x)) | 0x3f800000));
    angle = tcf_where_above(zero, side, tcf_splat_d(2.0 * tcf_half_pi_wide[0]) - angle, angle);
    return tcf_flip_sign(tcf_narrow_all(angle), tcf_bits(y));
}

/* The squares are exact. An infinity wins over a NaN. */
TC_INLINE tc_f32 tcf_hypot(tc_f32 x, tc_f32 y) {
    tcf_d a = tcf_widen_all(x), b = tcf_widen_all(y);
    tc_f32 infinite = tcf_fill(x, __builtin_inff());
    tc_f32 size = tcf_narrow_all(tcf_sqrt_d(tcf_fma_d(a, a, b * b)));
    size = tcf_where_equal(tcf_abs(x), infinite, infinite, size);
    return tcf_where_equal(tcf_abs(y), infinite, infinite, size);
}

/* |x|^y with the sign of an odd whole y, or NaN for one that is not whole. An exponent above 2^40 is as good as
 * infinite, and even. */
TC_INLINE tc_f32 tcf_power_of(tc_f32 x, tc_f32 y) {
    tcf_d base = tcf_widen_all(x), exponent = tcf_clamp_d(tcf_widen_all(y), -0x1p40, 0x1p40);
    tcf_d z = tcf_exp2_d(tcf_clamp_d(exponent * tcf_log2_d(tcf_abs(x)), -300.0, 300.0));
    tcf_d magic = exponent + TCF_ROUND_WIDE;
    tcf_d whole = magic - TCF_ROUND_WIDE;
    tcf_d_bits odd = tcf_bits(tcf_where_same(whole, exponent, tcf_double(tcf_bits(magic) << 63), tcf_splat_d(0.0)));
    z = tcf_double(tcf_bits(z) ^ (odd & tcf_bits(base)));
    tcf_d negative = tcf_where_same(whole, exponent, z, tcf_splat_d(__builtin_nan("")));
    negative = tcf_where_above(base, tcf_splat_d(-__builtin_inf()), negative, z);
    tc_f32 power = tcf_narrow_all(tcf_where_above(tcf_splat_d(0.0), base, negative, z));
    tc_f32 one = tcf_fill(x, 1.0f);
    return tcf_where_equal(y, tcf_fill(y, 0.0f), one, tcf_where_equal(x, one, one, power));
}

#define TCF_BINARY(name, function)                                                                             \
    TC_INLINE tc_f32 tc_##name##_f32(tc_f32 x, tc_f32 y) { return function(x, y); }                            \
    TC_INLINE tc_f32w tc_##name##_f32w(tc_f32w x, tc_f32w y) {                                                 \
        return tcf_join(function(tcf_low(x), tcf_low(y)), function(tcf_high(x), tcf_high(y)));                 \
    }
TCF_BINARY(atan2, tcf_atan2)
TCF_BINARY(hypot, tcf_hypot)
TCF_BINARY(power, tcf_power_of)
#undef TCF_BINARY

#endif
