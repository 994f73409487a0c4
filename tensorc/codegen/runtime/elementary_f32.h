/* Elementary functions of eight f32 lanes, within 1 ulp over all inputs (sigmoid 2), C Annex F special values.
 *
 * The value of a lane depends on that lane's argument alone, and every operation is an IEEE operation or an
 * explicit fma, so the bits are the same for every compiler and optimisation level. Arguments that need more
 * than the straight line (overflow, subnormals, huge angles) go through one out-of-line routine a vector.
 * tools/coefficients.py prints the constants; docs/numerics_functions.md records the errors.
 */
#ifndef TC_ELEMENTARY_F32_H
#define TC_ELEMENTARY_F32_H

#include "elementary_lanes.h"

TC_CONST float tcf_ln2[2] = {
    0x1.62e43p-1f, -0x1.05c61p-29f};
TC_CONST float tcf_log2e[1] = {
    0x1.715476p0f};
TC_CONST double tcf_pi[2] = {
    0x1.921fb54442d18p1, 0x1.1a62633145c07p-53};
TC_CONST double tcf_inv_pi[1] = {
    0x1.45f306dc9c883p-2};
TC_CONST float tcf_exp_p[5] = {
    0x1.fffffcp-2f, 0x1.555494p-3f, 0x1.55586ap-5f, 0x1.12387p-7f,
    0x1.6a95c4p-10f};
TC_CONST float tcf_exp2_p[6] = {
    0x1.62e43p-1f, 0x1.ebfbdcp-3f, 0x1.c6af72p-5f, 0x1.3b2e18p-7f,
    0x1.5f0e3cp-10f, 0x1.4138dep-13f};
TC_CONST float tcf_expm1_p[6] = {
    0x1p-1f, 0x1.555554p-3f, 0x1.5554fap-5f, 0x1.1112bcp-7f,
    0x1.6d381cp-10f, 0x1.9eae08p-13f};
TC_CONST float tcf_log_p[9] = {
    -0x1p-1f, 0x1.555506p-2f, -0x1.ffff04p-3f, 0x1.99d068p-3f,
    -0x1.5599d2p-3f, 0x1.1ed2ccp-3f, -0x1.f38d36p-4f, 0x1.1e7f3ap-3f,
    -0x1.06da6ep-3f};
TC_CONST double tcf_sin_p[5] = {
    0x1.ffffffd262026p-1, -0x1.555547f0e81c8p-3, 0x1.110e7b6cf5fabp-7, -0x1.9f644d8a50814p-13,
    0x1.5d3926ec07efap-19};
TC_CONST float tcf_half_pi[3] = {
    0x1.921fb6p0f, -0x1.777cp-25f, 0x1.a308d4p-41f};
TC_CONST float tcf_inv_half_pi[1] = {
    0x1.45f306p-1f};
TC_CONST float tcf_sin_s[3] = {
    -0x1.555546p-3f, 0x1.110778p-7f, -0x1.99540ap-13f};
TC_CONST float tcf_cos_c[3] = {
    0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f};
TC_CONST tc_u64_t tcf_turn[5] = {
    0x0000000028be60dbu, 0x9391054a7f09d5f4u, 0x7d4d377036d8a566u, 0x4f10e4107f9458eau,
    0xf7aef1586dc91b8eu};
TC_CONST float tcf_tanh_centre[8] = {
    0x1.cea6a4p-1f, 0x1.818c26p0f, 0x1.346f1ap1f, 0x1.cea5ap1f,
    0x1.5b024p2f, 0x1.f70406p2f, 0x0p0f, 0x1.cea87ap-2f};
TC_CONST float tcf_tanh_value[8] = {
    0x1.6fa4b8p-1f, 0x1.cffdfcp-1f, 0x1.f7ccc4p-1f, 0x1.ff41fep-1f,
    0x1.fffae2p-1f, 0x1.fffff6p-1f, 0x0p0f, 0x1.b18dp-2f};
TC_CONST float tcf_tanh_p0[8] = {
    0x1.f0064ep-2f, 0x1.6e0e9cp-3f, 0x1.044d9ep-5f, 0x1.7bbd7ap-9f,
    0x1.477508p-14f, 0x1.3ff78ep-21f, -0x1.f083f2p-36f, 0x1.a43838p-1f};
TC_CONST float tcf_tanh_p1[8] = {
    -0x1.642c18p-2f, -0x1.4bbbcap-3f, -0x1.002264p-5f, -0x1.7b3098p-9f,
    -0x1.4773d2p-14f, -0x1.3ff274p-21f, 0x1.a5ce5ap-27f, -0x1.63d53cp-2f};
