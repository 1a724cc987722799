"""Nested structures: lists, tuples and dicts as one flat list, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.structure import flatten as _flatten
from ..core.structure import unflatten

__all__ = ["flatten", "is_sequence", "map_structure", "pack_sequence_as", "to_sequence"]


def _is_leaf(value: Any) -> bool:
    return not isinstance(value, (list, tuple, dict))


def is_sequence(seq: Any) -> bool:
    """Check whether a value is a container: a dict, or a sequence other than a text.

    Examples:
        >>> is_sequence((1, 2)), is_sequence("ab"), is_sequence(1)
        (True, False, False)
    """
    return isinstance(seq, dict) or (isinstance(seq, Sequence) and not isinstance(seq, str))


def to_sequence(nest: Any) -> Any:
    """Return a container as it is, and any other value as the only one of a list.

    Examples:
        >>> to_sequence((1, 2)), to_sequence(1)
        ((1, 2), [1])
    """
    return nest if is_sequence(nest) else [nest]


def flatten(nest: Any) -> list[Any]:
    """Return the leaves of nested containers in order; a dict in the order of its keys.

    Examples:
        >>> flatten({"b": [1, 2], "a": (3,)})
        [3, 1, 2]
    """
    leaves: list[Any] = []
    _flatten(_by_key(nest), _is_leaf, leaves)
    return leaves


def _by_key(nest: Any) -> Any:
    if isinstance(nest, dict):
        return {key: _by_key(nest[key]) for key in sorted(nest)}
    return nest if _is_leaf(nest) else [_by_key(value) for value in nest]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """Nested containers like `structure`, with the next values of a flat list in order.

    Raises:
        ValueError: if there are more or fewer values than places.

    Examples:
        >>> pack_sequence_as([0, (0, 0)], [1, 2, 3])
        [1, (2, 3)]
    """
    if len(flat_sequence) != (places := len(flatten(structure))):
        raise ValueError(f"pack_sequence_as: flat_sequence has {len(flat_sequence)} values for {places} places")
    order = iter(flat_sequence)
    return _packed(structure, order)


def _packed(structure: Any, values: Any) -> Any:
    if isinstance(structure, dict):
        filled = {key: _packed(structure[key], values) for key in sorted(structure)}
        return type(structure)((key, filled[key]) for key in structure)
    places: list[Any] = []
    shape = _flatten(structure, lambda value: value is not structure, places)
    return next(values) if _is_leaf(structure) else unflatten(shape, iter([_packed(p, values) for p in places]))


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """Return a function of each value in nested containers, or of the values in the same place of several.

    Args:
        func: takes a value of each structure.
        structure: nested containers of one shape.

    Raises:
        ValueError: if the structures hold different numbers of values.

    Examples:
        >>> map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20]})
        {'x': [11, 22]}
    """
    flat = [flatten(s) for s in structure]
    if len({len(values) for values in flat}) > 1:
        raise ValueError(
            f"map_structure: the structures hold {[len(v) for v in flat]} values; expected as many in each"
        )
    return pack_sequence_as(structure[0], [func(*values) for values in zip(*flat, strict=True)])
