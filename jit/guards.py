"""The Python values that a trace read, re-checked on each call, so that a changed one is never silently stale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NamedTuple

from paddle_lite_py.nn.layer import Layer

# A container with more items than this is taken as data that a function does not configure itself with.
MAX_ITEMS = 32
# A number, string or flag is compared by value; anything else by identity.
_BY_VALUE = (bool, int, float, complex, str, bytes, type(None))


class Guard(NamedTuple):
    """One value: where it is read from, what it was, and its name for people."""

    holder: Any  # a namespace dict, or a closure cell
    key: Any
    value: Any
    name: str

    def holds(self) -> bool:
        """True if it still is what it was."""
        now = _read(self.holder, self.key)
        return now is self.value or (type(now) is type(self.value) and type(now) in _BY_VALUE and now == self.value)

    def change(self) -> str:
        """What changed, in words."""
        return f"{self.name} changed from {self.value!r:.60} to {_read(self.holder, self.key)!r:.60}"


def _read(holder: Any, key: Any) -> Any:
    if isinstance(holder, dict):
        return holder.get(key, Guard)
    if isinstance(holder, list):
        return holder[key] if key < len(holder) else Guard
    try:
        return holder.cell_contents
    except ValueError:
        return Guard


def of_layers(layers: list[Layer]) -> list[Guard]:
    """The settings of the layers that a trace called."""
    guards = []
    for layer in dict.fromkeys(layers):
        kind = type(layer).__name__
        for key, value in layer.__dict__.items():
            if isinstance(value, _BY_VALUE):
                guards.append(Guard(layer.__dict__, key, value, f"{kind}.{key}"))
        for store in (layer._parameters, layer._sub_layers):
            guards += [Guard(store, key, value, f"{kind}.{key}") for key, value in store.items()]
    return guards


def of_function(f: Callable[..., Any]) -> list[Guard]:
    """The plain values that a function reads from its closure and globals."""
    f = getattr(f, "__func__", f)
    code = getattr(f, "__code__", None)
    if code is None:
        return []
    guards = []
    for name, cell in zip(code.co_freevars, f.__closure__ or (), strict=False):
        guards += _guard(cell, name, f"closure variable `{name}`")
    for name in sorted({n for c in _codes(code) for n in c.co_names}):
        if name in f.__globals__:
            guards += _guard(f.__globals__, name, f"global `{name}`")
    return guards


def _guard(holder: Any, name: str, label: str) -> list[Guard]:
    value = _read(holder, name)
    if isinstance(value, _BY_VALUE) or callable(value):
        return [Guard(holder, name, value, label)]
    if type(value) in (dict, list) and len(value) <= MAX_ITEMS:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        inside = [Guard(value, k, v, f"{label}[{k!r}]") for k, v in items if isinstance(v, _BY_VALUE)]
        return [Guard(holder, name, value, label), *inside]
    return []


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)
