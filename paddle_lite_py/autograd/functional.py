"""Gradients: backward() and grad() as functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.errors import NoGradientError
from ..core.interpreter import run_backward, state
from ..core.no_effect import NOT_DRAWN, Immaterial, Refused, RefusedArgumentError, no_effect
from ..eager.tensor import Tensor, wrap

Tensors = Tensor | Sequence[Tensor]


@no_effect(dump_backward_graph_path=NOT_DRAWN)
def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool = False,
    *,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Compute the gradients of tensors and accumulate them in the `.grad` of the leaf tensors they depend on.

    Arguments:
        tensors: a tensor or a list of tensors.
        grad_tensors: gradients with respect to them, in the same form; None: ones.
        retain_graph: keep the graph for another backward pass. Default: False.
        dump_backward_graph_path: no effect: the backward graph is not drawn.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor(3.0, stop_gradient=False)
        >>> paddle.autograd.backward([x * x, x * 2])
        >>> x.grad.item()
        8.0
    """
    outs = _listed("tensors", tensors)
    run_backward(outs, _grads("grad_tensors", grad_tensors, len(outs)), retain_graph)


@no_effect(
    retain_graph=Immaterial("the graph stays as it is, and goes with the tensors that were made in it"),
    only_inputs=Refused("gradients go to the inputs alone; backward() has the others"),
    dump_backward_graph_path=NOT_DRAWN,
)
def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
    *,
    dump_backward_graph_path: str | None = None,
) -> list[Tensor | None]:
    """Compute the gradients of outputs with respect to inputs, without changing any `.grad`.

    Arguments:
        outputs: a tensor or a list of tensors.
        inputs: a tensor or a list of tensors.
        grad_outputs: gradients with respect to the outputs, in the same form; None: ones.
        retain_graph: no effect: the graph lives as long as the tensors that were computed in it.
        create_graph: record the computation of the gradients, so that they can be differentiated again. Default: False.
        only_inputs: no effect: gradients are returned for the inputs alone; see backward().
        allow_unused: return None for an input that no output depends on, instead of raising. Default: False.
        no_grad_vars: tensors that no gradient passes through.

    Returns:
        A list with the gradient of each input, of the shape and dtype of the input.

    Raises:
        NoGradientError: if an output does not depend on an input and allow_unused is False.
        TypeError: if something in the place of a tensor is none.
        RefusedArgumentError: for no_grad_vars inside a static function.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor(3.0, stop_gradient=False)
        >>> (dx,) = paddle.grad(x * x * x, x, create_graph=True)
        >>> (ddx,) = paddle.grad(dx, x)
        >>> float(dx), float(ddx)
        (27.0, 18.0)
    """
    outs, ins = _listed("outputs", outputs), _listed("inputs", inputs)
    for i, t in enumerate(ins):
        if t.stop_gradient:
            raise NoGradientError(f"inputs[{i}] ('{t.name}') of grad() has stop_gradient=True, so it has no gradient")
    barred = [t for t in _listed("no_grad_vars", no_grad_vars or []) if not t.stop_gradient]
    if barred and not state.interpreter.is_eager:
        raise RefusedArgumentError(
            "grad: no_grad_vars is not available inside of a static function; detach those tensors where they are used"
        )
    blocked = [t.register_hook(_nothing) for t in barred]
    try:
        found = state.interpreter.grad(outs, ins, _grads("grad_outputs", grad_outputs, len(outs)), create_graph)
    finally:
        for handle in blocked:
            handle.remove()
    for i, (t, g) in enumerate(zip(ins, found, strict=True)):
        if g is None and not allow_unused:
            raise NoGradientError(f"no output depends on inputs[{i}] ('{t.name}'); pass allow_unused=True to get None")
    return found


def _nothing(gradient: Any) -> Any:
    """Zeros like a gradient, whatever it holds."""
    return gradient.not_equal(gradient).astype(gradient.dtype) * 0


def _listed(argument: str, tensors: Any) -> list[Tensor]:
    listed = [tensors] if isinstance(tensors, Tensor) or not isinstance(tensors, Iterable) else list(tensors)
    for t in listed:
        if not isinstance(t, Tensor):
            raise TypeError(f"{argument} is {tensors!r}; expected a tensor or a list of tensors")
    return listed


def _grads(argument: str, grads: Any, count: int) -> list[Tensor | None]:
    if grads is None:
        return [None] * count
    listed = list(grads) if isinstance(grads, list | tuple) else [grads]
    if len(listed) != count:
        raise ValueError(f"{count} outputs but {len(listed)} gradients for them")
    for g in listed:
        if g is not None and not hasattr(g, "shape"):
            raise TypeError(f"{argument} is {grads!r}; expected a tensor, or a list of tensors and None")
    return [g if g is None or isinstance(g, Tensor) else wrap(g) for g in listed]