TC_CONST float tcf_tanh_p2[8] = {
    0x1.69a402p-4f, 0x1.6538bp-4f, 0x1.4a82e4p-6f, 0x1.f8203cp-10f,
    0x1.b54fd8p-15f, 0x1.ab54fep-22f, -0x1.55559p-2f, -0x1.02fdaep-3f};
TC_CONST float tcf_tanh_p3[8] = {
    0x1.ae6eeap-5f, -0x1.9a4a1ap-6f, -0x1.34ed34p-7f, -0x1.f5306ep-11f,
    -0x1.b528ap-16f, -0x1.abc4a6p-23f, 0x1.9076dp-16f, 0x1.5acdbcp-3f};
TC_CONST float tcf_tanh_p4[8] = {
    -0x1.ce4678p-5f, -0x1.3d27aap-9f, 0x1.ac8e28p-9f, 0x1.8c012ep-12f,
    0x1.560ddcp-17f, 0x1.4e876ep-24f, 0x1.106824p-3f, -0x1.6d356cp-7f};
TC_CONST float tcf_tanh_p5[8] = {
    0x1.f41e1p-7f, 0x1.c6d4dap-8f, -0x1.914a18p-11f, -0x1.01fc0cp-13f,
    -0x1.c8792ep-19f, -0x1.b9141ap-26f, 0x1.38a594p-9f, -0x1.d319f4p-5f};
TC_CONST float tcf_tanh_p6[8] = {
    0x1.3030a8p-7f, -0x1.f31d4p-9f, 0x1.78b6bap-19f, 0x1.2157aep-15f,
    0x1.3cc8dp-20f, 0x1.3617dap-27f, -0x1.05cf4ep-4f, 0x1.88f788p-6f};
TC_CONST float tcf_tanh_p7[8] = {
    -0x1.32dfe2p-7f, 0x1.ef9fd8p-11f, 0x1.6e3468p-14f, -0x1.fd2acep-18f,
    -0x1.3a0ec2p-22f, -0x1.468778p-29f, 0x1.6dbe5cp-6f, -0x1.1d7d64p-5f};
TC_CONST float tcf_erf_centre[8] = {
    0x0p0f, 0x1.0d75eep-1f, 0x1.0d7852p0f, 0x1.94348p0f,
    0x1.0d7896p1f, 0x1.50d7c2p1f, 0x1.942c7cp1f, 0x1.d8788p1f};
TC_CONST float tcf_erf_value[8] = {
    0x0p0f, 0x1.162b0ap-1f, 0x1.ba1166p-1f, 0x1.f2eab8p-1f,
    0x1.fe82ccp-1f, 0x1.ffe60ep-1f, 0x1.fffef4p-1f, 0x1.fffffap-1f};
TC_CONST float tcf_erf_p0[8] = {
    0x1.06eba8p-3f, 0x1.b5f582p-1f, 0x1.7d8db2p-2f, 0x1.7e0bc2p-4f,
    0x1.b7a278p-7f, 0x1.22acp-10f, 0x1.ba9b44p-15f, 0x1.6e89cp-20f};
TC_CONST float tcf_erf_p1[8] = {
    0x1.11d198p-22f, -0x1.ccfca2p-2f, -0x1.91a14cp-2f, -0x1.2d9c7ap-3f,
    -0x1.cec468p-6f, -0x1.7e75a4p-9f, -0x1.5d687ap-13f, -0x1.524e36p-18f};
TC_CONST float tcf_erf_p2[8] = {
    -0x1.812a1ep-2f, -0x1.0477b8p-3f, 0x1.3550bp-3f, 0x1.fb9d3ep-4f,
    0x1.201c38p-5f, 0x1.37458cp-8f, 0x1.5d503cp-12f, 0x1.910172p-17f};
TC_CONST float tcf_erf_p3[8] = {
    0x1.5e097p-13f, 0x1.77c732p-3f, 0x1.a40dfep-5f, -0x1.8f4acep-5f,
    -0x1.c469f2p-6f, -0x1.59ea4cp-8f, -0x1.ecace4p-12f, -0x1.546512p-16f};
TC_CONST float tcf_erf_p4[8] = {
    0x1.c985f4p-4f, -0x1.7d9da6p-12f, -0x1.11ff58p-4f, -0x1.a3aa06p-8f,
    0x1.a0132ep-7f, 0x1.0eb572p-8f, 0x1.02fe78p-11f, 0x1.ba07e8p-16f};
