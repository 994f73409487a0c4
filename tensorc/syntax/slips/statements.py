"""Slips in the statements of a body."""

from __future__ import annotations

from tensorc.syntax.slips.slip import STATEMENT, Slip, in_block

STATEMENTS: tuple[Slip, ...] = (
    Slip(
        "TC0111",
        in_block("«return»"),
        "`return` without a value",
        "a kernel returns its results: `return x`",
        before=r"\b(?P<here>return)",
        kind="_NL ; }",
        only_here=True,
    ),
    Slip(
        "TC0111",
        "kernel f(x: f32[N]) -> f32[N] {\n    y =\n«}»\n",
        "the value of the assignment is missing",
        "write `name = expression`",
        before=r"\b\w+\s*=",
        kind="}",
    ),
    Slip(
        "TC0119",
        in_block("«z[i]» = x[i] + y[i]\n    return z"),
        "the ranges of `$name[$names]` are missing",
        "index notation ends with them: `… for $names in N`; "
        "`update(a, part, (…))` gives a changed copy of an array",
        before=rf"{STATEMENT}\s*(?P<here>(?P<name>\w+)\[(?P<names>[^\]\n]*)\])\s*=[^\n]*",
        section="block",
        accepts=("for",),
        only_here=True,
    ),
    Slip(
        "TC0119",
        in_block("x[«0»] = 1\n    return x"),
        "a part of an array cannot be assigned",
        "arrays are values: `update(a, part, (…))` gives a changed copy",
        before=rf"{STATEMENT}\s*\w+\[(?:[^\]\n]*,)?",
        after=r"[-\d:.][^,\]\n]*",
        section="block",
    ),
    Slip(
        "TC0119",
        in_block("x[i «+» 1] = y[i] for i in N\n    return x"),
        "the left side of index notation has plain names in its brackets",
        "move the offset to the right side",
        before=rf"{STATEMENT}\s*\w+\[[^\]\n]*",
        after=r"[-+*/%]",
        section="block",
    ),
    Slip(
        "TC0119",
        in_block("return sum(x[i] for i in N, «axis»=0)"),
        "a comprehension takes no keywords",
        "leave `$here=…` out; cast inside the comprehension",
        before=r"\bfor\b[^;\n]*,\s*(?P<here>[A-Za-z_]\w*)",
        after=r"=",
        accepts=("in",),
        only_here=True,
    ),
    Slip(
        "TC0119",
        in_block("return sum(x[i] * y[j] for i in N «for» j in N)"),
        "`for` stands once",
        "write the ranges one after another: `for i in N, j in M`",
        before=r"\bfor\b[^;\n]*",
        after=r"for\b",
    ),
    Slip(
        "TC0119",
        in_block("iterate 3 «{» x = x + y }\n    return x"),
        "`iterate` does not say what it carries",
        "name the arrays that change: `iterate steps with a { … }`",
        before=r"\biterate\b[^{\n]*",
        after=r"\{",
        accepts=("with",),
    ),
    Slip(
        "TC0119",
        in_block("@inline «return» x + y"),
        "a decorator stands before an assignment",
        "give the value a name first: `@inline y = …`",
        before=r"@\w+(?:\([^()]*\))?",
        after=r"(?:return|iterate)\b",
        section="block",
    ),
)
