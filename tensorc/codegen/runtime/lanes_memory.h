/* Lanes and memory: splats, loads, stores, gathers, scatters, for f32, f64, i32, i64 and bool.
 *
 * Addresses need the alignment of one element only, and may alias anything. A partial access touches lanes
 * 0..n-1 (1 <= n <= 8) and no byte beyond them; lanes that are not loaded are zero. A bool in memory is one byte:
 * any non-zero byte reads as true, stores write 0 or 1.
 */
#ifndef TC_LANES_MEMORY_H
#define TC_LANES_MEMORY_H

typedef float tc_f32x4 __attribute__((vector_size(16)));
typedef tc_i32_t tc_i32x4 __attribute__((vector_size(16)));
typedef short tc_i16x8 __attribute__((vector_size(16)));
typedef char tc_i8x16 __attribute__((vector_size(16)));

/* The access types: a cast that spells `aligned` in place is ignored by clang. */
typedef float tc_f32_memory __attribute__((vector_size(32), aligned(4), may_alias));
typedef tc_i32_t tc_i32_memory __attribute__((vector_size(32), aligned(4), may_alias));
typedef double tc_f64_memory __attribute__((vector_size(32), aligned(8), may_alias));
typedef tc_i64_t tc_i64_memory __attribute__((vector_size(32), aligned(8), may_alias));
typedef tc_u64_t tc_u64_memory __attribute__((aligned(1), may_alias));

TC_INLINE tc_f32 tc_splat_f32(float x) { tc_f32 r = {x, x, x, x, x, x, x, x}; return r; }
TC_INLINE tc_i32 tc_splat_i32(tc_i32_t x) { tc_i32 r = {x, x, x, x, x, x, x, x}; return r; }
TC_INLINE tc_f64x4 tc_splat_f64x4(double x) { tc_f64x4 r = {x, x, x, x}; return r; }
TC_INLINE tc_i64x4 tc_splat_i64x4(tc_i64_t x) { tc_i64x4 r = {x, x, x, x}; return r; }
TC_INLINE tc_f64 tc_splat_f64(double x) { tc_f64 r = {tc_splat_f64x4(x), tc_splat_f64x4(x)}; return r; }
TC_INLINE tc_i64 tc_splat_i64(tc_i64_t x) { tc_i64 r = {tc_splat_i64x4(x), tc_splat_i64x4(x)}; return r; }
TC_INLINE tc_bool tc_splat_bool(tc_u8_t x) { return tc_splat_i32(x ? -1 : 0); }

TC_INLINE float tc_first_f32(tc_f32 v) { return v[0]; }
TC_INLINE tc_i32_t tc_first_i32(tc_i32 v) { return v[0]; }
TC_INLINE double tc_first_f64(tc_f64 v) { return v.lo[0]; }
TC_INLINE tc_i64_t tc_first_i64(tc_i64 v) { return v.lo[0]; }
TC_INLINE tc_u8_t tc_first_bool(tc_bool v) { return (tc_u8_t)(v[0] & 1); }

TC_INLINE tc_i64 tc_iota_i64(tc_i64_t start, tc_i64_t step) {
    tc_i64x4 low = {0, 1, 2, 3}, high = {4, 5, 6, 7};
    tc_i64 r = {tc_splat_i64x4(start) + low * step, tc_splat_i64x4(start) + high * step};
    return r;
}

/* The first n of 8 lanes, and of 4 lanes (n may be out of 0..4 there). */
TC_INLINE tc_bool tc_active(int n) {
    tc_i32 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    return (tc_bool)(lane < tc_splat_i32(n));
}
TC_INLINE tc_i64x4 tc_active4(int n) {
    tc_i64x4 lane = {0, 1, 2, 3};
    return (tc_i64x4)(lane < tc_splat_i64x4(n));
}

