/* erf and erfc of f64 lanes, within 2 ulp, C Annex F special values. In the manner of elementary_f64.h. */
#ifndef TC_ELEMENTARY_ERF_F64_H
#define TC_ELEMENTARY_ERF_F64_H

#include "elementary_pairs_f64.h"

TC_CONST double tcd_erf_rows[325] = {
    0x0p0, 0x0p0, 0x1.06eba8214db69p-3, -0x1.812746b0379e7p-2,
    0x1.ce2f21a042be2p-4, -0x1.b82ce31288b51p-6, 0x1.565bcd0e6a53cp-8, -0x1.c02db40040496p-11,
    0x1.f9a326f9172ap-14, -0x1.f4d25ba730c0bp-17, 0x1.b9e66f42786bfp-20, -0x1.5f525c60bcc16p-23,
    0x1.ee770e5f967b9p-27, 0x1.1af54e232d609p-2, -0x1.bee921fa4172bp-56, 0x1.0f5d1602f7e41p0,
    -0x1.0f5d1602f7de4p-2, -0x1.3c974458cc286p-2, 0x1.040e8a6d56b67p-3, 0x1.47e5cff02495bp-4,
    -0x1.4c0b2465a2cd3p-5, -0x1.08d94b9e909c2p-6, 0x1.3db5343bda2ecp-7, 0x1.556c7256509c6p-9,
    -0x1.e2942343185ecp-10, -0x1.6da26d3feb9dcp-12, 0x1.0a7ef5c18edd2p-1, 0x1.5e809f1a31a28p-56,
    0x1.c1efca49a5012p-1, -0x1.c1efca49a4fd9p-2, -0x1.2bf531866ea15p-3, 0x1.76f27de7ebae5p-3,
    0x1.dfeeb5bdc3a4fp-8, -0x1.99f13a917e214p-5, 0x1.623c5270558dfp-8, 0x1.493c0d9692de3p-7,
    -0x1.1c0dd6b6590d2p-9, -0x1.991f00f8099f3p-10, 0x1.0080110237ffep-11, 0x1.6c1c9759d0e5fp-1,
    0x1.b1432f2cbc455p-55, 0x1.492e42d78d2c5p-1, -0x1.edc5644353c3fp-2, 0x1.b6e8591f64db9p-6,
    0x1.349b5eaa22c0bp-3, -0x1.b42a188fc5f12p-5, -0x1.b84779fe3ccc5p-6, 0x1.2e0af9ec8f6fdp-6,
    0x1.2db5c4448be76p-9, -0x1.040eec6d76b8p-8, 0x1.7c48c65993b09p-13, 0x1.451777283afe1p-11,
    0x1.af767a741088bp-1, -0x1.c97f778122797p-56, 0x1.a911f096fbc26p-2, -0x1.a911f096fbc5cp-2,
    0x1.1b614b0f52b58p-3, 0x1.1b614b0f8eac1p-4, -0x1.1b614b103ca39p-4, 0x1.2e45a09c1bedap-8,
    0x1.f09702392564p-7, -0x1.390ebf1b690fap-8, -0x1.ee3b1b8345391p-10, 0x1.3f1778d4ebaf2p-10,
    0x1.77a21f866f9b2p-14, 0x1.d8865d98abe01p-1, -0x1.fcec4afb974d9p-55, 0x1.e4652fadcb6b2p-3,
    -0x1.2ebf3dcc9f245p-2, 0x1.571d01c5c57cbp-3, -0x1.93a9a7ba48f8cp-8, -0x1.8281ce0bb0882p-5,
    0x1.5d0003564849cp-6, 0x1.db43cf6f3e04dp-9, -0x1.756679d392732p-8, 0x1.cc1952ac73049p-11,
    0x1.9ec0cbb3e24f3p-11, -0x1.506e0af58d056p-12, 0x1.eea5557137aep-1, -0x1.385e445f2c96dp-55,
    0x1.e723726b824a9p-4, -0x1.6d5a95d0a1b3fp-3, 0x1.1c2a02beb6ae2p-3, -0x1.6d5a95d0da372p-5,
    -0x1.e723726bdf793p-7, 0x1.3ca3d7ae5e162p-6, -0x1.36d739b8c164p-8, -0x1.35b05949b24dp-9,
    0x1.c036e7c60f667p-10, -0x1.76c7b3b7baf0fp-14, -0x1.09ded0cad696ap-12, 0x1.f92d077f8d56dp-1,
    0x1.8b55ef493fce7p-56, 0x1.b055303221016p-5, -0x1.7a4a8a2bdcda1p-4, 0x1.7148c3d57c26cp-4,
    -0x1.8a0da5433848ep-5, 0x1.b22257de343ap-8, 0x1.25b379b04680dp-7, -0x1.8d10fc5ab1dd9p-8,
    0x1.7eba904f187a2p-11, 0x1.d4d1de110137ap-11, -0x1.ccf27dc41db88p-12, -0x1.af44a25955732p-18,
    0x1.fd9ae142795e3p-1, 0x1.972801904b9a3p-56, 0x1.529b9e8cf9a1ep-6, -0x1.529b9e8cf9a11p-5,
    0x1.8b0ae3a4788dfp-5, -0x1.1a2c59757dfcp-5, 0x1.ace7404c7a0b4p-7, 0x1.e19360b09ab73p-12,
    -0x1.bae0ace1fdc14p-9, 0x1.a113ef8dbb1cdp-10, -0x1.a448f13cffaacp-15, -0x1.135111da6835ep-12,
    0x1.afb1023b88eb5p-14, 0x1.ff404760319b4p-1, 0x1.f142071432025p-56, 0x1.d4143a9dfe965p-8,
    -0x1.074b60f8df3ddp-6, 0x1.63ef61e8243edp-6, -0x1.38a983276819dp-6, 0x1.5d3b17bbec6d7p-7,
    -0x1.7cae0e7589bb7p-9, -0x1.5f831442a4f12p-11, 0x1.060414d68e1bep-10, -0x1.835262c4ee224p-12,
    -0x1.a3a7c362e96d8p-17, 0x1.10e36cfddf54bp-14, 0x1.ffcaa8f4c9beap-1, 0x1.b0cee160116f9p-55,
    0x1.1d83170fbf6fbp-9, -0x1.64e3dcd3af634p-8, 0x1.119da0c46cd95p-7, -0x1.1a89b97cc110ap-7,
    0x1.90e81283c2948p-8, -0x1.6ecdc02747ca8p-9, 0x1.1c610d450f9ebp-11, 0x1.11581d4df8dd4p-12,
    -0x1.0672b0d3887b1p-12, 0x1.47ca53815372dp-14, 0x1.686c2261ff64fp-18, 0x1.fff2cfb0453d9p-1,
    0x1.9a913686042a3p-55, 0x1.3360ccd23db39p-11, -0x1.a6a519a114dd9p-10, 0x1.69cf466cce1cbp-9,
    -0x1.ab0c273ab6312p-9, 0x1.69359606160b6p-9, -0x1.b2755c1a73f33p-10, 0x1.52b62745019ccp-11,
    -0x1.755685c57dcd7p-14, -0x1.2abe7b748af6dp-14, 0x1.cced1004826ep-15, -0x1.075e8bba3e728p-16,
    0x1.fffd1ac4135f9p-1, 0x1.eeafa1ecd6cefp-55, 0x1.2408e9ba3327ep-13, -0x1.b60d5e974c6c8p-12,
    0x1.9db74b1d1dd9bp-11, -0x1.11c85b1ed66bcp-10, 0x1.0a7b5546ab7edp-10, -0x1.82f2350ded39ep-11,
    0x1.998b47e2c7b92p-12, -0x1.1aa728d7fe5ffp-13, 0x1.d2a1eae649bbfp-17, 0x1.08540166f6015p-16,
    -0x1.69efa7860a343p-17, 0x1.ffff6f9f67e55p-1, 0x1.e1e4483ba034bp-55, 0x1.e9b5e8d00ce8p-16,
    -0x1.8de3cd2909b24p-14, 0x1.9aa489e3ca44fp-13, -0x1.2c7d5ef106a62p-12, 0x1.490a4d23957ap-12,
    -0x1.1454641c7aec4p-12, 0x1.647f714377e38p-13, -0x1.567616f4c0e0fp-14, 0x1.b2c5c3592063cp-16,
    -0x1.2ccd32dc2ed48p-19, -0x1.8465f15691827p-19, 0x1.ffffe710d565ep-1, 0x1.c9ea52d76dc04p-55,
    0x1.6a597219a93efp-18, -0x1.3d0e43d67358p-16, 0x1.62ccea63c9d35p-15, -0x1.1c07721b702e8p-14,
    0x1.586bafcae40c9p-14, -0x1.46153ef81a5acp-14, 0x1.e827f91b25171p-15, -0x1.1f63c6f76b6abp-15,
    0x1.01369b85a0edfp-16, -0x1.3612c9ac7a69ap-18, 0x1.cbff562f02165p-22, 0x1.fffffc2f171e3p-1,
    0x1.85edd0395f475p-55, 0x1.d9371e2ff7c56p-21, -0x1.bba3ac4cf9712p-19, 0x1.0b6a7b0f1a686p-17,
    -0x1.d06f585f8b841p-17, 0x1.3436bca0a98edp-16, -0x1.4357b5ecd8746p-16, 0x1.110de3e3fc668p-16,
    -0x1.7566256e0ad5bp-17, 0x1.99f6e3eb09d13p-18, -0x1.5df5af95d995fp-19, 0x1.9e9644d28fd79p-21,
    0x1.ffffff7b91176p-1, 0x1.0b2865615db4p-56, 0x1.10b1488aeb20ep-23, -0x1.10b1488af17c7p-21,
    0x1.603a5308c7497p-20, -0x1.4980e24ce6c93p-19, 0x1.da5f10da32525p-19, -0x1.105056b38cca3p-18,
    0x1.fd7c67233b344p-19, -0x1.88c46ebd6b26dp-19, 0x1.f4231072f793fp-20, -0x1.05f13b0cdd3cap-20,
    0x1.af555a91aafcap-22, 0x1.fffffff01a8b6p-1, 0x1.23370eca5ca6ap-60, 0x1.155a09065d3c3p-26,
    -0x1.26afa996dae5ep-24, 0x1.95ea6fe00cf3ap-23, -0x1.96ba7351b52c7p-22, 0x1.3b468011469ddp-21,
    -0x1.8868eded677bp-21, 0x1.916e98fc98ea3p-21, -0x1.5668edf29301bp-21, 0x1.eaaf9b4d5f358p-22,
    -0x1.2a1dae6d70ba3p-22, 0x1.29d5a1f118ff3p-23, 0x1.fffffffe4fa3p-1, 0x1.d166bcb681c7bp-57,
    0x1.f1e3523b4158ap-30, -0x1.180fde4190c9ap-27, 0x1.99b86656536bep-26, -0x1.b598cb112aeafp-25,
    0x1.6b1baf2971117p-24, -0x1.e65101b3a9e7fp-24, 0x1.0d679ac21ca15p-23, -0x1.f5e3d59e1716ep-24,
    0x1.8d25a33aae22fp-24, -0x1.0fb46c453d371p-24, 0x1.383580cce4f6cp-25, 0x1.ffffffffd759dp-1,
    0x1.f7bee7eb2342p-55, 0x1.8a61745ec6afdp-33, -0x1.d453ba3171f67p-31, 0x1.6a8aeba4fb6bp-29,
    -0x1.9b017a56b3054p-28, 0x1.6b43c913868fep-27, -0x1.042f4781c38f8p-26, 0x1.35dc9c95d0165p-26,
    -0x1.38264a78c9c76p-26, 0x1.0d4308c14375ep-26, -0x1.974f479b2d428p-27, 0x1.059b5028e549cp-27,
    0x1.fffffffffc9e8p-1, -0x1.a759f7738935fp-56, 0x1.13af4f04f7a01p-36, -0x1.589b22c795d69p-34,
    0x1.196da0ab50a9bp-32, -0x1.516d3c1c8d9d9p-31, 0x1.3c51d03c6d5afp-30, -0x1.e235dfea356efp-30,
    0x1.32c755414a849p-29, -0x1.4bb8512e4b77cp-29, 0x1.34f4c7aa52c99p-29, -0x1.fe398355b8401p-30,
    0x1.67e96a541a396p-30, 0x1.ffffffffffc05p-1, 0x1.07ba96a6b2e1ap-55, 0x1.5422ef5d83c8fp-40,
    -0x1.be6dda2e3269dp-38, 0x1.7f8a0f40a6c36p-36, -0x1.e4cb4965b8c74p-35, 0x1.e044b2b8a3925p-34,
    -0x1.83eabb593e16p-33, 0x1.0659962663741p-32, -0x1.2ea94d037a3eep-32, 0x1.2e20773a1bec5p-32,
    -0x1.0ddea7eb63b0bp-32, 0x1.9d1557d181349p-33, 0x1.fffffffffffbep-1, -0x1.182b326b228dcp-55,
    0x1.7258610b2e983p-44, -0x1.fd3985769ec8ep-42, 0x1.cb12e2fba6e55p-40, -0x1.31011d00257ap-38,
    0x1.3e4a1e2bf195fp-37, -0x1.0f6efea30ebc4p-36, 0x1.84a56d288c199p-36, -0x1.dbfe2c81730ccp-36,
    0x1.fa441b218f6d4p-36, -0x1.e5c3f877da1dcp-36, 0x1.8fc4c4158db39p-36, 0x1.ffffffffffffcp-1,
    0x1.8115fd1b12786p-56, 0x1.63daf8b49a0c7p-48, -0x1.ff8ac590664fap-46, 0x1.e2d06d7ab80e4p-44,
    -0x1.505d926911b9cp-42, 0x1.70b6fe7e0f785p-41, -0x1.4aee3605f47dbp-40, 0x1.f3c69d069c5ecp-40,
    -0x1.438d9011ce59p-39, 0x1.6ce5202661097p-39, -0x1.76032320a6fa2p-39, 0x1.48b2d927d93d1p-39,
    0x1p0, -0x1.8cf81557d20b6p-56, 0x1.2dc119093109ap-52, -0x1.c4a1a5a0efd05p-50,
    0x1.be584a6f3f2bdp-48, -0x1.45542ace36972p-46, 0x1.75a817d976075p-45, -0x1.5ff9087b0ce26p-44,
    0x1.1772df141de76p-43, -0x1.7d27f6a3516c1p-43, 0x1.c5f310c1957dbp-43, -0x1.eecde7421e573p-43,
    0x1.cdd41ba44334p-43};
