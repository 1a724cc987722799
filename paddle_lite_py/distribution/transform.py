"""Transforms of random variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..eager.tensor import Tensor
from ..ops.activation import softplus
from ..ops.creation import zeros_like
from ..ops.joining import concat, stack
from ..ops.manipulation import broadcast_shape
from ..ops.softmax import softmax
from . import constraints
from .base import as_parameters
from .transformed_distribution import ChainTransform, Transform, Type, change_of_events, lead, listed  # noqa: F401
from .variables import IndependentVariable, RandomVariable, StackedVariable, positive, real

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

    _type = Type.BIJECTION
    _domain = real
    _codomain = real

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = as_parameters(loc, scale)

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return (y - self.loc) / self.scale

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return self.scale.abs().log()

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """Return the shape of y for a shape of x, or the other way around."""
        return tuple(broadcast_shape(shape, self.loc.shape))

    _inverse_shape = _forward_shape


class ExpTransform(Transform):
    """Exponential transform: `y = exp(x)`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.ExpTransform().forward(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """

    _type = Type.BIJECTION
    _domain = real
    _codomain = positive

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y.log()

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return x


class AbsTransform(Transform):
    """Absolute value: `y = |x|`; not injective: inverse() returns the pair (-y, y).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.AbsTransform().forward(paddle.to_tensor([-2.0])).tolist()
        [2.0]
    """

    _type = Type.SURJECTION
    _domain = real
    _codomain = positive

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.abs()

    def _inverse(self, y: Tensor) -> Any:
        """Return both preimages, (-y, y)."""
        return -y, y

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
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

    _type = Type.BIJECTION
    _domain = real
    _codomain = positive

    def __init__(self, power: Any) -> None:
        (self.power,) = as_parameters(power)

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x**self.power

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y ** (1 / self.power)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return (self.power * x ** (self.power - 1)).abs().log()

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """Return the shape of y for a shape of x, or the other way around."""
        return tuple(broadcast_shape(shape, self.power.shape))

    _inverse_shape = _forward_shape


class SigmoidTransform(Transform):
    """Sigmoid transform: `y = 1 / (1 + exp(-x))`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.SigmoidTransform().forward(paddle.zeros([1])).tolist()
        [0.5]
    """

    _type = Type.BIJECTION
    _domain = real
    _codomain = RandomVariable(constraint=constraints.Range(0.0, 1.0))

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.sigmoid()

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y.log() - (-y).log1p()

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """Hyperbolic tangent transform: `y = tanh(x)`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.TanhTransform().forward(paddle.zeros([1])).tolist()
        [0.0]
    """

    _type = Type.BIJECTION
    _domain = real
    _codomain = RandomVariable(constraint=constraints.Range(-1.0, 1.0))

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y.atanh()

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SoftmaxTransform(Transform):
    """Softmax along the last dimension; not bijective: inverse() returns the logarithm.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.SoftmaxTransform().forward(paddle.zeros([4])).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    _type = Type.OTHER
    _domain = IndependentVariable(real, 1)
    _codomain = RandomVariable(event_rank=1, constraint=constraints.simplex)

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        fn: Any = softmax
        return fn(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        """Return one preimage, log(y)."""
        return y.log()


class StickBreakingTransform(Transform):
    """Stick-breaking transform: map n real numbers to n + 1 probabilities that sum to 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distribution.StickBreakingTransform().forward(paddle.zeros([1])).tolist()
        [0.5, 0.5]
    """

    _type = Type.BIJECTION
    _domain = IndependentVariable(real, 1)
    _codomain = RandomVariable(event_rank=1, constraint=constraints.simplex)

    def _forward(self, x: Tensor) -> Tensor:
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

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        head = y[..., :-1]
        left = 1 - head.cumsum(-1)
        return (head / left).log() + self._offset(head)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        z = x - self._offset(x)
        return (-softplus(z) + self.forward(x)[..., :-1].log()).sum(-1)

    def _forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of y for a shape of x."""
        return (*lead(shape, self._domain), shape[-1] + 1)

    def _inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of x for a shape of y."""
        return (*lead(shape, self._codomain), shape[-1] - 1)


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

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        if math.prod(in_event_shape) != math.prod(out_event_shape):
            raise ValueError(f"ReshapeTransform: {in_event_shape} and {out_event_shape} hold different numbers")
        self.in_event_shape, self.out_event_shape = tuple(in_event_shape), tuple(out_event_shape)
        self._domain = IndependentVariable(real, len(self.in_event_shape))
        self._codomain = IndependentVariable(real, len(self.out_event_shape))

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return y.reshape(self.inverse_shape(y.shape))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Return zeros: the transform preserves volume."""
        return zeros_like(x.reshape([*lead(x.shape, self._domain), -1])[..., 0])

    def _forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of y for a shape of x."""
        return (*self._lead(shape, self._domain, self.in_event_shape), *self.out_event_shape)

    def _inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of x for a shape of y."""
        return (*self._lead(shape, self._codomain, self.out_event_shape), *self.in_event_shape)

    def _lead(self, shape: Sequence[int], variable: RandomVariable, event: tuple[int, ...]) -> Sequence[int]:
        found = lead(shape, variable)
        if tuple(shape[len(found) :]) != event:
            raise ValueError(f"ReshapeTransform: the shape {[*shape]} does not end in the event shape {[*event]}")
        return found


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
        if not isinstance(base, Transform):
            raise TypeError(f"IndependentTransform: base is {base!r}; expected a transform")
        if reinterpreted_batch_rank < 1:
            raise ValueError(
                f"IndependentTransform: reinterpreted_batch_rank is {reinterpreted_batch_rank}; expected at least 1"
            )
        self.base, self.rank = base, reinterpreted_batch_rank
        self._domain = IndependentVariable(base._domain, self.rank)
        self._codomain = IndependentVariable(base._codomain, self.rank)

    def _is_injective(self) -> bool:  # type: ignore[override]
        return self.base._is_injective()

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return self.base.forward(x)

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return self.base.inverse(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return change_of_events(self.base, x, self.rank)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """Return the shape of y for a shape of x."""
        return self.base.forward_shape(shape)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
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
        self.transforms, self.axis = listed("StackTransform", transforms), axis
        self._domain = StackedVariable([t._domain for t in self.transforms], axis)
        self._codomain = StackedVariable([t._codomain for t in self.transforms], axis)

    def _is_injective(self) -> bool:  # type: ignore[override]
        return all(t._is_injective() for t in self.transforms)

    def _each(self, method: str, x: Tensor) -> Tensor:
        if x.shape[self.axis] != len(self.transforms):
            raise ValueError(f"StackTransform: {x.shape[self.axis]} slices and {len(self.transforms)} transforms")
        slices = [s.squeeze(self.axis) for s in x.split(len(self.transforms), self.axis)]
        return stack([getattr(t, method)(s) for t, s in zip(self.transforms, slices, strict=True)], self.axis)

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        return self._each("forward", x)

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        return self._each("forward_log_det_jacobian", x)
