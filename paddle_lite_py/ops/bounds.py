"""In eager mode on the CPU, indices are looked at before an op runs: the errors of the reference instead of NaN.

A program, an accelerator, and an index that is still being computed cannot be looked at without waiting; there an index
that is out of range reads as NaN.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..op import REGISTRY

_min, _max = np.minimum.reduce, np.maximum.reduce  # what ndarray.min() and max() call in the end
Check = Callable[[tuple[Any, ...], dict[str, Any]], None]


def _host(index: Any) -> np.ndarray | None:
    """The values of an index, if they are at hand: to wait for one that is still computed costs what it gains."""
    at_hand = isinstance(index, jax.Array) and index.size and (_only_cpu() or _lies_on_cpu(index)) and index.is_ready()  # type: ignore[attr-defined]
    return np.asarray(index) if at_hand else None


@functools.cache
def _only_cpu() -> bool:
    return jax.default_backend() == "cpu"


def _lies_on_cpu(index: Any) -> bool:
    return next(iter(index.devices())).platform == "cpu"


def _within(index: Any, low: int, size: int, what: str, error: type[Exception], ignored: Any = None) -> None:
    values = _host(index)
    if values is not None and values.dtype.kind in "iu":
        _inside(values, low, size, what, error, ignored)


def _inside(values: np.ndarray, low: int, size: int, what: str, error: type[Exception], ignored: Any = None) -> None:
    if _min(values, None) >= low and _max(values, None) < size:
        return
    wrong = (values < low) | (values >= size)
    if ignored is not None:
        wrong &= values != ignored
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = f" at {list(at)}" if at else ""
        raise error(f"{what} holds {int(values[at])}{place}; expected {low} to {size - 1}")


def _along(name: str, error: type[Exception], negative: bool = True, at: int = 1, of: int = 0) -> Check:
    """An index into the axis of another argument that an attribute names; the first axis by default."""

    def check(args: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        shape, axis = np.shape(args[of]), attrs.get("axis")
        axis = 0 if axis is None else axis
        if shape and -len(shape) <= axis < len(shape):
            size = shape[axis]
            _within(args[at], -size if negative else 0, size, name, error)

    return check


def _nd(args: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    shape = np.shape(args[0])
    values = _host(args[1])
    if values is None or values.ndim == 0 or values.dtype.kind not in "iu":
        return
    for axis, size in enumerate(shape[: values.shape[-1]]):
        _inside(values[..., axis], -size, size, f"column {axis} of index", ValueError)


def _flat(args: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    size = int(np.prod(np.shape(args[0])))
    if attrs["mode"] == "raise":
        _within(args[1], -size, size, "index", ValueError)


def _rows(args: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    _within(args[0], -1, np.shape(args[1])[0], "x", ValueError)


def _sampled(args: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    _within(args[1], 0, np.shape(args[0])[-1], "index", ValueError)


def _classes(args: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    _within(args[0], 0, attrs["num_classes"], "x", ValueError)


def _labels(error: type[Exception], axis: int | None = None) -> Check:
    def check(args: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        shape = np.shape(args[0])
        at = attrs["axis"] if axis is None else min(axis, len(shape) - 1)
        if not attrs.get("soft_label") and -len(shape) <= at < len(shape):
            _within(args[1], 0, shape[at], "label", error, attrs["ignore_index"])

    return check


CHECKS: dict[str, Check] = {
    "gather": _along("index", IndexError),
    "index_select": _along("index", ValueError),
    "take_along_axis": _along("indices", IndexError),
    "gather_nd": _nd,
    "take": _flat,
    "index_sample": _sampled,
    "scatter": _along("index", IndexError),
    "_index_add": _along("index", ValueError),
    "_put_along_axis": _along("indices", IndexError),
    "embedding": _rows,
    "one_hot": _classes,
    "cross_entropy": _labels(IndexError),
    "nll_loss": _labels(ValueError, 1),
}


def install() -> None:
    """Give the ops their checks, once all of them are defined."""
    for name, check in CHECKS.items():
        REGISTRY[name].check = check
