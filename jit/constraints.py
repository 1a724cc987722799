"""Constraints between the dimensions of the arguments of a saved program."""

from __future__ import annotations

import re
from typing import Any

from paddle_lite_py.core import symbolic


def holds(constraint: str, dims: dict[str, Any]) -> bool:
    """True if dimensions meet a constraint such as "seq >= 2" or "batch == 2*n"."""
    left, sign, right = parse(constraint)
    a, b = symbolic.evaluate_text(left, dims), symbolic.evaluate_text(right, dims)
    return bool({">=": a >= b, "<=": a <= b, "==": a == b, "!=": a != b}[sign])


def parse(constraint: str) -> tuple[str, str, str]:
    """Return the two sides of a constraint and the sign between them.

    Raises:
        ValueError: if it is none.
    """
    found = re.fullmatch(r"\s*([\w\s+*^(),-]{1,200}?)\s*(>=|<=|==|!=)\s*([\w\s+*^(),-]{1,200}?)\s*", str(constraint))
    if found is None:
        raise ValueError(f"constraint {constraint!r} is no comparison of dimensions such as 'batch <= 64'")
    return found[1], found[2], found[3]
