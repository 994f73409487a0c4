/* Constants of elementary_f32.h, as tools/coefficients.py prints them. */
#ifndef TC_ELEMENTARY_F32_TABLES_H
#define TC_ELEMENTARY_F32_TABLES_H

#include "elementary_lanes.h"

TC_CONST float tcf_ln2[2] = {
    0x1.62e43p-1f, -0x1.05c61p-29f};
TC_CONST float tcf_log2e[1] = {
    0x1.715476p0f};
TC_CONST double tcf_pi[2] = {
    0x1.921fb54442d18p1, 0x1.1a62633145c07p-53};
TC_CONST double tcf_inv_pi[1] = {
    0x1.45f306dc9c883p-2};
TC_CONST float tcf_exp_p[2] = {
    0x1.000874p-1f, 0x1.5556acp-3f};
TC_CONST float tcf_exp2_p[3] = {
    0x1.62e432p-1f, 0x1.ec0c9p-3f, 0x1.c67e5cp-5f};
TC_CONST float tcf_root_high[8] = {
    0x1p0f, 0x1.f72b84p-1f, 0x1.f06fep-1f, 0x1.ebfdaep-1f,
    0x1.ea09e6p-1f, 0x1.eace54p-1f, 0x1.ee89fap-1f, 0x1.f5818ep-1f};
TC_CONST float tcf_root_low[8] = {
    0x0p0f, -0x1.9c0c22p-27f, 0x1.125002p-25f, -0x1.0a355p-25f,
    0x1.26055cp-26f, 0x1.67a1cap-28f, -0x1.f9c304p-27f, -0x1.a5217cp-28f};
TC_CONST float tcf_expm1_p[6] = {
    0x1p-1f, 0x1.555554p-3f, 0x1.5554fap-5f, 0x1.1112bcp-7f,
    0x1.6d381cp-10f, 0x1.9eae08p-13f};
TC_CONST float tcf_ln2_short[2] = {
    0x1.62e4p-1f, 0x1.7f7d1cp-20f};
TC_CONST float tcf_log_p[4] = {
    -0x1.ffffcap-2f, 0x1.555a4ep-2f, -0x1.00d656p-2f, 0x1.8d149ep-3f};
TC_CONST float tcf_log_inverse[8] = {
    0x1.526732p0f, 0x1.393d4p0f, 0x1.21a79ep0f, 0x1.093672p0f,
    0x1p0f, 0x1.c172ecp-1f, 0x1.94d24ap-1f, 0x1.6f4d84p-1f};
TC_CONST float tcf_log_value[8] = {
    -0x1.1dc2p-2f, -0x1.9d44p-3f, -0x1.f9e8p-4f, -0x1.21ap-5f,
    0x0p0f, 0x1.0adcp-3f, 0x1.e108p-3f, 0x1.541cp-2f};
TC_CONST double tcf_sin_p[5] = {
    0x1.ffffffd262026p-1, -0x1.555547f0e81c8p-3, 0x1.110e7b6cf5fabp-7, -0x1.9f644d8a50814p-13,
    0x1.5d3926ec07efap-19};
TC_CONST float tcf_half_pi[3] = {
    0x1.921fb4p0f, 0x1.444p-24f, 0x1.68c234p-39f};
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
    0x1.f0064cp-2f, 0x1.6e0e9cp-3f, 0x1.044da6p-5f, 0x1.7bbd64p-9f,
    0x1.47708p-14f, 0x1.3fe77ep-21f, 0x1.56db7p-31f, 0x1.a43838p-1f};
TC_CONST float tcf_tanh_p1[8] = {
    -0x1.642c7p-2f, -0x1.4bbbcp-3f, -0x1.0020c8p-5f, -0x1.7b329ep-9f,
    -0x1.4824b6p-14f, -0x1.40a5bcp-21f, -0x1.a5888ep-23f, -0x1.63d53ep-2f};
TC_CONST float tcf_tanh_p2[8] = {
    0x1.69a688p-4f, 0x1.65386cp-4f, 0x1.4a80ecp-6f, 0x1.f82262p-10f,
    0x1.b5932ap-15f, 0x1.ac4eacp-22f, -0x1.5552b2p-2f, -0x1.02ff7ap-3f};
