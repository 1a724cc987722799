"""The base classes of distributions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd import grad
from ..core.interpreter import no_grad
from ..eager.tensor import Tensor
from ..ops.convert import to_tensor
from ..ops.joining import broadcast_tensors
from ..tracing.builder import is_traced
from .divergence import divergence


def as_parameters(*values: Any) -> list[Tensor]:
    """Convert parameters to floating tensors of one shape and dtype."""
    tensors = [v if isinstance(v, Tensor) else to_tensor(_array(v)) for v in values]
    kind = next((t.dtype for t in tensors if t.dtype.is_floating), tensors[0].dtype)
    kind = kind if kind.is_floating else "float32"  # type: ignore[assignment]
    tensors = [t if t.dtype == kind else t.astype(kind) for t in tensors]
    return tensors if len({tuple(t.shape) for t in tensors}) == 1 else broadcast_tensors(tensors)


def _array(value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{value!r} is no parameter or value of a distribution; expected numbers or a tensor")
    return array if isinstance(value, np.ndarray) and array.dtype.kind == "f" else array.astype(np.float32)


def as_value(value: Any, like: Tensor) -> Tensor:
    """Convert a value to a tensor in the dtype of the parameters."""
    value = value if isinstance(value, Tensor) else to_tensor(_array(value))
    return value if value.dtype == like.dtype else value.astype(like.dtype)


def check_positive(distribution: str, **parameters: Tensor) -> None:
    """Raise a ValueError if a value that is known is not positive; while code is traced none is."""
    for name, tensor in parameters.items():
        if not is_traced(tensor) and not bool((tensor > 0).all()):
            raise ValueError(f"{distribution}: {name} is {tensor.tolist()}; expected positive numbers")


class Distribution:
    """Base class of distributions.

    A subclass defines rsample() (reparameterized sampling) or sample(), and log_prob(), entropy(), mean and variance.

    Arguments:
        batch_shape: shape of a batch of independent distributions. Default: ().
        event_shape: shape of a single sample of one distribution. Default: ().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.distribution.Normal(0.0, 1.0), paddle.distribution.Distribution)
        True
    """

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        self._batch_shape, self._event_shape = tuple(batch_shape), tuple(event_shape)
        found = next((v for v in vars(self).values() if isinstance(v, Tensor)), None)  # a parameter
        if found is not None and not hasattr(type(self), "dtype"):
            vars(self).setdefault("dtype", found.dtype)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch of independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """Shape of a single sample of one distribution."""
        return self._event_shape

    def _extend_shape(self, sample_shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of samples; users' subclasses call it."""
        return (*sample_shape, *self._batch_shape, *self._event_shape)

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        raise NotImplementedError(f"{type(self).__name__} has no mean in closed form here")

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        raise NotImplementedError(f"{type(self).__name__} has no variance in closed form here")

    @property
    def stddev(self) -> Tensor:
        """Standard deviation of the distribution."""
        return self.variance.sqrt()

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw samples; no gradient flows to the parameters.

        Arguments:
            shape: shape of the set of samples. Default: ().

        Returns:
            A tensor [*shape, *batch_shape, *event_shape].
        """
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draw reparameterized samples: gradients flow to the parameters.

        Arguments:
            shape: shape of the set of samples. Default: ().

        Returns:
            A tensor [*shape, *batch_shape, *event_shape].
        """
        raise NotImplementedError(f"{type(self).__name__}: a draw has no gradient here; use sample()")

    def log_prob(self, value: Any) -> Tensor:
        """Compute the logarithm of the probability density (or mass) at a value.

        Arguments:
            value: a tensor that broadcasts to [*batch_shape, *event_shape].

        Returns:
            A tensor [*sample shape, *batch_shape].
        """
        raise NotImplementedError(f"{type(self).__name__} has no log_prob() here")

    def prob(self, value: Any) -> Tensor:
        """Compute the probability density (or mass) at a value."""
        return self.log_prob(value).exp()

    def probs(self, value: Any) -> Tensor:
        """Alias of prob()."""
        return self.prob(value)

    def entropy(self) -> Tensor:
        """Compute the entropy in nats: the expectation of `-log_prob(x)`.

        Returns:
            A tensor of the batch shape.
        """
        raise NotImplementedError(f"{type(self).__name__} has no entropy in closed form here")

    def kl_divergence(self, other: Distribution) -> Tensor:
        """Compute the Kullback-Leibler divergence KL(self || other).

        Returns:
            A tensor of the batch shape.
        """
        return divergence(self, other)

    def _extended(self, shape: Sequence[int]) -> list[int]:
        return [*_shape(shape), *self._batch_shape, *self._event_shape]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_shape={self._batch_shape}, event_shape={self._event_shape})"


class ExponentialFamily(Distribution):
    """Base class of the distributions of the exponential family.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.distribution.Gamma(1.0, 1.0), paddle.distribution.ExponentialFamily)
        True
    """

    _natural_parameters: tuple[Tensor, ...]
    _log_normalizer: Callable[..., Tensor]
    _mean_carrier_measure: Any

    def entropy(self) -> Tensor:
        """Compute the entropy from the log normalizer A of the natural parameters: `A - sum(theta * dA / dtheta)`.

        A class of yours that has no entropy() defines `_natural_parameters`, a tuple of tensors, `_log_normalizer()` of
        these, and `_mean_carrier_measure`, the expectation of the logarithm of the carrier measure.
        """
        if not hasattr(self, "_natural_parameters") or not hasattr(self, "_log_normalizer"):
            return super().entropy()
        given = [theta.detach() for theta in self._natural_parameters]
        for theta in given:
            theta.stop_gradient = False
        log_norm = self._log_normalizer(*given)
        slopes = grad(log_norm.sum(), given, create_graph=True)
        inner: Any = sum((theta * slope for theta, slope in zip(given, slopes, strict=True)), start=0)
        return log_norm - inner - self._mean_carrier_measure


def _shape(shape: Any) -> list[int]:
    if isinstance(shape, int):
        return [shape]
    return [operator.index(n) for n in (shape.tolist() if isinstance(shape, Tensor) else shape)]


HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
