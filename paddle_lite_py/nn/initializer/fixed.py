"""Deterministic initializers: constants, given values, and kernels that pass or interpolate."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.no_effect import Immaterial, no_effect
from ...eager.tensor import Tensor
from .base import Initializer, Shape


class ConstantInitializer(Initializer):
    """The class that Constant is derived from."""

    @no_effect(force_cpu=Immaterial("values are drawn on the host"))
    def __init__(self, value: float = 0.0, force_cpu: bool = False) -> None:
        self.value = value

    def _values(self, shape: Shape) -> Any:
        return np.full(shape, self.value)


class Constant(ConstantInitializer):
    """Initialize all elements with one value.

    Arguments:
        value: the value. Default: 0.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Linear(1, 2, bias_attr=paddle.nn.initializer.Constant(0.5)).bias.tolist()
        [0.5, 0.5]
    """

    def __init__(self, value: float = 0.0) -> None:
        super().__init__(value)


class NumpyArrayInitializer(Initializer):
    """The class that Assign is derived from."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def shape(self) -> Shape:
        """Return the shape of the value."""
        return tuple(self.value.shape) if isinstance(self.value, Tensor) else np.shape(self.value)

    def _values(self, shape: Shape) -> Any:
        found = self.value.numpy() if isinstance(self.value, Tensor) else np.asarray(self.value)
        if found.shape != shape:
            raise ValueError(f"Assign: the value has the shape {list(found.shape)}, the parameter {list(shape)}")
        return found


class Assign(NumpyArrayInitializer):
    """Initialize with given values.

    Arguments:
        value: an array, a tensor or nested lists, of the shape of the parameter. In dynamic mode a parameter takes the
            shape of a value of another one, as in PaddlePaddle, with a warning.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Assign([1.0, 2.0]))
        >>> w.tolist()
        [1.0, 2.0]
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        super().__init__(value)


class Dirac(Initializer):
    """Initialize a convolution kernel so that the convolution is the identity on its channels.

    Arguments:
        groups: number of groups of the convolution. Default: 1.

    Raises:
        ValueError: if the kernel is not that of a 1-D to 3-D convolution, or its channels are not a multiple of groups.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([2, 2, 1, 1], "float32", default_initializer=paddle.nn.initializer.Dirac())
        >>> w.flatten().tolist()
        [1.0, 0.0, 0.0, 1.0]
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if groups < 1:
            raise ValueError(f"Dirac: groups is {groups}; expected at least 1")
        self.groups = groups

    def _values(self, shape: Shape) -> Any:
        if len(shape) not in (3, 4, 5) or shape[0] % self.groups:
            raise ValueError(
                f"Dirac: a kernel of 3 to 5 dimensions in {self.groups} groups is expected, got {list(shape)}"
            )
        out = np.zeros(shape)
        per_group = shape[0] // self.groups
        middle = tuple(n // 2 for n in shape[2:])
        for i in range(shape[0]):
            if i % per_group < shape[1]:
                out[(i, i % per_group, *middle)] = 1.0
        return out


class Bilinear(Initializer):
    """Initialize the kernel of a transposed convolution for bilinear upsampling.

    Raises:
        ValueError: if the kernel is not square with 4 dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1, 1, 4, 4], "float32", default_initializer=paddle.nn.initializer.Bilinear())
        >>> w[0, 0, 0].tolist()
        [0.0625, 0.1875, 0.1875, 0.0625]
    """

    def _values(self, shape: Shape) -> Any:
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ValueError(f"Bilinear: a square kernel of 4 dimensions is expected, got {list(shape)}")
        size = shape[3]
        factor = (size + 1) // 2
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        line = 1 - np.abs(np.arange(size) / factor - centre)
        return np.broadcast_to(np.outer(line, line), shape)
