"""The arguments of paddle.Tensor(...): data, or the sizes of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core import place as places
from ..core.arrays import as_array
from ..core.no_effect import no_effect


def of_arguments(*given: Any, **settings: Any) -> dict[str, Any]:
    """The attributes of a paddle.Tensor by its arguments: data, dtype (or place), place, stop_gradient; or sizes alone.

    Raises:
        TypeError: an argument is unknown.

    Examples:
        >>> of_arguments(2, 3)["_payload"].shape, of_arguments([1, 2])["_payload"].dtype.name
        ((2, 3), 'float32')
    """
    if given and not settings.get("dtype") and all(type(size) is int for size in given):
        given = (np.zeros(given, dtypes.default_dtype().np),)
    elif len(given) > 1 and isinstance(given[1], places.Place):
        given = (given[0], None, *given[1:])
    return _parse_arguments(*given, **settings)


def _parse_arguments(
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
) -> dict[str, Any]:
    data = value if data is None else data
    if data is None:
        data = []
    if dtype is None and isinstance(data, list | tuple):  # as in the reference: to_tensor() keeps integers
        dtype = dtypes.default_dtype()
    said = {"stop_gradient": stop_gradient, "_name": name, "persistable": persistable}
    usual = {"stop_gradient": True, "_name": None, "persistable": False}  # class attributes
    payload = as_array(data, dtype, place if device is None else device)
    return {"_payload": payload, **{k: v for k, v in said.items() if v != usual[k]}}


_parse_arguments.__qualname__ = "Tensor"  # which warnings name
_parse_arguments = no_effect(zero_copy="XLA's arrays cannot share memory with an array that changes")(_parse_arguments)
