"""The base of what a staged `for` goes over."""

from __future__ import annotations

from typing import Any

from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.tracing.builder import Builder

from .errors import StagingError

_FIX = (
    ": go over it with a `for` statement in the static function, which becomes a loop of the program; list(), "
    "unpacking and the functions of other packages need it now"
)


class Staged:
    """Base of what a staged `for` may run over: items by number."""

    def length(self) -> Any:
        """Number of items: an int where it is known, else a tensor."""
        raise NotImplementedError

    def item(self, i: Any) -> Any:
        """Return the i-th item; i may be traced."""
        raise NotImplementedError

    def __len__(self) -> int:
        length = self.length()
        if not isinstance(length, int):
            raise TypeError(f"the length of {self._name} over a tensor is known only when the program runs{_FIX}")
        return length

    def __iter__(self) -> Any:
        length = self.length()
        if isinstance(length, Tensor) and isinstance(mode.interpreter, Builder):  # that of this call
            length = mode.interpreter.assume(length, StagingError(
                f"the items of {self._name} over a tensor are known only when the program runs{_FIX}"))  # fmt: skip
        return (self.item(i) for i in range(length))

    @property
    def _name(self) -> str:
        return f"{type(self).__name__.removeprefix('Staged').lower()}()"
