/* Constants of elementary_more_f32.h and elementary_binary_f32.h, as tools/coefficients.py prints them. */
#ifndef TC_ELEMENTARY_MORE_TABLES_H
#define TC_ELEMENTARY_MORE_TABLES_H

#include "elementary_lanes.h"

TC_CONST double tcf_exp_wide[7] = {
    0x1.00000000e55fap0, 0x1.0000004245c1p-1, 0x1.55555350e353dp-3, 0x1.555481be3925fp-5,
    0x1.11130afff14a6p-7, 0x1.6d955527facc8p-10, 0x1.9e8ece335d63ap-13};
TC_CONST double tcf_exp2_wide[7] = {
    0x1.62e42ff0e199bp-1, 0x1.ebfbe07789567p-3, 0x1.c6b08ac055482p-5, 0x1.3b29f39cf69ebp-7,
    0x1.5d8a86139b49ep-10, 0x1.445c83591e23ep-13, 0x1.fde5e5788e9edp-17};
TC_CONST double tcf_sinh_wide[3] = {
    0x1.5555557355cf9p-3, 0x1.1110b218b3c3ep-7, 0x1.a16f6fbe59914p-13};
TC_CONST double tcf_cosh_wide[3] = {
    0x1.00000042d54f1p-1, 0x1.555480bf9fdfbp-5, 0x1.6d96193421ed2p-10};
TC_CONST double tcf_half_pi_wide[2] = {
    0x1.921fb54442d18p0, 0x1.1a62633145c07p-54};
TC_CONST double tcf_inv_half_pi_wide[1] = {
    0x1.45f306dc9c883p-1};
TC_CONST double tcf_sin_wide_p[4] = {
    -0x1.5555554c72a78p-3, 0x1.1111086ac98fbp-7, -0x1.a00f7f6bcb221p-13, 0x1.6cd200eb7415fp-19};
TC_CONST double tcf_cos_wide_p[4] = {
    -0x1.ffffffcb8dad7p-2, 0x1.55553c7b8d09dp-5, -0x1.6c07f2603ecb5p-10, 0x1.9916d1b170da5p-16};
TC_CONST double tcf_asin_wide[7] = {
    0x1.55555605a40c7p-3, 0x1.3332aa20e6f47p-4, 0x1.6ddaba25acdb9p-5, 0x1.ed5da8877f044p-6,
    0x1.931c0c81c9f0dp-6, 0x1.ec500d246272fp-8, 0x1.1bcc12dec2287p-5};
TC_CONST double tcf_atan_wide[6] = {
    -0x1.555554c6178bdp-2, 0x1.999918aa0b47ep-3, -0x1.247edb26c61e2p-3, 0x1.c4640d87c431dp-4,
    -0x1.5b3075a057737p-4, 0x1.84a332391748bp-5};
TC_CONST double tcf_ln2_wide[1] = {
    0x1.62e42fefa39efp-1};
TC_CONST double tcf_log2e_wide[1] = {
    0x1.71547652b82fep0};
TC_CONST double tcf_log_wide[6] = {
    -0x1.00000006178c2p-1, 0x1.555552786a5d1p-2, -0x1.ffff354c17b3ap-3, 0x1.99acd7a6036fdp-3,
    -0x1.56f9623ff8235p-3, 0x1.17059d9dcc01dp-3};
TC_CONST double tcf_log2_wide[7] = {
    0x1.71547652c9e86p0, -0x1.7154765dc09cp-1, 0x1.ec70984305e14p-2, -0x1.7153d6c967ec3p-2,
    0x1.27862d1f2f497p-2, -0x1.eee1e1bd71301p-3, 0x1.91d745634653fp-3};
TC_CONST float tcf_log2_value[8] = {
    -0x1.9c44p-2f, -0x1.2a1cp-2f, -0x1.6cfp-3f, -0x1.a1ep-5f,
    0x0p0f, 0x1.81p-3f, 0x1.5afcp-2f, 0x1.eaacp-2f};
TC_CONST float tcf_log2_value_low[8] = {
    0x1.16451ap-18f, 0x1.4554e2p-20f, 0x1.ae0dacp-20f, 0x1.1a31e6p-18f,
    0x0p0f, -0x1.b0eb02p-20f, 0x1.9e78bap-18f, 0x1.24c69p-19f};
TC_CONST float tcf_log2_scale[2] = {
    0x1.715476p0f, 0x1.4ae0cp-26f};
TC_CONST float tcf_log2_two[2] = {
    0x1p0f, 0x0p0f};
TC_CONST float tcf_log2_p[5] = {
    -0x1.715476p-1f, 0x1.ec701ap-2f, -0x1.715a5ep-2f, 0x1.28c2a8p-2f,
    -0x1.dffd5p-3f};
TC_CONST float tcf_log10_value[8] = {
    -0x1.f07p-4f, -0x1.66fp-4f, -0x1.b76p-5f, -0x1.f7p-7f,
    0x0p0f, 0x1.cfap-5f, 0x1.a1dp-4f, 0x1.2768p-3f};
TC_CONST float tcf_log10_value_low[8] = {
    0x1.9f18fap-18f, -0x1.4f3c0ap-18f, -0x1.96341cp-18f, -0x1.0a90a2p-18f,
    0x0p0f, -0x1.5e7c1p-18f, 0x1.84f28p-20f, 0x1.26e65cp-18f};
TC_CONST float tcf_log10_scale[2] = {
    0x1.bcb7b2p-2f, -0x1.5b235ep-27f};
TC_CONST float tcf_log10_two[2] = {
    0x1.344p-2f, 0x1.3509f8p-18f};
TC_CONST float tcf_log10_p[5] = {
    -0x1.bcb7bp-3f, 0x1.287a3ap-3f, -0x1.bcc5b4p-4f, 0x1.652d7ap-4f,
    -0x1.1c6b14p-4f};
TC_CONST double tcf_erfc_wide[10] = {
    0x1.12f21de0426ddp0, -0x1.c44c482e4c83dp-1, 0x1.2e326781cd50fp-1, -0x1.3deacfaa5aba9p-2,
    0x1.e99734ef3afdcp-4, -0x1.b7bd64ee0eff2p-6, -0x1.41579492bfb4fp-10, 0x1.93b5d2a9cf26ep-9,
    -0x1.fbe5915d9eb66p-12, -0x1.55c8831ac152cp-12};

#endif
