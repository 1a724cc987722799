"""Functions with a gradient of their own, as torch.autograd.Function has them."""

from __future__ import annotations

import functools
from typing import Any

from ..autograd.py_layer import PyLayer
from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor

__all__ = ["Function"]


class Function(PyLayer):
    """paddle.autograd.PyLayer whose backward() returns a gradient, or None, for each argument of forward().

    The context has `saved_tensors` and `needs_input_grad`.

    Raises:
        TypeError: the class has a setup_context().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Power(paddle.compat.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x, n):
        ...         ctx.save_for_backward(x)
        ...         ctx.n = n
        ...         return x**n
        ...
        ...     @staticmethod
        ...     def backward(ctx, dy):
        ...         (x,) = ctx.saved_tensors
        ...         return dy * ctx.n * x ** (ctx.n - 1), None
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> Power.apply(x, 2).backward()
        >>> x.grad.tolist()
        [6.0]
    """

    def __init_subclass__(cls, **more: Any) -> None:
        if "setup_context" in vars(cls):
            raise TypeError(f"{cls.__name__}: setup_context() is not known here: write forward(ctx, ...)")
        for name, wrap in (("forward", _forward), ("backward", _backward)):
            if name in vars(cls):
                setattr(cls, name, staticmethod(wrap(getattr(cls, name))))
        super().__init_subclass__(**more)


def _forward(function: Any) -> Any:
    @functools.wraps(function)
    def forward(ctx: Any, *args: Any) -> Any:
        ctx._kinds = [_tensors_in(a) for a in args]
        ctx.needs_input_grad = tuple([isinstance(a, Tensor) and not a.stop_gradient for a in args])
        return function(ctx, *args)

    return forward


def _tensors_in(argument: Any) -> int | None:
    """Return how many tensors a list has, None of a tensor."""
    if isinstance(argument, Tensor):
        return None
    return sum(isinstance(a, Tensor) for a in argument) if isinstance(argument, list | tuple) else 0


def _backward(function: Any) -> Any:
    @functools.wraps(function)
    def backward(ctx: Any, *grads: Any) -> Any:
        made = function(ctx, *grads)
        found = list(made) if isinstance(made, list | tuple) else [made]
        found += [None] * (len(ctx._kinds) - len(found))
        kept = [[g] if kind is None else [None] * kind for g, kind in zip(found, ctx._kinds, strict=True)]
        return tuple([g for part in kept for g in part])

    return backward


_document(globals())
