"""Facts about sizes that a trace takes for granted: `n >= 2`."""

from __future__ import annotations

import operator
import re
from typing import Any, NamedTuple

from ..core import symbolic
from ..core.errors import UNKNOWN, Where, user_frame
from ..ir.block import Value

_UNDECIDED = re.compile(r"comparison '(.+?)' (==|>=|<=|<|>) '(.+?)' is inconclusive")
_CUT = re.compile(r"min\((\w+), (\d+)\)")
NAMES = {">=": "ge", "<=": "le", "<": "lt", ">": "gt", "==": "eq"}
_SIGNS = {"lt": ("<=", -1), "gt": (">=", 1), "ge": (">=", 0), "le": ("<=", 0), "eq": ("==", 0), "ne": ("!=", 0)}
OPPOSITE = {"ge": "lt", "lt": "ge", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


class Fact(NamedTuple):
    """What a trace takes for granted of sizes: `left relation right`, and the line that wants to know."""

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
        """The fact that a constraint states.

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


def undecided(error: Exception) -> Any:
    """The comparison of sizes (left, sign, right) that JAX could not decide, if that is what an error says."""
    found = _UNDECIDED.search(str(error))
    return None if found is None else found.groups()
