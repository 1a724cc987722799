"""Facts about sizes that a trace takes for granted: `n >= 2`."""

from __future__ import annotations

import ast
import bisect
import operator
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from ..core import symbolic
from ..core.errors import UNKNOWN, Where, user_frame
from ..ir.block import Value
from ..registry.bound import BoundOp

_UNDECIDED = re.compile(r"comparison '(.+?)' (==|>=|<=|<|>) '(.+?)' is inconclusive")
# The range of the size that a window leaves, and the largest minimum of an input's size.
_MAXIMUM, _LARGEST = "max(", 1 << 14
_CUT = re.compile(r"min\((\w+), (\d+)\)")
NAMES = {">=": "ge", "<=": "le", "<": "lt", ">": "gt", "==": "eq"}
_SIGNS = {"lt": ("<=", -1), "gt": (">=", 1), "ge": (">=", 0), "le": ("<=", 0), "eq": ("==", 0), "ne": ("!=", 0)}
OPPOSITE = {"ge": "lt", "lt": "ge", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


class Fact(NamedTuple):
    """A fact about sizes that a trace assumes: `left relation right`, and the line that needs it."""

    left: str
    relation: str  # a name of `operator`
    right: str
    where: Where

    def holds(self, dims: dict[str, int]) -> bool:
        """True for these sizes."""
        a, b = (symbolic.evaluate_text(t, dims) for t in (self.left, self.right))
        return bool(getattr(operator, self.relation)(a, b))

    @classmethod
    def parsed(cls, text: str) -> Fact:
        """Return the fact that a constraint states.

        Raises:
            ValueError: it is none.
        """
        found = re.fullmatch(r"\s*(.+?)\s*(>=|<=|==|!=)\s*(.+?)\s*", text)
        if found is None:
            raise ValueError(f"constraint {text!r} is no comparison of dimensions such as 'batch <= 64'")
        return cls(found[1], {"!=": "ne"}.get(found[2]) or NAMES[found[2]], found[3], UNKNOWN)

    @property
    def names(self) -> set[str]:
        """The symbols in it."""
        return set(re.findall(r"[A-Za-z_]\w*", f"{self.left} {self.right}")) - {"max", "min", "floordiv", "mod"}

    @property
    def text(self) -> str:
        """As a constraint: with ==, !=, >= or <=."""
        sign, more = _SIGNS[self.relation]
        right = (
            str(int(self.right) + more) if self.right.isdigit() else f"{self.right} {more:+}" if more else self.right
        )
        return f"{self.left} {sign} {right}"


def full_cuts(inputs: tuple[Any, ...]) -> list[Fact]:
    """That there are as many elements as a slice wants: `n >= 2` where an input of an op has min(n, 2) of them."""
    sizes = [str(n) for v in inputs if isinstance(v, Value) for n in v.shape if symbolic.is_symbolic(n)]
    found = dict.fromkeys([m.groups() for text in sizes if (m := _CUT.fullmatch(text))])
    return [Fact(name, "ge", most, user_frame()) for name, most in found]


def windows_fit(bound: BoundOp, out: Any, symbols: Collection[str]) -> list[Fact]:
    """That sizes are so large that a window fits, where an op slides one over them: `n >= 75`.

    Without that, the size that it leaves is the maximum of 0 and something, and that of the next such op holds that
    maximum: JAX takes minutes to compare such sizes.
    """
    if not (bound.op.windows or bound.op.name.startswith("conv")):
        return []
    facts = {}
    for size in [n for spec in (out if isinstance(out, tuple | list) else (out,)) for n in spec.shape]:
        names = {w for w in re.findall(r"[A-Za-z_]\w*", str(size)) if w in symbols} if _MAXIMUM in str(size) else ()
        if len(names) == 1 and (least := _least(size, name := min(names))) is not None:
            facts[name] = Fact(name, "ge", str(least), user_frame())
    return list(facts.values())


def _least(size: Any, name: str) -> int | None:
    """The least value of a symbol with which a size that grows with it is not 0, and no maximum in it is a constant."""
    lower = [(str(size), "1"), *_maxima(str(size))]

    def fits(n: int) -> bool:
        return all(symbolic.evaluate_text(a, {name: n}) >= int(b) for a, b in lower)

    values = range(1, _LARGEST)
    at = bisect.bisect_left(values, True, key=fits)
    return values[at] if 0 < at < len(values) else None


def _maxima(text: str) -> list[tuple[str, str]]:
    """Return the maxima of a size and a number in an expression, as (size, number)."""
    calls = [n for n in ast.walk(symbolic.parsed(text)) if isinstance(n, ast.Call) and ast.unparse(n.func) == "max"]
    found = [sorted(map(ast.unparse, call.args), key=str.isdigit) for call in calls]
    return [(size, number) for size, number in found if number.isdigit()]


def replace_weaker(facts: list[Fact], stronger: list[Fact]) -> list[Fact]:
    """Facts with other ones in the place of those that say the same of less."""
    return [*[f for f in facts if all(f[:2] != s[:2] for s in stronger)], *stronger]


def undecided(error: Exception) -> Any:
    """Return the comparison of sizes (left, sign, right) that JAX could not decide, if that is what an error says."""
    found = _UNDECIDED.search(str(error))
    return None if found is None else found.groups()
