"""Recomputation: what a part of a model computes is not kept for backward, but computed again by it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ... import autograd
from ...core.interpreter import state
from ...eager.random import get_rng_state, set_rng_state
from ...eager.tensor import Tensor
from ...tracing.builder import Builder
from ...tracing.recompute import recomputed

__all__ = ["recompute", "recompute_sequential"]


class _Again(autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, call: Callable[..., Any], preserve: bool, *tensors: Tensor) -> Any:
        ctx.call, ctx.casting = call, state.casting
        ctx.random = get_rng_state() if preserve else None
        ctx.save_for_backward(*tensors)
        return call(tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        inputs = [_own(t) for t in ctx.saved_tensor()]
        before = get_rng_state(), state.casting
        if ctx.random is not None:
            set_rng_state(ctx.random)
        state.casting = ctx.casting
        try:
            with autograd.enable_grad():
                out = ctx.call(inputs)
        finally:
            set_rng_state(before[0])
            state.casting = before[1]
        outputs = [t for t in (out if isinstance(out, (list, tuple)) else [out]) if isinstance(t, Tensor)]
        pairs = [(t, g) for t, g in zip(outputs, grads, strict=True) if not t.stop_gradient]
        autograd.backward([t for t, _ in pairs], [g for _, g in pairs])
        return tuple(t.grad for t in inputs)


def _own(t: Tensor) -> Tensor:
    """Return the tensor as a leaf, which takes the gradient for itself."""
    leaf = t.detach()
    leaf.stop_gradient = t.stop_gradient
    return leaf


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Compute function(*args, **kwargs) and recompute its activations in the backward pass, to save memory.

    In a static function the operators become one, which XLA recomputes for the gradient.

    Arguments:
        function: a layer, or a function of tensors.
        args: its arguments.
        kwargs: its keyword arguments; and use_reentrant (accepted), and preserve_rng_state (True: recompute with the
            same random numbers).

    Returns:
        The result of the function.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> from paddle_lite_py.distributed.fleet.utils import recompute
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> recompute(paddle.exp, x).sum().backward()
        >>> bool((x.grad == x.exp()).all())
        True
    """
    kwargs.pop("use_reentrant", None)
    preserve = kwargs.pop("preserve_rng_state", True)
    places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    keys = [k for k, a in kwargs.items() if isinstance(a, Tensor)]

    def call(tensors: Sequence[Tensor]) -> Any:
        given, named = list(args), dict(kwargs)
        for i, t in zip(places, tensors, strict=False):
            given[i] = t
        named.update(zip(keys, tensors[len(places) :], strict=True))
        return function(*given, **named)

    tensors = [*(args[i] for i in places), *(kwargs[k] for k in keys)]
    function = state.interpreter.callee(function)
    if isinstance(state.interpreter, Builder):
        return recomputed(state.interpreter, lambda: call(tensors))
    if not state.interpreter.is_eager or all(t.stop_gradient for t in tensors):
        return call(tensors)
    return _Again.apply(call, preserve, *tensors)


def recompute_sequential(ctx: dict[str, Any] | None, functions: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    """Apply layers in order, in segments whose activations are recomputed in the backward pass.

    Arguments:
        ctx: {"segments": number of segments}; 1 by default.
        functions: layers, or a Sequential.
        args: arguments of the first layer.
        kwargs: further options; see recompute().

    Returns:
        The result of the last layer.
    """
    layers = list(functions)
    size = max(len(layers) // (ctx or {}).get("segments", 1), 1)
    for i in range(0, len(layers), size):
        out = recompute(_Chain(layers[i : i + size]), *args, **kwargs)
        args = out if isinstance(out, tuple) else (out,)
    return args if len(args) > 1 else args[0]


def check_recompute_necessary(inputs: Sequence[Any]) -> None:
    """Warn where no input takes a gradient, since nothing would be computed again."""
    if not any(isinstance(t, Tensor) and not t.stop_gradient for t in inputs):
        warnings.warn("recompute: no input takes a gradient, so that none flows through the part", stacklevel=3)


class _Chain:
    def __init__(self, layers: list[Any]) -> None:
        self.layers = layers

    def __call__(self, *args: Any) -> Any:
        for layer in self.layers:
            out = layer(*args)
            args = out if isinstance(out, tuple) else (out,)
        return out
