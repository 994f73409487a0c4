/* Elementary functions of f32 lanes, within 1 ulp over all inputs (sigmoid 2), C Annex F special values.
 *
 * Each is written once, for eight lanes and for sixteen (elementary_lanes.h); `tc_<name>_f32` has eight. The value
 * of a lane depends on that lane's argument alone, and every operation is an IEEE operation or an explicit fma, so
 * the bits are the same for every width, compiler and optimisation level. Arguments that need more than the
 * straight line (overflow, subnormals, large angles) go through one out-of-line routine a vector.
 * docs/numerics_functions.md describes the methods and records the errors.
 */
#ifndef TC_ELEMENTARY_F32_H
#define TC_ELEMENTARY_F32_H

#include "elementary_f32_tables.h"
#include "elementary_lanes.h"

/* Argument and result of an out-of-line routine, which replaces y in its lanes. By address: without AVX, the way
 * a 32-byte vector is passed differs between compilers. */
struct tcf_rare { tc_f32 x, y; };

TC_INLINE tc_f32 tcf_mend(void (*routine)(tcf_rare*), tc_f32 x, tc_f32 y) {
    tcf_rare lanes = {x, y};
    routine(&lanes);
    return lanes.y;
}
TC_INLINE tc_f32w tcf_mend(void (*routine)(tcf_rare*), tc_f32w x, tc_f32w y) {
    return tcf_join(tcf_mend(routine, tcf_low(x), tcf_low(y)), tcf_mend(routine, tcf_high(x), tcf_high(y)));
}

/* The lanes for which tcf_any_beyond is true. */
TC_INLINE tc_bool tcf_beyond(tc_f32 x, float limit) {
    return (tc_i32)tcf_abs(x) > (tc_i32)tcf_fill(x, limit);
}

/* Magic addends: the sum has the nearest integer, or the nearest eighth, in its low bits. */
#define TCF_ROUND 0x1.8p23f
#define TCF_ROUND_EIGHTH 0x1.8p20f
#define TCF_ROUND_EIGHTH_BITS 0x49c00000

/* e^x or 2^x as 2^n (1 + q) with n in eighths, the low bits of n_bits. */
template <typename V, typename I> struct tcf_power { V q; I n_bits; };

template <typename V> TC_INLINE auto tcf_exp_split(V x) {
    V magic = tcf_fma(x, tcf_log2e[0], TCF_ROUND_EIGHTH);
    V n = magic - TCF_ROUND_EIGHTH;
    V r = tcf_fma(n, -tcf_ln2[1], tcf_fma(n, -tcf_ln2[0], x));
    auto bits = tcf_bits(magic);
    V p = tcf_fma(tcf_fma(tcf_fma(r, tcf_exp_p[1], tcf_exp_p[0]), r, 1.0f), r, tcf_lookup(tcf_root_low, bits));
    return tcf_power<V, decltype(bits)>{p, bits};
}

template <typename V> TC_INLINE auto tcf_exp2_split(V x) {
    V magic = x + TCF_ROUND_EIGHTH;
    V r = x - (magic - TCF_ROUND_EIGHTH);
    auto bits = tcf_bits(magic);
    V p = tcf_fma(tcf_fma(r, tcf_exp2_p[2], tcf_exp2_p[1]), r, tcf_exp2_p[0]);
    p = tcf_fma(p, r, tcf_lookup(tcf_root_low, bits));
    return tcf_power<V, decltype(bits)>{p, bits};
}

/* 2^n where it is a normal number. */
template <typename V, typename I> TC_INLINE V tcf_root(tcf_power<V, I> e) {
    return tcf_float(tcf_bits(tcf_lookup(tcf_root_high, e.n_bits)) + (e.n_bits << 20));
}

template <typename V, typename I> TC_INLINE V tcf_scale(tcf_power<V, I> e) {
    V root = tcf_root(e);
    return tcf_fma(root, e.q, root);
}

