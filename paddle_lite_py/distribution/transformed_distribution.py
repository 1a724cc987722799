"""Transforms, and the distributions that they make of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..eager.tensor import Tensor
from .base import Distribution


class Transform:
    """Base class of differentiable transforms with an inverse and a log-determinant of the Jacobian.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.distribution.ExpTransform(), paddle.distribution.Transform)
        True
    """

    event_dims = (0, 0)
    bijective = True

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        raise NotImplementedError(f"{type(self).__name__} has no log-determinant")

    def inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        """Compute `log |det dx/dy|` at y."""
        return -self.forward_log_det_jacobian(self.inverse(y))

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of y for a shape of x."""
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of x for a shape of y."""
        return tuple(shape)

    def __call__(self, input: Any) -> Any:
        if isinstance(input, Transform):
            return ChainTransform([input, self])
        return TransformedDistribution(input, [self]) if hasattr(input, "batch_shape") else self.forward(input)


def sum_last(x: Tensor, n: int) -> Tensor:
    """Sum over the last n dimensions."""
    return x.sum(list(range(-n, 0))) if n else x


class ChainTransform(Transform):
    """Composition of transforms, applied in order.

    Arguments:
        transforms: the transforms.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> D = paddle.distribution
        >>> twice = D.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0))
        >>> D.ChainTransform([twice, D.AbsTransform()]).forward(paddle.to_tensor([-2.0])).tolist()
        [3.0]
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms = list(transforms)
        self.bijective = all(t.bijective for t in self.transforms)
        wide, offset = 0, 0
        for t in reversed(self.transforms):
            wide = max(t.event_dims[0], wide - t.event_dims[1] + t.event_dims[0])
        for t in self.transforms:
            offset += t.event_dims[1] - t.event_dims[0]
        self.event_dims = wide, wide + offset

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        for t in self.transforms:
            x = t.forward(x)
        return x

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        for t in reversed(self.transforms):
            y = t.inverse(y)
        return y

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        total: Any = 0.0
        dims = self.event_dims[0]
        for t in self.transforms:
            total = total + sum_last(t.forward_log_det_jacobian(x), dims - t.event_dims[0])
            x = t.forward(x)
            dims += t.event_dims[1] - t.event_dims[0]
        return total

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of y for a shape of x."""
        for t in self.transforms:
            shape = t.forward_shape(shape)
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of x for a shape of y."""
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        return tuple(shape)


class TransformedDistribution(Distribution):
    """Distribution of `transforms(x)` for x from a base distribution.

    Arguments:
        base: the distribution of x.
        transforms: the transforms, applied in order.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> D = paddle.distribution
        >>> d = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.ExpTransform()])
        >>> f"{d.log_prob(paddle.to_tensor(1.0)).item():.4f}"
        '-0.9189'
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        self.base, self.transforms = base, list(transforms)
        self._chain = ChainTransform(self.transforms)
        shape = self._chain.forward_shape((*base.batch_shape, *base.event_shape))
        wide = max(self._chain.event_dims[1], len(base.event_shape))
        super().__init__(shape[: len(shape) - wide], shape[len(shape) - wide :])

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples [*shape, *batch_shape, *event_shape]; the base decides whether its parameters get gradients."""
        return self._chain.forward(self.base.sample(shape))

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples [*shape, *batch_shape, *event_shape]."""
        return self._chain.forward(self.base.rsample(shape))

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the density.

        Raises:
            NotImplementedError: if a transform is no bijection.
        """
        if not self._chain.bijective:
            raise NotImplementedError("TransformedDistribution.log_prob: one of the transforms is no bijection")
        events = len(self.event_shape)
        y, change = value, 0.0
        for t in reversed(self.transforms):
            x = t.inverse(y)
            change = change - sum_last(t.forward_log_det_jacobian(x), events - t.event_dims[1])
            events += t.event_dims[0] - t.event_dims[1]
            y = x
        return change + sum_last(self.base.log_prob(y), events - len(self.base.event_shape))
