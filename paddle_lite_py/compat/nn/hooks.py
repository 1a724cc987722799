"""Hooks of a layer's backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...autograd.py_layer import PyLayer
from ...eager.tensor import Tensor

__all__ = ["register_full_backward_hook", "register_full_backward_pre_hook"]


class _HookedCall:
    """One call of a layer: its hook, and the gradients of its outputs once they are known."""

    def __init__(self, layer: Any, hook: Any) -> None:
        self.layer, self.hook = layer, hook
        self.received: tuple[Any, ...] = ()
        self.inputs = 0
        self.has_gradient = False


class _Entrance(PyLayer):
    """The identity before a layer: its gradients are those of the layer's inputs."""

    @staticmethod
    def forward(ctx: Any, call: _HookedCall, places: list[int], *tensors: Tensor) -> Any:
        ctx.call, ctx.places = call, places
        return tuple([t.clone() for t in tensors])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        call = ctx.call
        given: list[Any] = [None] * call.inputs
        for place, grad in zip(ctx.places, grads, strict=True):
            given[place] = grad
        made = call.hook(call.layer, tuple(given), call.received)
        if made is None:
            return grads
        found = list(made) if isinstance(made, list | tuple) else [made]
        if len(found) != call.inputs:
            raise ValueError(
                f"register_full_backward_hook: the hook returned {len(found)} gradients; expected {call.inputs}, one "
                "for each input"
            )
        return tuple([found[place] for place in ctx.places])


class _Exit(PyLayer):
    """The identity after a layer: its gradients are those of the layer's outputs."""

    @staticmethod
    def forward(ctx: Any, seen: Any, *tensors: Tensor) -> Any:
        ctx.seen = seen
        return tuple([t.clone() for t in tensors])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        made = ctx.seen(grads)
        return grads if made is None else tuple(made) if isinstance(made, list | tuple) else (made,)


def _at_exit(outputs: Any, seen: Any) -> Any:
    """Return the outputs of a layer behind an identity that reports their gradients."""
    several = isinstance(outputs, list | tuple)
    listed = list(outputs) if several else [outputs]
    places = [i for i, t in enumerate(listed) if isinstance(t, Tensor) and not t.stop_gradient]
    if not places:
        return outputs
    for i, t in zip(places, _Exit.apply(seen, *[listed[i] for i in places]), strict=True):
        listed[i] = t
    return type(outputs)(listed) if several else listed[0]


class BackwardHandle:
    """Removes a hook of the backward pass.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Linear(2, 1)
        >>> paddle.compat.nn.register_full_backward_hook(net, print).remove()
        >>> net(paddle.ones([1, 2])).sum().backward()
    """

    def __init__(self, *hooks: Any) -> None:
        self._hooks = hooks

    def remove(self) -> None:
        """Remove the hook."""
        for hook in self._hooks:
            hook.remove()


def register_full_backward_hook(layer: Any, hook: Callable[..., Any]) -> BackwardHandle:
    """Call a function with the gradients of a layer's inputs and outputs, when they have been computed.

    Arguments:
        layer: the layer.
        hook: hook(layer, grad_input, grad_output); what it returns, unless None, replaces grad_input.

    Returns:
        A handle with remove().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.ReLU()
        >>> handle = paddle.compat.nn.register_full_backward_hook(net, lambda layer, i, o: print(i[0].tolist()))
        >>> x = paddle.to_tensor([-1.0, 2.0], stop_gradient=False)
        >>> net(x).sum().backward()
        [0.0, 1.0]
    """
    calls: list[_HookedCall] = []

    def before(layer: Any, inputs: tuple[Any, ...]) -> Any:
        call = _HookedCall(layer, hook)
        calls.append(call)
        call.inputs = len(inputs)
        places = [i for i, t in enumerate(inputs) if isinstance(t, Tensor) and not t.stop_gradient]
        call.has_gradient = bool(places)
        if not places:
            return None
        made = list(inputs)
        for i, t in zip(places, _Entrance.apply(call, places, *[inputs[i] for i in places]), strict=True):
            made[i] = t
        return tuple(made)

    def after(_layer: Any, _inputs: Any, outputs: Any) -> Any:
        call = calls.pop()

        def seen(grads: tuple[Any, ...]) -> None:
            call.received = grads
            if not call.has_gradient:
                hook(call.layer, (None,) * call.inputs, grads)

        return _at_exit(outputs, seen)

    return BackwardHandle(layer.register_forward_pre_hook(before), layer.register_forward_post_hook(after))


def register_full_backward_pre_hook(layer: Any, hook: Callable[..., Any]) -> BackwardHandle:
    """Call a function with the gradients of a layer's outputs, before those of its inputs are computed.

    Arguments:
        layer: the layer.
        hook: hook(layer, grad_output); what it returns, unless None, replaces grad_output.

    Returns:
        A handle with remove().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.ReLU()
        >>> handle = paddle.compat.nn.register_full_backward_pre_hook(net, lambda layer, grads: (grads[0] * 2,))
        >>> x = paddle.to_tensor([-1.0, 2.0], stop_gradient=False)
        >>> net(x).sum().backward()
        >>> x.grad.tolist()
        [0.0, 2.0]
    """

    def after(layer: Any, _inputs: Any, outputs: Any) -> Any:
        return _at_exit(outputs, lambda grads: hook(layer, grads))

    return BackwardHandle(layer.register_forward_post_hook(after))
