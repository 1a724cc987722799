"""The payload of a tensor whose op is deferred: see deferred.py.

A tensor has it in `_pending` and has no `_payload` then. Whoever reads `_payload` has all that waits computed, so that
no reader needs to know of this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import dtypes
from ..core.arrays import array_class

_set = object.__setattr__  # not a parameter's own, which takes note of other attributes: the hot path


class Failed(NamedTuple):
    """The payload of an array that could not be computed."""

    error: Exception


class Pending:
    """An array that is not computed yet.

    Arguments:
        queue: the ops that wait, which know how to compute it.
        index: which of their results it is.
    """

    __slots__ = ("__weakref__", "array", "dtype", "index", "queue", "shape")

    def __init__(self, queue: Any, index: int, shape: tuple[int, ...], dtype: Any) -> None:
        self.queue, self.index, self.shape, self.dtype = queue, index, shape, dtype
        self.array: Any = None

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def value(self) -> Any:
        """Return the array, computed if it is not yet."""
        if self.array is None:
            self.queue.look()
        if self.array.__class__ is Failed:
            raise self.array.error
        return self.array


class DataOnDemand:
    """`Tensor._payload` of a tensor that has none yet: it is computed, and stays.

    A subclass whose `__init__` does not call Tensor's begins empty, as `paddle.Tensor()` does.
    """

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        pending = tensor._pending
        tensor._payload = array = np.zeros(0, dtypes.default_dtype().np) if pending is None else pending.value()
        tensor.__dict__.pop("_pending", None)
        return array


def payload_of(tensor: Any) -> Any:
    """Return the payload of a tensor, or what stands for it: both have a shape and a dtype."""
    return tensor._payload if tensor._pending is None else tensor._pending


def computed(held: Any, values: Mapping[int, Any]) -> Any:
    """Return the array of what a node holds: of what waited, the result with its number."""
    if held.__class__ is not Pending:
        return held
    return values[held.index] if held.array is None else held.array


def put_together(parameters: Sequence[Any]) -> None:
    """Give XLA the small parameters of a net that has large ones, as an update would.

    So the first step of training is the program that all others are.
    """
    arrays = [p.__dict__.get("_payload") for p in parameters]
    if any(a.__class__ is array_class() for a in arrays):
        for p, a in zip(parameters, arrays, strict=True):
            if a.__class__ is np.ndarray and p._views is None:
                set_payload(p, jax.device_put(a))


def set_payload(tensor: Any, payload: Any) -> None:
    """Give a tensor another payload, or what stands for one."""
    if payload.__class__ is not Pending or payload.array is not None:
        _set(tensor, "_payload", payload if payload.__class__ is not Pending else payload.array)
        if tensor._pending is not None:
            del tensor._pending
        return
    _set(tensor, "_pending", payload)
    tensor.__dict__.pop("_payload", None)
