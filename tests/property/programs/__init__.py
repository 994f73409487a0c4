"""Random well-typed TDSL kernels as text, and data to call them with.

`grow_file` draws every choice from one `random.Random`: a seeded one gives the fixed files of CI and of the
fuzzer, that of hypothesis (`strategies.randoms`) kernels that shrink. A new operation is one function marked
`@statement(weight)` in the module of its kind (`elementwise`, `reductions`, `layout`, ..., or a new
module named in `kernels.OPERATIONS`); new data is in `data`.
"""

from programs.data import draw_arguments, draw_sizes
from programs.growing import EXTENTS, SYMBOLS
from programs.kernels import HEADER, grow_file, grow_kernel

__all__ = ["EXTENTS", "HEADER", "SYMBOLS", "draw_arguments", "draw_sizes", "grow_file", "grow_kernel"]