TC_CONST float tcf_erf_p5[8] = {
    0x1.bda214p-9f, -0x1.869824p-5f, 0x1.2a2fd6p-7f, 0x1.09a23ap-6f,
    -0x1.63b044p-10f, -0x1.20516ap-9f, -0x1.ac5beep-12f, -0x1.e9665p-16f};
TC_CONST float tcf_erf_p6[8] = {
    -0x1.ed1df8p-6f, 0x1.96b75cp-8f, 0x1.a6cb7cp-7f, -0x1.6ff286p-8f,
    -0x1.177d12p-9f, 0x1.5aa6e4p-11f, 0x1.fc7c1ep-13f, 0x1.99a68ep-16f};

TC_INLINE tc_f32 tcf_splat(float c) { return (tc_f32){c, c, c, c, c, c, c, c}; }

#if defined(__FMA__)
TC_INLINE tc_f64x4 tcf_fma_wide(tc_f64x4 a, tc_f64x4 b, tc_f64x4 c) {
    return __builtin_ia32_vfmaddpd256(a, b, c);
}
#else
TC_INLINE tc_f64x4 tcf_fma_wide(tc_f64x4 a, tc_f64x4 b, tc_f64x4 c) {
    for (int i = 0; i < 4; i++) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}
#endif

/* One step of Horner's rule: p * x + c. */
TC_INLINE tc_f32 tcf_horner(tc_f32 p, tc_f32 x, float c) { return tcf_fma(p, x, tcf_splat(c)); }

/* Lane i of the result is table[index[i] & 7]. */
#if defined(__AVX2__)
TC_INLINE tc_f32 tcf_lookup(const float* table, tc_i32 index) {
    tc_f32 row;
    __builtin_memcpy(&row, table, sizeof row);
    return __builtin_ia32_permvarsf256(row, index);
}
#else
TC_INLINE tc_f32 tcf_lookup(const float* table, tc_i32 index) {
    tc_f32 found;
    for (int i = 0; i < 8; i++) found[i] = table[index[i] & 7];
    return found;
}
#endif

/* True where |x| > limit or x is NaN: one integer comparison, because bits of positive floats are in order. */
TC_INLINE tc_bool tcf_beyond(tc_f32 x, float limit) {
    return (tc_i32)tcf_abs(x) > (tc_i32)tcf_splat(limit);
}

TC_INLINE tc_i32 tcf_sign_bit(tc_f32 x) { return (tc_i32)x & (-0x7fffffff - 1); }

/* Magic addend: the sum holds the nearest integer in its low bits. */
#define TCF_ROUND 0x1.8p23f
#define TCF_ROUND_BITS 0x4b400000

/* exp(x) = 2^k p; `k_bits` is k + TCF_ROUND_BITS. */
struct tcf_exp_parts { tc_f32 p; tc_i32 k_bits; };

struct tcf_exp_reduced { tc_f32 r; tc_i32 k_bits; };

TC_INLINE tcf_exp_reduced tcf_exp_reduce(tc_f32 x) {
    tc_f32 magic = tcf_fma(x, tcf_splat(tcf_log2e[0]), tcf_splat(TCF_ROUND));
    tc_f32 k = magic - TCF_ROUND;
    tc_f32 r = tcf_fma(k, tcf_splat(-tcf_ln2[0]), x);
    return {tcf_fma(k, tcf_splat(-tcf_ln2[1]), r), (tc_i32)magic};
}

/* (e^r - 1) / r for |r| <= ln(2) / 2. */
TC_INLINE tc_f32 tcf_exp_slope(tc_f32 r) {
    tc_f32 p = tcf_horner(tcf_splat(tcf_exp_p[4]), r, tcf_exp_p[3]);
    p = tcf_horner(p, r, tcf_exp_p[2]);
    p = tcf_horner(p, r, tcf_exp_p[1]);
    p = tcf_horner(p, r, tcf_exp_p[0]);
    return tcf_horner(p, r, 1.0f);
}

TC_INLINE tcf_exp_parts tcf_exp_split(tc_f32 x) {
    tcf_exp_reduced e = tcf_exp_reduce(x);
    return {tcf_horner(tcf_exp_slope(e.r), e.r, 1.0f), e.k_bits};
}

