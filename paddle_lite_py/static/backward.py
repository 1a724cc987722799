"""Gradients in a static program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.interpreter import state
from ..core.no_effect import ONE_PROCESS, Refused, no_effect
from ..eager.tensor import Parameter, Tensor
from . import differentiation
from .builder import StaticBuilder

__all__ = ["append_backward", "gradients"]


@no_effect(callbacks=Refused("nothing is called while gradients are built"), distop_context=ONE_PROCESS)
def append_backward(
    loss: Tensor,
    parameter_list: Iterable[Any] | None = None,
    no_grad_set: Iterable[Any] | None = None,
    callbacks: Any = None,
    checkpoints: Sequence[Any] | None = None,
    distop_context: Any = None,
) -> list[tuple[Parameter, Tensor | None]]:
    """Append the gradients of a loss with respect to parameters to the program.

    Arguments:
        loss: a scalar tensor.
        parameter_list: parameters or their names; None: all trainable ones.
        no_grad_set: tensors or names that no gradient passes through.
        checkpoints: tensors that are kept for the backward pass; values between them are recomputed.

    Returns:
        A list of (parameter, gradient) pairs, the last parameter first, or in the order of parameter_list, with None
            where the loss does not depend on a parameter. The gradient of `w` is named `w@GRAD`.

    Raises:
        ValueError: if loss is not a scalar.

    Examples:
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 2])
        ...     pairs = append_backward(paddle.nn.Linear(2, 1)(x).mean())
        >>> paddle.disable_static()
        >>> [g.shape for p, g in pairs]
        [paddle.Size([1]), paddle.Size([2, 1])]
    """
    builder = _builder("append_backward")
    return differentiation.append_backward(builder, loss, parameter_list, no_grad_set, checkpoints)


def gradients(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Iterable[Any] | None = None
) -> list[Tensor | None]:
    """Append the gradients of targets with respect to inputs; they can be differentiated again.

    Arguments:
        targets: a tensor or a list of tensors; the gradients are summed over them.
        inputs: a tensor or a list of tensors.
        target_gradients: gradient with respect to each target; None: ones.
        no_grad_set: tensors or names that no gradient passes through.

    Returns:
        A list with a gradient for each input, None where targets do not depend on it.

    Examples:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     x.stop_gradient = False
        ...     (dx,) = gradients(x * x, x)
        ...     (ddx,) = gradients(dx, x)
        >>> paddle.disable_static()
        >>> feed = {"x": np.array([1.0, 3.0], "float32")}
        >>> [a.tolist() for a in paddle.static.Executor().run(main, feed, [dx, ddx])]
        [[2.0, 6.0], [2.0, 2.0]]
    """
    return differentiation.append_gradients(_builder("gradients"), targets, inputs, target_gradients, no_grad_set)


def _builder(what: str) -> StaticBuilder:
    if not isinstance(state.interpreter, StaticBuilder):
        raise RuntimeError(f"{what}: no program is under construction; call paddle.enable_static() first")
    return state.interpreter
