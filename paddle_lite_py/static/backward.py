"""Gradients in a static program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..core.interpreter import state
from ..core.no_effect import ONE_PROCESS, Refused, no_effect
from ..eager.tensor import Parameter, Tensor, wrap
from ..ir.graph import ancestors
from ..ir.program import Value
from .current import current

if TYPE_CHECKING:
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
) -> list[tuple[Parameter, Tensor]]:
    """Append the gradients of a loss with respect to the parameters that it depends on.

    Arguments:
        loss: one number.
        parameter_list: parameters, or their names; all that are trained if None.
        no_grad_set: tensors, or their names, that no gradient passes.
        checkpoints: tensors that are kept for the backward pass; what lies between them is computed again.

    Returns:
        (parameter, gradient) pairs; the gradient of `w` has the name `w@GRAD`.

    Raises:
        ValueError: if loss is not one number, or depends on no parameter.

    Examples:
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 2])
        ...     pairs = append_backward(paddle.nn.Linear(2, 1)(x).mean())
        >>> paddle.disable_static()
        >>> [g.shape for p, g in pairs]
        [[2, 1], [1]]
    """
    builder = _builder("append_backward")
    root = builder.value_of(loss)
    if any(n != 1 for n in root.shape):
        raise ValueError(
            f"append_backward: loss is {loss.dtype.name}{loss.shape}; expected one number, such as .mean()"
        )
    if checkpoints:
        from .recompute import recompute

        recompute(builder, [_value(builder, c) for c in checkpoints])
    params = [_parameter(p) for p in parameter_list] if parameter_list is not None else current.main.all_parameters()
    stopped = _values(builder, no_grad_set)
    reached = {
        v for op in ancestors(builder.root.block.ops, [root], stopped) for v in op.inputs if isinstance(v, Value)
    }
    found = {p.name: (p, v) for p in params if not p.stop_gradient for v in _versions(builder, p) if v in reached}
    if not found:
        raise ValueError(f"append_backward: the loss made at {root.where} depends on none of the parameters")
    values = [v for _, v in found.values()]
    grads = _gradients(builder, [root], [None], values, stopped)
    pairs = [(p, g) for (p, _), g in zip(found.values(), grads, strict=True) if g is not None]
    for p, g in pairs:
        g._data.name = f"{p.name}@GRAD"
    return pairs


def gradients(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Iterable[Any] | None = None
) -> list[Tensor | None]:
    """The gradients of targets with respect to inputs, which may be differentiated again; None where there is none.

    Arguments:
        targets: a tensor or a list of them; their gradients are summed.
        inputs: a tensor or a list of them.
        target_gradients: for each target the gradient to start from; ones where it is None.
        no_grad_set: tensors, or their names, that no gradient passes.

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
    builder = _builder("gradients")
    roots = [builder.value_of(t) for t in _listed(targets)]
    starts = list(_listed(target_gradients)) if target_gradients is not None else [None] * len(roots)
    wrt = [builder.value_of(t) for t in _listed(inputs)]
    return _gradients(builder, roots, starts, wrt, _values(builder, no_grad_set))


def _gradients(
    builder: StaticBuilder, roots: list[Value], starts: list[Any], wrt: list[Value], stopped: set[Value]
) -> list[Tensor | None]:
    for v in stopped:
        v.requires_grad = False
    made = {v for op in builder.root.block.ops for v in op.outputs}
    rooted = [r if r in made else builder.value_of(wrap(r).clone()) for r in roots]
    builder.version += 1
    found = builder.gradient(rooted, starts, wrt, retain_graph=True, create_graph=True)
    for op in builder.root.block.ops:
        for v in op.outputs:
            v.frame = builder.root
    for v, g in zip(wrt, found, strict=True):
        if g is not None:
            g._data.name = f"{v.name}@GRAD"
    return found


def _versions(builder: StaticBuilder, param: Any) -> list[Value]:
    """The values that a parameter has had in the program: the first one, and that after the last update."""
    now = param._data if isinstance(param._data, Value) else None
    return [v for v in (builder.captured(param), now) if v is not None]


def _parameter(given: Any) -> Any:
    if isinstance(given, Tensor):
        return given
    if given not in current.main.parameters:
        raise ValueError(f"parameter_list names '{given}', which is no parameter of the program")
    return current.main.parameters[given]


def _value(builder: StaticBuilder, given: Any) -> Value:
    return builder.value_of(given if isinstance(given, Tensor) else current.main.global_block().var(given))


def _values(builder: StaticBuilder, given: Iterable[Any] | None) -> set[Value]:
    return {_value(builder, g) for g in given or ()}


def _listed(given: Any) -> Sequence[Any]:
    return given if isinstance(given, list | tuple) else [given]


def _builder(what: str) -> Any:
    from .builder import StaticBuilder

    if not isinstance(state.interpreter, StaticBuilder):
        raise RuntimeError(f"{what}: no program is under construction; call paddle.enable_static() first")
    return state.interpreter
