"""Calls ask, at run time, for the converted form of what they call.

Before:                             After:
    f(x)                                (f if type(f) is builtin and f is not reduce else known[f]
                                        if type(f) is function else ops.callee(f))(x)
    m.f(x)                              (v if type(v := m.f) is builtin and v is not reduce else ops.callee(v))(x)
    f(x)(y)                             ops.callee(...)(y)
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

_ANY = "OPS.callee(F)"
# Builtins that call functions get them as converted functions: `reduce`, and `sorted`, which needs a keyword for it.
_METHOD = "V if TYPE(V := F) is BUILTIN and V is not REDUCE else OPS.callee(V)"
_KNOWN = "F if TYPE(F) is BUILTIN and F is not REDUCE else KNOWN[F] if TYPE(F) is FUNCTION else OPS.callee(F)"
_WITH_KEYWORDS = "KNOWN[F] if TYPE(F) is FUNCTION else OPS.callee(F)"


class Calls(Hoist):
    """Rewrites the calls of one scope.

    Arguments:
        namer: knows the operators.
        first: the first parameter of the function, for `super()`.
        fast: whether the usual cases are to be decided without a call.
    """

    def __init__(self, namer: Namer, first: str | None, fast: bool = True) -> None:
        super().__init__(namer)
        self.first, self.fast = first, fast

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
            helpers = {helper.upper(): name for helper, name in self.namer.helpers.items()}
            node.func = expression(self._form(node), node.func, F=node.func, V=self.namer.value, **helpers)
        return node

    def _form(self, node: gast.Call) -> str:
        if self.fast and isinstance(node.func, gast.Name):
            return _WITH_KEYWORDS if node.keywords else _KNOWN
        return _METHOD if self.fast and isinstance(node.func, gast.Attribute) and not node.keywords else _ANY

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
