"""The signature of a layer whose default data format depends on its number of dimensions."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

CHANNELS_FIRST = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


def show_default(cls: type, data_format: str) -> None:
    """Let the signature of a class show the data format that None stands for in its __init__."""
    params = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
    shown = [p.replace(default=data_format) if p.name == "data_format" else p for p in params]
    cls.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]


def check_rank(name: str, input: Any, dims: Sequence[int]) -> None:
    """Raise an error unless the input of a layer has one of some numbers of dimensions; none given: any.

    Raises:
        ValueError: it has another one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> check_rank("BatchNorm1D", paddle.ones([2, 3]), (2, 3))
    """
    if dims and input.ndim not in dims:
        expected = " or ".join(map(str, dims))
        raise ValueError(f"{name}: an input of {expected} dimensions is expected, got the shape {[*input.shape]}")


def check_format(name: str, found: str, usual: str) -> None:
    """Raise an error unless a data format is the usual one of a layer, that of pictures, or one with channels last.

    Raises:
        ValueError: it is another one.

    Examples:
        >>> check_format("BatchNorm2D", "NHWC", "NCHW")
    """
    allowed = {usual, "N" + usual[2:] + "C", "NCHW", "NHWC", *(["NC"] if usual == "NCL" else [])}
    if found not in allowed:
        raise ValueError(f"{name}: data_format is {found!r}; expected one of {', '.join(sorted(allowed))}")
