"""Custom gradients: a computation with the user's gradient, given as two functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...autograd import PyLayer

__all__ = ["static_pylayer"]


def static_pylayer(
    forward_fn: Callable[..., Any], inputs: Sequence[Any], backward_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Define an op by a forward function and a function for its gradient.

    Arguments:
        forward_fn: function from the inputs to the outputs.
        inputs: the inputs, a list of tensors.
        backward_fn: function from the gradients of the outputs to those of the inputs; None: not differentiable.

    Returns:
        The outputs of forward_fn.

    Examples:
        >>> x = paddle.to_tensor(2.0, stop_gradient=False)
        >>> static_pylayer(lambda x: x * x, [x], lambda dy: dy * 10).backward()
        >>> x.grad.item()
        10.0
    """
    if backward_fn is None:
        out = forward_fn(*[x.detach() for x in inputs])
        return out

    given = backward_fn

    class Given(PyLayer):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            return forward_fn(*args)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return given(*grads)

    return Given.apply(*inputs)
