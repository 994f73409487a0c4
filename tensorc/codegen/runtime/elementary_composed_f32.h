/* gelu, silu, softplus and logaddexp of f32 lanes: within 2 ulp over all inputs, also where their formulas cancel.
 *
 * gelu(x) = x erfc(-x / sqrt(2)) / 2 is relu(x) less a gate of |x| that falls to 0: eight pieces, with the gate's
 * relative error. Beyond them negative lanes go through an out-of-line routine, as elsewhere those whose exponential
 * is no normal number. docs/numerics_functions.md records the errors.
 */
#ifndef TC_ELEMENTARY_COMPOSED_F32_H
#define TC_ELEMENTARY_COMPOSED_F32_H

#include "elementary_double.h"

TC_CONST double tcf_sqrt_half_wide[1] = {
    0x1.6a09e667f3bcdp-1};
TC_CONST float tcf_gelu_step[2] = {
    0x1.556cacp-1f, 0x1.1123bcp-3f};
TC_CONST float tcf_gelu_centre[8] = {
    0x0p0f, 0x1.606e9cp0f, 0x1.20962ap1f, 0x1.7eb976p1f,
    0x1.d18218p1f, 0x1.0e296p2f, 0x1.30830cp2f, 0x1.50824ap2f};
TC_CONST float tcf_gelu_value[8] = {
    0x0p0f, 0x1.db629cp-4f, 0x1.be373p-6f, 0x1.114dcap-8f,
    0x1.073072p-11f, 0x1.ae1ac2p-15f, 0x1.382796p-18f, 0x1.9b32dep-22f};
TC_CONST float tcf_gelu_p0[8] = {
    0x1p-1f, -0x1.076198p-3f, -0x1.e13d66p-5f, -0x1.91ac82p-7f,
    -0x1.da7b58p-10f, -0x1.c39e4ep-13f, -0x1.721a9ep-16f, -0x1.0da72p-19f};
TC_CONST float tcf_gelu_p1[8] = {
    -0x1.988456p-2f, -0x1.095e72p-7f, 0x1.8cb5c6p-5f, 0x1.039b42p-6f,
    0x1.8a1642p-9f, 0x1.bef9p-12f, 0x1.a321bep-15f, 0x1.54bbcp-18f};
TC_CONST float tcf_gelu_p2[8] = {
    0x1.b7793ap-20f, 0x1.31e94p-4f, -0x1.a2f5cap-7f, -0x1.705ccp-7f,
    -0x1.88a068p-9f, -0x1.12b55ep-11f, -0x1.2c297cp-14f, -0x1.134e5p-17f};
TC_CONST float tcf_gelu_p3[8] = {
    0x1.104244p-4f, -0x1.2b94a2p-5f, -0x1.ecb042p-8f, 0x1.0a2ab6p-8f,
    0x1.f933e2p-10f, 0x1.cf5ae2p-12f, 0x1.2ef56ep-14f, 0x1.3e30fp-17f};
TC_CONST float tcf_gelu_p4[8] = {
    0x1.03d48p-13f, -0x1.573a3ap-10f, 0x1.d32e8ap-8f, 0x1.84951cp-15f,
    -0x1.939508p-11f, -0x1.154cc2p-12f, -0x1.c55cf2p-15f, -0x1.168056p-17f};
TC_CONST float tcf_gelu_p5[8] = {
    -0x1.535862p-7f, 0x1.8c71c4p-8f, -0x1.d367d2p-10f, -0x1.a52694p-11f,
    0x1.0c72e4p-13f, 0x1.cda0fcp-14f, 0x1.fff20ep-16f, 0x1.7b2a84p-18f};
TC_CONST float tcf_gelu_p6[8] = {
    0x1.439788p-11f, -0x1.27d322p-10f, -0x1.9cd50cp-12f, 0x1.8b5be6p-12f,
    0x1.8a4782p-15f, -0x1.cf7cecp-16f, -0x1.ab93d2p-17f, -0x1.8f3eb8p-19f};
TC_CONST float tcf_gelu_p7[8] = {
    0x1.885fp-11f, -0x1.8758e4p-11f, 0x1.6a6e38p-12f, -0x1.c36edap-18f,
    -0x1.db9eaep-15f, -0x1.9de106p-19f, 0x1.1582e6p-18f, 0x1.b9f696p-20f};
