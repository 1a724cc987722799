"""Calls ask, at run time, for the converted form of what they call.

Before:                             After:
    f(x)                                ops.callee(f)(x)
    super().forward(x)                  ops.callee(super(__class__, self).forward)(x)
    locals()                            ops.user_locals(locals(), prefix)
    sum(x for x in xs)                  ops.callee(sum)(ops.generator(..., xs, sum))

The call itself stays in the user's frame, so that `eval`, `warnings.warn(stacklevel=2)` and the like see that frame.
"""

from __future__ import annotations

from typing import Any

import gast

from ..names import Namer
from ..template import constant, expression
from .hoist import Hoist


class Calls(Hoist):
    """Rewrites the calls of one scope.

    Arguments:
        namer: knows the operators.
        first: the first parameter of the function, for `super()`.
    """

    def __init__(self, namer: Namer, first: str | None) -> None:
        super().__init__(namer)
        self.first = first

    def visit_Call(self, node: gast.Call) -> Any:
        called = node.func.id if isinstance(node.func, gast.Name) else None
        if called == "super":
            return self._super(node)
        self.generic_visit(node)
        if called in ("locals", "vars") and not node.args:
            return expression("OPS.user_locals(CALL, PREFIX)", node, OPS=self.namer.operators, CALL=node,
                              PREFIX=constant(self.namer.prefix, node))  # fmt: skip
        if called is not None and node.args and getattr(node.args[0], "lazy", False):
            node.args[0].args.append(node.func)  # so that it knows who consumes it
        if not self._made(node.func):
            node.func = expression("OPS.callee(F)", node.func, OPS=self.namer.operators, F=node.func)
        return node

    def _super(self, node: gast.Call) -> gast.Call:
        if not node.args and not node.keywords and self.first is not None and not self.lambdas:
            return expression("super(__class__, SELF)", node, SELF=self.first)
        return self.generic_visit(node)

    def _made(self, func: gast.expr) -> bool:
        """Whether the conversion made this call."""
        if isinstance(func, gast.Attribute):
            func = func.value
            return isinstance(func, gast.Name) and func.id == self.namer.operators
        return isinstance(func, gast.Name) and self.namer.made(func.id)
