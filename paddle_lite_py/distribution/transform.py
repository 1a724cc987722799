"""Transforms of random variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..eager.tensor import Tensor
from ..ops.activation import softplus
from ..ops.creation import zeros_like
from ..ops.joining import concat, stack
from ..ops.softmax import softmax
from .base import as_parameters
from .transformed_distribution import ChainTransform, Transform, sum_last  # noqa: F401  (ChainTransform: public here)

__all__ = [
    *("AbsTransform", "AffineTransform", "ChainTransform", "ExpTransform", "IndependentTransform", "PowerTransform"),
    *("ReshapeTransform", "SigmoidTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform"),
    *("TanhTransform", "Transform"),
]


class AffineTransform(Transform):
    """Affine transform: `y = loc + scale * x`.

    Arguments:
        loc: shift, a tensor.
        scale: factor, a tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0)).forward(paddle.to_tensor(3.0)).item()
        7.0
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = as_parameters(loc, scale)

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return self.loc + self.scale * x

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return (y - self.loc) / self.scale

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return self.scale.abs().log()


class ExpTransform(Transform):
    """Exponential transform: `y = exp(x)`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.ExpTransform().forward(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.exp()

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y.log()

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return x


class AbsTransform(Transform):
    """Absolute value: `y = |x|`; not injective: inverse() returns the pair (-y, y).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.AbsTransform().forward(paddle.to_tensor([-2.0])).tolist()
        [2.0]
    """

    bijective = False

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.abs()

    def inverse(self, y: Tensor) -> Any:
        """Return both preimages, (-y, y)."""
        return -y, y

    def inverse_log_det_jacobian(self, y: Tensor) -> Any:
        """Return zeros for both preimages."""
        return zeros_like(y), zeros_like(y)


class PowerTransform(Transform):
    """Power transform: `y = x**power` for positive x.

    Arguments:
        power: the exponent, a tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.PowerTransform(paddle.to_tensor(2.0)).forward(paddle.to_tensor([3.0])).tolist()
        [9.0]
    """

    def __init__(self, power: Any) -> None:
        (self.power,) = as_parameters(power)

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x**self.power

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y ** (1 / self.power)

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return (self.power * x ** (self.power - 1)).abs().log()


class SigmoidTransform(Transform):
    """Sigmoid transform: `y = 1 / (1 + exp(-x))`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.SigmoidTransform().forward(paddle.zeros([1])).tolist()
        [0.5]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.sigmoid()

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y.log() - (-y).log1p()

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """Hyperbolic tangent transform: `y = tanh(x)`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.TanhTransform().forward(paddle.zeros([1])).tolist()
        [0.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.tanh()

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y.atanh()

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SoftmaxTransform(Transform):
    """Softmax along the last dimension; not bijective: inverse() returns the logarithm.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.SoftmaxTransform().forward(paddle.zeros([4])).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    event_dims = (1, 1)
    bijective = False

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        fn: Any = softmax
        return fn(x, -1)

    def inverse(self, y: Tensor) -> Tensor:
        """Return one preimage, log(y)."""
        return y.log()


class StickBreakingTransform(Transform):
    """Stick-breaking transform: map n real numbers to n + 1 probabilities that sum to 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.StickBreakingTransform().forward(paddle.zeros([1])).tolist()
        [0.5, 0.5]
    """

    event_dims = (1, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        parts = self._parts(x)
        left = (1 - parts).cumprod(-1)
        one = zeros_like(x[..., :1]) + 1
        return concat([parts, one], -1) * concat([one, left], -1)

    def _parts(self, x: Tensor) -> Tensor:
        return (x - self._offset(x)).sigmoid()

    def _offset(self, x: Tensor) -> Tensor:
        n = x.shape[-1]
        return (zeros_like(x) + 1).cumsum(-1).multiply(-1).add(n + 1).log()

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        head = y[..., :-1]
        left = 1 - head.cumsum(-1)
        return (head / left).log() + self._offset(head)

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        z = x - self._offset(x)
        return (-softplus(z) + self.forward(x)[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of y for a shape of x."""
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of x for a shape of y."""
        return (*shape[:-1], shape[-1] - 1)


class ReshapeTransform(Transform):
    """Reshape the event dimensions.

    Arguments:
        in_event_shape: event shape of x.
        out_event_shape: event shape of y, with the same number of elements.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.ReshapeTransform((2,), (1, 2)).forward(paddle.ones([2])).shape
        paddle.Size([1, 2])
    """

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        if math.prod(in_event_shape) != math.prod(out_event_shape):
            raise ValueError(f"ReshapeTransform: {in_event_shape} and {out_event_shape} hold different numbers")
        self.in_event_shape, self.out_event_shape = tuple(in_event_shape), tuple(out_event_shape)
        self.event_dims = len(self.in_event_shape), len(self.out_event_shape)

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.reshape(self.forward_shape(x.shape))

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y.reshape(self.inverse_shape(y.shape))

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Return zeros: the transform preserves volume."""
        lead = x.ndim - self.event_dims[0]
        return zeros_like(x.reshape([*x.shape[:lead], -1])[..., 0])

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of y for a shape of x."""
        return (*shape[: len(shape) - self.event_dims[0]], *self.out_event_shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of x for a shape of y."""
        return (*shape[: len(shape) - self.event_dims[1]], *self.in_event_shape)


class IndependentTransform(Transform):
    """Reinterpret the last batch dimensions of a transform as event dimensions; log determinants are summed over them.

    Arguments:
        base: the transform.
        reinterpreted_batch_rank: number of dimensions to reinterpret.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> t = paddle.distribution.IndependentTransform(paddle.distribution.ExpTransform(), 1)
        >>> t.forward_log_det_jacobian(paddle.to_tensor([1.0, 2.0])).item()
        3.0
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        self.base, self.rank = base, reinterpreted_batch_rank
        self.bijective = base.bijective
        self.event_dims = base.event_dims[0] + self.rank, base.event_dims[1] + self.rank

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return self.base.forward(x)

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return self.base.inverse(y)

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return sum_last(self.base.forward_log_det_jacobian(x), self.rank)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of y for a shape of x."""
        return self.base.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of x for a shape of y."""
        return self.base.inverse_shape(shape)


class StackTransform(Transform):
    """Apply a different transform to each slice along a dimension.

    Arguments:
        transforms: one transform for each slice.
        axis: the dimension. Default: 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> D = paddle.distribution
        >>> t = D.StackTransform([D.AbsTransform(), D.TanhTransform()], 0)
        >>> t.forward(paddle.to_tensor([-2.0, 0.0])).tolist()
        [2.0, 0.0]
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        self.transforms, self.axis = list(transforms), axis
        self.bijective = all(t.bijective for t in self.transforms)

    def _each(self, method: str, x: Tensor) -> Tensor:
        if x.shape[self.axis] != len(self.transforms):
            raise ValueError(f"StackTransform: {x.shape[self.axis]} slices and {len(self.transforms)} transforms")
        slices = [s.squeeze(self.axis) for s in x.split(len(self.transforms), self.axis)]
        return stack([getattr(t, method)(s) for t, s in zip(self.transforms, slices, strict=True)], self.axis)

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return self._each("forward", x)

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return self._each("inverse", y)

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return self._each("forward_log_det_jacobian", x)
