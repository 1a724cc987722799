"""Nested Python values (tuples, lists, dicts, dataclasses) taken apart into leaves and a comparable structure."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .traced_number import same


class Leaf:
    """The place of a leaf."""

    def __repr__(self) -> str:
        return "*"


LEAF = Leaf()


class Static:
    """A Python value that is part of the structure; equal by type and value, or by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return False
        if self.value is other.value:
            return True
        try:
            return same(self.value, other.value)
        except Exception:  # an __eq__ that cannot say so: not the same
            return False

    def __hash__(self) -> int:
        try:
            return hash((type(self.value), self.value))
        except TypeError:
            return id(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


class Nest(NamedTuple):
    """A container: its type, its keys (of a dict, the field names of a dataclass) and its children.

    `setting` is what it is made with besides: the factory of a defaultdict, the maximal length of a deque.
    """

    kind: type
    keys: tuple[Any, ...] | None
    children: tuple[Any, ...]
    setting: Static = Static(None)

    def __repr__(self) -> str:
        keys = self.keys or range(len(self.children))
        return f"{self.kind.__name__}({', '.join(f'{k}: {c!r}' for k, c in zip(keys, self.children, strict=True))})"


def flatten(value: Any, is_leaf: Callable[[Any], bool], leaves: list[Any]) -> Any:
    """Append the leaves of `value` to `leaves`; returns its structure."""
    if is_leaf(value) and getattr(value, "_dense", True):  # a sparse tensor is an object that holds one
        leaves.append(value)
        return LEAF
    kind = type(value)
    if isinstance(value, tuple | list):
        return Nest(kind, None, tuple([flatten(v, is_leaf, leaves) for v in value]))
    if isinstance(value, dict):
        children = tuple([flatten(v, is_leaf, leaves) for v in value.values()])
        return Nest(kind, tuple(value), children, Static(getattr(value, "default_factory", None)))
    if isinstance(value, deque):
        return Nest(kind, None, tuple([flatten(v, is_leaf, leaves) for v in value]), Static(value.maxlen))
    if dataclasses.is_dataclass(kind):
        names = tuple(f.name for f in dataclasses.fields(value))
        return Nest(kind, names, tuple([flatten(getattr(value, n), is_leaf, leaves) for n in names]))
    return Static(value)


def statics(structure: Any) -> Iterator[Any]:
    """Yield the Python values in a structure."""
    if isinstance(structure, Static):
        yield structure.value
    elif isinstance(structure, Nest):
        for child in structure.children:
            yield from statics(child)


def replace_leaves(structure: Any, places: Iterator[Any]) -> Any:
    """Return the structure with the next of these in the place of each leaf."""
    if structure is LEAF:
        return next(places)
    if isinstance(structure, Nest):
        return structure._replace(children=tuple([replace_leaves(c, places) for c in structure.children]))
    return structure


def unflatten(structure: Any, leaves: Iterator[Any]) -> Any:
    """Return the value again, with the next leaves."""
    if structure is LEAF:
        return next(leaves)
    if isinstance(structure, Static):
        return structure.value
    children = [unflatten(c, leaves) for c in structure.children]
    kind, keys = structure.kind, structure.keys
    if keys is None:
        if issubclass(kind, deque):
            return kind(children, structure.setting.value)
        return kind._make(children) if hasattr(kind, "_fields") else kind(children)
    if issubclass(kind, dict):
        return _make_dict(kind, zip(keys, children, strict=True), structure.setting.value)
    made = object.__new__(kind)
    for name, child in zip(keys, children, strict=True):
        object.__setattr__(made, name, child)
    return made.settled() if hasattr(kind, "settled") else made


def _make_dict(kind: type, items: Any, factory: Any) -> Any:
    if kind is dict:
        return dict(items)
    made: Any = dict.__new__(kind)
    if factory is not None:
        made.default_factory = factory
    made.update(dict(items))  # a Counter would count pairs
    return made
