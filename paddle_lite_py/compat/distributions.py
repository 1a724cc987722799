"""Distributions with torch's arguments and results, where those of paddle.distribution differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.argument_docs import document as _document
from ..core.interpreter import no_grad
from ..core.no_effect import Immaterial, no_effect
from ..distribution import base, discrete
from ..nn import functional as F
from ..ops.gather import take_along_axis
from ..ops.joining import broadcast_tensors

__all__ = ["Categorical"]


class Categorical(base.Distribution):
    """Categorical distribution over 0 to n - 1, from probabilities or from logits, as torch has it.

    Arguments:
        probs: [*batch_shape, n], normalized by their sum.
        logits: unnormalized logarithms of them, in their place.

    Raises:
        ValueError: both or neither of them are given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> d = paddle.compat.distributions.Categorical(paddle.to_tensor([[1.0, 3.0], [1.0, 1.0]]))
        >>> d.probs.tolist(), d.log_prob(paddle.to_tensor([1, 0])).exp().tolist()
        ([[0.25, 0.75], [0.5, 0.5]], [0.75, 0.5])
    """

    probs: Any
    logits: Any

    @no_effect(validate_args=Immaterial("what cannot be is always refused"))
    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Categorical: expected probs or logits, and not both")
        (given,) = base.as_parameters(probs if logits is None else logits)
        if given.ndim < 1:
            raise ValueError(f"Categorical: the parameter has the shape {[*given.shape]}; expected [..., n]")
        if logits is None:
            self.probs = given / given.sum(-1, keepdim=True)
            tiny = 1.1920929e-07 if given.dtype != "float64" else 2.220446049250313e-16
            self.logits = self.probs.clip(tiny, 1 - tiny).log()
        else:
            self.logits = given - given.logsumexp(-1, keepdim=True)
            self.probs = F.softmax(given, -1)
        super().__init__(given.shape[:-1])

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self.logits.shape

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw categories, as an integer tensor [*sample_shape, *batch_shape]."""
        fn: Any = discrete.choose
        with no_grad():
            return fn(self.probs, (*sample_shape, *self.batch_shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the probabilities of categories, whose shape is broadcast with batch_shape."""
        at = value.astype("int64").unsqueeze(-1)
        at, logits = broadcast_tensors([at, self.logits])
        return take_along_axis(logits, at[..., :1], -1).squeeze(-1)

    def entropy(self) -> Any:
        """Compute the entropy in nats, [*batch_shape]."""
        return -(self.logits * self.probs).sum(-1)


_document(globals())