TC_CONST double tcd_erfc_near_p[11] = {
    0x1.06eba8214db68p-3, -0x1.812746b0379cp-2, 0x1.ce2f21a0411d2p-4, -0x1.b82ce31204a74p-6,
    0x1.565bccf6ed4e4p-8, -0x1.c02daedcc7fep-11, 0x1.f9a26d37954b9p-14, -0x1.f4c11395d0f84p-17,
    0x1.b8d8846f4870bp-20, -0x1.54f789b3b3d86p-23, 0x1.82e68d1991f52p-27};
TC_CONST double tcd_erfc_far_p[22] = {
    -0x1.169ba4580a04dp-6, -0x1.1df1ad154a28dp-3, 0x1.f7f5df66fd75bp-7, 0x1.16ecefcfa5241p-4,
    -0x1.9ddb23c3e8d16p-4, 0x1.7fee004e16363p-4, -0x1.0fb06dfe50a32p-4, 0x1.3079edf5dbfap-5,
    -0x1.0962388332cbfp-6, 0x1.49c672c3d8869p-8, -0x1.8d4a9c271b156p-11, -0x1.a1df5c9ccad5ep-13,
    0x1.3be07394c541cp-13, -0x1.99517469f36dbp-16, -0x1.7891f467f1b2bp-17, 0x1.7ecdccc91152ap-18,
    0x1.3dc688167da9fp-22, -0x1.b5d70ba710d2cp-21, 0x1.2ed6a26fac79bp-24, 0x1.aaea31aa9568ap-24,
    -0x1.d542d76e61207p-27, -0x1.14a7eb8c4b8ccp-27};