/* The power for |n| up to 252: two exact factors, so that a subnormal result is rounded once. */
TC_INLINE tc_f32 tcf_scale_full(tcf_power<tc_f32, tc_i32> e) {
    tc_i32 k = (e.n_bits - TCF_ROUND_EIGHTH_BITS) >> 3;
    tc_i32 half = k >> 1;
    tc_f32 y = tcf_scale(tcf_power<tc_f32, tc_i32>{e.q, e.n_bits & 7});
    return y * (tc_f32)((half + 127) << 23) * (tc_f32)((k - half + 127) << 23);
}

TC_INLINE tc_f32 tcf_exp_full(tc_f32 x) {
    x = x > 89.0f ? tcf_fill(x, 89.0f) : x;
    x = x < -104.0f ? tcf_fill(x, -104.0f) : x;
    return tcf_scale_full(tcf_exp_split(x));
}

#define TCF_EXP_LIMIT 87.0f
#define TCF_EXP2_LIMIT 125.0f

TC_RARE void tcf_exp_rare(tcf_rare* lanes) {
    lanes->y = tcf_beyond(lanes->x, TCF_EXP_LIMIT) ? tcf_exp_full(lanes->x) : lanes->y;
}

/* Below this e^x is 0, and no rare case: masks of -inf are common. */
#define TCF_EXP_FLOOR -104.0f

template <typename V> TC_INLINE V tcf_exp(V x) {
    V y = tcf_zero_below(x, TCF_EXP_FLOOR, tcf_scale(tcf_exp_split(x)));
    if (__builtin_expect(tcf_any_beyond_from(x, TCF_EXP_LIMIT, TCF_EXP_FLOOR), 0)) return tcf_mend(tcf_exp_rare, x, y);
    return y;
}

TC_RARE void tcf_exp2_rare(tcf_rare* lanes) {
    tc_f32 x = lanes->x;
    tc_f32 capped = x > 129.0f ? tcf_fill(x, 129.0f) : x;
    capped = capped < -151.0f ? tcf_fill(x, -151.0f) : capped;
    lanes->y = tcf_beyond(x, TCF_EXP2_LIMIT) ? tcf_scale_full(tcf_exp2_split(capped)) : lanes->y;
}

template <typename V> TC_INLINE V tcf_exp2(V x) {
    V y = tcf_scale(tcf_exp2_split(x));
    if (__builtin_expect(tcf_any_beyond(x, TCF_EXP2_LIMIT), 0)) return tcf_mend(tcf_exp2_rare, x, y);
    return y;
}

/* Where e^-|x| is no normal number the result is 1 or e^x. */
TC_RARE void tcf_sigmoid_rare(tcf_rare* lanes) {
    tc_f32 x = lanes->x;
    tc_f32 y = tcf_exp_full(x > 0.0f ? tcf_fill(x, 0.0f) : x);
    lanes->y = tcf_beyond(x, TCF_EXP_LIMIT) ? y : lanes->y;
}

/* With e = e^-|x|: 1 / (1 + e) or e / (1 + e). The numerator makes up for the rounding of 1 + e, and so is rounded
 * once. */
template <typename V> TC_INLINE V tcf_sigmoid(V x) {
    auto power = tcf_exp_split(tcf_float(tcf_bits(x) | (-0x7fffffff - 1)));
    V root = tcf_root(power);
    V e = tcf_fma(root, power.q, root);
    V d = e + 1.0f;
    V rest = (d - 1.0f) - e;
    V numerator = tcf_where_top(tcf_bits(x), root, tcf_fill(x, 1.0f));
    V change = tcf_where_top(tcf_bits(x), power.q + rest, rest);
    V y = tcf_fma(numerator, change, numerator) / d;
    if (__builtin_expect(tcf_any_beyond(x, TCF_EXP_LIMIT), 0)) return tcf_mend(tcf_sigmoid_rare, x, y);
    return y;
}