/* exp2(x) = 2^k 2^r in the same form. */
TC_INLINE tcf_exp_parts tcf_exp2_split(tc_f32 x) {
    tc_f32 magic = x + TCF_ROUND;
    tc_f32 r = x - (magic - TCF_ROUND);
    tc_f32 p = tcf_horner(tcf_splat(tcf_exp2_p[5]), r, tcf_exp2_p[4]);
    p = tcf_horner(p, r, tcf_exp2_p[3]);
    p = tcf_horner(p, r, tcf_exp2_p[2]);
    p = tcf_horner(p, r, tcf_exp2_p[1]);
    p = tcf_horner(p, r, tcf_exp2_p[0]);
    p = tcf_horner(p, r, 1.0f);
    return {p, (tc_i32)magic};
}

/* p 2^k where the result is a normal number. */
TC_INLINE tc_f32 tcf_scale(tcf_exp_parts e) { return (tc_f32)((tc_i32)e.p + (e.k_bits << 23)); }

/* p 2^k for |k| up to 252: two exact factors, so that a subnormal result is rounded once. */
TC_INLINE tc_f32 tcf_scale_full(tcf_exp_parts e) {
    tc_i32 k = e.k_bits - TCF_ROUND_BITS;
    tc_i32 half = k >> 1;
    return e.p * (tc_f32)((half + 127) << 23) * (tc_f32)((k - half + 127) << 23);
}

TC_INLINE tc_f32 tcf_exp_full(tc_f32 x) {
    x = x > 89.0f ? tcf_splat(89.0f) : x;
    x = x < -104.0f ? tcf_splat(-104.0f) : x;
    return tcf_scale_full(tcf_exp_split(x));
}

/* Argument of an out-of-line routine, which replaces y in the rare lanes. By address: without AVX, the way
 * a 32-byte vector is passed differs between compilers. */
struct tcf_rare { tc_f32 x, y; tc_bool rare; };

/* y with its rare lanes replaced. */
TC_INLINE tc_f32 tcf_mend(void (*routine)(tcf_rare*), tc_f32 x, tc_f32 y) {
    tcf_rare lanes = {x, y, x > 0};
    routine(&lanes);
    return lanes.y;
}
TC_INLINE tc_f32w tcf_mend(void (*routine)(tcf_rare*), tc_f32w x, tc_f32w y) {
    return tcf_join(tcf_mend(routine, tcf_low(x), tcf_low(y)), tcf_mend(routine, tcf_high(x), tcf_high(y)));
}

TC_RARE void tcf_exp_rare(tcf_rare* lanes) {
    lanes->y = lanes->rare ? tcf_exp_full(lanes->x) : lanes->y;
}