TC_INLINE tc_f32 tc_load_f32(const float *p) { return *(const tc_f32_memory *)p; }
TC_INLINE tc_i32 tc_load_i32(const tc_i32_t *p) { return *(const tc_i32_memory *)p; }
TC_INLINE tc_f64 tc_load_f64(const double *p) {
    tc_f64 r = {*(const tc_f64_memory *)p, *(const tc_f64_memory *)(p + 4)};
    return r;
}
TC_INLINE tc_i64 tc_load_i64(const tc_i64_t *p) {
    tc_i64 r = {*(const tc_i64_memory *)p, *(const tc_i64_memory *)(p + 4)};
    return r;
}
TC_INLINE void tc_store_f32(float *p, tc_f32 v) { *(tc_f32_memory *)p = v; }
TC_INLINE void tc_store_i32(tc_i32_t *p, tc_i32 v) { *(tc_i32_memory *)p = v; }
TC_INLINE void tc_store_f64(double *p, tc_f64 v) {
    *(tc_f64_memory *)p = v.lo;
    *(tc_f64_memory *)(p + 4) = v.hi;
}
TC_INLINE void tc_store_i64(tc_i64_t *p, tc_i64 v) {
    *(tc_i64_memory *)p = v.lo;
    *(tc_i64_memory *)(p + 4) = v.hi;
}

/* Eight bool bytes as one little-endian word, and back to a mask. */
TC_INLINE tc_bool tc_mask_of_bytes(tc_u64_t bytes) {
#if defined(__AVX2__) && !defined(__clang__)
    typedef long long pair __attribute__((vector_size(16)));
    pair word = {(long long)bytes, 0};
    return (tc_bool)(__builtin_ia32_pmovzxbd256((tc_i8x16)word) != tc_splat_i32(0));
#else
    typedef tc_u8_t eight __attribute__((vector_size(8)));
    return (tc_bool)(__builtin_convertvector((eight)bytes, tc_i32) != tc_splat_i32(0));
#endif
}
TC_INLINE tc_u64_t tc_bytes_of_mask(tc_bool v) {
#if defined(__SSE2__)
    typedef long long pair __attribute__((vector_size(16)));
    tc_i32x4 low = __builtin_shufflevector(v, v, 0, 1, 2, 3), high = __builtin_shufflevector(v, v, 4, 5, 6, 7);
    tc_i16x8 words = (tc_i16x8)__builtin_ia32_packssdw128(low, high);
    pair bytes = (pair)__builtin_ia32_packsswb128(words, words);
    return (tc_u64_t)bytes[0] & 0x0101010101010101u;
#else
    tc_u64_t r = 0;
    for (int i = 0; i < 8; ++i) r |= (tc_u64_t)(v[i] & 1) << (8 * i);
    return r;
#endif
}
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the lane runtime needs a little-endian target"
#endif

TC_INLINE tc_bool tc_load_bool(const tc_u8_t *p) { return tc_mask_of_bytes(*(const tc_u64_memory *)p); }
TC_INLINE void tc_store_bool(tc_u8_t *p, tc_bool v) { *(tc_u64_memory *)p = tc_bytes_of_mask(v); }
TC_INLINE tc_bool tc_load_part_bool(const tc_u8_t *p, int n) {
    tc_u64_t bytes = 0;
    for (int i = 0; i < n; ++i) bytes |= (tc_u64_t)p[i] << (8 * i);
    return tc_mask_of_bytes(bytes);
}
TC_INLINE void tc_store_part_bool(tc_u8_t *p, tc_bool v, int n) {
    tc_u64_t bytes = tc_bytes_of_mask(v);
    for (int i = 0; i < n; ++i) p[i] = (tc_u8_t)(bytes >> (8 * i));
}

