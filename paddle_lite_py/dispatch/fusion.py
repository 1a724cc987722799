"""Fusion: what a function did with its tensors, a few ops one after the other, as one bound op and one call of XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..core.dtypes import is_inexact
from ..eager.tensor import Tensor
from ..registry.bound import BoundOp
from ..registry.op import Op

RecordedCalls = list[tuple[BoundOp, tuple[Any, ...], Any]]  # calls of ops: what was called, with what, and the result


NUMBER = -1


class FusedStep(NamedTuple):
    """One of the ops. Its arguments are numbers, or tensors: those of the call, and then the results so far."""

    bound: BoundOp
    places: tuple[int, ...]  # of tensors; NUMBER: one of the numbers
    numbers: tuple[Any, ...]
    flows: tuple[bool, ...]  # for each of its results whether a gradient may flow from it

    def arguments(self, values: Any, number: Callable[[Any], Any] = lambda n: n) -> list[Any]:
        """The arguments, given what stands for the tensors."""
        return [number(n) if at == NUMBER else values[at] for at, n in zip(self.places, self.numbers, strict=True)]


def fused(name: str, seen: RecordedCalls, out: list[Tensor], tensors: list[Tensor]) -> BoundOp | None:
    """The calls as a bound op from the tensors to the results; None where they are more than that."""
    held, flows, steps = list(tensors), [is_inexact(t._data.dtype) for t in tensors], []
    for bound, args, made in seen:
        step = _step(bound, args, made, held, flows)
        if step is None:
            return None
        steps.append(step)
        held += made if isinstance(made, tuple) else (made,)
        flows += step.flows
    place = {id(t): i for i, t in enumerate(held)}
    results = [place.get(id(t), 0) for t in out]
    checks = _checks(steps, len(tensors))
    if checks is None or min(results) < len(tensors):
        return None
    ops = [step.bound.op for step in steps]
    kinds: dict[str, Any] = {kind: any(getattr(op, kind) for op in ops) for kind in ("loops", "keeps")}
    kinds["windows"] = any(step.bound.windows for step in steps)
    op = Op(_replayed(name, steps, results), name, **kinds)
    if checks:
        op.input_check = lambda attrs: _together(checks)
    whole = BoundOp(op, op.fn)
    whole.differentiable = flows[results[0]] if len(results) == 1 else tuple([flows[i] for i in results])
    return whole


def _step(bound: BoundOp, args: tuple[Any, ...], made: Any, held: list[Tensor], flows: list[bool]) -> FusedStep | None:
    place = {id(t): i for i, t in enumerate(held)}
    places = [place.get(id(a)) if isinstance(a, Tensor) else NUMBER for a in args]
    numbers = [None if isinstance(a, Tensor) else a for a in args]
    if None in places or bound.op.effect or not all(n is None or isinstance(n, int | float) for n in numbers):
        return None
    into = bound.op.grad and any(at != NUMBER and flows[at] for at in places if at is not None)
    out = [into and is_inexact(t._data.dtype) for t in (made if isinstance(made, tuple) else (made,))]
    return FusedStep(bound, tuple(places), tuple(numbers), tuple(out))  # type: ignore[arg-type]


def _checks(steps: list[FusedStep], n: int) -> list[Any] | None:
    """Each step with the check of its arguments; None where one looks at what another step makes, or at its result."""
    if any(step.bound.derived(step.bound.op.output_check) for step in steps):
        return None
    found = [(step, check) for step in steps if (check := step.bound.derived(step.bound.op.input_check)) is not None]
    return None if any(max(step.places) >= n for step, _ in found) else found


def _together(checks: list[Any]) -> Callable[..., None]:
    if len(checks) == 1 and checks[0][0].places == tuple(range(len(checks[0][0].places))):
        (_, check), n = checks[0], len(checks[0][0].places)
        return lambda *arrays: check(*arrays[:n])

    def check_all(*arrays: Any) -> None:
        for step, check in checks:
            check(*step.arguments(arrays))

    return check_all


def _replayed(name: str, steps: list[FusedStep], results: list[int]) -> Callable[..., Any]:
    def fn(*arrays: Any) -> Any:
        values = list(arrays)
        for step in steps:
            made = step.bound.fn(*step.arguments(values, jnp.asarray))  # weak arrays, as which an op takes numbers
            made = made if isinstance(made, tuple) else (made,)
            values += made if step.bound.op.grad else map(jax.lax.stop_gradient, made)
        return values[results[0]] if len(results) == 1 else tuple([values[i] for i in results])

    fn.__name__ = fn.__qualname__ = name
    return fn
