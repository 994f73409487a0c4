/* Gathers (lanes_gather.h) of the types that are kept in lanes of another one. */
#ifndef TC_LANES_GATHER_NARROW_H
#define TC_LANES_GATHER_NARROW_H

#include "lanes_gather.h"
#include "lanes_narrow.h"
#include "lanes_unsigned.h"

/* Each lane's element by way of memory: as narrow as they are, eight fit one or two words. */
#define TC_NARROW_GATHERS(S, T, E, splat)                                                                      \
    TC_INLINE T tc_gather_all_##S(const E *p, tc_i64 at) {                                                     \
        const E found[8] = {p[at.lo[0]], p[at.lo[1]], p[at.lo[2]], p[at.lo[3]],                                \
                            p[at.hi[0]], p[at.hi[1]], p[at.hi[2]], p[at.hi[3]]};                               \
        return tc_load_##S(found);                                                                             \
    }                                                                                                          \
    TC_GATHERS(S, T, E, splat)
TC_NARROW_GATHERS(i8, tc_i32, tc_i8_t, tc_splat_i8)
TC_NARROW_GATHERS(i16, tc_i32, tc_i16_t, tc_splat_i16)
TC_NARROW_GATHERS(u8, tc_i32, tc_u8_t, tc_splat_u8)
TC_NARROW_GATHERS(u16, tc_i32, tc_u16_t, tc_splat_u16)
TC_NARROW_GATHERS(u32, tc_i32, tc_u32_t, tc_splat_u32)
TC_NARROW_GATHERS(u64, tc_i64, tc_u64_t, tc_splat_u64)
TC_NARROW_GATHERS(f16, tc_f32, tc_u16_t, tc_splat_bits_f16)
TC_NARROW_GATHERS(bf16, tc_f32, tc_u16_t, tc_splat_bits_bf16)
#undef TC_NARROW_GATHERS

#endif
