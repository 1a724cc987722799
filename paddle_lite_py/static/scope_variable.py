"""Scope variables: state in static mode: its value is kept in a scope, not in the handle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..eager.tensor import Tensor
from .scope import Scope, global_scope


class UninitializedError(RuntimeError):
    """Error: a program reads a parameter that its startup program has not initialized.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.static.UninitializedError, Exception)
        True
    """


class ScopeVariable:
    """Name, shape and dtype of state; `home` is the tensor that holds it where no scope does."""

    __slots__ = ("dtype", "home", "name", "shape")

    def __init__(self, name: str, shape: Any, dtype: Any, home: Tensor | None = None) -> None:
        self.name, self.shape, self.dtype, self.home = name, tuple(shape), np.dtype(dtype), home

    def find(self, scope: Scope) -> Tensor:
        """Return the tensor that holds the value.

        Raises:
            UninitializedError: if there is none.
        """
        found = scope.homes.get(self.name) if self.home is None else self.home
        if found is None:
            raise UninitializedError(
                f"'{self.name}', {self.dtype}{list(self.shape)}, has no value in this scope: "
                "run exe.run(paddle.static.default_startup_program()), or load it, in the same scope first"
            )
        if found._payload.shape != self.shape or found._payload.dtype != self.dtype:
            raise ValueError(
                f"'{self.name}' is {found.dtype.name}{[*found.shape]} in this scope, but the program declares "
                f"{self.dtype}{list(self.shape)}; use another scope, or unique_name.guard() for another name"
            )
        return found

    def concrete(self, _what: str) -> Any:
        """Return the array, from the scope in force."""
        return self.find(global_scope())._payload

    def __repr__(self) -> str:
        return f"%{self.name}"


class Initial(NamedTuple):
    """How a startup program makes a first value."""

    variable: ScopeVariable
    draw: Callable[[], Any]
