"""Transforms, and the distributions that they make of others."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from ..eager.tensor import Tensor
from ..ops.creation import zeros_like
from .base import Distribution
from .variables import IndependentVariable, RandomVariable, real


class Type(enum.Enum):
    """How a transform maps: one to one, onto, both, or neither.

    Examples:
        >>> Type.is_injective(Type.BIJECTION), Type.is_injective(Type.OTHER)
        (True, False)
    """

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, _type: Type) -> bool:
        """Return whether a transform of this type has one inverse."""
        return _type in (cls.BIJECTION, cls.INJECTION)


class Transform:
    """Base class of differentiable transforms with an inverse and a log-determinant of the Jacobian.

    A subclass defines `_forward(x)` and `_inverse(y)`, `_forward_log_det_jacobian(x)` or
    `_inverse_log_det_jacobian(y)`, and, if it changes the shape, `_forward_shape(shape)` and `_inverse_shape(shape)`.
    `_type` says whether it is injective; `_domain` and `_codomain` are variables (`distribution.variable`), whose
    `event_rank` is the number of dimensions that are transformed together.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Double(Transform):
        ...     def _forward(self, x):
        ...         return 2 * x
        >>> Double().forward(paddle.to_tensor(3.0)).item()
        6.0
    """

    _type = Type.INJECTION
    _domain: RandomVariable = real
    _codomain: RandomVariable = real

    @classmethod
    def _is_injective(cls) -> bool:
        return Type.is_injective(cls._type)

    def forward(self, x: Tensor) -> Tensor:
        """Compute y from x.

        Raises:
            ValueError: x has fewer dimensions than an event.
        """
        return self._forward(_of_events("x", x, self._domain))

    def inverse(self, y: Tensor) -> Tensor:
        """Compute x from y.

        Raises:
            ValueError: y has fewer dimensions than an event.
        """
        return self._inverse(_of_events("y", y, self._codomain))

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x.

        Raises:
            NotImplementedError: the transform is not injective, or defines no log-determinant.
        """
        _of_events("x", x, self._domain)
        if not self._is_injective():
            raise NotImplementedError(f"{type(self).__name__} is not injective, and has no log-determinant")
        if self._defines("_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        return -self._inverse_log_det_jacobian(self.forward(x))

    def inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        """Compute `log |det dx/dy|` at y.

        Raises:
            NotImplementedError: the transform defines no log-determinant.
        """
        _of_events("y", y, self._codomain)
        if self._defines("_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(y)
        return -self._forward_log_det_jacobian(self.inverse(y))

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """Return the shape of y for a shape of x."""
        return self._forward_shape(_shape(shape))

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """Return the shape of x for a shape of y."""
        return self._inverse_shape(_shape(shape))

    def _defines(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Transform, method)

    def _missing(self, method: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not define {method}()")

    def _forward(self, _x: Tensor) -> Tensor:
        raise self._missing("_forward")

    def _inverse(self, _y: Tensor) -> Tensor:
        raise self._missing("_inverse")

    def _forward_log_det_jacobian(self, _x: Tensor) -> Tensor:
        raise self._missing("_forward_log_det_jacobian")

    def _inverse_log_det_jacobian(self, _y: Tensor) -> Tensor:
        raise self._missing("_inverse_log_det_jacobian")

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape

    def __call__(self, input: Any) -> Any:
        if isinstance(input, Transform):
            return ChainTransform([self, input])
        return TransformedDistribution(input, [self]) if hasattr(input, "batch_shape") else self.forward(input)


def _of_events(name: str, value: Any, variable: RandomVariable) -> Any:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} is {type(value).__name__}; expected a tensor")
    if value.ndim < variable.event_rank:
        raise ValueError(
            f"{name} has the shape {[*value.shape]}; expected {variable.event_rank} dimensions of an event or more"
        )
    return value


def _shape(shape: Any) -> Any:
    if not isinstance(shape, Sequence):
        raise TypeError(f"shape is {shape!r}; expected a list or tuple of ints")
    return shape


def lead(shape: Sequence[int], variable: RandomVariable) -> Sequence[int]:
    """Return a shape without the dimensions of an event.

    Raises:
        ValueError: there are not as many dimensions.
    """
    if len(shape) < variable.event_rank:
        raise ValueError(f"shape is {shape!r}; expected {variable.event_rank} dimensions of an event or more")
    return shape[: len(shape) - variable.event_rank]


def listed(who: str, transforms: Any) -> list[Transform]:
    """Return a list of transforms.

    Raises:
        TypeError: it holds something else, or is no list.
    """
    found = list(transforms) if isinstance(transforms, Sequence) else [transforms]
    for t in found:
        if not isinstance(t, Transform):
            raise TypeError(f"{who}: transforms holds {t!r}; expected a list of transforms")
    return found


def sum_last(x: Tensor, n: int) -> Tensor:
    """Sum over the last n dimensions."""
    return x.sum(list(range(-n, 0))) if n else x


def change_of_events(t: Transform, x: Tensor, n: int) -> Tensor:
    """Compute the log-determinant at x, summed over n more dimensions than the transform treats together.

    A transform may give it once for all elements, as an affine one of a single factor does.
    """
    found = t.forward_log_det_jacobian(x)
    return sum_last(found + zeros_like(sum_last(x, t._domain.event_rank)), n) if n else found


def _widening(t: Transform) -> int:
    """Return by how many dimensions the events of y exceed those of x."""
    return t._codomain.event_rank - t._domain.event_rank


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
        self.transforms = listed("ChainTransform", transforms)
        wide, offset = 0, 0
        for t in reversed(self.transforms):
            wide = max(t._domain.event_rank, wide - _widening(t))
        for t in self.transforms:
            offset += _widening(t)
        first, last = (self.transforms[0]._domain, self.transforms[-1]._codomain) if self.transforms else (real, real)
        self._domain = IndependentVariable(first, wide - first.event_rank)
        self._codomain = IndependentVariable(last, wide + offset - last.event_rank)

    def _is_injective(self) -> bool:  # type: ignore[override]
        return all(t._is_injective() for t in self.transforms)

    def _forward(self, x: Tensor) -> Tensor:
        """Compute y from x."""
        for t in self.transforms:
            x = t.forward(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        """Compute x from y."""
        for t in reversed(self.transforms):
            y = t.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Compute `log |det dy/dx|` at x."""
        total: Any = 0.0
        dims = self._domain.event_rank
        for t in self.transforms:
            total = total + change_of_events(t, x, dims - t._domain.event_rank)
            x = t.forward(x)
            dims += _widening(t)
        return total

    def _forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of y for a shape of x."""
        for t in self.transforms:
            shape = t.forward_shape(shape)
        return tuple(shape)

    def _inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
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
        self.base, self.transforms = base, listed("TransformedDistribution", transforms)
        self._chain = ChainTransform(self.transforms)
        shape = self._chain.forward_shape((*base.batch_shape, *base.event_shape))
        wide = max(self._chain._codomain.event_rank, len(base.event_shape))
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
            NotImplementedError: if a transform is not injective.
        """
        if not self._chain._is_injective():
            raise NotImplementedError("TransformedDistribution.log_prob: one of the transforms is not injective")
        events = len(self.event_shape)
        y, change = value, 0.0
        for t in reversed(self.transforms):
            x = t.inverse(y)
            change = change - change_of_events(t, x, events - t._codomain.event_rank)
            events -= _widening(t)
            y = x
        return change + sum_last(self.base.log_prob(y), events - len(self.base.event_shape))
