"""Calls ask, at run time, for the converted form of what they call.

Before:                             After:
    f(x)                                known[f](x)                         a function
                                        f(x)                                a builtin
                                        ops.callee(f)(x)                    anything else
    m.f(x)                              known[v.__func__](v.__self__, x)    a method, `v` being `m.f`
                                        m.f(x)                              a method of a list, string, ...
    class A: ...                        @ops.class_ above it
    super().forward(x)                  ops.callee(super(__class__, self).forward)(x)
    locals()                            ops.user_locals(locals(), prefix)
    sum(x for x in xs)                  ops.callee(sum)(ops.generator(..., xs, sum))

The call itself stays in the user's frame, so that `eval`, `warnings.warn(stacklevel=2)` and the like see that frame.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Any

import gast

from ..names import HELPERS, Namer
from ..notes import Notes
from ..options import Options
from ..runtime import PLAIN
from ..template import constant, expression
from .hoist import Hoist

_SIMPLE = (gast.Name, gast.Constant)
_ANY = "OPS.callee(F)"
# Builtins that call functions get them converted: `sorted`, which needs a keyword for it, and `reduce`.
_NAME = (
    "KNOWN[F] if (T := TYPE(F)) is FUNCTION else F if T is BUILTIN and F is not REDUCE else KNOWN[F] if T is CLASS"
    " else OPS.callee(F)"
)
_NAME_WITH_KEYWORDS = "KNOWN[F] if (T := TYPE(F)) is FUNCTION or T is CLASS else OPS.callee(F)"
_METHOD = (
    "V if (T := TYPE(V := F)) is BUILTIN and V is not REDUCE"
    " else METHOD(KNOWN[V.__func__], V.__self__) if T is METHOD else OPS.callee(V)"
)
# The method of this name that was called first is at hand: `METHOD_OF` and what to call for it, `FOUND`.
_METHOD_CALL = (
    "(FOUND if V.__func__ is METHOD_OF else KNOWN[V.__func__])(V.__self__) if TYPE(V := F) is METHOD"
    " else (V if TYPE(V) is BUILTIN and V is not REDUCE else OPS.callee(V))()"
)
_NATIVE = (
    "V.M() if TYPE(V := O) in NATIVE else (FOUND if B.__func__ is METHOD_OF else KNOWN[B.__func__])(B.__self__)"
    " if TYPE(B := V.M) is METHOD else (B if TYPE(B) is BUILTIN and B is not REDUCE else OPS.callee(B))()"
)
_REDUCE = re.compile(r" and \w is not REDUCE")
_NATIVE_METHODS = {name for kind in PLAIN for name in dir(kind) if not name.startswith("_")}
_METHOD_WITH_KEYWORDS = "METHOD(KNOWN[V.__func__], V.__self__) if TYPE(V := F) is METHOD else OPS.callee(V)"


class Calls(Hoist):
    """Rewrites the calls of one scope.

    Arguments:
        namer: knows the operators.
        notes: on the expressions.
        options: what the code is made for.
        first: the first parameter of the function, for `super()`.
        own: the names of functions that are converted together with this one: called as they are.
    """

    def __init__(self, namer: Namer, notes: Notes, options: Options, first: str | None, own: Set[str]) -> None:
        super().__init__(namer)
        self.notes, self.options, self.first, self.own = notes, options, first, own
        self._helpers = {helper.upper(): namer.helpers[helper] for helper in HELPERS}

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        if self.options.properties:
            node.decorator_list.append(expression("OPS.class_", node, OPS=self.namer.operators))
        return node

    def visit_Call(self, node: gast.Call) -> Any:
        called = node.func.id if isinstance(node.func, gast.Name) else None
        if called == "super":
            return self._super(node)
        self.generic_visit(node)
        if called in ("locals", "vars") and not node.args:
            return expression("OPS.user_locals(CALL, PREFIX)", node, OPS=self.namer.operators, CALL=node,
                              PREFIX=constant(self.namer.prefix, node))  # fmt: skip
        if called is not None and node.args and node.args[0] in self.notes.lazy:
            node.args[0].args.append(node.func)  # so that it knows who consumes it
        if not self._made(node.func):
            return self._called(node)
        return node

    def _called(self, node: gast.Call) -> Any:
        """Return the call of what is found for the user's function."""
        fast = self.options.fast
        if fast and isinstance(node.func, gast.Attribute):
            if not node.keywords and all(isinstance(arg, _SIMPLE) for arg in node.args):
                return self._method_call(node)
            node.func = self._find(_METHOD_WITH_KEYWORDS if node.keywords else _METHOD, node)
        elif fast and isinstance(node.func, gast.Name):
            if self.options.calls or node.func.id not in self.own:
                node.func = self._find(_NAME_WITH_KEYWORDS if node.keywords else _NAME, node)
        else:
            node.func = self._find(_ANY, node)
        return node

    def _method_call(self, node: gast.Call) -> gast.expr:
        """The call of a method: it is not bound to its object only to be called. The arguments stand there twice."""
        method: Any = node.func
        made: Any
        names = {"METHOD_OF": self.namer.helper("of ", method.attr), "FOUND": self.namer.helper("found ", method.attr)}
        if method.attr in _NATIVE_METHODS:
            made = calls = self._find(_NATIVE, node, O=method.value, M=method.attr, B=self.namer.prefix + "bound",
                                      **names)  # fmt: skip
            calls.body.args += node.args
            calls = calls.orelse
        else:
            made = calls = self._find(_METHOD_CALL, node, **names)
        calls.body.args += node.args
        calls.orelse.args += node.args
        return made

    def _find(self, form: str, node: gast.Call, **holes: Any) -> gast.expr:
        """Return what to call, or for a whole call everything but its arguments."""
        func = node.func
        if len(node.args) == 1 and not isinstance(node.args[0], gast.Starred):
            form = _REDUCE.sub("", form)  # it needs two
        made: Any = expression(form, func, F=func, V=self.namer.value, T=self.namer.truth, **self._helpers, **holes)
        if isinstance(made, gast.IfExp):
            self.notes.python.add(made.test)  # what type an object has is never staged
        return made

    def _super(self, node: gast.Call) -> gast.Call:
        if not node.args and not node.keywords and self.first is not None and not self.lambdas:
            return expression("super(__class__, SELF)", node, SELF=self.first)
        return self.generic_visit(node)

    def _made(self, func: gast.expr) -> bool:
        """Whether the conversion made this call: of its own function, an operator, or the list of a comprehension."""
        if isinstance(func, gast.Attribute):
            func = func.value
            native = self.options.fast and not (self.options.calls or self.options.builtins)
            return isinstance(func, gast.Name) and (
                func.id == self.namer.operators or (native and self.namer.made(func.id))
            )
        return isinstance(func, gast.Name) and self.namer.made(func.id)