TC_RARE void tcf_expm1_rare(tcf_rare* lanes) {
    tc_f32 x = lanes->x;
    tc_f32 y = x < 0.0f ? tcf_fill(x, -1.0f) : tcf_exp_full(x);
    lanes->y = tcf_beyond(x, TCF_EXP_LIMIT) ? y : lanes->y;
}

/* 2^k (1 + p) - 1 with p in two words: the sum cancels to less than half of p's scale at k = 1. */
template <typename V> TC_INLINE V tcf_expm1(V x) {
    V magic = tcf_fma(x, tcf_log2e[0], TCF_ROUND);
    V k = magic - TCF_ROUND;
    V a = tcf_fma(k, -tcf_ln2[0], x);
    V r = tcf_fma(k, -tcf_ln2[1], a);
    V r_low = tcf_fma(k, -tcf_ln2[1], a - r);
    V q = tcf_fma(r, tcf_expm1_p[5], tcf_expm1_p[4]);
    q = tcf_fma(q, r, tcf_expm1_p[3]);
    q = tcf_fma(q, r, tcf_expm1_p[2]);
    q = tcf_fma(q, r, tcf_expm1_p[1]);
    q = tcf_fma(q, r, tcf_expm1_p[0]);
    V t = r * r * q;
    V p = r + t;
    V p_low = (r - p) + t + r_low;
    V s = tcf_float((tcf_bits(magic) << 23) + 0x3f800000);
    V base = s - 1.0f;
    V base_low = s - base - 1.0f;
    V high = tcf_fma(s, p, base);
    V low = tcf_fma(s, p, base - high) + base_low;
    V y = high + tcf_fma(s, p_low, low);
    y = tcf_float(tcf_bits(y) | tcf_top_bit(tcf_bits(x)));
    if (__builtin_expect(tcf_any_beyond(x, TCF_EXP_LIMIT), 0)) return tcf_mend(tcf_expm1_rare, x, y);
    return y;
}

/* Too many values at once for sixteen registers. */
TCF_BY_HALF(tc_f32w tcf_expm1(tc_f32w x), tcf_expm1(x.lo), tcf_expm1(x.hi))

/* x = 2^k m' with m' in [0.7265625, 1.453125), cut into eight pieces, each with an m of its own; x's bits less
 * TCF_LOG_FIRST hold k, then the piece. */
#define TCF_LOG_FIRST 0x3f3a0000
#define TCF_EXPONENT_FIELD (-0x800000)

/* k ln(2) + log(m) + log(1 + r) + low for the m of the piece. The sum of the first two is exact, but for what
 * k times the low word of ln(2) adds. */
template <typename V, typename I> TC_INLINE V tcf_log_sum(V k, I piece, V r, V low) {
    V p = tcf_fma(tcf_fma(r, tcf_log_p[3], tcf_log_p[2]), r, tcf_log_p[1]);
    p = tcf_fma(p, r, tcf_log_p[0]);
    low = tcf_fma(r * r, p, tcf_fma(k, tcf_ln2_short[1], low));
    V high = tcf_fma(k, tcf_ln2_short[0], tcf_lookup(tcf_log_value, piece));
    V sum = high + r;
    return sum + (high - sum + r + low);
}

template <typename V, typename I> TC_INLINE V tcf_log_normal(V x, I k_extra) {
    auto bits = tcf_bits(x) - TCF_LOG_FIRST;
    V m = tcf_float(tcf_bits(x) - (bits & TCF_EXPONENT_FIELD));
    auto piece = bits >> 20;
    V r = tcf_fma(m, tcf_lookup(tcf_log_inverse, piece), -1.0f);
    return tcf_log_sum(tcf_convert((bits >> 23) + k_extra), piece, r, tcf_fill(x, 0.0f));
}

