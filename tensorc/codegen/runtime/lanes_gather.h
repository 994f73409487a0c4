/* Gathers: indices to places, and loads at places.
 *
 * A place is the index of an element along an axis of `n` elements, -1 where the index was out of range. What a
 * negative place belongs to is not read, and 0: `place` decides (the bits of several are joined with `or`), `at` is
 * the offset in elements, which only means something where `place` is not negative.
 */
#ifndef TC_LANES_GATHER_H
#define TC_LANES_GATHER_H

#include "lanes.h"

TC_INLINE tc_i64x4 tc_place_i64x4(tc_i64x4 i, tc_i64_t n) {
    return i | (tc_i64x4)(i < 0) | (tc_i64x4)(i >= tc_splat_i64x4(n));
}
TC_INLINE tc_i64 tc_place_i64(tc_i64 i, tc_i64_t n) {
    tc_i64 r = {tc_place_i64x4(i.lo, n), tc_place_i64x4(i.hi, n)};
    return r;
}
/* The same, a negative index counted from the end. */
TC_INLINE tc_i64x4 tc_place_wrapped_i64x4(tc_i64x4 i, tc_i64_t n) {
    return tc_place_i64x4(i + ((tc_i64x4)(i < 0) & tc_splat_i64x4(n)), n);
}
TC_INLINE tc_i64 tc_place_wrapped_i64(tc_i64 i, tc_i64_t n) {
    tc_i64 r = {tc_place_wrapped_i64x4(i.lo, n), tc_place_wrapped_i64x4(i.hi, n)};
    return r;
}

/* Bit k: lane k may be read, of the first n. */
TC_INLINE int tc_readable(tc_i64 place, int n) {
    int bad = 0;
#if defined(__AVX__)
    typedef double bits __attribute__((vector_size(32)));
    bad = __builtin_ia32_movmskpd256((bits)place.lo) | __builtin_ia32_movmskpd256((bits)place.hi) << 4;
#else
    for (int i = 0; i < 4; ++i) bad |= (place.lo[i] < 0) << i | (place.hi[i] < 0) << (i + 4);
#endif
    return ~bad & ((1 << n) - 1);
}

TC_INLINE tc_i64_t tc_lane_i64(tc_i64 v, int i) { return i < 4 ? v.lo[i & 3] : v.hi[i & 3]; }

/* The forms for one element type S, in memory E: one element in every lane, eight neighbours of a row, elements a
 * step apart, and a place for each lane. */
#define TC_GATHERS(S, T, E, splat)                                                                                        \
    TC_INLINE T tc_gather_one_##S(const E *p, tc_i64_t at, tc_i64_t place) {                                       \
        return splat(place < 0 ? (E)0 : p[at]);                                                                    \
    }                                                                                                              \
    TC_INLINE T tc_gather_row_##S(const E *p, tc_i64_t at, tc_i64_t place) {                                       \
        return __builtin_expect(place < 0, 0) ? tc_splat_##S(0) : tc_load_##S(p + at);                             \
    }                                                                                                              \
    TC_INLINE T tc_gather_row_part_##S(const E *p, tc_i64_t at, tc_i64_t place, int n) {                           \
        return __builtin_expect(place < 0, 0) ? tc_splat_##S(0) : tc_load_part_##S(p + at, n);                     \
    }                                                                                                              \
    TC_INLINE T tc_gather_step_##S(const E *p, tc_i64_t at, tc_i64_t place, tc_i64_t step) {                       \
        return __builtin_expect(place < 0, 0) ? tc_splat_##S(0) : tc_gather_##S(p + at, step);                     \
    }                                                                                                              \
    TC_INLINE T tc_gather_step_part_##S(const E *p, tc_i64_t at, tc_i64_t place, tc_i64_t step, int n) {           \
        return __builtin_expect(place < 0, 0) ? tc_splat_##S(0) : tc_gather_part_##S(p + at, step, n);             \
    }                                                                                                              \
    TC_INLINE T tc_gather_some_##S(const E *p, tc_i64 at, int readable) {                                          \
        E found[8] = {0, 0, 0, 0, 0, 0, 0, 0};                                                                     \
        for (int i = 0; i < 8; ++i)                                                                                \
            if (readable >> i & 1) found[i] = p[tc_lane_i64(at, i)];                                               \
        return tc_load_##S(found);                                                                                 \
    }                                                                                                              \
    TC_INLINE T tc_gather_lanes_##S(const E *p, tc_i64 at, tc_i64 place) {                                         \
        const int readable = tc_readable(place, 8);                                                                \
        return __builtin_expect(readable == 255, 1) ? tc_gather_all_##S(p, at) : tc_gather_some_##S(p, at, readable);\
    }                                                                                                              \
    TC_INLINE T tc_gather_lanes_part_##S(const E *p, tc_i64 at, tc_i64 place, int n) {                             \
        return tc_gather_some_##S(p, at, tc_readable(place, n));                                                   \
    }

#define TC_EIGHT(p, at)                                                                                            \
    p[at.lo[0]], p[at.lo[1]], p[at.lo[2]], p[at.lo[3]], p[at.hi[0]], p[at.hi[1]], p[at.hi[2]], p[at.hi[3]]

TC_INLINE tc_f32 tc_gather_all_f32(const float *p, tc_i64 at) {
    tc_f32 r = {TC_EIGHT(p, at)};
    return r;
}
TC_INLINE tc_i32 tc_gather_all_i32(const tc_i32_t *p, tc_i64 at) {
    tc_i32 r = {TC_EIGHT(p, at)};
    return r;
}
TC_INLINE tc_f64 tc_gather_all_f64(const double *p, tc_i64 at) {
    tc_f64 r = {TC_EIGHT(p, at)};
    return r;
}
TC_INLINE tc_i64 tc_gather_all_i64(const tc_i64_t *p, tc_i64 at) {
    tc_i64 r = {TC_EIGHT(p, at)};
    return r;
}
TC_INLINE tc_bool tc_gather_all_bool(const tc_u8_t *p, tc_i64 at) {
    tc_i32 r = {TC_EIGHT(p, at)};
    return (tc_bool)(r != tc_splat_i32(0));
}
#undef TC_EIGHT

TC_GATHERS(f32, tc_f32, float, tc_splat_f32)
TC_GATHERS(i32, tc_i32, tc_i32_t, tc_splat_i32)
TC_GATHERS(f64, tc_f64, double, tc_splat_f64)
TC_GATHERS(i64, tc_i64, tc_i64_t, tc_splat_i64)
TC_GATHERS(bool, tc_bool, tc_u8_t, tc_splat_bool)

#endif
