/* Lane types: eight lanes for every element type, on GNU vector extensions that g++ and clang++ share.
 *
 * f32 and i32 lanes are one 32-byte vector; f64 and i64 lanes are a pair of them (`lo` holds lanes 0-3).
 * A bool lane is a mask: an i32 lane that is 0 or -1. No header is included: parsing them would cost more
 * than compiling a kernel.
 */
#ifndef TC_VECTORS_H
#define TC_VECTORS_H

typedef __INT8_TYPE__ tc_i8_t;
typedef __UINT8_TYPE__ tc_u8_t;
typedef __INT16_TYPE__ tc_i16_t;
typedef __UINT16_TYPE__ tc_u16_t;
typedef __INT32_TYPE__ tc_i32_t;
typedef __UINT32_TYPE__ tc_u32_t;
typedef __INT64_TYPE__ tc_i64_t;
typedef __UINT64_TYPE__ tc_u64_t;

typedef float tc_f32 __attribute__((vector_size(32)));
typedef tc_i32_t tc_i32 __attribute__((vector_size(32)));
typedef tc_u32_t tc_u32 __attribute__((vector_size(32)));
typedef double tc_f64x4 __attribute__((vector_size(32)));
typedef tc_i64_t tc_i64x4 __attribute__((vector_size(32)));
typedef tc_u64_t tc_u64x4 __attribute__((vector_size(32)));
typedef tc_i32 tc_bool;

struct tc_f64 { tc_f64x4 lo, hi; };
struct tc_i64 { tc_i64x4 lo, hi; };

#define TC_INLINE static inline __attribute__((always_inline, unused))
#define TC_NOINLINE static __attribute__((noinline, unused))

#endif