TC_CONST float tcf_softplus_centre[8] = {
    0x0p0f, 0x1.116e84p-3f, 0x1.11743ep-2f, 0x1.9a250cp-2f,
    0x1.116c3ap-1f, 0x1.55cb1cp-1f, 0x1.9a255ap-1f, 0x1.de8106p-1f};
TC_CONST float tcf_softplus_value[8] = {
    0x1p0f, 0x1.e0968p-1f, 0x1.c5cbc8p-1f, 0x1.ae991cp-1f,
    0x1.9a3f22p-1f, 0x1.88330cp-1f, 0x1.780faep-1f, 0x1.6983a6p-1f};
TC_CONST float tcf_softplus_p0[8] = {
    -0x1.fffff2p-2f, -0x1.b0d58cp-2f, -0x1.744498p-2f, -0x1.44ae7ap-2f,
    -0x1.1e71e8p-2f, -0x1.fe4d3cp-3f, -0x1.ca50a6p-3f, -0x1.9e8c7cp-3f};
TC_CONST float tcf_softplus_p1[8] = {
    0x1.554d64p-2f, 0x1.013cc2p-2f, 0x1.8f858ap-3f, 0x1.3ddaeap-3f,
    0x1.01effep-3f, 0x1.a99a76p-4f, 0x1.641fe8p-4f, 0x1.2d9d8ep-4f};
TC_CONST float tcf_softplus_p2[8] = {
    -0x1.fd2e4p-3f, -0x1.579158p-3f, -0x1.dfcd4ap-4f, -0x1.5af8aap-4f,
    -0x1.02308ep-4f, -0x1.89799ap-5f, -0x1.3209cep-5f, -0x1.e44feep-6f};
TC_CONST float tcf_softplus_p3[8] = {
    0x1.6652fp-3f, 0x1.e6a154p-4f, 0x1.319404p-4f, 0x1.914384p-5f,
    0x1.11730ep-5f, 0x1.804e16p-6f, 0x1.15bc02p-6f, 0x1.9a3f88p-7f};

/* End of the pieces: what is left of the gate is nothing beside a larger x. */
#define TCF_GELU_LIMIT 5.4f

/* Below -15.5 the value rounds to -0. */
TC_RARE void tcf_gelu_rare(tcf_rare* lanes) {
    tcf_d t = tcf_widen_all(tcf_at_most(tcf_abs(lanes->x), 15.5f));
    tc_f32 y = tcf_narrow_all(tcf_erfc_tail_d(t * tcf_sqrt_half_wide[0]) * (t * -0.5));
    lanes->y = lanes->x < -TCF_GELU_LIMIT ? y : lanes->y;
}

template <typename V> TC_INLINE V tcf_gelu(V x) {
    V t = tcf_at_most(tcf_abs(x), TCF_GELU_LIMIT);
    auto piece = tcf_bits(tcf_fma(t, tcf_fma(t, tcf_gelu_step[1], tcf_gelu_step[0]), TCF_ROUND));
    V u = t - tcf_lookup(tcf_gelu_centre, piece);
    V p = tcf_fma(tcf_lookup(tcf_gelu_p7, piece), u, tcf_lookup(tcf_gelu_p6, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_gelu_p5, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_gelu_p4, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_gelu_p3, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_gelu_p2, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_gelu_p1, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_gelu_p0, piece));
    V y = tcf_positive(x) - tcf_fma(u, p, tcf_lookup(tcf_gelu_value, piece));
    if (__builtin_expect(tcf_any_below(x, -TCF_GELU_LIMIT), 0)) return tcf_mend(tcf_gelu_rare, x, y);
    return y;
}

TC_RARE void tcf_softplus_rare(tcf_rare* lanes) {
    lanes->y = lanes->x < -TCF_EXP_LIMIT ? tcf_exp_full(lanes->x) : lanes->y;
}