TC_INLINE tc_f32 tc_exp_f32(tc_f32 x) {
    tc_f32 y = tcf_scale(tcf_exp_split(x));
    tc_bool rare = tcf_beyond(x, 87.0f);
    if (__builtin_expect(tcf_any(rare), 0)) {
        tcf_rare lanes = {x, y, rare};
        tcf_exp_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_RARE void tcf_exp2_rare(tcf_rare* lanes) {
    tc_f32 x = lanes->x;
    x = x > 129.0f ? tcf_splat(129.0f) : x;
    x = x < -151.0f ? tcf_splat(-151.0f) : x;
    lanes->y = lanes->rare ? tcf_scale_full(tcf_exp2_split(x)) : lanes->y;
}

TC_INLINE tc_f32 tc_exp2_f32(tc_f32 x) {
    tc_f32 y = tcf_scale(tcf_exp2_split(x));
    tc_bool rare = tcf_beyond(x, 125.0f);
    if (__builtin_expect(tcf_any(rare), 0)) {
        tcf_rare lanes = {x, y, rare};
        tcf_exp2_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* 1 / (1 + e^-x) is e^x where e^-x overflows. */
TC_RARE void tcf_sigmoid_rare(tcf_rare* lanes) {
    lanes->y = lanes->rare ? tcf_exp_full(lanes->x > 0.0f ? tcf_splat(0.0f) : lanes->x) : lanes->y;
}

/* 1 + e^-x = (1 + 2^k) + 2^k (e^r - 1) in two words, and a reciprocal corrected by its remainder. */
TC_INLINE tc_f32 tc_sigmoid_f32(tc_f32 x) {
    tcf_exp_reduced e = tcf_exp_reduce(-x);
    tc_f32 s = (tc_f32)((e.k_bits << 23) + 0x3f800000);
    tc_f32 q = tcf_exp_slope(e.r) * e.r;
    tc_f32 base = s + 1.0f;
    tc_f32 base_low = s - base + 1.0f;
    tc_f32 d = tcf_fma(s, q, base);
    tc_f32 d_low = tcf_fma(s, q, base - d) + base_low;
    tc_f32 y = 1.0f / d;
    tc_f32 rest = tcf_fma(-d_low, y, tcf_fma(-d, y, tcf_splat(1.0f)));
    y = tcf_fma(y, rest, y);
    tc_bool rare = tcf_beyond(x, 87.0f);
    if (__builtin_expect(tcf_any(rare), 0)) {
        tcf_rare lanes = {x, y, rare};
        tcf_sigmoid_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_RARE void tcf_expm1_rare(tcf_rare* lanes) {
    lanes->y = lanes->rare ? (lanes->x < 0.0f ? tcf_splat(-1.0f) : tcf_exp_full(lanes->x)) : lanes->y;
}

/* 2^k (1 + p) - 1 with p in two words: the sum cancels to less than half of p's scale at k = 1. */
TC_INLINE tc_f32 tc_expm1_f32(tc_f32 x) {
    tc_f32 magic = tcf_fma(x, tcf_splat(tcf_log2e[0]), tcf_splat(TCF_ROUND));
    tc_f32 k = magic - TCF_ROUND;
    tc_f32 a = tcf_fma(k, tcf_splat(-tcf_ln2[0]), x);
    tc_f32 r = tcf_fma(k, tcf_splat(-tcf_ln2[1]), a);
    tc_f32 r_low = tcf_fma(k, tcf_splat(-tcf_ln2[1]), a - r);
    tc_f32 q = tcf_horner(tcf_splat(tcf_expm1_p[5]), r, tcf_expm1_p[4]);
    q = tcf_horner(q, r, tcf_expm1_p[3]);
    q = tcf_horner(q, r, tcf_expm1_p[2]);
    q = tcf_horner(q, r, tcf_expm1_p[1]);
    q = tcf_horner(q, r, tcf_expm1_p[0]);
    tc_f32 t = r * r * q;
    tc_f32 p = r + t;
    tc_f32 p_low = (r - p) + t + r_low;
    tc_f32 s = (tc_f32)(((tc_i32)magic << 23) + 0x3f800000);
    tc_f32 base = s - 1.0f;
    tc_f32 base_low = s - base - 1.0f;
    tc_f32 high = tcf_fma(s, p, base);
    tc_f32 low = tcf_fma(s, p, base - high) + base_low;
    tc_f32 y = high + tcf_fma(s, p_low, low);
    y = (tc_f32)((tc_i32)y | tcf_sign_bit(x));
    tc_bool rare = tcf_beyond(x, 87.0f);
    if (__builtin_expect(tcf_any(rare), 0)) {
        tcf_rare lanes = {x, y, rare};
        tcf_expm1_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* k ln(2) + log(1 + f) + low. */
TC_INLINE tc_f32 tcf_log_sum(tc_f32 k, tc_f32 f, tc_f32 low) {
    tc_f32 p = tcf_horner(tcf_splat(tcf_log_p[8]), f, tcf_log_p[7]);
    p = tcf_horner(p, f, tcf_log_p[6]);
    p = tcf_horner(p, f, tcf_log_p[5]);
    p = tcf_horner(p, f, tcf_log_p[4]);
    p = tcf_horner(p, f, tcf_log_p[3]);
    p = tcf_horner(p, f, tcf_log_p[2]);
    p = tcf_horner(p, f, tcf_log_p[1]);
    p = tcf_horner(p, f, tcf_log_p[0]);
    tc_f32 high = tcf_fma(k, tcf_splat(tcf_ln2[0]), f);
    low = tcf_fma(k, tcf_splat(tcf_ln2[0]), -high) + f + low;
    low = tcf_fma(f * f, p, low);
    return high + tcf_fma(k, tcf_splat(tcf_ln2[1]), low);
}

/* Exponent field of x's power of two: x / 2^k lies in [2/3, 4/3). */
TC_INLINE tc_i32 tcf_log_exponent(tc_f32 x) { return ((tc_i32)x - 0x3f2aaaab) & (-0x7fffffff - 1) >> 8; }

TC_INLINE tc_f32 tcf_log_normal(tc_f32 x, tc_i32 k_extra) {
    tc_i32 e = tcf_log_exponent(x);
    tc_f32 f = (tc_f32)((tc_i32)x - e) - 1.0f;
    return tcf_log_sum(__builtin_convertvector((e >> 23) + k_extra, tc_f32), f, tcf_splat(0.0f));
}

TC_INLINE tc_f32 tcf_log_full(tc_f32 x) {
    tc_bool subnormal = x < 0x1p-126f;
    tc_f32 y = tcf_log_normal(subnormal ? x * 0x1p23f : x, subnormal & -23);
    y = x >= 0.0f ? y : tcf_splat(__builtin_nanf(""));
    y = x == 0.0f ? tcf_splat(-__builtin_inff()) : y;
    return x == __builtin_inff() ? x : y;
}

TC_RARE void tcf_log_rare(tcf_rare* lanes) {
    lanes->y = lanes->rare ? tcf_log_full(lanes->x) : lanes->y;
}

/* True where x is outside [low, high), for bit patterns of positive numbers; NaN and x < 0 are outside. */
TC_INLINE tc_bool tcf_outside(tc_f32 x, tc_u32_t low, tc_u32_t high) {
    tc_i32 shifted = (tc_i32)((tc_u32)x + (0x80000000u - low));
    return shifted >= (tc_i32_t)(0x80000000u + (high - low));
}

TC_INLINE tc_f32 tc_log_f32(tc_f32 x) {
    tc_f32 y = tcf_log_normal(x, (tc_i32){});
    tc_bool rare = tcf_outside(x, 0x00800000u, 0x7f800000u);
    if (__builtin_expect(tcf_any(rare), 0)) {
        tcf_rare lanes = {x, y, rare};
        tcf_log_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_RARE void tcf_log1p_rare(tcf_rare* lanes) {
    lanes->y = lanes->rare ? tcf_log_full(1.0f + lanes->x) : lanes->y;
}

/* 1 + x rounds: k comes from the rounded sum, f = x 2^-k + (2^-k - 1) from x itself, with its
 * error, which counts f_low / (1 + f), to second order. */
TC_INLINE tc_f32 tc_log1p_f32(tc_f32 x) {
    tc_f32 u = 1.0f + x;
    tc_i32 e = tcf_log_exponent(u);
    tc_f32 s = (tc_f32)(0x3f800000 - e);
    tc_f32 base = s - 1.0f;
    tc_f32 f = tcf_fma(x, s, base);
    tc_f32 f_low = tcf_fma(x, s, base - f);
    f_low = tcf_fma(-f, tcf_fma(-f, f_low, f_low), f_low);
    tc_f32 y = tcf_log_sum(__builtin_convertvector(e >> 23, tc_f32), f, f_low);
    y = (tc_f32)((tc_i32)y | tcf_sign_bit(x));
    tc_bool rare = tcf_outside(u, 0x00800000u, 0x7d800000u);
    if (__builtin_expect(tcf_any(rare), 0)) {
        tcf_rare lanes = {x, y, rare};
        tcf_log1p_rare(&lanes);
        return lanes.y;
    }
    return y;
}

typedef float tcf_half __attribute__((vector_size(16)));

/* A lane loop: one conversion instruction in both compilers, where convertvector is five in g++. */
TC_INLINE tc_f64x4 tcf_widen(tcf_half x) {
    tc_f64x4 wide;
    for (int i = 0; i < 4; i++) wide[i] = x[i];
    return wide;
}

TC_INLINE tc_f64x4 tcf_widen_low(tc_f32 x) { return tcf_widen(__builtin_shufflevector(x, x, 0, 1, 2, 3)); }
TC_INLINE tc_f64x4 tcf_widen_high(tc_f32 x) { return tcf_widen(__builtin_shufflevector(x, x, 4, 5, 6, 7)); }

TC_INLINE tc_f32 tcf_narrow(tc_f64x4 low, tc_f64x4 high) {
    tcf_half a = __builtin_convertvector(low, tcf_half);
    tcf_half b = __builtin_convertvector(high, tcf_half);
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}

TC_INLINE tc_f64x4 tcf_splat_wide(double c) { return (tc_f64x4){c, c, c, c}; }

#define TCF_ROUND_WIDE 0x1.8p52

/* (-1)^n sin(r), |r| <= pi / 2; the low bit of `n_bits` is that of n. */
TC_INLINE tc_f64x4 tcf_sin_reduced(tc_f64x4 r, tc_i64x4 n_bits) {
    tc_f64x4 s = r * r;
    tc_f64x4 p = tcf_fma_wide(tcf_splat_wide(tcf_sin_p[4]), s, tcf_splat_wide(tcf_sin_p[3]));
    p = tcf_fma_wide(p, s, tcf_splat_wide(tcf_sin_p[2]));
    p = tcf_fma_wide(p, s, tcf_splat_wide(tcf_sin_p[1]));
    p = tcf_fma_wide(p, s, tcf_splat_wide(tcf_sin_p[0]));
    return (tc_f64x4)((tc_i64x4)(r * p) ^ (n_bits << 63));
}

TC_INLINE tc_f64x4 tcf_minus_turns(tc_f64x4 x, tc_f64x4 half_turns) {
    tc_f64x4 r = tcf_fma_wide(half_turns, tcf_splat_wide(-tcf_pi[0]), x);
    return tcf_fma_wide(half_turns, tcf_splat_wide(-tcf_pi[1]), r);
}

/* Double lanes, one polynomial on half a turn: as many instructions as two words of float, and 0.5 ulp. */
TC_INLINE tc_f64x4 tcf_sin_wide(tc_f64x4 x) {
    tc_f64x4 n = tcf_fma_wide(x, tcf_splat_wide(tcf_inv_pi[0]), tcf_splat_wide(TCF_ROUND_WIDE));
    return tcf_sin_reduced(tcf_minus_turns(x, n - TCF_ROUND_WIDE), (tc_i64x4)n);
}

/* cos((n - 1/2) pi + r) = (-1)^n sin(r). */
TC_INLINE tc_f64x4 tcf_cos_wide(tc_f64x4 x) {
    tc_f64x4 n = tcf_fma_wide(x, tcf_splat_wide(tcf_inv_pi[0]), tcf_splat_wide(0.5)) + TCF_ROUND_WIDE;
    return tcf_sin_reduced(tcf_minus_turns(x, n - TCF_ROUND_WIDE - 0.5), (tc_i64x4)n);
}

/* x / (2 pi) modulo 1 in units of 2^-128, for finite |x| >= 1 (Payne and Hanek). */
TC_INLINE unsigned __int128 tcf_turn_fraction(float x) {
    tc_u32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    tc_u32_t mantissa = (bits & 0x7fffffu) | 0x800000u;
    unsigned offset = ((bits >> 23) & 255u) - 150u + 32u;
    const tc_u64_t* word = tcf_turn + offset / 64u;
    unsigned shift = offset % 64u;
    unsigned __int128 window = ((unsigned __int128)word[0] << 64) | word[1];
    if (shift != 0) window = (window << shift) | (word[2] >> (64u - shift));
    window *= mantissa;
    return bits >> 31 ? -window : window;
}

/* (-1)^n sin(r) for a phase n / 2 + r / (2 pi) in units of 2^-128. */
TC_INLINE float tcf_sin_phase(unsigned __int128 phase) {
    unsigned __int128 half = (unsigned __int128)1 << 127;
    bool odd = ((phase + (half >> 1)) & half) != 0;
    unsigned __int128 rest = odd ? phase - half : phase;
    double turn = (double)(tc_i64_t)(tc_u64_t)(rest >> 64) * 0x1p-63 + (double)(tc_u64_t)rest * 0x1p-127;
    double r = turn * tcf_pi[0];
    double s = r * r;
    double p = __builtin_fma(tcf_sin_p[4], s, tcf_sin_p[3]);
    p = __builtin_fma(p, s, tcf_sin_p[2]);
    p = __builtin_fma(p, s, tcf_sin_p[1]);
    p = __builtin_fma(p, s, tcf_sin_p[0]);
    return (float)(odd ? -(r * p) : r * p);
}

/* Angles up to which three words of pi / 2 are enough, and up to which double lanes are. */
#define TCF_SIN_LIMIT 128.0f
#define TCF_SIN_WIDE_LIMIT 0x1p30f

/* sin(x + quarter_turns pi / 2) in the lanes above the first limit. */
template <int quarter_turns> TC_RARE void tcf_sin_rare(tcf_rare* lanes) {
    unsigned __int128 extra = (unsigned __int128)quarter_turns << 126;
    tc_f32 x = lanes->x;
    tc_f64x4 low = tcf_widen_low(x), high = tcf_widen_high(x);
    tc_f32 y = quarter_turns == 0 ? tcf_narrow(tcf_sin_wide(low), tcf_sin_wide(high))
                                  : tcf_narrow(tcf_cos_wide(low), tcf_cos_wide(high));
    for (int i = 0; i < 8; i++) {
        if (__builtin_fabsf(x[i]) <= TCF_SIN_WIDE_LIMIT) continue;
        bool finite = __builtin_fabsf(x[i]) < __builtin_inff();
        y[i] = finite ? tcf_sin_phase(tcf_turn_fraction(x[i]) + extra) : x[i] - x[i];
    }
    lanes->y = tcf_beyond(x, TCF_SIN_LIMIT) ? y : lanes->y;
}

/* sin(x + quarter_turns pi / 2): |x| less k quarter turns is r + r_low, then sine or cosine of that. Exact are the
 * difference of the first word, and of the second where it nearly cancels. */
template <int quarter_turns, typename V> TC_INLINE V tcf_sin(V x) {
    V t = tcf_abs(x);
    V magic = tcf_fma(t, tcf_inv_half_pi[0], TCF_ROUND);
    V k = magic - TCF_ROUND;
    V a = tcf_fma(k, -tcf_half_pi[0], t);
    V r = tcf_fma(k, -tcf_half_pi[1], a);
    V r_low = tcf_fma(k, -tcf_half_pi[2], tcf_fma(k, -tcf_half_pi[1], a - r));
    V s = r * r;
    V s_low = tcf_fma(r, r, -s);
    V p = tcf_fma(tcf_fma(s, tcf_sin_s[2], tcf_sin_s[1]), s, tcf_sin_s[0]);
    V sine = r + tcf_fma(p, r * s, r_low);
    V q = tcf_fma(tcf_fma(s, tcf_cos_c[2], tcf_cos_c[1]), s, tcf_cos_c[0]);
    V cosine = tcf_fma(tcf_fma(q, s, -0.5f), s, -tcf_fma(r, r_low, s_low * 0.5f)) + 1.0f;
    auto quarter = tcf_bits(magic) + quarter_turns;
    auto flip = quarter << 30;
    if (quarter_turns == 0) flip = flip ^ tcf_bits(x);
    V y = tcf_where_odd(quarter, cosine, sine);
    y = tcf_float(tcf_bits(y) ^ tcf_top_bit(flip));
    if (__builtin_expect(tcf_any_above(t, TCF_SIN_LIMIT), 0)) return tcf_mend(tcf_sin_rare<quarter_turns>, x, y);
    return y;
}

TC_INLINE tc_f32 tc_sin_f32(tc_f32 x) { return tcf_sin<0>(x); }
TC_INLINE tc_f32 tc_cos_f32(tc_f32 x) { return tcf_sin<1>(x); }

/* t with a value table at its side: value + u P(u), or u + u P(u) in the piece whose centre is 0. */
TC_INLINE tc_f32 tcf_piece_sum(tc_f32 t, tc_f32 u, tc_f32 p, tc_f32 value) {
    return tcf_fma(u, p, u == t ? t : value);
}

TC_INLINE tc_f32 tc_tanh_f32(tc_f32 x) {
    tc_f32 t = tcf_abs(x);
    t = t > 9.02f ? tcf_splat(9.02f) : t;
    tc_i32 piece = (tc_i32)tcf_fma(t, tcf_splat(1.66f), tcf_splat(1.0f)) >> 22;
    tc_f32 u = t - tcf_lookup(tcf_tanh_centre, piece);
    tc_f32 p = tcf_fma(tcf_lookup(tcf_tanh_p7, piece), u, tcf_lookup(tcf_tanh_p6, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p5, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p4, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p3, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p2, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p1, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p0, piece));
    tc_f32 y = tcf_piece_sum(t, u, p, tcf_lookup(tcf_tanh_value, piece));
    return (tc_f32)((tc_i32)y | tcf_sign_bit(x));
}

TC_INLINE tc_f32 tc_erf_f32(tc_f32 x) {
    tc_f32 t = tcf_abs(x);
    t = t > 3.94f ? tcf_splat(3.94f) : t;
    tc_i32 piece = (tc_i32)tcf_fma(t, tcf_splat(1.9f), tcf_splat(TCF_ROUND));
    tc_f32 u = t - tcf_lookup(tcf_erf_centre, piece);
    tc_f32 p = tcf_fma(tcf_lookup(tcf_erf_p6, piece), u, tcf_lookup(tcf_erf_p5, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_erf_p4, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_erf_p3, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_erf_p2, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_erf_p1, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_erf_p0, piece));
    tc_f32 y = tcf_piece_sum(t, u, p, tcf_lookup(tcf_erf_value, piece));
    return (tc_f32)((tc_i32)y | tcf_sign_bit(x));
}

#endif