/* Masked accesses of one 32-byte vector, whose bits are all that matters. */
#if defined(__AVX__)
TC_INLINE tc_f32 tc_masked_load_f32(const float *p, int n) {
    return __builtin_ia32_maskloadps256((const tc_f32 *)p, tc_active(n));
}
TC_INLINE tc_f64x4 tc_masked_load_f64x4(const double *p, int n) {
    typedef long long mask __attribute__((vector_size(32)));
    return __builtin_ia32_maskloadpd256((const tc_f64x4 *)p, (mask)tc_active4(n));
}
TC_INLINE void tc_masked_store_f32(float *p, tc_f32 v, int n) {
    __builtin_ia32_maskstoreps256((tc_f32 *)p, tc_active(n), v);
}
TC_INLINE void tc_masked_store_f64x4(double *p, tc_f64x4 v, int n) {
    typedef long long mask __attribute__((vector_size(32)));
    __builtin_ia32_maskstorepd256((tc_f64x4 *)p, (mask)tc_active4(n), v);
}
#else
typedef float tc_f32_element __attribute__((may_alias));
typedef double tc_f64_element __attribute__((may_alias));
TC_INLINE tc_f32 tc_masked_load_f32(const float *p, int n) {
    tc_f32 r = tc_splat_f32(0);
    for (int i = 0; i < n; ++i) r[i] = ((const tc_f32_element *)p)[i];
    return r;
}
TC_INLINE tc_f64x4 tc_masked_load_f64x4(const double *p, int n) {
    tc_f64x4 r = tc_splat_f64x4(0);
    for (int i = 0; i < n && i < 4; ++i) r[i] = ((const tc_f64_element *)p)[i];
    return r;
}
TC_INLINE void tc_masked_store_f32(float *p, tc_f32 v, int n) {
    for (int i = 0; i < n; ++i) ((tc_f32_element *)p)[i] = v[i];
}
TC_INLINE void tc_masked_store_f64x4(double *p, tc_f64x4 v, int n) {
    for (int i = 0; i < n && i < 4; ++i) ((tc_f64_element *)p)[i] = v[i];
}
#endif

/* The upper half starts at p + 4 only when n reaches there: no address beyond the array is formed. */
TC_INLINE const double *tc_upper(const double *p, int n) { return n > 4 ? p + 4 : p; }

TC_INLINE tc_f32 tc_load_part_f32(const float *p, int n) { return tc_masked_load_f32(p, n); }
TC_INLINE tc_i32 tc_load_part_i32(const tc_i32_t *p, int n) {
    return (tc_i32)tc_masked_load_f32((const float *)p, n);
}
TC_INLINE tc_f64 tc_load_part_f64(const double *p, int n) {
    tc_f64 r = {tc_masked_load_f64x4(p, n), tc_masked_load_f64x4(tc_upper(p, n), n - 4)};
    return r;
}
TC_INLINE tc_i64 tc_load_part_i64(const tc_i64_t *p, int n) {
    tc_f64 bits = tc_load_part_f64((const double *)p, n);
    tc_i64 r = {(tc_i64x4)bits.lo, (tc_i64x4)bits.hi};
    return r;
}
TC_INLINE void tc_store_part_f32(float *p, tc_f32 v, int n) { tc_masked_store_f32(p, v, n); }
TC_INLINE void tc_store_part_i32(tc_i32_t *p, tc_i32 v, int n) {
    tc_masked_store_f32((float *)p, (tc_f32)v, n);
}
TC_INLINE void tc_store_part_f64(double *p, tc_f64 v, int n) {
    tc_masked_store_f64x4(p, v.lo, n);
    tc_masked_store_f64x4((double *)tc_upper(p, n), v.hi, n - 4);
}
TC_INLINE void tc_store_part_i64(tc_i64_t *p, tc_i64 v, int n) {
    tc_f64 bits = {(tc_f64x4)v.lo, (tc_f64x4)v.hi};
    tc_store_part_f64((double *)p, bits, n);
}

TC_INLINE void tc_store_first_f32(float *p, tc_f32 v) { *p = v[0]; }
TC_INLINE void tc_store_first_i32(tc_i32_t *p, tc_i32 v) { *p = v[0]; }
TC_INLINE void tc_store_first_f64(double *p, tc_f64 v) { *p = v.lo[0]; }
TC_INLINE void tc_store_first_i64(tc_i64_t *p, tc_i64 v) { *p = v.lo[0]; }
TC_INLINE void tc_store_first_bool(tc_u8_t *p, tc_bool v) { *p = (tc_u8_t)(v[0] & 1); }

