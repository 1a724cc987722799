"""The test of a branch or loop as jumps on plain booleans, which Python values take at nearly plain speed.

For `a and not b`, with temporaries `v` and `w`:
    ask      (v := a) is True and (w := b) is False     whether it is true; evaluates the operands
    false    v is False or v is True and w is True      whether it was false, looking only at what was evaluated
    value    ops.not_(w) if v is True else ops.and_(v, lambda: ops.not_(b))     if it was neither: what is staged

A value that is no boolean becomes one where it is tested: `v is not False and (v := ops.test(v)) is True`.

Where there is nothing to do for false, `a` is tested in two steps, of which false takes the first only:
    maybe    (v := a) is not False
    surely   v is True or (v := ops.test(v)) is True
    open     v is not False                             neither: it is staged
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gast

from ..names import Namer
from ..notes import Connective, Notes
from ..template import expression

_PYTHON = (gast.Is, gast.IsNot)
_ASKED = ("V := X", "not (V := X)", "V", "not V", "V")
_TESTED = (
    "(V := X) is True or V is not False and (V := not not V if TYPE(V) in PLAIN else OPS.test(V)) is True",
    "(V := X) is False or V is not True and (V := not not V if TYPE(V) in PLAIN else OPS.test(V)) is False",
    "V is True",
    "V is False",
    "V",
)
_STEPS = ("(V := X) is not False", "V is True or (V := not not V if TYPE(V) in PLAIN else OPS.test(V)) is True",
          "V is not False")  # fmt: skip
_STEPS_NOT = ("(V := X) is not True", "V is False or (V := not not V if TYPE(V) in PLAIN else OPS.test(V)) is False",
              "V is not True")  # fmt: skip
Form = Callable[[], gast.expr]


class Decision(NamedTuple):
    """The forms of one test, made when called for; `ask_false` is to `false` what `ask` is to `true`."""

    ask: Form
    ask_false: Form
    true: Form
    false: Form
    value: Form
    steps: tuple[Form, ...] = ()  # maybe, surely, open
    steps_not: tuple[Form, ...] = ()


def is_python(node: Any, notes: Notes) -> bool:
    """Whether the value is a plain Python one, whatever the variables hold."""
    if node in notes.python:
        return True
    if isinstance(node, gast.Compare):
        return len(node.ops) == 1 and isinstance(node.ops[0], _PYTHON)
    if isinstance(node, gast.BoolOp):
        return all(is_python(value, notes) for value in node.values)
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.Not) and is_python(node.operand, notes)
    return isinstance(node, gast.Constant)


def decide(test: gast.expr, namer: Namer, notes: Notes) -> Decision:
    """Return the forms of a test whose boolean operators have been rewritten."""
    return _Decider(namer, notes).forms(test)


class _Decider:
    def __init__(self, namer: Namer, notes: Notes) -> None:
        self.namer, self.notes = namer, notes
        self.count = 0

    def forms(self, test: gast.expr) -> Decision:
        made = self.notes.connectives.get(test)
        if made is None:
            return self._leaf(test)
        if made.kind == "not":
            x = self.forms(made.left)
            value = self._form("OPS.not_(X)", test, X=x.value)
            return Decision(x.ask_false, x.ask, x.false, x.true, value, x.steps_not, x.steps)
        return (self._and if made.kind == "and" else self._or)(self.forms(made.left), self.forms(made.right), made)

    def _leaf(self, test: gast.expr) -> Decision:
        value = f"{self.namer.prefix}asked_{self.count}"  # kept while other operands are evaluated
        self.count += 1

        def made(forms: tuple[str, ...]) -> tuple[Form, ...]:
            return tuple([self._form(f"({form})", test, V=value, X=test) for form in forms])

        if is_python(test, self.notes):
            return Decision._make((*made(_ASKED), (), ()))
        return Decision._make((*made(_TESTED), made(_STEPS), made(_STEPS_NOT)))

    def _and(self, a: Decision, b: Decision, made: Connective) -> Decision:
        return Decision(
            self._form("A and B", made.left, A=a.ask, B=b.ask),
            self._form("A or T and B", made.left, A=a.ask_false, T=a.true, B=b.ask_false),
            self._form("A and B", made.left, A=a.true, B=b.true),
            self._form("A or T and B", made.left, A=a.false, T=a.true, B=b.false),
            self._form("B if T else OPS.and_(A, R)", made.left, A=a.value, T=a.true, B=b.value, R=made.thunk),
        )

    def _or(self, a: Decision, b: Decision, made: Connective) -> Decision:
        return Decision(
            self._form("A or F and B", made.left, A=a.ask, F=a.false, B=b.ask),
            self._form("A and B", made.left, A=a.ask_false, B=b.ask_false),
            self._form("A or F and B", made.left, A=a.true, F=a.false, B=b.true),
            self._form("A and B", made.left, A=a.false, B=b.false),
            self._form("B if F else OPS.or_(A, R)", made.left, A=a.value, F=a.false, B=b.value, R=made.thunk),
        )

    def _form(self, source: str, at: gast.AST, **holes: Any) -> Form:
        def form() -> gast.expr:
            filled = {name: hole() if callable(hole) else hole for name, hole in holes.items()}
            return expression(source, at, OPS=self.namer.operators, TYPE=self.namer.helpers["type"],
                              PLAIN=self.namer.helpers["plain"], **filled)  # fmt: skip

        return form
