"""The payload of a tensor that has no data yet, or never will."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from .arrays import laid_over
from .interpreter import state


class Uninitialized(jax.ShapeDtypeStruct):
    """A shape and a dtype in the place of an array.

    Arguments:
        name: of the parameter or state, which errors tell.
        draw: makes its first value.
        sharding: how that will lie over several devices.
    """

    def __init__(
        self, shape: tuple[int, ...], dtype: Any, name: str, draw: Callable[[], Any], sharding: Any = None
    ) -> None:
        super().__init__(shape, dtype, sharding=sharding)
        self.name, self.draw = name, draw

    def laid(self, sharding: Any) -> Uninitialized:
        """Return the same over other devices."""
        return Uninitialized(self.shape, self.dtype, self.name, self.draw, sharding)

    def drawn(self) -> Any:
        """Return the first value, where it lies."""
        data = state.interpreter.stored(self.name, self.shape, self.dtype, self.draw)
        return data if self.sharding is None else laid_over(data, self.sharding)

    def concrete(self, what: str) -> Any:
        """Refuse.

        Raises:
            RuntimeError: since there is no data.
        """
        raise RuntimeError(
            f"{what} needs the values of {self.name!r}, {self.dtype.name}{[*self.shape]}, which was made without data, "
            "under LazyGuard() or targets.abstract(); give it some: call its initialize(), or set_state_dict() of its "
            "layer"
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.concrete("NumPy")

    def __deepcopy__(self, memo: Any) -> Uninitialized:
        return self  # it is never written to
