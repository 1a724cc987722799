"""Fusion: what a function did with its tensors, a few ops one after the other, as one bound op and one call of XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ..core.dtypes import is_inexact
from ..eager.recorded_ops import CallStep, TracedSteps
from ..eager.tensor import Tensor
from ..registry.bound import BoundOp
from ..registry.op import Op

RecordedCalls = list[tuple[BoundOp, tuple[Any, ...], Any]]  # calls of ops: what was called, with what, and the result


def fused(name: str, seen: RecordedCalls, out: list[Tensor], tensors: list[Tensor]) -> BoundOp | None:
    """Return the calls as a bound op from the tensors to the results; None where they are more than that."""
    record = _Record(tensors)
    if not all(record.add(*call) for call in seen):
        return None
    results = [record.place.get(id(t), -1) for t in out]
    checks = _checks(record.steps)
    if checks is None or min(results) < 0:
        return None
    bounds = [step.bound for step in record.steps]
    kinds: dict[str, Any] = {kind: any(getattr(b.op, kind) for b in bounds) for kind in ("loops", "keeps")}
    kinds["windows"] = any(b.windows for b in bounds)
    op = Op(_replay(name, record, results), name, **kinds)
    op.recorded = tuple(record.steps), tuple(record.numbers), tuple(results)
    if checks:
        op.input_check = lambda attrs: _together(checks, record.numbers)
    whole = BoundOp(op, op.fn)
    flows = [record.flows[i] for i in results]
    whole.differentiable = flows[0] if len(flows) == 1 else tuple(flows)
    return whole


class _Record:
    """Calls of ops on some tensors, and then on what they gave: steps whose numbers come from outside as well."""

    def __init__(self, tensors: list[Tensor]) -> None:
        self.steps: list[CallStep] = []
        self.numbers: list[Any] = []
        self.place = {id(t): ~i for i, t in enumerate(tensors)}
        self.flows = {~i: is_inexact(t._payload.dtype) for i, t in enumerate(tensors)}  # by place, if a gradient may
        self._n_tensors, self._n_results = len(tensors), 0

    def add(self, bound: BoundOp, args: tuple[Any, ...], made: Any) -> bool:
        """Add a call; False if it is more than an op on what is there."""
        places = [self._place(a) for a in args]
        if None in places or bound.op.effect:
            return False
        into = bound.op.grad and any(self.flows.get(at) for at in places)  # type: ignore[arg-type]
        outs = made if isinstance(made, tuple) else (made,)
        self.steps.append(CallStep(bound, tuple(places), None, self._n_results, len(outs)))  # type: ignore[arg-type]
        for t in outs:
            self.place[id(t)] = self._n_results
            self.flows[self._n_results] = into and is_inexact(t._payload.dtype)
            self._n_results += 1
        return True

    def _place(self, arg: Any) -> int | None:
        if isinstance(arg, Tensor):
            return self.place.get(id(arg))
        if not isinstance(arg, int | float):
            return None
        self.numbers.append(arg)
        return ~(self._n_tensors + len(self.numbers) - 1)


def _checks(steps: list[CallStep]) -> list[Any] | None:
    """Each step with the check of its arguments; None where one looks at what another step makes, or at its result."""
    if any(step.bound.evaluate_rule(step.bound.op.output_check) for step in steps):
        return None
    found = [
        (step, check) for step in steps if (check := step.bound.evaluate_rule(step.bound.op.input_check)) is not None
    ]
    return None if any(at >= 0 for step, _ in found for at in step.places) else found


def _together(checks: list[Any], numbers: list[Any]) -> Callable[..., None]:
    if len(checks) == 1 and checks[0][0].places == tuple(range(-1, ~len(checks[0][0].places), -1)):
        (_, check), n = checks[0], len(checks[0][0].places)
        return lambda *arrays: check(*arrays[:n])

    def check_all(*arrays: Any) -> None:
        outside = (*arrays, *numbers)
        for step, check in checks:
            check(*[outside[~at] for at in step.places])

    return check_all


def _replay(name: str, record: _Record, results: list[int]) -> Callable[..., Any]:
    steps, numbers = tuple(record.steps), tuple(record.numbers)

    def fn(*arrays: Any) -> Any:
        # Weak arrays are what an op takes numbers as.
        values = TracedSteps((*arrays, *map(jnp.asarray, numbers)), steps).run().values
        return values[results[0]] if len(results) == 1 else tuple([values[i] for i in results])

    fn.__name__ = fn.__qualname__ = name
    return fn
