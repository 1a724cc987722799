"""Gradients, appended to a program under construction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..eager.tensor import Parameter, Tensor
from ..ir.graph import ancestors
from ..ops.creation import ones_like
from ..tracing.frame import TracedValue
from ..tracing.reopen import reopen
from .recompute import recompute

if TYPE_CHECKING:
    from .recording import RecordingBuilder


def append_backward(
    builder: RecordingBuilder,
    loss: Tensor,
    parameters: Iterable[Any] | None = None,
    no_grad_set: Iterable[Any] | None = None,
    checkpoints: Sequence[Any] | None = None,
) -> list[tuple[Parameter, Tensor | None]]:
    """Append the gradients of a loss; see static.append_backward()."""
    root = builder.value_of(loss)
    if any(n != 1 for n in root.shape):
        raise ValueError(
            f"append_backward: loss is {loss.dtype.name}{[*loss.shape]}; expected one number, such as .mean()"
        )
    if kept := checkpoints or builder.checkpoints:
        recompute(builder, [_value(builder, c) for c in kept])
    if parameters is None:
        params = [
            p for p in builder.program.all_parameters()[::-1] if not p.stop_gradient
        ]  # as the reference lists them
    else:
        params = [_parameter(builder, p) for p in parameters]
    stopped = _values(builder, no_grad_set)
    reached = _reached(builder, [root], stopped) - stopped
    found = {p.name: (p, v) for p in params if not p.stop_gradient for v in _versions(builder, p) if v in reached}
    grads = _append(builder, [root], [None], [v for _, v in found.values()], stopped) if found else []
    pairs = [(p, g) for (p, _), g in zip(found.values(), grads, strict=True) if g is not None]
    for p, g in pairs:
        g._payload.name = f"{p.name}@GRAD"
    if builder.change_gradients is not None:
        return builder.change_gradients(pairs)
    grads_of = {p.name: g for p, g in pairs}
    return [(p, grads_of.get(p.name)) for p in params]


def append_gradients(
    builder: RecordingBuilder, targets: Any, inputs: Any, starts: Any = None, no_grad_set: Iterable[Any] | None = None
) -> list[Tensor | None]:
    """Append the gradients of targets with respect to inputs; see static.gradients()."""
    given = list(_listed(starts)) if starts is not None else [None] * len(_listed(targets))
    own = {id(t): (t, g) for t, g in zip(_listed(targets), given, strict=True)}
    stopped = _values(builder, no_grad_set)
    pairs = [(v, g) for t, g in zip(_listed(targets), given, strict=True) if (v := builder.value_of(t)) not in stopped]
    roots, begun = [v for v, _ in pairs], [g for _, g in pairs]
    reached = _reached(builder, roots, set())
    # Values with stop_gradient get none from elsewhere.
    asked = {
        id(t): next((v for v in _versions(builder, t)[::-1] if v in reached), builder.value_of(t))
        for t in _listed(inputs)
        if not t.stop_gradient
    }
    made = _append(builder, roots, begun, list(asked.values()), stopped) if roots and asked else []
    found = dict(zip(asked, made, strict=False))
    return [_own(*own[id(t)]) if (g := found.get(id(t))) is None and id(t) in own else g for t in _listed(inputs)]


def _own(target: Tensor, start: Tensor | None) -> Tensor:
    """Return the gradient of a target with respect to itself, which has stop_gradient."""
    return ones_like(target) if start is None else start


def _append(
    builder: RecordingBuilder,
    roots: list[TracedValue],
    starts: list[Any],
    wrt: list[TracedValue],
    stopped: set[TracedValue],
) -> list[Tensor | None]:
    held = [(v, v.requires_grad) for v in stopped]
    if stopped:
        reopen(builder.root, roots, lambda v: True)
    for v in stopped:
        v.requires_grad = False
    made = {v for op in builder.root.block.ops for v in op.outputs}
    rooted = [r if r in made else builder.value_of(builder.handle(r).clone()) for r in roots]
    builder.version += 1
    found = builder.gradient(rooted, starts, wrt, retain_graph=True, create_graph=True)
    for v, needed in held:
        v.requires_grad = needed
    for v, g in zip(wrt, found, strict=True):
        if g is not None:
            g._payload.name = f"{v.name}@GRAD"
    return found


def _reached(builder: RecordingBuilder, roots: list[TracedValue], stopped: set[TracedValue]) -> set[TracedValue]:
    """Return the values that operators behind some values read."""
    ops = ancestors(builder.root.block.ops, roots, stopped)
    return {*roots, *(v for op in ops for v in op.inputs if isinstance(v, TracedValue))}


def _versions(builder: RecordingBuilder, param: Any) -> list[TracedValue]:
    """Return the values that a parameter has had in the program: the first one, and that after the last update."""
    now = param._payload if isinstance(param._payload, TracedValue) else None
    return [v for v in (builder.captured(param), now) if v is not None]


def _parameter(builder: RecordingBuilder, given: Any) -> Any:
    """Return the parameter of a program that is given, or named.

    Raises:
        ValueError: if the program has none of that name.
    """
    if isinstance(given, Tensor):
        return given
    known = builder.program.parameters
    if given not in known:
        raise ValueError(f"parameter_list names '{given}', which is no parameter of the program")
    return known[given]


def _value(builder: RecordingBuilder, given: Any) -> TracedValue:
    return builder.value_of(given if isinstance(given, Tensor) else builder.program.global_block().var(given))


def _values(builder: RecordingBuilder, given: Iterable[Any] | None) -> set[TracedValue]:
    return {_value(builder, g) for g in given or ()}


def _listed(given: Any) -> Sequence[Any]:
    return given if isinstance(given, list | tuple) else [given]
