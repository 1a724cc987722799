"""The Python values that a trace read, re-checked on each call, so that a changed one is never silently stale."""

from __future__ import annotations

import contextvars
import operator
import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from paddle_lite_py.core import traced_number
from paddle_lite_py.eager.pending import payload_of
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.speculation import MAX_ELEMENTS

# A number, string or flag is compared by value; anything else by identity.
BY_VALUE = (bool, int, float, complex, str, bytes, type(None))
ABSENT = type("Absent", (), {"__repr__": lambda self: "<nothing>"})()


class AnyOf(NamedTuple):
    """Stands for what a run puts somewhere anew each time: anything of the same type will do."""

    kind: type


def same(now: Any, then: Any) -> bool:
    """True if a value is what it was."""
    if now is then:
        return True
    if type(then) is AnyOf:
        return type(now) is then.kind
    kind = type(now)
    if kind is not type(then):
        return False
    if kind in BY_VALUE:
        return traced_number.same(now, then) or now != now
    return kind is tuple and len(now) == len(then) and all(map(same, now, then))


class Guard(NamedTuple):
    """One value: how it is read, what it was, and its name for people."""

    read: Callable[[Any, Any], Any]  # like dict.get
    key: Any
    value: Any
    name: str

    def holds(self) -> bool:
        """True if it still is what it was."""
        return same(self.read(self.key, ABSENT), self.value)

    def change(self) -> str:
        """Describe what changed."""
        return f"{self.name} changed from {self.value!r:.60} to {self.read(self.key, ABSENT)!r:.60}"


def kind_of(tensor: Tensor, _absent: Any = None) -> tuple[Any, ...]:
    """Shape and dtype of a tensor, as what a Guard reads."""
    return (*payload_of(tensor).shape, payload_of(tensor).dtype.name)


class Items(NamedTuple):
    """A guard on the items of a list, dict or set."""

    container: Any
    keys: tuple[Any, ...]
    value: tuple[Any, ...]
    name: str

    @classmethod
    def of(cls, container: Any, name: str, written: Any = ()) -> Items:
        """A guard on a container as it is; what stands at the `written` keys or positions may be another tensor."""
        keys = tuple(container)
        places = keys if isinstance(container, dict) else range(len(keys))
        values = zip(places, _values(container), strict=True)
        return cls(container, keys, tuple([_loose(v) if k in written else v for k, v in values]), name)

    def holds(self) -> bool:
        """True if it still holds what it held."""
        now = self.container
        if len(now) != len(self.value):
            return False
        if isinstance(now, dict) and not all(map(operator.is_, now, self.keys)) and not all(map(same, now, self.keys)):
            return False
        return all(map(same, _values(now), self.value))

    def change(self) -> str:
        """Describe what changed."""
        return f"{self.name} changed from {self.value!r:.60} to {_values(self.container)!r:.60}"


class Lacking(NamedTuple):
    """The attributes that an object has of those that the code asks for: one guard, since there are many it lacks."""

    held: dict[str, Any]
    asked: frozenset[str]
    value: frozenset[str]
    name: str

    @classmethod
    def of(cls, held: dict[str, Any], asked: frozenset[str], name: str) -> Lacking:
        """Return a guard on the attributes of an object as they are."""
        return cls(held, asked, frozenset(held.keys() & asked), name)

    def holds(self) -> bool:
        """True if it still has the same."""
        return self.held.keys() & self.asked == self.value

    def change(self) -> str:
        """Describe what changed."""
        changed = ", ".join(sorted((self.held.keys() & self.asked) ^ self.value))
        return f"the attributes of {self.name} changed: {changed}"


_code = operator.attrgetter("__code__")


class Codes(NamedTuple):
    """The code of functions, which a reload of their module may replace: one guard, since each function has some."""

    functions: list[Any]
    value: list[Any]
    name: str = "the code of a function"

    @classmethod
    def of(cls, functions: list[Any]) -> Codes:
        """Return a guard on functions as they are."""
        return cls(functions, list(map(_code, functions)))

    def holds(self) -> bool:
        """True if none has other code."""
        return list(map(_code, self.functions)) == self.value

    def change(self) -> str:
        """Describe what changed."""
        changed = [f.__name__ for f, code in zip(self.functions, self.value, strict=True) if f.__code__ is not code]
        return f"the code of `{'`, `'.join(changed)}` changed"


class Content(NamedTuple):
    """The numbers in a NumPy array."""

    array: np.ndarray
    value: np.ndarray
    name: str

    @classmethod
    def of(cls, array: np.ndarray, name: str) -> Content:
        """Return a guard on an array as it is."""
        return cls(array, array.copy(), name)

    def holds(self) -> bool:
        """True if they still are what they were."""
        return _same_numbers(self.array, self.value)

    def change(self) -> str:
        """Describe what changed."""
        return f"the numbers in {self.name} changed"


