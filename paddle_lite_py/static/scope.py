"""Scopes: where the values of a program's parameters and other state live, by name."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.arrays import as_array
from ..core.dtypes import from_numpy
from ..core.flags import is_earlier_generation
from ..eager.pending import set_payload
from ..eager.tensor import Tensor, wrap

__all__ = ["Scope", "global_scope", "scope_guard"]


class Scope:
    """Mapping from variable names to values, the state of programs.

    Examples:
        >>> scope = Scope()
        >>> scope.var("x").get_tensor().set(np.ones([2], "float32"))
        >>> np.array(scope.find_var("x").get_tensor()).tolist(), scope.find_var("y")
        ([1.0, 1.0], None)
    """

    def __init__(self) -> None:
        self.homes: dict[str, Tensor] = {}
        self._erased: dict[str, Tensor] = {}  # compiled programs still write to these
        self._kids: list[Scope] = []
        self.reshaped = 0  # grows where a value gets another shape: programs fit it

    def var(self, name: str) -> ScopeEntry:
        """Return the variable of a name, made if it is not there."""
        return ScopeEntry(self, name)

    def find_var(self, name: str) -> ScopeEntry | None:
        """Return the variable of a name, or None."""
        return ScopeEntry(self, name) if name in self.homes else None

    def erase(self, names: list[str]) -> None:
        """Forget variables."""
        for name in names:
            if name in self.homes:
                self._erased[name] = self.homes.pop(name)

    def new_scope(self) -> Scope:
        """Return a scope of its own, which starts empty."""
        self._kids.append(Scope())
        return self._kids[-1]

    def drop_kids(self) -> None:
        """Forget the scopes made by new_scope()."""
        self._kids.clear()

    def local_var_names(self) -> list[str]:
        """Names of the variables."""
        return list(self.homes)

    def set(self, name: str, array: Any) -> None:
        """Give a variable a value."""
        home = self.homes.get(name)
        if home is None:
            home = self.homes[name] = self._erased.pop(name) if name in self._erased else wrap(array)
            home.name, home.persistable = name, True
        set_payload(home, array)

    def nearest(self, name: str) -> list[str]:
        """Names like one that is not there."""
        return difflib.get_close_matches(name, self.homes)


class ScopeEntry:
    """A named place in a scope."""

    def __init__(self, scope: Scope, name: str) -> None:
        self._scope, self.name = scope, name

    def get_tensor(self) -> ScopeTensor:
        """Return its value, to read and to set."""
        return ScopeTensor(self._scope, self.name)

    def __repr__(self) -> str:
        return f"<variable {self.name}>"


class ScopeTensor:
    """The value of a variable in a scope: `np.array(t)` reads it, `t.set(array, place)` replaces it."""

    def __init__(self, scope: Scope, name: str) -> None:
        self._scope, self._name = scope, name

    def _home(self) -> Tensor:
        if self._name not in self._scope.homes:
            raise RuntimeError(f"variable '{self._name}' has no value in this scope yet; set one, or run its startup")
        return self._scope.homes[self._name]

    def set(self, array: Any, place: Any = None) -> None:
        """Replace the value.

        Raises:
            ValueError: if there is one of another shape, except with FLAGS_enable_pir_api=0, where programs that are
                edited in place change shapes.
        """
        held = self._scope.homes.get(self._name)
        value = as_array(array, None if held is None else held.dtype, place)
        if held is not None and tuple(value.shape) != tuple(held.shape) and not is_earlier_generation():
            raise ValueError(f"variable '{self._name}': shape {[*held.shape]} expected, got {list(value.shape)}")
        self._scope.reshaped += held is not None and tuple(value.shape) != tuple(held.shape)
        self._scope.set(self._name, value)

    def shape(self) -> list[int]:
        """Sizes of the dimensions."""
        return self._home().shape

    _get_dims = shape

    def numpy(self) -> np.ndarray:
        """Return a copy of the value."""
        return self._home().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._name not in self._scope.homes and is_earlier_generation():
            return np.zeros([0], dtype or "float32")  # as there
        return np.array(self._home().numpy(), dtype=dtype)

    def __repr__(self) -> str:
        home = self._home()
        return f"<{from_numpy(home._payload.dtype).name}{[*home.shape]} in variable {self._name}>"


class _CurrentScope(threading.local):
    scope: Scope | None = None


_GLOBAL = Scope()
_current = _CurrentScope()


def global_scope() -> Scope:
    """Return the current scope: that of scope_guard(), or the global one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> paddle.static.global_scope().find_var(main.all_parameters()[0].name) is not None
        True
        >>> paddle.disable_static()
    """
    return _current.scope or _GLOBAL


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Context manager that makes a scope current in this thread.

    Arguments:
        scope: the Scope.

    Raises:
        TypeError: if `scope` is not a Scope.

    Examples:
        >>> scope = Scope()
        >>> with scope_guard(scope):
        ...     global_scope() is scope
        True
    """
    if not isinstance(scope, Scope):
        raise TypeError(f"scope_guard: scope is a {type(scope).__name__}; expected a paddle.static.Scope")
    before, _current.scope = _current.scope, scope
    try:
        yield
    finally:
        _current.scope = before
