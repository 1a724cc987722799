"""`assert` decides by value.

Before:                             After (`v` is a temporary):
    assert x > 0, f"bad {x}"            if (v := x > 0) is not True and ops.staged(v):
                                            ops.assert_(v, lambda: f"bad {x}")
                                        else:
                                            assert v, f"bad {x}"
"""

from __future__ import annotations

from typing import Any

import gast

from ..names import Namer
from ..notes import Notes
from ..template import expression, locate, statements
from .decide import is_python
from .hoist import Statements


class Asserts(Statements):
    """Rewrites the asserts of one scope."""

    def __init__(self, namer: Namer, notes: Notes) -> None:
        super().__init__(namer)
        self.notes = notes

    def visit_Assert(self, node: gast.Assert) -> Any:
        if is_python(node.test, self.notes):
            return node
        message = expression("lambda: X" if node.msg else "None", node, X=node.msg)
        source = """
            if (V := TEST) is not True and OPS.staged(V):
                OPS.assert_(V, MESSAGE)
            else:
                CHECK
            """
        check = locate(gast.Assert(test=expression("V", node, V=self.namer.value), msg=node.msg), node)
        return statements(source, node, V=self.namer.value, TEST=node.test, OPS=self.namer.operators,
                          MESSAGE=message, CHECK=[check])  # fmt: skip
