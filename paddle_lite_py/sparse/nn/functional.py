"""Activations of sparse tensors, of which only the values count."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...nn import functional as F
from ...op import op

__all__ = ["leaky_relu", "relu", "relu6", "softmax"]


def relu(x: Any, name: Any = None) -> Any:
    """max(x, 0).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.relu(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, 0.0]
    """
    return x._with(F.relu(x.values()))


def relu6(x: Any, name: Any = None) -> Any:
    """min(max(x, 0), 6).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.relu6(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, 0.0]
    """
    return x._with(F.relu6(x.values()))


def leaky_relu(x: Any, negative_slope: float = 0.01, name: Any = None) -> Any:
    """x where it is positive, else negative_slope * x.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.leaky_relu(x).values().astype("float64").numpy().round(3).tolist()
        [1.0, -0.02]
    """
    return x._with(F.leaky_relu(x.values(), negative_slope))


@op(name="softmax_of_groups", amp="black")
def _softmax(values: Any, /, *, groups: Any, count: int) -> Any:
    at = np.array(groups, np.int64)
    shifted = jnp.exp(values - jax.ops.segment_max(values, at, count)[at])
    return shifted / jax.ops.segment_sum(shifted, at, count)[at]


def softmax(x: Any, axis: int = -1, name: Any = None) -> Any:
    """Softmax over the values of each row; what is not kept counts as minus infinity.

    Raises:
        ValueError: for another axis than the last.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> paddle.sparse.nn.functional.softmax(x).values().tolist()
        [1.0, 1.0]
    """
    if axis not in (-1, x.ndim - 1):
        raise ValueError(f"sparse softmax: axis is {axis}; expected -1")
    rows, groups = np.unique(x._indices[:-1], axis=1, return_inverse=True)
    fn: Any = _softmax
    return x._with(fn(x.values(), groups=tuple(groups.reshape(-1).tolist()), count=rows.shape[1]))