TC_CONST float tcf_tanh_p3[8] = {
    0x1.af24bcp-5f, -0x1.9a676ep-6f, -0x1.3558b8p-7f, -0x1.f4a112p-11f,
    -0x1.a9a078p-16f, -0x1.a0051ap-23f, -0x1.928b34p-13f, 0x1.5ad6bep-3f};
TC_CONST float tcf_tanh_p4[8] = {
    -0x1.ceb86ap-5f, -0x1.3c33bap-9f, 0x1.aced18p-9f, 0x1.8bde0ap-12f,
    0x1.546f5cp-17f, 0x1.47ec1cp-24f, 0x1.14918ap-3f, -0x1.5e55ep-7f};
TC_CONST float tcf_tanh_p5[8] = {
    0x1.be6f8ep-7f, 0x1.d0c826p-8f, -0x1.715e52p-11f, -0x1.0cea82p-13f,
    -0x1.1bp-18f, -0x1.14d282p-25f, -0x1.e8483ep-8f, -0x1.dfe4e6p-5f};
TC_CONST float tcf_tanh_p6[8] = {
    0x1.3b893cp-7f, -0x1.f9a33ep-9f, -0x1.f232b4p-20f, 0x1.22c8d4p-15f,
    0x1.4232fap-20f, 0x1.4e7388p-27f, -0x1.4a06dap-5f, 0x1.473cbap-7f};
TC_CONST float tcf_erf_centre[8] = {
    0x0p0f, 0x1.0bc6acp-1f, 0x1.0bc944p0f, 0x1.91ad7ep0f,
    0x1.0bc87cp1f, 0x1.4eba82p1f, 0x1.91b98cp1f, 0x1.d3a012p1f};
TC_CONST float tcf_erf_value[8] = {
    0x0p0f, 0x1.14b982p-1f, 0x1.b8cdfp-1f, 0x1.f2702p-1f,
    0x1.fe6af4p-1f, 0x1.ffe38cp-1f, 0x1.fffedp-1f, 0x1.fffff8p-1f};
TC_CONST float tcf_erf_p0[8] = {
    0x1.06eba8p-3f, 0x1.b77948p-1f, 0x1.82db78p-2f, 0x1.8a1ae4p-4f,
    0x1.d0a6bap-7f, 0x1.3cfdbcp-10f, 0x1.f356dcp-15f, 0x1.e44828p-20f};
TC_CONST float tcf_erf_p1[8] = {
    -0x1.5fde6ap-21f, -0x1.cbb07ep-2f, -0x1.94ab1ep-2f, -0x1.352fcep-3f,
    -0x1.e609d8p-6f, -0x1.9e7866p-9f, -0x1.87c228p-13f, -0x1.ba0dbep-18f};
TC_CONST float tcf_erf_p2[8] = {
    -0x1.811d2ap-2f, -0x1.097708p-3f, 0x1.32632p-3f, 0x1.01c842p-3f,
    0x1.2c4b7ep-5f, 0x1.4eb44cp-8f, 0x1.83ee9ap-12f, 0x1.0132eep-16f};
TC_CONST float tcf_erf_p3[8] = {
    -0x1.70533ap-11f, 0x1.77ce02p-3f, 0x1.b6532p-5f, -0x1.8c7d96p-5f,
    -0x1.d239f4p-6f, -0x1.70c4aap-8f, -0x1.102926p-11f, -0x1.b44becp-16f};
TC_CONST float tcf_erf_p4[8] = {
    0x1.e4da0cp-4f, 0x1.595af8p-10f, -0x1.0d276ap-4f, -0x1.079496p-7f,
    0x1.9af068p-7f, 0x1.226bfp-8f, 0x1.2bd76ep-11f, 0x1.33c45p-15f};
TC_CONST float tcf_erf_p5[8] = {
    -0x1.44fb0ep-6f, -0x1.891d8cp-5f, 0x1.0dcbaap-7f, 0x1.0fa554p-6f,
    -0x1.29552ap-10f, -0x1.2c594ep-9f, -0x1.d22466p-12f, -0x1.252ed8p-15f};

#endif
