"""The error of a function that was given something else where it takes a tensor."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..eager.tensor import Tensor


def of_no_tensor(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], error: AttributeError
) -> TypeError | None:
    """Return the error of a call in which an argument has no attribute that tensors have; None if it is another one.

    Arguments:
        error: that of the call.
    """
    given = error.obj
    if isinstance(given, Tensor) or not hasattr(Tensor, error.name or ""):
        return None
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    for name, value in bound.items():
        each = enumerate(value) if isinstance(value, list | tuple) else ()
        at = next((f"{name}[{i}]" for i, v in each if v is given), name if value is given else None)
        if at is not None and "Tensor" in str(inspect.signature(function).parameters[name].annotation):
            what = "None" if given is None else f"a {type(given).__name__}, {given!r:.40}"
            return TypeError(f"{function.__name__}(): {at} is {what}; expected a tensor")
    return None
