"""The classic slips: what people write who know another language, and what to write instead.

A row says how a slip looks where the parse stops, and what to tell. Its example is test data: the
text between « and » is what the message marks.
"""

from __future__ import annotations

from tensorc.syntax.slips.declarations import DECLARATIONS
from tensorc.syntax.slips.expressions import EXPRESSIONS
from tensorc.syntax.slips.operators import OPERATORS
from tensorc.syntax.slips.slip import LOOK_ALIKES, Slip
from tensorc.syntax.slips.statements import STATEMENTS
from tensorc.syntax.slips.words import WORDS

__all__ = ["LOOK_ALIKES", "SLIPS", "Slip"]

SLIPS: tuple[Slip, ...] = (*OPERATORS, *WORDS, *DECLARATIONS, *STATEMENTS, *EXPRESSIONS)