TC_INLINE tc_f64x4 tcd_gather(const double* column, tc_i64x4 at) {
    return (tc_f64x4){column[at[0]], column[at[1]], column[at[2]], column[at[3]]};
}

/* Horner's rule with each lane's own row of coefficients, columns `last` down to 2. */
template <int last>
TC_INLINE tc_f64x4 tcd_row_horner(tc_f64x4 p, tc_f64x4 x, tc_i64x4 row) {
    p = tcd_fma(p, x, tcd_gather(tcd_erf_rows + last, row));
    if constexpr (last == 2) {
        return p;
    } else {
        return tcd_row_horner<last - 1>(p, x, row);
    }
}

/* Pieces around i / 4, |u| <= 1/8: value + (low word + u P(u)); below 1/4, u + u P(u^2).
 * erf(5.95) is 1. */
TC_INLINE tc_f64x4 tc_erf_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tc_f64x4 inside = t < 5.95 ? t : tcd_splat(5.95);
    tc_f64x4 magic = tcd_fma(inside, tcd_splat(4.0), tcd_splat(TCD_ROUND));
    tc_i64x4 at_zero = inside < 0.25;
    tc_f64x4 u = at_zero ? inside : inside - 0.25 * (magic - TCD_ROUND);
    tc_i64x4 piece = ((tc_i64x4)magic - TCD_ROUND_BITS) & ~at_zero;
    tc_i64x4 row = (piece << 3) + (piece << 2) + piece;
    tc_f64x4 v = at_zero ? u * u : u;
    tc_f64x4 p = tcd_row_horner<11>(tcd_gather(tcd_erf_rows + 12, row), v, row);
    tc_f64x4 value = at_zero ? u : tcd_gather(tcd_erf_rows, row);
    tc_f64x4 y = value + tcd_fma(u, p, tcd_gather(tcd_erf_rows + 1, row));
    y = t == t ? y : t;
    return tcd_with_sign_of(y, x);
}

