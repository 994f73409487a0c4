/* Loads under guards: lanes first <= i < end are read, the others are zero and touch no memory.
 *
 * `array + at` is what lane 0 would read; it may lie outside of the array, so no address is formed before it is known
 * that a lane is read. `first` and `end` may lie anywhere. The element of lane i is at `at + i * stride`.
 */
#ifndef TC_LANES_GUARDED_H
#define TC_LANES_GUARDED_H

#include "lanes_memory.h"

/* Lanes first <= i < end. */
TC_INLINE tc_bool tc_lanes_between(tc_i64_t first, tc_i64_t end) {
    tc_i32 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    tc_i32_t low = first <= 0 ? 0 : first >= 8 ? 8 : (tc_i32_t)first;
    tc_i32_t high = end <= 0 ? 0 : end >= 8 ? 8 : (tc_i32_t)end;
    return (tc_bool)((lane >= tc_splat_i32(low)) & (lane < tc_splat_i32(high)));
}

#define TC_GUARDED(type, lanes_of, element, splat)                                                             \
    TC_NOINLINE lanes_of tc_some_##type(const element *array, tc_i64_t at, tc_i64_t first, tc_i64_t end) {     \
        element lanes[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};                                  \
        const tc_i64_t begin = first < 0 ? 0 : first;                                                          \
        tc_store_##type(lanes + begin,                                                                         \
                        tc_load_part_##type(array + (at + begin), (int)((end < 8 ? end : 8) - begin)));        \
        return tc_load_##type(lanes);                                                                          \
    }                                                                                                          \
    TC_NOINLINE lanes_of tc_gather_some_##type(const element *array, tc_i64_t at, tc_i64_t stride,             \
                                               tc_i64_t first, tc_i64_t end) {                                 \
        element lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};                                                           \
        for (tc_i64_t i = first < 0 ? 0 : first; i < end && i < 8; ++i) lanes[i] = array[at + i * stride];     \
        return tc_load_##type(lanes);                                                                          \
    }                                                                                                          \
    TC_INLINE lanes_of tc_load_between_##type(const element *array, tc_i64_t at, tc_i64_t first,               \
                                               tc_i64_t end) {                                                 \
        if (first <= 0 && end >= 8) return tc_load_##type(array + at);                                         \
        if (first >= end || first >= 8 || end <= 0) return tc_splat_##type(0);                                 \
        return tc_some_##type(array, at, first, end);                                                          \
    }                                                                                                          \
    TC_INLINE lanes_of tc_gather_between_##type(const element *array, tc_i64_t at, tc_i64_t stride,            \
                                                 tc_i64_t first, tc_i64_t end) {                               \
        if (first <= 0 && end >= 8) return tc_gather_##type(array + at, stride);                               \
        if (first >= end || first >= 8 || end <= 0) return tc_splat_##type(0);                                 \
        return tc_gather_some_##type(array, at, stride, first, end);                                           \
    }                                                                                                          \
    /* One element for every lane, where any lane reads it. */                                                 \
    TC_INLINE lanes_of tc_load_splat_between_##type(const element *array, tc_i64_t at, tc_i64_t first,         \
                                                     tc_i64_t end) {                                           \
        if (first >= end || first >= 8 || end <= 0) return tc_splat_##type(0);                                 \
        return splat(array[at]);                                                                               \
    }                                                                                                          \
    /* The lanes of a mask, of the first n. */                                                                 \
    TC_INLINE lanes_of tc_load_where_##type(const element *array, tc_i64_t at, tc_i64_t stride, tc_bool mask,  \
                                             int n) {                                                          \
        element lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};                                                           \
        for (int i = 0; i < n; ++i)                                                                            \
            if (mask[i]) lanes[i] = array[at + i * stride];                                                    \
        return tc_load_##type(lanes);                                                                          \
    }
TC_GUARDED(f32, tc_f32, float, tc_splat_f32)
TC_GUARDED(i32, tc_i32, tc_i32_t, tc_splat_i32)
TC_GUARDED(f64, tc_f64, double, tc_splat_f64)
TC_GUARDED(i64, tc_i64, tc_i64_t, tc_splat_i64)
TC_GUARDED(bool, tc_bool, tc_u8_t, tc_splat_bool)

#endif
