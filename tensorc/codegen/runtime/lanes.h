/* The lane runtime: every scalar operation of the operator table on eight lanes of every element type.
 *
 * `tc_<operation>_<type>` with type f32, f64, i32, i64 or bool, `tc_cast_<from>_<to>`, and infix + - * (and / on
 * floats). Compile with -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv; every function then gives the
 * same bits under g++ and clang++, at any -O level, with and without vector instructions (but for the sign and
 * payload of a NaN). Below AVX both remark on the ABI of vector arguments, which no external function
 * here has; the pragma silences the warnings, -Wno-psabi a note of g++.
 */
#ifndef TC_LANES_H
#define TC_LANES_H

#pragma GCC diagnostic ignored "-Wpsabi"

#include "vectors.h"
#include "lanes_memory.h"
#include "lanes_logic.h"
#include "lanes_float.h"
#include "lanes_integer.h"
#include "lanes_convert.h"

#endif
