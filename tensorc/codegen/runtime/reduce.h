/* Reduction states. For a kind and operand type R, rows (the last axis is reduced):
 *
 *   tc_R_begin(s)
 *   tc_R_open(s, first)            var and std only: before a chunk, lane 0 holds its first operand
 *   tc_R_step(s, v0, v1, v2, v3)   the next 32 operands of a block; at most 8 steps a block
 *   tc_R_tail(s, j, v, n)          vector j of an incomplete block, n lanes of it active
 *   tc_R_block(s)                  after a block, complete or not
 *   tc_R_chunk(s)                  after the blocks of a chunk; var and std: tc_R_chunk(s, operands in it)
 *   tc_R_merge(s, next)            takes in the finished chunks of another state, in order
 *   tc_R_result(s, count, correction)   the value, in every lane
 *
 * and columns (the last axis is kept; a lane is an output): tc_R_col_step(s, v0 .. v7) takes 8 rows,
 * tc_R_col_tail(s, j, v) row j of an incomplete block, and tc_R_col_result gives 8 values. argmax and argmin take
 * the flat position of their first operand as a last argument of step and tail.
 */
#ifndef TC_REDUCE_H
#define TC_REDUCE_H

#include "reduce_sum.h"
#include "reduce_extreme.h"
#include "reduce_arg.h"
#include "reduce_variance.h"

#endif
