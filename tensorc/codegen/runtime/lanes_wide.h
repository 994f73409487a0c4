/* Sixteen f32 lanes: two neighbouring vectors of a loop at once, for bodies with elementary functions.
 *
 * Every operation does in each lane what its eight-lane form does, so a value does not depend on the width. What a
 * body needs beyond these it does on the halves (tc_low_f32w, tc_high_f32w) and joins.
 */
#ifndef TC_LANES_WIDE_H
#define TC_LANES_WIDE_H

#include "elementary_f32.h"
#include "reduce_common.h"

TC_INLINE tc_f32w tc_join_f32w(tc_f32 low, tc_f32 high) { return tcf_join(low, high); }
TC_INLINE tc_f32 tc_low_f32w(tc_f32w x) { return tcf_low(x); }
TC_INLINE tc_f32 tc_high_f32w(tc_f32w x) { return tcf_high(x); }

#if defined(TCF_512)
typedef float tc_f32w_memory __attribute__((vector_size(64), aligned(4), may_alias));
TC_INLINE tc_f32w tc_load_f32w(const float *p) { return *(const tc_f32w_memory *)p; }
TC_INLINE void tc_store_f32w(float *p, tc_f32w x) { *(tc_f32w_memory *)p = x; }
TC_INLINE tc_f32w tc_relu_f32w(tc_f32w x) {
    tc_f32w zero = tcf_fill(x, 0);
#if defined(__clang__)
    return (zero > x ? zero : x) + zero;
#else
    return __builtin_ia32_maxps512_mask(zero, x, zero, -1, 4) + zero;
#endif
}
#else
TC_INLINE tc_f32w tc_load_f32w(const float *p) { return {tc_load_f32(p), tc_load_f32(p + 8)}; }
TC_INLINE void tc_store_f32w(float *p, tc_f32w x) {
    tc_store_f32(p, x.lo);
    tc_store_f32(p + 8, x.hi);
}
TC_INLINE tc_f32w tc_relu_f32w(tc_f32w x) { return {tc_relu_f32(x.lo), tc_relu_f32(x.hi)}; }
#endif
TC_INLINE tc_f32w tc_negative_f32w(tc_f32w x) { return -x; }
TC_INLINE tc_f32w tc_square_f32w(tc_f32w x) { return x * x; }
TC_INLINE tc_f32w tc_fma_f32w(tc_f32w a, tc_f32w b, tc_f32w c) { return tcf_fma(a, b, c); }

#define TC_WIDE(name, function)                                                                                \
    TC_INLINE tc_f32w tc_##name##_f32w(tc_f32w x) { return function(x); }
TC_WIDE(exp, tcf_exp)
TC_WIDE(exp2, tcf_exp2)
TC_WIDE(expm1, tcf_expm1)
TC_WIDE(log, tcf_log)
TC_WIDE(log1p, tcf_log1p)
TC_WIDE(sin, tcf_sin<0>)
TC_WIDE(cos, tcf_sin<1>)
TC_WIDE(tanh, tcf_tanh)
TC_WIDE(erf, tcf_erf)
TC_WIDE(sigmoid, tcf_sigmoid)
#undef TC_WIDE

/* tc_sum_f32 (reduce_sum.h) with its four accumulators in two of sixteen lanes: the same tree. A step takes two
 * vectors of sixteen. */
struct tc_wide_sum_f32 { tc_f32w a01, a23; tc_f64 lanes; double total; };
TC_INLINE tc_f32w tc_no_terms_f32w() {
    tc_f32 none = tc_splat_f32(-0.0f);
    return tcf_join(none, none);
}
TC_INLINE void tc_wide_sum_f32_begin(struct tc_wide_sum_f32 *s) {
    s->a01 = s->a23 = tc_no_terms_f32w();
    s->lanes = tc_splat_f64(-0.0);
    s->total = 0;
}
TC_INLINE void tc_wide_sum_f32_step(struct tc_wide_sum_f32 *s, tc_f32w v01, tc_f32w v23) {
    s->a01 = s->a01 + v01;
    s->a23 = s->a23 + v23;
}
TC_INLINE void tc_wide_sum_f32_tail(struct tc_wide_sum_f32 *s, int j, tc_f32 v, int n) {
    tc_f32 none = tc_splat_f32(-0.0f), term = tc_where_f32(tc_active(n), v, none);
    tc_f32w both = j & 1 ? tcf_join(none, term) : tcf_join(term, none);
    if (j & 2) s->a23 = s->a23 + both;
    else s->a01 = s->a01 + both;
}
TC_INLINE void tc_wide_sum_f32_block(struct tc_wide_sum_f32 *s) {
    tc_f32 low = tcf_low(s->a01) + tcf_high(s->a01), high = tcf_low(s->a23) + tcf_high(s->a23);
    s->lanes = s->lanes + tc_cast_f32_f64(low + high);
    s->a01 = s->a23 = tc_no_terms_f32w();
}
TC_INLINE void tc_wide_sum_f32_chunk(struct tc_wide_sum_f32 *s) {
    s->total = s->total + tc_fold_sum_f64(s->lanes);
    s->lanes = tc_splat_f64(-0.0);
}
TC_INLINE void tc_wide_sum_f32_merge(struct tc_wide_sum_f32 *s, const struct tc_wide_sum_f32 *next) {
    s->total = s->total + next->total;
}
TC_INLINE tc_f32 tc_wide_sum_f32_result(const struct tc_wide_sum_f32 *s, tc_i64_t count, double correction) {
    (void)count, (void)correction;
    return tc_splat_f32((float)s->total);
}

#endif
