/* Loads under guards (lanes_guarded.h) of the types that are kept in lanes of another one. */
#ifndef TC_LANES_GUARDED_NARROW_H
#define TC_LANES_GUARDED_NARROW_H

#include "lanes_guarded.h"
#include "lanes_narrow.h"
#include "lanes_unsigned.h"

TC_GUARDED(i8, tc_i32, tc_i8_t, tc_splat_i8)
TC_GUARDED(i16, tc_i32, tc_i16_t, tc_splat_i16)
TC_GUARDED(u8, tc_i32, tc_u8_t, tc_splat_u8)
TC_GUARDED(u16, tc_i32, tc_u16_t, tc_splat_u16)
TC_GUARDED(u32, tc_i32, tc_u32_t, tc_splat_u32)
TC_GUARDED(u64, tc_i64, tc_u64_t, tc_splat_u64)
TC_GUARDED(f16, tc_f32, tc_u16_t, tc_splat_bits_f16)
TC_GUARDED(bf16, tc_f32, tc_u16_t, tc_splat_bits_bf16)

#endif