/* relu(x) + e R(e) with e = e^-|x| in two words and R(e) = log(1 + e) / e in eight pieces. */
template <typename V> TC_INLINE V tcf_softplus(V x) {
    auto power = tcf_exp_split(-tcf_at_most(tcf_abs(x), TCF_EXP_LIMIT));
    V root = tcf_root(power);
    V e = tcf_fma(root, power.q, root);
    V e_low = tcf_fma(root, power.q, root - e);
    auto piece = tcf_bits(tcf_fma(e, 7.49f, TCF_ROUND));
    V u = e - tcf_lookup(tcf_softplus_centre, piece);
    V p = tcf_fma(tcf_lookup(tcf_softplus_p3, piece), u, tcf_lookup(tcf_softplus_p2, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_softplus_p1, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_softplus_p0, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_softplus_value, piece));
    V y = tcf_positive(x) + tcf_fma(e, p, e_low);
    if (__builtin_expect(tcf_any_below(x, -TCF_EXP_LIMIT), 0)) return tcf_mend(tcf_softplus_rare, x, y);
    return y;
}

/* Where e^-|x| is no normal number the value is x or x e^x, which from -110 on rounds to -0. */
TC_RARE void tcf_silu_rare(tcf_rare* lanes) {
    tc_f32 x = lanes->x;
    tcf_d low = tcf_clamp_d(tcf_widen_all(x), -110.0, 0.0);
    tc_f32 y = x < 0.0f ? tcf_narrow_all(low * tcf_exp_d(low)) : x;
    lanes->y = tcf_beyond(x, TCF_EXP_LIMIT) ? y : lanes->y;
}

/* n / (1 + e) with e = e^-|x| in two words and n = x or x e. The quotient's remainder, divided by 1 / (1 - e / 2),
 * makes up for every rounding but the last. */
template <typename V> TC_INLINE V tcf_silu(V x) {
    auto bits = tcf_bits(x);
    auto power = tcf_exp_split(tcf_float(bits | (-0x7fffffff - 1)));
    V root = tcf_root(power);
    V e = tcf_fma(root, power.q, root);
    V e_low = tcf_fma(root, power.q, root - e);
    V d = e + 1.0f;
    V d_low = e - (d - 1.0f) + e_low;
    V factor = tcf_where_top(bits, e, tcf_fill(x, 1.0f));
    V n = x * factor;
    V n_low = tcf_fma(x, tcf_where_top(bits, e_low, tcf_fill(x, 0.0f)), tcf_fma(x, factor, -n));
    V y = n / d;
    V rest = tcf_fma(-y, d_low, tcf_fma(-y, d, n)) + n_low;
    y = tcf_fma(rest, tcf_fma(e, -0.5f, 1.0f), y);
    y = tcf_float(tcf_bits(y) | tcf_top_bit(bits));
    if (__builtin_expect(tcf_any_beyond(x, TCF_EXP_LIMIT), 0)) return tcf_mend(tcf_silu_rare, x, y);
    return y;
}

/* The larger operand and log(1 + e^-distance), in double lanes; the distance of equal infinities is 0. */
TC_INLINE tc_f32 tcf_logaddexp(tc_f32 x, tc_f32 y) {
    tcf_d a = tcf_widen_all(x), b = tcf_widen_all(y);
    tcf_d high = tcf_where_above(b, a, b, a), low = tcf_where_above(b, a, a, b);
    tcf_d distance = tcf_where_same(a, b, tcf_splat_d(0.0), low - high);
    return tcf_narrow_all(high + tcf_log1p_d(tcf_exp_d(tcf_clamp_d(distance, -700.0, 0.0))));
}

#define TCF_TWO_WIDTHS(name)                                                                                   \
    TC_INLINE tc_f32 tc_##name##_f32(tc_f32 x) { return tcf_##name(x); }                                       \
    TC_INLINE tc_f32w tc_##name##_f32w(tc_f32w x) { return tcf_##name(x); }
TCF_TWO_WIDTHS(gelu)
TCF_TWO_WIDTHS(silu)
TCF_TWO_WIDTHS(softplus)
#undef TCF_TWO_WIDTHS
TC_INLINE tc_f32 tc_logaddexp_f32(tc_f32 x, tc_f32 y) { return tcf_logaddexp(x, y); }
TC_INLINE tc_f32w tc_logaddexp_f32w(tc_f32w x, tc_f32w y) {
    return tcf_join(tcf_logaddexp(tcf_low(x), tcf_low(y)), tcf_logaddexp(tcf_high(x), tcf_high(y)));
}

#endif
