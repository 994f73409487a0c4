/* Elementary functions of f64 lanes, within 2 ulp (most within 1), C Annex F special values.
 *
 * Each is written for four lanes (tc_exp_f64x4); tc_exp_f64 applies it to both halves of eight. The value of a
 * lane depends on that lane's argument alone, and every operation is an IEEE operation or an explicit fma, so
 * the bits are the same for every compiler and optimisation level. Arguments that need more than the straight
 * line (overflow, subnormals, huge angles) go through one out-of-line routine a vector.
 * tools/coefficients.py prints the constants; docs/numerics_functions.md records the errors.
 */
#ifndef TC_ELEMENTARY_F64_H
#define TC_ELEMENTARY_F64_H

#include "vectors.h"

/* Vectors pass by value only between functions of this unit. Not popped: compilers report at the call. */
#pragma GCC diagnostic ignored "-Wpsabi"

#ifndef TC_CONST
#define TC_CONST static constexpr __attribute__((unused))
/* Out of line, yet `inline`: g++ -O0 keeps other unused functions. */
#define TC_RARE static inline __attribute__((noinline, cold, unused))
#endif

TC_CONST double tcd_ln2[2] = {
    0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
TC_CONST double tcd_log2e[1] = {
    0x1.71547652b82fep0};
TC_CONST double tcd_half_pi[3] = {
    0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed9p-110};
TC_CONST double tcd_inv_half_pi[1] = {
    0x1.45f306dc9c883p-1};
TC_CONST double tcd_exp_p[10] = {
    0x1.000000000000ap-1, 0x1.555555555550ep-3, 0x1.55555555507e7p-5, 0x1.1111111124732p-7,
    0x1.6c16c18427844p-10, 0x1.a01a0137195c8p-13, 0x1.a0199a39aca21p-16, 0x1.71df0ff57856dp-19,
    0x1.28ad3964d741ep-22, 0x1.ad999cd03ecadp-26};
TC_CONST double tcd_exp2_p[11] = {
    0x1.62e42fefa39efp-1, 0x1.ebfbdff82c59cp-3, 0x1.c6b08d704a0d5p-5, 0x1.3b2ab6fba11fp-7,
    0x1.5d87fe78b39efp-10, 0x1.4309130c02677p-13, 0x1.ffcbfbf9330a8p-17, 0x1.62bfcddaf02a3p-20,
    0x1.b5260cde78d7p-24, 0x1.e611a6866d16dp-28, 0x1.e80feba3f6ad2p-32};
TC_CONST double tcd_expm1_p[11] = {
    0x1p-1, 0x1.5555555555559p-3, 0x1.5555555555559p-5, 0x1.111111110f707p-7,
    0x1.6c16c16c1692cp-10, 0x1.a01a01af984d5p-13, 0x1.a01a019da42b4p-16, 0x1.71ddf94d3cb09p-19,
    0x1.27e4fb3530944p-22, 0x1.af5cd77e315c2p-26, 0x1.1f33abda24d1fp-29};
TC_CONST double tcd_log_p[7] = {
    0x1.5555555555592p-1, 0x1.999999997ff66p-2, 0x1.24924941db18ap-2, 0x1.c71c521a42094p-3,
    0x1.74663b99eff49p-3, 0x1.39a20cc5af183p-3, 0x1.2f0243a8244dep-3};
TC_CONST double tcd_sin_p[6] = {
    -0x1.5555555555548p-3, 0x1.111111110f73p-7, -0x1.a01a019be9227p-13, 0x1.71de355531a9bp-19,
    -0x1.ae5e4b904d981p-26, 0x1.5d8b5c22cde5fp-33};
TC_CONST double tcd_cos_p[6] = {
    0x1.555555555554bp-5, -0x1.6c16c16c15015p-10, 0x1.a01a019c8f27fp-16, -0x1.27e4f7f195b0bp-22,
    0x1.1ee9dbd3b378p-29, -0x1.8fa687cec88dbp-37};
TC_CONST tc_u64_t tcd_turn[20] = {
    0x0000000000000000u, 0x28be60db9391054au, 0x7f09d5f47d4d3770u, 0x36d8a5664f10e410u,
    0x7f9458eaf7aef158u, 0x6dc91b8e909374b8u, 0x01924bba82746487u, 0x3f877ac72c4a69cfu,
    0xba208d7d4baed121u, 0x3a671c09ad17df90u, 0x4e64758e60d4ce7du, 0x272117e2ef7e4a0eu,
    0xc7fe25fff7816603u, 0xfbcbc462d6829b47u, 0xdb4d9fb3c9f2c26du, 0xd3d18fd9a797fa8bu,
    0x5d49eeb1faf97c5eu, 0xcf41ce7de294a4bau, 0x9afed7ec47e35742u, 0x1580cc11bf1edaeau};
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

TC_INLINE tc_f64x4 tcd_splat(double c) { return (tc_f64x4){c, c, c, c}; }

#if defined(__FMA__)
TC_INLINE tc_f64x4 tcd_fma(tc_f64x4 a, tc_f64x4 b, tc_f64x4 c) { return __builtin_ia32_vfmaddpd256(a, b, c); }
#else
TC_INLINE tc_f64x4 tcd_fma(tc_f64x4 a, tc_f64x4 b, tc_f64x4 c) {
    for (int i = 0; i < 4; i++) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}
#endif

/* Horner's rule: (...(first x + c[count - 1]) x + ...) x + c[0]. */
template <int count>
TC_INLINE tc_f64x4 tcd_horner(tc_f64x4 first, tc_f64x4 x, const double* c) {
    tc_f64x4 p = tcd_fma(first, x, tcd_splat(c[count - 1]));
    if constexpr (count == 1) {
        return p;
    } else {
        return tcd_horner<count - 1>(p, x, c);
    }
}

#if defined(__AVX__)
TC_INLINE bool tcd_any(tc_i64x4 mask) { return __builtin_ia32_movmskpd256((tc_f64x4)mask) != 0; }
#else
TC_INLINE bool tcd_any(tc_i64x4 mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }
#endif

#define TCD_SIGN (-0x7fffffffffffffff - 1)

TC_INLINE tc_f64x4 tcd_abs(tc_f64x4 x) { return (tc_f64x4)((tc_i64x4)x & ~TCD_SIGN); }
TC_INLINE tc_i64x4 tcd_sign_bit(tc_f64x4 x) { return (tc_i64x4)x & TCD_SIGN; }
TC_INLINE tc_f64x4 tcd_with_sign_of(tc_f64x4 magnitude, tc_f64x4 x) {
    return (tc_f64x4)((tc_i64x4)magnitude | tcd_sign_bit(x));
}

/* True where |x| > limit or x is NaN: one integer comparison, because bits of positive numbers are in order. */
TC_INLINE tc_i64x4 tcd_beyond(tc_f64x4 x, double limit) {
    return (tc_i64x4)tcd_abs(x) > (tc_i64x4)tcd_splat(limit);
}

/* Magic addend: the sum holds the nearest integer in its low bits. */
#define TCD_ROUND 0x1.8p52
#define TCD_ROUND_BITS 0x4338000000000000

/* Argument of an out-of-line routine, which replaces y in the rare lanes. By address: without AVX, the way
 * a 32-byte vector is passed differs between compilers. */
struct tcd_rare { tc_f64x4 x, y; tc_i64x4 rare; };

/* exp(x) = 2^k e^r; `k_bits` is k + TCD_ROUND_BITS. Two words of r, |r| <= ln(2) / 2. */
struct tcd_exp_reduced { tc_f64x4 r, r_low; tc_i64x4 k_bits; };

TC_INLINE tcd_exp_reduced tcd_exp_reduce(tc_f64x4 x) {
    tc_f64x4 magic = tcd_fma(x, tcd_splat(tcd_log2e[0]), tcd_splat(TCD_ROUND));
    tc_f64x4 k = magic - TCD_ROUND;
    tc_f64x4 a = tcd_fma(k, tcd_splat(-tcd_ln2[0]), x);
    tc_f64x4 r = tcd_fma(k, tcd_splat(-tcd_ln2[1]), a);
    return {r, tcd_fma(k, tcd_splat(-tcd_ln2[1]), a - r), (tc_i64x4)magic};
}

/* (e^r - 1) / r. */
TC_INLINE tc_f64x4 tcd_exp_slope(tc_f64x4 r) {
    return tcd_fma(tcd_horner<9>(tcd_splat(tcd_exp_p[9]), r, tcd_exp_p), r, tcd_splat(1.0));
}

/* p 2^k; k_bits is k + TCD_ROUND_BITS. */
struct tcd_exp_parts { tc_f64x4 p; tc_i64x4 k_bits; };

TC_INLINE tcd_exp_parts tcd_exp_split(tc_f64x4 x) {
    tcd_exp_reduced e = tcd_exp_reduce(x);
    return {tcd_fma(tcd_exp_slope(e.r), e.r, tcd_splat(1.0)), e.k_bits};
}

TC_INLINE tcd_exp_parts tcd_exp2_split(tc_f64x4 x) {
    tc_f64x4 magic = x + TCD_ROUND;
    tc_f64x4 r = x - (magic - TCD_ROUND);
    tc_f64x4 p = tcd_horner<10>(tcd_splat(tcd_exp2_p[10]), r, tcd_exp2_p);
    return {tcd_fma(p, r, tcd_splat(1.0)), (tc_i64x4)magic};
}

TC_INLINE tc_f64x4 tcd_power_of_two(tc_i64x4 k_bits) {
    return (tc_f64x4)((k_bits << 52) + 0x3ff0000000000000);
}

/* p 2^k where the result is a normal number. */
TC_INLINE tc_f64x4 tcd_scale(tcd_exp_parts e) { return (tc_f64x4)((tc_i64x4)e.p + (e.k_bits << 52)); }

/* p 2^k for |k| up to 2044: two exact factors, so that a subnormal result is rounded once. */
TC_INLINE tc_f64x4 tcd_scale_full(tcd_exp_parts e) {
    tc_i64x4 half = (e.k_bits - TCD_ROUND_BITS) >> 1;
    return e.p * tcd_power_of_two(half) * tcd_power_of_two(e.k_bits - TCD_ROUND_BITS - half);
}

TC_INLINE tc_f64x4 tcd_clamp(tc_f64x4 x, double low, double high) {
    x = x > high ? tcd_splat(high) : x;
    return x < low ? tcd_splat(low) : x;
}

TC_INLINE tc_f64x4 tcd_exp_full(tc_f64x4 x) {
    return tcd_scale_full(tcd_exp_split(tcd_clamp(x, -746.0, 710.0)));
}

TC_RARE void tcd_exp_rare(tcd_rare* lanes) {
    lanes->y = lanes->rare ? tcd_exp_full(lanes->x) : lanes->y;
}

TC_INLINE tc_f64x4 tc_exp_f64x4(tc_f64x4 x) {
    tc_f64x4 y = tcd_scale(tcd_exp_split(x));
    tc_i64x4 rare = tcd_beyond(x, 708.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_exp_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_RARE void tcd_exp2_rare(tcd_rare* lanes) {
    tc_f64x4 full = tcd_scale_full(tcd_exp2_split(tcd_clamp(lanes->x, -1076.0, 1025.0)));
    lanes->y = lanes->rare ? full : lanes->y;
}

TC_INLINE tc_f64x4 tc_exp2_f64x4(tc_f64x4 x) {
    tc_f64x4 y = tcd_scale(tcd_exp2_split(x));
    tc_i64x4 rare = tcd_beyond(x, 1021.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_exp2_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* 1 / (1 + e^-x) is e^x where e^-x overflows. */
TC_RARE void tcd_sigmoid_rare(tcd_rare* lanes) {
    tc_f64x4 x = lanes->x > 0.0 ? tcd_splat(0.0) : lanes->x;
    lanes->y = lanes->rare ? tcd_exp_full(x) : lanes->y;
}

/* 1 + e^-x = (1 + 2^k) + 2^k (e^r - 1) in two words, and a reciprocal corrected by its remainder. */
TC_INLINE tc_f64x4 tc_sigmoid_f64x4(tc_f64x4 x) {
    tcd_exp_reduced e = tcd_exp_reduce(-x);
    tc_f64x4 s = tcd_power_of_two(e.k_bits);
    tc_f64x4 q = tcd_exp_slope(e.r) * e.r;
    tc_f64x4 base = s + 1.0;
    tc_f64x4 base_low = s - base + 1.0;
    tc_f64x4 d = tcd_fma(s, q, base);
    tc_f64x4 d_low = tcd_fma(s, q, base - d) + tcd_fma(s, e.r_low, base_low);
    tc_f64x4 y = 1.0 / d;
    tc_f64x4 rest = tcd_fma(-d_low, y, tcd_fma(-d, y, tcd_splat(1.0)));
    y = tcd_fma(y, rest, y);
    tc_i64x4 rare = tcd_beyond(x, 708.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_sigmoid_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* A sum of two words; `low` is far below `high`. */
struct tcd_two { tc_f64x4 high, low; };

/* e^x - 1 = 2^k (1 + p) - 1 with p in two words: the sum cancels to less than half of p's scale at k = 1. */
TC_INLINE tcd_two tcd_expm1_two(tc_f64x4 x) {
    tcd_exp_reduced e = tcd_exp_reduce(x);
    tc_f64x4 q = tcd_horner<10>(tcd_splat(tcd_expm1_p[10]), e.r, tcd_expm1_p);
    tc_f64x4 t = e.r * e.r * q;
    tc_f64x4 p = e.r + t;
    tc_f64x4 p_low = (e.r - p) + t + e.r_low;
    tc_f64x4 s = tcd_power_of_two(e.k_bits);
    tc_f64x4 base = s - 1.0;
    tc_f64x4 base_low = s - base - 1.0;
    tc_f64x4 high = tcd_fma(s, p, base);
    return {high, tcd_fma(s, p_low, tcd_fma(s, p, base - high) + base_low)};
}

TC_RARE void tcd_expm1_rare(tcd_rare* lanes) {
    tc_f64x4 full = lanes->x < 0.0 ? tcd_splat(-1.0) : tcd_exp_full(lanes->x);
    lanes->y = lanes->rare ? full : lanes->y;
}

TC_INLINE tc_f64x4 tc_expm1_f64x4(tc_f64x4 x) {
    tcd_two e = tcd_expm1_two(x);
    tc_f64x4 y = tcd_with_sign_of(e.high + e.low, x);
    tc_i64x4 rare = tcd_beyond(x, 708.0);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_expm1_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* e / (e + 2) with e = e^2t - 1 in two words; tanh(22) is 1. */
TC_INLINE tc_f64x4 tc_tanh_f64x4(tc_f64x4 x) {
    tc_f64x4 t = tcd_abs(x);
    t = t > 22.0 ? tcd_splat(22.0) : t;
    tcd_two e = tcd_expm1_two(t + t);
    tc_f64x4 d = e.high + 2.0;
    tc_f64x4 from_high = d - 2.0;
    tc_f64x4 d_low = (e.high - from_high) + (2.0 - (d - from_high)) + e.low;
    tc_f64x4 reciprocal = 1.0 / d;
    tc_f64x4 y = e.high * reciprocal;
    tc_f64x4 rest = tcd_fma(-y, d, e.high) + tcd_fma(-y, d_low, e.low);
    return tcd_with_sign_of(tcd_fma(rest, reciprocal, y), x);
}

/* k ln(2) + log(1 + f) + low, 1 + f in [sqrt(1/2), sqrt(2)]: with s = f / (2 + f) and h = f^2 / 2,
 * log(1 + f) = f - h + s (h + s^2 R(s^2)). */
TC_INLINE tc_f64x4 tcd_log_sum(tc_f64x4 k, tc_f64x4 f, tc_f64x4 low) {
    tc_f64x4 s = f / (2.0 + f);
    tc_f64x4 z = s * s;
    tc_f64x4 r = z * tcd_horner<6>(tcd_splat(tcd_log_p[6]), z, tcd_log_p);
    tc_f64x4 h = 0.5 * f * f;
    tc_f64x4 high = tcd_fma(k, tcd_splat(tcd_ln2[0]), f);
    low = tcd_fma(k, tcd_splat(tcd_ln2[0]), -high) + f + low;
    low = low + tcd_fma(k, tcd_splat(tcd_ln2[1]), tcd_fma(s, h + r, -h));
    return high + low;
}

/* Exponent field of x's power of two: x / 2^k lies in [sqrt(1/2), sqrt(2)). */
TC_INLINE tc_i64x4 tcd_log_exponent(tc_f64x4 x) {
    return ((tc_i64x4)x - 0x3fe6a09e667f3bcd) & (TCD_SIGN >> 11);
}

/* The exponent field as a number, through the low bits of 2^52: AVX2 converts no 64-bit integers. */
TC_INLINE tc_f64x4 tcd_exponent_value(tc_i64x4 field) {
    tc_u64x4 biased = ((tc_u64x4)field >> 52) ^ 0x800u;
    return (tc_f64x4)(biased | 0x4330000000000000u) - 0x1.00000000008p52;
}

TC_INLINE tc_f64x4 tcd_log_normal(tc_f64x4 x, tc_f64x4 k_extra) {
    tc_i64x4 e = tcd_log_exponent(x);
    tc_f64x4 f = (tc_f64x4)((tc_i64x4)x - e) - 1.0;
    return tcd_log_sum(tcd_exponent_value(e) + k_extra, f, tcd_splat(0.0));
}

TC_INLINE tc_f64x4 tcd_log_full(tc_f64x4 x) {
    tc_i64x4 subnormal = x < 0x1p-1022;
    tc_f64x4 k_extra = subnormal ? tcd_splat(-52.0) : tcd_splat(0.0);
    tc_f64x4 y = tcd_log_normal(subnormal ? x * 0x1p52 : x, k_extra);
    y = x >= 0.0 ? y : tcd_splat(__builtin_nan(""));
    y = x == 0.0 ? tcd_splat(-__builtin_inf()) : y;
    return x == __builtin_inf() ? x : y;
}

/* True where x is outside [low, high), for bit patterns of positive numbers; NaN and x < 0 are outside. */
TC_INLINE tc_i64x4 tcd_outside(tc_f64x4 x, tc_u64_t low, tc_u64_t high) {
    tc_i64x4 shifted = (tc_i64x4)((tc_u64x4)x + (0x8000000000000000u - low));
    return shifted >= (tc_i64_t)(0x8000000000000000u + (high - low));
}

TC_RARE void tcd_log_rare(tcd_rare* lanes) {
    lanes->y = lanes->rare ? tcd_log_full(lanes->x) : lanes->y;
}

TC_INLINE tc_f64x4 tc_log_f64x4(tc_f64x4 x) {
    tc_f64x4 y = tcd_log_normal(x, tcd_splat(0.0));
    tc_i64x4 rare = tcd_outside(x, 0x0010000000000000u, 0x7ff0000000000000u);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_log_rare(&lanes);
        return lanes.y;
    }
    return y;
}

TC_RARE void tcd_log1p_rare(tcd_rare* lanes) {
    lanes->y = lanes->rare ? tcd_log_full(1.0 + lanes->x) : lanes->y;
}

/* 1 + x rounds: k comes from the rounded sum, f = x 2^-k + (2^-k - 1) from x itself, with its error. */
TC_INLINE tc_f64x4 tc_log1p_f64x4(tc_f64x4 x) {
    tc_f64x4 u = 1.0 + x;
    tc_i64x4 e = tcd_log_exponent(u);
    tc_f64x4 s = (tc_f64x4)(0x3ff0000000000000 - e);
    tc_f64x4 base = s - 1.0;
    tc_f64x4 f = tcd_fma(x, s, base);
    tc_f64x4 f_low = tcd_fma(x, s, base - f);
    f_low = tcd_fma(-f, f_low, f_low);
    tc_f64x4 y = tcd_with_sign_of(tcd_log_sum(tcd_exponent_value(e), f, f_low), x);
    tc_i64x4 rare = tcd_outside(u, 0x0010000000000000u, 0x7fb0000000000000u);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {x, y, rare};
        tcd_log1p_rare(&lanes);
        return lanes.y;
    }
    return y;
}

/* An angle n pi / 2 + r + r_low; the low two bits of `n_bits` are those of n. */
struct tcd_angle { tc_f64x4 r, r_low; tc_i64x4 n_bits; };

/* Three words of pi / 2, for |x| <= 2^20: x - n P1 is exact, the next product is kept in two words. */
TC_INLINE tcd_angle tcd_reduce_angle(tc_f64x4 x) {
    tc_f64x4 magic = tcd_fma(x, tcd_splat(tcd_inv_half_pi[0]), tcd_splat(TCD_ROUND));
    tc_f64x4 n = magic - TCD_ROUND;
    tc_f64x4 a = tcd_fma(n, tcd_splat(-tcd_half_pi[0]), x);
    tc_f64x4 b = n * tcd_half_pi[1];
    tc_f64x4 b_low = tcd_fma(n, tcd_splat(tcd_half_pi[1]), -b);
    tc_f64x4 r = a - b;
    tc_f64x4 r_low = (a - r) - b - b_low;
    return {r, tcd_fma(n, tcd_splat(-tcd_half_pi[2]), r_low), (tc_i64x4)magic};
}

/* sin of an angle, whose r is at most pi / 4 in magnitude. */
TC_INLINE tc_f64x4 tcd_sin_sum(tcd_angle angle) {
    tc_f64x4 r = angle.r;
    tc_f64x4 s = r * r;
    tc_f64x4 sin_p = tcd_horner<5>(tcd_splat(tcd_sin_p[5]), s, tcd_sin_p);
    tc_f64x4 sine = r + tcd_fma(r * s, sin_p, angle.r_low);
    tc_f64x4 cos_p = tcd_horner<5>(tcd_splat(tcd_cos_p[5]), s, tcd_cos_p);
    tc_f64x4 h = 0.5 * s;
    tc_f64x4 c = 1.0 - h;
    tc_f64x4 c_low = (1.0 - c) - h;
    tc_f64x4 cosine = c + tcd_fma(s * s, cos_p, tcd_fma(-r, angle.r_low, c_low));
    tc_f64x4 y = (angle.n_bits << 63) < 0 ? cosine : sine;
    return (tc_f64x4)((tc_i64x4)y ^ ((angle.n_bits >> 1) << 63));
}

/* The angle of one lane, x >= 1 finite, by Payne and Hanek: bits of 1 / (2 pi) from where they matter. */
TC_INLINE void tcd_reduce_huge(double x, int lane, tcd_angle* angle) {
    tc_u64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    tc_u64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    unsigned offset = (unsigned)(bits >> 52) - 1075u + 64u;
    tc_u64_t window[3];
    for (unsigned i = 0; i < 3; i++) {
        const tc_u64_t* word = tcd_turn + offset / 64u + i;
        unsigned shift = offset % 64u;
        window[i] = shift == 0 ? word[0] : (word[0] << shift) | (word[1] >> (64u - shift));
    }
    unsigned __int128 last = (unsigned __int128)mantissa * window[2];
    unsigned __int128 middle = (unsigned __int128)mantissa * window[1] + (tc_u64_t)(last >> 64);
    tc_u64_t first = mantissa * window[0] + (tc_u64_t)(middle >> 64);
    tc_u64_t n = (first + 0x2000000000000000u) >> 62;
    tc_i64_t rest = (tc_i64_t)(first - (n << 62));
    tc_i64_t rest_low = rest & 2047;
    double turn_high = (double)(rest - rest_low) * 0x1p-64;
    double turn_rest = (double)rest_low * 0x1p-64 + (double)(tc_u64_t)middle * 0x1p-128;
    double turn = turn_high + turn_rest;
    double turn_low = turn_rest - (turn - turn_high);
    double r = turn * (4.0 * tcd_half_pi[0]);
    double r_low = __builtin_fma(turn, 4.0 * tcd_half_pi[0], -r);
    r_low = __builtin_fma(turn, 4.0 * tcd_half_pi[1], r_low);
    angle->r[lane] = r;
    angle->r_low[lane] = __builtin_fma(turn_low, 4.0 * tcd_half_pi[0], r_low);
    angle->n_bits[lane] = (tc_i64_t)n;
}

/* The angles of the rare lanes, x >= 1; NaN for infinity and NaN. */
TC_INLINE tcd_angle tcd_reduce_rare(const tcd_rare* lanes) {
    tcd_angle angle = {tcd_splat(0.0), tcd_splat(0.0), (tc_i64x4){}};
    for (int i = 0; i < 4; i++) {
        if (lanes->rare[i] == 0) continue;
        double x = lanes->x[i];
        if (x < __builtin_inf()) {
            tcd_reduce_huge(x, i, &angle);
        } else {
            angle.r[i] = x - x;
        }
    }
    return angle;
}

/* sin(x + quarter_turns pi / 2) in the rare lanes. */
TC_RARE void tcd_sin_rare(tcd_rare* lanes, tc_i64_t quarter_turns) {
    tcd_angle angle = tcd_reduce_rare(lanes);
    angle.n_bits += quarter_turns;
    lanes->y = lanes->rare ? tcd_sin_sum(angle) : lanes->y;
}

TC_INLINE tc_f64x4 tcd_sin_positive(tc_f64x4 t, tc_i64_t quarter_turns) {
    tcd_angle angle = tcd_reduce_angle(t);
    angle.n_bits += quarter_turns;
    tc_f64x4 y = tcd_sin_sum(angle);
    tc_i64x4 rare = tcd_beyond(t, 0x1p20);
    if (__builtin_expect(tcd_any(rare), 0)) {
        tcd_rare lanes = {t, y, rare};
        tcd_sin_rare(&lanes, quarter_turns);
        return lanes.y;
    }
    return y;
}

/* Of |x|, with the sign put back: the sums above would lose that of -0. */
TC_INLINE tc_f64x4 tc_sin_f64x4(tc_f64x4 x) {
    return (tc_f64x4)((tc_i64x4)tcd_sin_positive(tcd_abs(x), 0) ^ tcd_sign_bit(x));
}

TC_INLINE tc_f64x4 tc_cos_f64x4(tc_f64x4 x) { return tcd_sin_positive(tcd_abs(x), 1); }

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

TC_INLINE tc_f64 tc_exp_f64(tc_f64 x) { return {tc_exp_f64x4(x.lo), tc_exp_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_exp2_f64(tc_f64 x) { return {tc_exp2_f64x4(x.lo), tc_exp2_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_expm1_f64(tc_f64 x) { return {tc_expm1_f64x4(x.lo), tc_expm1_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_log_f64(tc_f64 x) { return {tc_log_f64x4(x.lo), tc_log_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_log1p_f64(tc_f64 x) { return {tc_log1p_f64x4(x.lo), tc_log1p_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_sin_f64(tc_f64 x) { return {tc_sin_f64x4(x.lo), tc_sin_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_cos_f64(tc_f64 x) { return {tc_cos_f64x4(x.lo), tc_cos_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_tanh_f64(tc_f64 x) { return {tc_tanh_f64x4(x.lo), tc_tanh_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_erf_f64(tc_f64 x) { return {tc_erf_f64x4(x.lo), tc_erf_f64x4(x.hi)}; }
TC_INLINE tc_f64 tc_sigmoid_f64(tc_f64 x) { return {tc_sigmoid_f64x4(x.lo), tc_sigmoid_f64x4(x.hi)}; }

#endif
