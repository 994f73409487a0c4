from __future__ import annotations

from ir_builders import ProgramBuilder, i

from tensorc.dtypes import F32, F64
from tensorc.tensor_ir.print_ir import print_tensor_program


def test_text_of_every_kind_of_value() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", 4))
    eps = b.param("eps", F32)
    r = b.view(x, (i(0) * 2 + 1, i(1)), (3, 4))
    v = b.reduce("var", r, 0, correction=1.0)
    total = b.call("add", v, b.view(eps, (), (4,), "broadcast_to"), name="total")
    wide = b.cast(total, F64)
    n = b.size("N", F64)
    c = b.constant(-0.0)
    m = b.matmul(r, b.view(x, (i(1), i(0)), (4, 3), "permute_dims"))
    assert print_tensor_program(b.program(wide, n, c, m, b.iota(2))) == (
        "kernel test(x: f32[N, 4], eps: f32) -> "
        "(out0: f64[4], out1: f64, out2: f32, out3: f32[3, 3], out4: i64[2])\n"
        "  %0 = param x : f32[N, 4]\n"
        "  %1 = param eps : f32\n"
        "  %2 = view.slice %0 [2*i0 + 1, i1] : f32[3, 4]  # view, line 1\n"
        "  %3 = reduce.var %2 axes=(0,) correction=1.0 : f32[4]  # reduce, line 1\n"
        "  %4 = view.broadcast_to %1 [] : f32[4]  # view, line 1\n"
        "  %5 = add %3 %4 : f32[4]  # total, line 1\n"
        "  %6 = cast %5 : f64[4]  # line 1\n"
        "  %7 = size (N) : f64  # line 1\n"
        "  %8 = constant -0.0 : f32  # line 1\n"
        "  %9 = view.permute_dims %0 [i1, i0] : f32[4, 3]  # view, line 1\n"
        "  %10 = matmul %2 %9 : f32[3, 3]  # line 1\n"
        "  %11 = iota : i64[2]  # line 1\n"
        "  return %6, %7, %8, %10, %11\n"
    )
