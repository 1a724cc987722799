"""Activations of sparse tensors as layers."""

from __future__ import annotations

from typing import Any

from ...nn.base import Layer
from . import functional

__all__ = ["LeakyReLU", "ReLU", "ReLU6", "Softmax"]


class ReLU(Layer):
    """ReLU of a sparse tensor: `max(x, 0)` of its values.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.ReLU()(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, 0.0]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        """Apply the activation."""
        return functional.relu(x)


class ReLU6(ReLU):
    """ReLU6 of a sparse tensor: `min(max(x, 0), 6)` of its values.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.ReLU6()(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, 0.0]
    """

    def forward(self, x: Any) -> Any:
        """Apply the activation."""
        return functional.relu6(x)


class LeakyReLU(Layer):
    """Leaky ReLU of a sparse tensor: `x` where positive, else `negative_slope * x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.LeakyReLU()(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, -0.02]
    """

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, x: Any) -> Any:
        """Apply the activation."""
        return functional.leaky_relu(x, self.negative_slope)


class Softmax(Layer):
    """Softmax over the stored values of each row of a sparse tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.Softmax()(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, 1.0]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: Any) -> Any:
        """Apply the activation."""
        return functional.softmax(x, self.axis)