/* Lane i comes from p[i * stride]; the stride is in elements and may be zero or negative. */
TC_INLINE tc_f32 tc_gather_f32(const float *p, tc_i64_t s) {
    tc_f32 r = {p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s]};
    return r;
}
TC_INLINE tc_i32 tc_gather_i32(const tc_i32_t *p, tc_i64_t s) {
    tc_i32 r = {p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s]};
    return r;
}
TC_INLINE tc_f64 tc_gather_f64(const double *p, tc_i64_t s) {
    tc_f64 r = {{p[0], p[s], p[2 * s], p[3 * s]}, {p[4 * s], p[5 * s], p[6 * s], p[7 * s]}};
    return r;
}
TC_INLINE tc_i64 tc_gather_i64(const tc_i64_t *p, tc_i64_t s) {
    tc_i64 r = {{p[0], p[s], p[2 * s], p[3 * s]}, {p[4 * s], p[5 * s], p[6 * s], p[7 * s]}};
    return r;
}
TC_INLINE tc_bool tc_gather_bool(const tc_u8_t *p, tc_i64_t s) {
    tc_i32 r = {p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s]};
    return (tc_bool)(r != tc_splat_i32(0));
}
TC_INLINE tc_f32 tc_gather_part_f32(const float *p, tc_i64_t stride, int n) {
    tc_f32 r = tc_splat_f32(0);
    for (int i = 0; i < n; ++i) r[i] = p[i * stride];
    return r;
}
TC_INLINE tc_i32 tc_gather_part_i32(const tc_i32_t *p, tc_i64_t stride, int n) {
    tc_i32 r = tc_splat_i32(0);
    for (int i = 0; i < n; ++i) r[i] = p[i * stride];
    return r;
}
TC_INLINE tc_f64 tc_gather_part_f64(const double *p, tc_i64_t stride, int n) {
    tc_f64 r = tc_splat_f64(0);
    for (int i = 0; i < n; ++i) (i < 4 ? r.lo : r.hi)[i & 3] = p[i * stride];
    return r;
}
TC_INLINE tc_i64 tc_gather_part_i64(const tc_i64_t *p, tc_i64_t stride, int n) {
    tc_i64 r = tc_splat_i64(0);
    for (int i = 0; i < n; ++i) (i < 4 ? r.lo : r.hi)[i & 3] = p[i * stride];
    return r;
}
TC_INLINE tc_bool tc_gather_part_bool(const tc_u8_t *p, tc_i64_t stride, int n) {
    tc_i32 r = tc_splat_i32(0);
    for (int i = 0; i < n; ++i) r[i] = p[i * stride] ? -1 : 0;
    return r;
}

/* Lane i goes to p[i * stride]. */
#define TC_SCATTER(T, V, E, lane)                                                                              \
    TC_INLINE void tc_scatter_part_##T(E *p, tc_i64_t stride, V v, int n) {                                    \
        for (int i = 0; i < n; ++i) p[i * stride] = lane(v, i);                                                \
    }                                                                                                          \
    TC_INLINE void tc_scatter_##T(E *p, tc_i64_t s, V v) {                                                     \
        p[0] = lane(v, 0), p[s] = lane(v, 1), p[2 * s] = lane(v, 2), p[3 * s] = lane(v, 3);                    \
        p[4 * s] = lane(v, 4), p[5 * s] = lane(v, 5), p[6 * s] = lane(v, 6), p[7 * s] = lane(v, 7);            \
    }
#define TC_LANE(v, i) ((v)[i])
#define TC_LANE_OF_HALVES(v, i) (((i) < 4 ? (v).lo : (v).hi)[(i) & 3])
#define TC_LANE_OF_MASK(v, i) ((tc_u8_t)((v)[i] & 1))
TC_SCATTER(f32, tc_f32, float, TC_LANE)
TC_SCATTER(i32, tc_i32, tc_i32_t, TC_LANE)
TC_SCATTER(f64, tc_f64, double, TC_LANE_OF_HALVES)
TC_SCATTER(i64, tc_i64, tc_i64_t, TC_LANE_OF_HALVES)
TC_SCATTER(bool, tc_bool, tc_u8_t, TC_LANE_OF_MASK)
#undef TC_LANE_OF_MASK
#undef TC_LANE_OF_HALVES
#undef TC_LANE
#undef TC_SCATTER

#endif