class Payload(NamedTuple):
    """The data of a tensor that Python has looked at."""

    handle: Tensor
    value: Any

    @property
    def name(self) -> str:
        """For people."""
        return f"the values of tensor '{self.handle.name}'"

    def holds(self) -> bool:
        """True if they still are what they were."""
        now, then = self.handle._payload, self.value
        if now is then:
            return True
        small = then.size <= MAX_ELEMENTS and now.shape == then.shape and now.dtype == then.dtype
        return small and _same_numbers(np.asarray(now), np.asarray(then))

    def change(self) -> str:
        """Describe what changed."""
        return f"{self.name}, which Python read while the program was traced, changed"


class Held(NamedTuple):
    """A place that holds the tensor which another place holds as well."""

    place: Any
    value: Any  # a weak reference
    name: str

    def holds(self) -> bool:
        """True if it still is that tensor."""
        return self.place.get() is self.value()

    def change(self) -> str:
        """Describe what changed."""
        return f"{self.name} is another tensor than before, which stood in two places"


def of_shared_paths(paths: list[Any], found: list[Any]) -> list[Any]:
    """Guards on the places whose tensor is replaced by runs, where it is in another place too when it is traced."""
    values = [v for g in found for v in (g.value if type(g.value) is tuple else (g.value,)) if isinstance(v, Tensor)]
    times = Counter([*{id(v) for v in values}, *[id(first()) for _, _, first in paths]])
    names = [f"{type(place.owner).__name__}.{place.key}" for place, _, _ in paths]
    return [Held(place, first, n) for (place, _, first), n in zip(paths, names, strict=True) if times[id(first())] > 1]


def _same_numbers(now: np.ndarray, then: np.ndarray) -> bool:
    floating = now.dtype.kind in "fc"
    equal = bool(np.array_equal(now, then, equal_nan=floating))
    return equal and (now.dtype.kind != "f" or bool((np.signbit(now) == np.signbit(then)).all()))


def _loose(value: Any) -> Any:
    return AnyOf(type(value)) if isinstance(value, Tensor) else value


def _values(container: Any) -> tuple[Any, ...]:
    return tuple(container.values() if isinstance(container, dict) else container)


def cell(holder: Any) -> Callable[[Any, Any], Any]:
    """Reads a closure variable as dict.get reads an item."""

    def read(key: Any, absent: Any) -> Any:
        try:
            return holder.cell_contents
        except ValueError:
            return absent

    return read


def attribute(obj: Any) -> Callable[[Any, Any], Any]:
    """Reads an attribute of an object that has no dict, or of its class."""
    return lambda key, absent: getattr(obj, key, absent)


def names_of(held: dict[str, Any]) -> Callable[[Any, Any], Any]:
    """Reads the names of all attributes."""
    return lambda key, absent: tuple(held)


def held_by(layer: Layer, names: set[str]) -> list[Any]:
    """What code reads of a layer that it does not call, such as a LayerList: its parts, and plain values by name."""
    kind, held = type(layer).__name__, layer.__dict__
    plain = [n for n in sorted(names & held.keys()) if isinstance(held[n], BY_VALUE)]
    parts = [Items.of(store, f"what {kind} holds") for store in (layer._parameters, layer._sub_layers)]
    return [*parts, *[Guard(held.get, n, held[n], f"{kind}.{n}") for n in plain]]


def of_layers(layers: Iterable[Layer]) -> list[Any]:
    """The settings of the layers that a trace called: plain values, what else they are set to, and their hooks."""
    guards: list[Any] = []
    for layer in dict.fromkeys(layers):
        kind, held = type(layer).__name__, layer.__dict__
        guards += [Guard(held.get, k, v, f"{kind}.{k}") for k, v in held.items() if not isinstance(v, Tensor)]
        for store in (layer._parameters, layer._sub_layers):
            guards += [Guard(store.get, k, v, f"{kind}.{k}") for k, v in store.items()]
            guards.append(Items.of(store, f"what {kind} holds"))
        guards.append(Guard(names_of(held), "", tuple(held), f"the attributes of {kind}"))
        guards += [
            Items.of(hooks, f"the hooks of {kind}") for hooks in (layer._forward_pre_hooks, layer._forward_post_hooks)
        ]
    return guards


def environment(names: Iterable[str]) -> list[Any]:
    """Guards on those of the variables of the process that a function may ask for."""
    return [Guard(os.environ.get, n, os.environ.get(n, ABSENT), f"the environment's {n}") for n in sorted(names)]


def variable(held: contextvars.ContextVar[Any]) -> Callable[[Any, Any], Any]:
    """Reads a context variable as dict.get reads an item."""

    def read(key: Any, absent: Any) -> Any:
        try:
            return held.get()
        except LookupError:
            return absent

    return read