TC_INLINE tc_f32 tcf_log_full(tc_f32 x) {
    tc_bool subnormal = x < 0x1p-126f;
    tc_f32 y = tcf_log_normal(subnormal ? x * 0x1p23f : x, subnormal & -23);
    y = x >= 0.0f ? y : tcf_fill(x, __builtin_nanf(""));
    y = x == 0.0f ? tcf_fill(x, -__builtin_inff()) : y;
    return x == __builtin_inff() ? x : y;
}

/* True where x is outside [first, last), given as bits of positive numbers; NaN and x < 0 are outside. */
TC_INLINE tc_bool tcf_outside(tc_f32 x, tc_u32_t first, tc_u32_t last) {
    return (tc_i32)x + (tc_i32_t)(0x80000000u - first) > (tc_i32_t)(0x7fffffffu + (last - first));
}
template <typename V> TC_INLINE bool tcf_any_outside(V x, tc_u32_t first, tc_u32_t last) {
    return tcf_any_above(tcf_bits(x) + (tc_i32_t)(0x80000000u - first), (tc_i32_t)(0x7fffffffu + (last - first)));
}

#define TCF_NORMAL 0x00800000u
#define TCF_INFINITE 0x7f800000u

TC_RARE void tcf_log_rare(tcf_rare* lanes) {
    tc_bool rare = tcf_outside(lanes->x, TCF_NORMAL, TCF_INFINITE);
    lanes->y = rare ? tcf_log_full(lanes->x) : lanes->y;
}

template <typename V> TC_INLINE V tcf_log(V x) {
    V y = tcf_log_normal(x, 0);
    if (__builtin_expect(tcf_any_outside(x, TCF_NORMAL, TCF_INFINITE), 0)) return tcf_mend(tcf_log_rare, x, y);
    return y;
}

#define TCF_LOG1P_LAST 0x7d800000u

TC_RARE void tcf_log1p_rare(tcf_rare* lanes) {
    tc_f32 u = 1.0f + lanes->x;
    lanes->y = tcf_outside(u, TCF_NORMAL, TCF_LOG1P_LAST) ? tcf_log_full(u) : lanes->y;
}

/* 1 + x rounds: it gives k and the piece, but r = (1 + x) 2^-k / m - 1 comes from x itself. */
template <typename V> TC_INLINE V tcf_log1p(V x) {
    V u = x + 1.0f;
    auto bits = tcf_bits(u) - TCF_LOG_FIRST;
    auto piece = bits >> 20;
    V inverse = tcf_float(tcf_bits(tcf_lookup(tcf_log_inverse, piece)) - (bits & TCF_EXPONENT_FIELD));
    V base = inverse - 1.0f;
    V base_low = inverse - (base + 1.0f);
    V y = tcf_log_sum(tcf_convert(bits >> 23), piece, tcf_fma(x, inverse, base), base_low);
    y = tcf_float(tcf_bits(y) | tcf_top_bit(tcf_bits(x)));
    if (__builtin_expect(tcf_any_outside(u, TCF_NORMAL, TCF_LOG1P_LAST), 0)) return tcf_mend(tcf_log1p_rare, x, y);
    return y;
}

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
TC_INLINE double tcf_sin_phase(unsigned __int128 phase) {
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
    return odd ? -(r * p) : r * p;
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
        y[i] = finite ? (float)tcf_sin_phase(tcf_turn_fraction(x[i]) + extra) : x[i] - x[i];
    }
    lanes->y = tcf_beyond(x, TCF_SIN_LIMIT) ? y : lanes->y;
}

/* sin(x + quarter_turns pi / 2): x less k quarter turns is r - excess, then sine or cosine of that. Exact are the
 * difference with the first word of pi / 2, and with the second where it nearly cancels. Signs of sums are such that
 * sin(-0) is -0. */