/* erfc(t) = 2^k p for t in [3/4, 28]: e^(-t^2) (5/4 + P(q)) / (1 + 2 t), q = (t - 4) / (t + 4). */
TC_INLINE tcd_exp_parts tcd_erfc_far(tc_f64x4 t) {
    tcd_two square = tcd_product(t, t);
    tcd_exp_reduced e = tcd_exp_reduce(-square.high);
    tcd_two power = tcd_fast_sum(tcd_splat(1.0), tcd_exp_two(e, -square.low));
    tc_f64x4 q = (t - 4.0) / (t + 4.0);
    tc_f64x4 p = tcd_horner<21>(tcd_splat(tcd_erfc_far_p[21]), q, tcd_erfc_far_p);
    tcd_two n = tcd_product_two(power, tcd_fast_sum(tcd_splat(1.25), p));
    tcd_two y = tcd_quotient(n, tcd_fast_sum(t + t, tcd_splat(1.0)));
    return {y.high + y.low, e.k_bits};
}

/* Results that may be subnormal, and NaN. */
TC_RARE void tcd_erfc_rare(tcd_rare* lanes) {
    tc_f64x4 y = tcd_scale_full(tcd_erfc_far(tcd_clamp(lanes->x, 0.75, 28.0)));
    lanes->y = lanes->rare ? y : lanes->y;
}

/* Up to 3/4, 1 - x - x Q(x^2); below -3/4, 2 - erfc(-x). */
TC_INLINE tc_f64x4 tc_erfc_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    tc_f64x4 z = x * x;
    tc_f64x4 q = tcd_horner<10>(tcd_splat(tcd_erfc_near_p[10]), z, tcd_erfc_near_p);
    tcd_two one = tcd_fast_sum(tcd_splat(1.0), -x);
    tc_f64x4 near = one.high + tcd_fma(-x, q, one.low);
    tc_f64x4 far = tcd_scale(tcd_erfc_far(tcd_clamp(t, 0.75, 26.0)));
    tc_f64x4 y = x < 0.0 ? 2.0 - far : far;
    y = t < 0.75 ? near : y;
    tc_i64x4 rare = ((t > 26.0) & ~(x < 0.0)) | (x != x);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_erfc_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_INLINE tc_f64 tc_erf_f64(tc_f64 x) { return {tc_erf_f64x4(x.lo), tc_erf_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_erfc_f64(tc_f64 x) { return {tc_erfc_f64x4(x.lo), tc_erfc_f64x4(x.hi)}; }

#endif
