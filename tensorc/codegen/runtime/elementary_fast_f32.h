/* Functions of f32 lanes for math=fast: within 4 ulp over all inputs, special values as in C Annex F.
 *
 * One word of float where the strict forms carry two, or in place of double lanes. As there, a lane depends on its
 * argument alone and the bits are the same for every width, compiler and optimisation level.
 */
#ifndef TC_ELEMENTARY_FAST_F32_H
#define TC_ELEMENTARY_FAST_F32_H

#include "elementary_composed_f32.h"
#include "elementary_more_f32.h"

TC_CONST float tcf_fast_pi[3] = {
    0x1.921fb6p1f, -0x1.777a5cp-24f, -0x1.ee59dap-49f};
TC_CONST float tcf_fast_inv_pi[1] = {
    0x1.45f306p-2f};
TC_CONST float tcf_fast_sin_p[4] = {
    -0x1.55554cp-3f, 0x1.110edap-7f, -0x1.9f70eep-13f, 0x1.5dc8c2p-19f};

/* Angles up to which three words of pi are enough. */
#define TCF_FAST_SIN_LIMIT 0x1p15f

template <int quarter_turns> TC_RARE void tcf_fast_sin_rare(tcf_rare* lanes) {
    tc_f32 kept = lanes->y;
    tcf_sin_rare<quarter_turns>(lanes);
    lanes->y = tcf_beyond(lanes->x, TCF_FAST_SIN_LIMIT) ? lanes->y : kept;
}

/* sin(n pi + r) = (-1)^n sin(r); cos((n - 1/2) pi + r) the same. Of |x|: the sums would lose the sign of -0. */
template <int quarter_turns, typename V> TC_INLINE V tcf_fast_sin(V x) {
    V t = tcf_abs(x);
    V turns = quarter_turns == 0 ? tcf_fma(t, tcf_fast_inv_pi[0], TCF_ROUND)
                                 : tcf_fma(t, tcf_fast_inv_pi[0], 0.5f) + TCF_ROUND;
    V n = turns - TCF_ROUND;
    if constexpr (quarter_turns == 1) n = n - 0.5f;
    V r = tcf_fma(n, -tcf_fast_pi[1], tcf_fma(n, -tcf_fast_pi[0], t));
    r = tcf_fma(n, -tcf_fast_pi[2], r);
    V s = r * r;
    V p = tcf_fma(tcf_fma(s, tcf_fast_sin_p[3], tcf_fast_sin_p[2]), s, tcf_fast_sin_p[1]);
    p = tcf_fma(p, s, tcf_fast_sin_p[0]);
    auto sign = tcf_bits(turns) << 31;
    if constexpr (quarter_turns == 0) sign = sign ^ tcf_bits(x);
    V y = tcf_flip_sign(tcf_fma(r * s, p, r), sign);
    if (__builtin_expect(tcf_any_beyond(x, TCF_FAST_SIN_LIMIT), 0)) {
        return tcf_mend(tcf_fast_sin_rare<quarter_turns>, x, y);
    }
    return y;
}

TC_RARE void tcf_fast_tan_rare(tcf_rare* lanes) {
    lanes->y = tcf_beyond(lanes->x, TCF_SIN_LIMIT) ? tcf_tan(lanes->x) : lanes->y;
}

/* sin(r) / cos(r), or with an odd number of quarter turns -cos(r) / sin(r). */
template <typename V> TC_INLINE V tcf_fast_tan(V x) {
    V t = tcf_abs(x);
    V magic = tcf_fma(t, tcf_inv_half_pi[0], TCF_ROUND);
    V n = magic - TCF_ROUND;
    V r = tcf_fma(n, -tcf_half_pi[1], tcf_fma(n, -tcf_half_pi[0], t));
    r = tcf_fma(n, -tcf_half_pi[2], r);
    V s = r * r;
    V p = tcf_fma(tcf_fma(s, tcf_sin_s[2], tcf_sin_s[1]), s, tcf_sin_s[0]);
    V sine = tcf_fma(r * s, p, r);
    V q = tcf_fma(tcf_fma(s, tcf_cos_c[2], tcf_cos_c[1]), s, tcf_cos_c[0]);
    V cosine = tcf_fma(tcf_fma(q, s, -0.5f), s, 1.0f);
    auto bits = tcf_bits(magic);
    V over = tcf_flip_sign(tcf_where_odd(bits, cosine, sine), (bits << 31) ^ tcf_bits(x));
    V y = over / tcf_where_odd(bits, sine, cosine);
    if (__builtin_expect(tcf_any_beyond(x, TCF_SIN_LIMIT), 0)) return tcf_mend(tcf_fast_tan_rare, x, y);
    return y;
}

/* 1 + e^-x in one word. */
template <typename V> TC_INLINE V tcf_fast_sigmoid_divisor(V x) {
    return tcf_scale(tcf_exp_split(-x)) + 1.0f;
}

template <typename V> TC_INLINE V tcf_fast_sigmoid(V x) {
    V y = tcf_fill(x, 1.0f) / tcf_fast_sigmoid_divisor(x);
    if (__builtin_expect(tcf_any_beyond(x, TCF_EXP_LIMIT), 0)) return tcf_mend(tcf_sigmoid_rare, x, y);
    return y;
}

template <typename V> TC_INLINE V tcf_fast_silu(V x) {
    V y = x / tcf_fast_sigmoid_divisor(x);
    if (__builtin_expect(tcf_any_beyond(x, TCF_EXP_LIMIT), 0)) return tcf_mend(tcf_silu_rare, x, y);
    return y;
}

#define TCF_TWO_WIDTHS(name, function)                                                                         \
    TC_INLINE tc_f32 tc_fast_##name##_f32(tc_f32 x) { return function(x); }                                    \
    TC_INLINE tc_f32w tc_fast_##name##_f32w(tc_f32w x) { return function(x); }
TCF_TWO_WIDTHS(sin, tcf_fast_sin<0>)
TCF_TWO_WIDTHS(cos, tcf_fast_sin<1>)
TCF_TWO_WIDTHS(tan, tcf_fast_tan)
TCF_TWO_WIDTHS(sigmoid, tcf_fast_sigmoid)
TCF_TWO_WIDTHS(silu, tcf_fast_silu)
#undef TCF_TWO_WIDTHS

#endif
