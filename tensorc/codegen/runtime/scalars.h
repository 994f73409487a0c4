/* Scalar helpers of the generated loops: sizes, work division, memory. */
#ifndef TC_SCALARS_H
#define TC_SCALARS_H

#include "vectors.h"

typedef __INT64_TYPE__ int64_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT8_TYPE__ int8_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT8_TYPE__ uint8_t;

extern "C" void *malloc(__SIZE_TYPE__);
extern "C" void free(void *);

TC_INLINE int64_t tc_min(int64_t a, int64_t b) { return a < b ? a : b; }
TC_INLINE int64_t tc_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* Floor division and remainder; a zero divisor gives 0. */
TC_INLINE int64_t tc_floordiv(int64_t a, int64_t b) {
    if (b == 0) return 0;
    const int64_t q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
TC_INLINE int64_t tc_floormod(int64_t a, int64_t b) { return b == 0 ? 0 : a - tc_floordiv(a, b) * b; }

/* Sizes of arrays are below 2^47; what is computed from sizes must be in 64 bits, by a margin of rounding errors. */
TC_INLINE int tc_is_size(int64_t n) { return 0 <= n && n <= 0x7fffffffffffLL; }
TC_INLINE int tc_fits(double size) { return -0x1p63 + 65536 < size && size < 0x1p63 - 65536; }

/* Active lanes of a step with `left` elements to go. */
TC_INLINE int tc_lanes(int64_t left) { return left < 8 ? (int)left : 8; }

/* Saturating sums and products of non-negative sizes, for what is to be allocated. */
TC_INLINE int64_t tc_size_add(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_add_overflow(a, b, &r) ? 0x7fffffffffffffffLL : r;
}
TC_INLINE int64_t tc_size_mul(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_mul_overflow(a, b, &r) ? 0x7fffffffffffffffLL : r;
}
/* Bytes rounded up to whole cache lines. */
TC_INLINE int64_t tc_lines(int64_t bytes) { return tc_size_add(bytes, 63) / 64 * 64; }

/* Memory aligned to a cache line, null if there is none; release accepts null. */
TC_INLINE char *tc_allocate(int64_t bytes) {
    char *const raw = bytes < 0x7fffffffffffffffLL - 128 ? (char *)malloc((__SIZE_TYPE__)bytes + 128) : (char *)0;
    if (!raw) return raw;
    char *const aligned = raw + (64 - ((__UINTPTR_TYPE__)raw & 63));
    ((char **)aligned)[-1] = raw;
    return aligned;
}
TC_INLINE void tc_release(char *aligned) {
    if (aligned) free(((char **)aligned)[-1]);
}

/* A failed check of any thread decides the call's status: the smallest code, whatever thread is first. */
TC_INLINE void tc_require(int holds, int32_t *status, int32_t code) {
    if (__builtin_expect(holds, 1)) return;
    int32_t seen = __atomic_load_n(status, __ATOMIC_RELAXED);
    while ((seen == 0 || code < seen) &&
           !__atomic_compare_exchange_n(status, &seen, code, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* Where the part of thread `tid` of `nt` begins, of `total` items in units of `unit`; it ends where the next begins. */
TC_INLINE int64_t tc_part(int64_t total, int64_t unit, int tid, int nt) {
    const int64_t units = total / unit + (total % unit != 0);
    const int64_t each = units / nt, rest = units % nt;
    return tc_min(total, (each * tid + (tid < rest ? tid : rest)) * unit);
}

/* Chunks of a reduction of `outer` times `inner` elements, `span` of them (or whole rows) a chunk. */
TC_INLINE int64_t tc_row_chunks(int64_t inner, int64_t span) { return tc_max(1, inner / span + (inner % span != 0)); }
TC_INLINE int64_t tc_chunk_rows(int64_t inner, int64_t span) { return inner > span ? 1 : tc_max(1, span / tc_max(inner, 1)); }

#endif
