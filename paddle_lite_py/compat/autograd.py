"""Functions with a gradient of their own, as torch.autograd.Function has them."""

from __future__ import annotations

import functools
from typing import Any

from ..autograd.functional import grad as _grad
from ..autograd.py_layer import PyLayer
from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor
from ..ops.creation import zeros_like

__all__ = ["Function", "grad"]


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    allow_unused: bool | None = None, is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """Return the gradients of outputs with respect to inputs, as a tuple.

    Arguments:
        outputs, inputs: a tensor, or tensors.
        grad_outputs: gradients of the outputs; None: ones.
        allow_unused: None for inputs that no output depends on; None or False: they are an error.
        is_grads_batched: False; batches of gradients are those of paddle.compat.func.vmap.
        materialize_grads: zeros for inputs that no output depends on. Default: False.

    Raises:
        ValueError: is_grads_batched is True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> paddle.compat.autograd.grad(x * x, x)[0].tolist()
        [6.0]
    """
    if is_grads_batched:
        raise ValueError("grad: is_grads_batched is True; write paddle.compat.func.vmap of paddle.compat.func.vjp")
    wanted = [inputs] if isinstance(inputs, Tensor) else [*inputs]
    given = [grad_outputs] if isinstance(grad_outputs, Tensor) else grad_outputs
    unused = bool(allow_unused) or materialize_grads
    found = _grad(outputs, wanted, given, retain_graph, create_graph, allow_unused=unused)
    return tuple(zeros_like(x) if g is None and materialize_grads else g for g, x in zip(found, wanted, strict=True))


class Function(PyLayer):
    """paddle.autograd.PyLayer whose backward() returns a gradient, or None, for each argument of forward().

    The context has `saved_tensors` and `needs_input_grad`. A class with setup_context(ctx, inputs, output) has a
    forward() without a context. Nones after the gradients of all arguments are left out.

    Raises:
        ValueError: backward() returns more gradients than forward() has arguments.

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
        made = vars(cls)
        if "setup_context" in made and "forward" in made:
            setup = made["setup_context"].__func__
            cls.forward = staticmethod(_with_context(cls.forward, setup))  # type: ignore[method-assign]
        for name, wrap in (("forward", _forward), ("backward", _backward)):
            if name in vars(cls):
                setattr(cls, name, staticmethod(wrap(getattr(cls, name))))
        super().__init_subclass__(**more)


def _with_context(function: Any, setup: Any) -> Any:
    """Return a forward() whose context is set up after it has run."""

    @functools.wraps(function)
    def forward(ctx: Any, *args: Any) -> Any:
        output = function(*args)
        setup(ctx, args, output)
        return output

    return forward


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
        count = len(ctx._kinds)
        if any(g is not None for g in found[count:]):
            raise ValueError(f"backward() returns {len(found)} gradients; expected {count}, as forward() has arguments")
        found = found[:count] + [None] * (count - len(found))
        kept = [[g] if kind is None else [None] * kind for g, kind in zip(found, ctx._kinds, strict=True)]
        return tuple([g for part in kept for g in part])

    return backward


_document(globals())