template <int quarter_turns, typename V> TC_INLINE V tcf_sin(V x) {
    V magic = tcf_fma(x, tcf_inv_half_pi[0], TCF_ROUND);
    V k = magic - TCF_ROUND;
    V a = tcf_fma(k, -tcf_half_pi[0], x);
    V b = k * tcf_half_pi[1];
    V r = a - b;
    V excess = tcf_fma(k, tcf_half_pi[2], r - a + b);
    V s = r * r;
    V s_low = tcf_fma(r, r, -s);
    V p = tcf_fma(tcf_fma(s, tcf_sin_s[2], tcf_sin_s[1]), s, tcf_sin_s[0]);
    V sine = r + tcf_fma(r, tcf_fma(s, p, 0.0f), -excess);
    V q = tcf_fma(tcf_fma(s, tcf_cos_c[2], tcf_cos_c[1]), s, tcf_cos_c[0]);
    V cosine = tcf_fma(tcf_fma(q, s, -0.5f), s, tcf_fma(r, excess, -tcf_halve(s_low))) + 1.0f;
    auto quarter = tcf_bits(magic) + quarter_turns;
    V y = tcf_flip_sign(tcf_where_odd(quarter, cosine, sine), quarter << 30);
    if (__builtin_expect(tcf_any_beyond(x, TCF_SIN_LIMIT), 0)) return tcf_mend(tcf_sin_rare<quarter_turns>, x, y);
    return y;
}

/* value + u p, or u + u p in the piece whose centre is 0, where the value is t. */
template <typename V> TC_INLINE V tcf_piece_sum(V t, V u, V p, V value) {
    return tcf_fma(u, p, tcf_where_equal(u, t, t, value));
}

template <typename V> TC_INLINE V tcf_tanh(V x) {
    V t = tcf_at_most(tcf_abs(x), 9.02f);
    auto piece = tcf_bits(tcf_fma(t, 1.66f, 1.0f)) >> 22;
    V u = t - tcf_lookup(tcf_tanh_centre, piece);
    V p = tcf_fma(tcf_lookup(tcf_tanh_p6, piece), u, tcf_lookup(tcf_tanh_p5, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p4, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p3, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p2, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p1, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_tanh_p0, piece));
    return tcf_flip_sign(tcf_piece_sum(t, u, p, tcf_lookup(tcf_tanh_value, piece)), tcf_bits(x));
}

template <typename V> TC_INLINE V tcf_erf(V x) {
    V t = tcf_at_most(tcf_abs(x), 3.922f);
    auto piece = tcf_bits(tcf_fma(t, 1.912f, TCF_ROUND));
    V u = t - tcf_lookup(tcf_erf_centre, piece);
    V p = tcf_fma(tcf_lookup(tcf_erf_p5, piece), u, tcf_lookup(tcf_erf_p4, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_erf_p3, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_erf_p2, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_erf_p1, piece));
    p = tcf_fma(p, u, tcf_lookup(tcf_erf_p0, piece));
    return tcf_flip_sign(tcf_piece_sum(t, u, p, tcf_lookup(tcf_erf_value, piece)), tcf_bits(x));
}

TC_INLINE tc_f32 tc_exp_f32(tc_f32 x) { return tcf_exp(x); }
TC_INLINE tc_f32 tc_exp2_f32(tc_f32 x) { return tcf_exp2(x); }
TC_INLINE tc_f32 tc_expm1_f32(tc_f32 x) { return tcf_expm1(x); }
TC_INLINE tc_f32 tc_log_f32(tc_f32 x) { return tcf_log(x); }
TC_INLINE tc_f32 tc_log1p_f32(tc_f32 x) { return tcf_log1p(x); }
TC_INLINE tc_f32 tc_tanh_f32(tc_f32 x) { return tcf_tanh(x); }
TC_INLINE tc_f32 tc_erf_f32(tc_f32 x) { return tcf_erf(x); }
TC_INLINE tc_f32 tc_sigmoid_f32(tc_f32 x) { return tcf_sigmoid(x); }
TC_INLINE tc_f32 tc_sin_f32(tc_f32 x) { return tcf_sin<0>(x); }
TC_INLINE tc_f32 tc_cos_f32(tc_f32 x) { return tcf_sin<1>(x); }

#endif
