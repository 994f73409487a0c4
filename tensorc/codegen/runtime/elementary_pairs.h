/* Elementary functions of two f32 vectors at once. */
#ifndef TC_ELEMENTARY_PAIRS_H
#define TC_ELEMENTARY_PAIRS_H

#include "elementary_f32.h"

#define TC_PAIR(name, function)                                                                                \
    TC_INLINE void tc_##name##_f32_pair(tc_f32 a, tc_f32 b, tc_f32 *x, tc_f32 *y) {                            \
        tc_f32w both = function(tcf_join(a, b));                                                               \
        *x = tcf_low(both);                                                                                    \
        *y = tcf_high(both);                                                                                   \
    }

TC_PAIR(exp, tcf_exp)
TC_PAIR(exp2, tcf_exp2)
TC_PAIR(expm1, tcf_expm1)
TC_PAIR(log, tcf_log)
TC_PAIR(log1p, tcf_log1p)
TC_PAIR(sin, tcf_sin<0>)
TC_PAIR(cos, tcf_sin<1>)
TC_PAIR(tanh, tcf_tanh)
TC_PAIR(erf, tcf_erf)
TC_PAIR(sigmoid, tcf_sigmoid)

#undef TC_PAIR

#endif
