"""Lists and dicts among the arguments, which a trace works on copies of: what it changes in them is put back."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from paddle_lite_py.core import structure as nested

from .call import FunctionCall
from .errors import StagingError
from .iterables import Staged
from .spec import is_tensor

Path = tuple[Any, ...]


class Same(NamedTuple):
    """Stands in a result for a container of the caller."""

    path: Path


class Repeated(NamedTuple):
    """Stands in a result for a list or dict that the result has in another place before."""

    path: Path


class Returned(NamedTuple):
    """A result with containers of the caller, or with one container in several places."""

    result: Any


class Changed(NamedTuple):
    """A result, and the arguments as the function has left them."""

    result: Any
    arguments: Any


def note(result: Any, before: Any, after: Any, tensors: Any, is_of_calls: bool) -> Any:
    """Return the result of a trace, with the arguments if it has changed containers among them.

    Arguments:
        before: structure of the arguments.
        after: the arguments after the call, which were made from `before` and `tensors`.
        is_of_calls: whether there are callers, who get the containers that they have given.
    """
    for value in nested.statics(nested.flatten(result, is_tensor, [])):
        if isinstance(value, Staged | slice) and _is_over_tensors(value):
            raise StagingError(
                f"a {type(value).__name__.removeprefix('Staged').lower()} over a tensor is returned, which is known "
                "only when the program runs: return what it goes over, or a list of its items"
            )
    leaves: list[Any] = []
    same = nested.flatten(after, is_tensor, leaves) == before and all(
        a is b for a, b in zip(leaves, tensors, strict=True)
    )
    paths = {id(c): path for path, c in _containers(after, ()) if len(path) > 1}
    found = _replaced(result, lambda v: Same(paths[id(v)]) if id(v) in paths else v)
    if is_of_calls:
        found = _each_once(found, (), {})
    if same:
        return result if found is result or not is_of_calls else Returned(found)
    return Changed(found, after)


def _is_over_tensors(value: Any) -> bool:
    return isinstance(value, Staged) or any(map(is_tensor, (value.start, value.stop, value.step)))


def restored(changed: Any, call: FunctionCall) -> Any:
    """Put what a run has changed into the caller's containers; returns the result."""
    if changed.__class__ not in (Changed, Returned):
        return changed
    arguments = call.args, call.kwargs
    if type(changed) is Changed:
        put_back(arguments, changed.arguments)
    return _put_in(changed.result, (), {}, arguments)


def put_back(old: Any, new: Any) -> Any:
    """Return the container `old` with what `new` holds; or `new`, where they are no containers of one kind."""
    if old is new or type(old) is not type(new):
        return new
    if isinstance(old, tuple):
        for o, n in zip(old, new, strict=False):
            put_back(o, n)
        return new
    if is_record(old):
        for f in dataclasses.fields(old):
            now = put_back(getattr(old, f.name), getattr(new, f.name))
            if now is not getattr(old, f.name):
                object.__setattr__(old, f.name, now)
        return old
    if not isinstance(old, list | dict | deque):
        return new
    keys = list(new) if isinstance(new, dict) else range(len(new))
    known = set(old) if isinstance(old, dict) else range(len(old))
    made = [put_back(old[k], new[k]) if k in known else new[k] for k in keys]
    if isinstance(old, deque):
        old.clear()
        old.extend(made)
    elif isinstance(old, list):
        old[:] = made
    elif list(old) != keys:
        old.clear()
        old.update(zip(keys, made, strict=True))
    else:  # dicts of the user may refuse to lose a key
        for key, value in zip(keys, made, strict=True):
            if old[key] is not value:
                old[key] = value
    return old


def _containers(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, list | dict | tuple | deque) or is_record(value):
        yield path, value
    for key, item in _items(value):
        yield from _containers(item, (*path, key))


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, list | tuple | deque):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from value.items()
    elif is_record(value):
        yield from [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]


def is_record(value: Any) -> bool:
    """True for an object of a dataclass of the user."""
    return dataclasses.is_dataclass(type(value)) and not hasattr(value, "settled")


def _replaced(value: Any, other: Callable[[Any], Any]) -> Any:
    """Return a value with others in the place of parts of it; containers in which nothing is replaced stay."""
    if (found := other(value)) is not value:
        return found
    if type(value) not in (list, tuple, dict):
        return value
    return _with_items(value, {k: _replaced(v, other) for k, v in _items(value)})


def _each_once(value: Any, path: Path, known: dict[int, Path]) -> Any:
    """Return a value with Repeated in the place of lists and dicts that came before."""
    kind = type(value)
    if kind in (list, dict):
        if id(value) in known:
            return Repeated(known[id(value)])
        known[id(value)] = path
    if kind not in (list, tuple, dict):
        return value
    return _with_items(value, {k: _each_once(v, (*path, k), known) for k, v in _items(value)})


def _put_in(value: Any, path: Path, made: dict[Path, Any], arguments: Any) -> Any:
    """Return a result with containers in the place of Same and Repeated; those in which none is stay."""
    if isinstance(value, Same):
        return _at(arguments, value.path)
    if isinstance(value, Repeated):
        return made[value.path]
    if type(value) not in (list, tuple, dict):
        return value
    found = _with_items(value, {k: _put_in(v, (*path, k), made, arguments) for k, v in _items(value)})
    made[path] = found
    return found


def _with_items(value: Any, held: dict[Any, Any]) -> Any:
    """Return a list, tuple or dict with other items; itself if these are its own."""
    if all(held[k] is v for k, v in _items(value)):
        return value
    return held if type(value) is dict else type(value)(held.values())


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = getattr(value, key) if is_record(value) else value[key]
    return value
