"""What paddle.Tensor(...) is given: data, or the sizes of a tensor."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core import place as places
from ..core.arrays import as_array
from ..core.no_effect import no_effect


class Given(NamedTuple):
    """The payload of a new tensor, and what else is said of it."""

    payload: Any
    stop_gradient: bool
    name: str | None
    persistable: bool


def of_arguments(*given: Any, **settings: Any) -> Given:
    """What paddle.Tensor makes of its arguments: data, dtype (or place), place, stop_gradient; or sizes alone.

    Raises:
        TypeError: an argument is unknown.

    Examples:
        >>> of_arguments(2, 3).payload.shape, of_arguments([1, 2]).payload.dtype.name
        ((2, 3), 'float32')
    """
    if given and not settings.get("dtype") and all(type(size) is int for size in given):
        given = (np.zeros(given, dtypes.default_dtype().np),)
    elif len(given) > 1 and isinstance(given[1], places.Place):
        given = (given[0], None, *given[1:])
    return _given(*given, **settings)


def _given(
    data: Any = None,
    dtype: Any = None,
    place: Any = None,
    stop_gradient: bool = True,
    name: str | None = None,
    persistable: bool = False,
    *,
    value: Any = None,
    device: Any = None,
    zero_copy: bool = False,
) -> Given:
    data = value if data is None else data
    if data is None:
        data = []
    if dtype is None and isinstance(data, list | tuple):  # as in the reference: to_tensor() keeps integers
        dtype = dtypes.default_dtype()
    return Given(as_array(data, dtype, place if device is None else device), stop_gradient, name, persistable)


_given.__qualname__ = "Tensor"  # which warnings name
_given = no_effect(zero_copy="XLA's arrays cannot share memory with an array that changes")(_given)
