"""Which function a call in converted code really calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .operators import Operators


class Callees:
    """Finds, for what a user calls, what converted code calls: the converted function, or the thing as it is."""

    def __init__(self, operators: Operators) -> None:
        self.operators = operators

    def find(self, f: Any) -> Any:
        """The converted form of `f`, or `f` itself."""
        return f
