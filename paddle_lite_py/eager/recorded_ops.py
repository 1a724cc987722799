"""Recorded ops, in the order in which they were called, and their replay: by JAX while it traces, or op by op.

Ops that wait are such a record (see deferred), and so is what a function did that becomes one op (see fusion).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp

from ..core.arrays import is_array
from ..host.tier import added
from ..registry.bound import BoundOp
from . import tape
from .execute import forward_of
from .op_errors import explain
from .pending import Failed
from .tensor import wrap

Arrays = Sequence[Any]


class CallStep(NamedTuple):
    """An op that waits.

    Its arguments are results so far, by number, or ~n for the n-th array from outside; `takes` says of which of them a
    gradient is recorded, if it is. Its own results are `n` ones from `first` on.
    """

    bound: BoundOp
    places: tuple[int, ...]
    takes: tuple[bool, ...] | None
    first: int
    n: int


class BackwardStep(NamedTuple):
    """The gradients of a graph, which are results as well: one for each leaf.

    Of its nodes `calls` has the numbers of the calls that they stand for, -1 for others, whose arrays are at `places`.
    """

    calls: tuple[int, ...]
    key: tape.Key
    places: tuple[int, ...]
    leaves: tuple[tuple[tuple[int, ...], Any], ...]  # shapes and dtypes


Steps = Sequence[CallStep | BackwardStep]


class TracedSteps:
    """Steps, one after the other, while JAX traces: their results, and what gives the gradients of recorded calls.

    Arguments:
        outside: arrays from outside. kept: calls of which is wanted what their gradients need.
    """

    def __init__(self, outside: Arrays, steps: Steps, kept: frozenset[int] = frozenset()) -> None:
        self._outside, self._steps, self._kept = outside, steps, kept
        self._differentiated = {at for s in steps if isinstance(s, BackwardStep) for at in s.calls}
        self.values: list[Any] = []
        self.gradients: dict[int, Any] = {}  # from cotangents to gradients, by call
        self.residuals: dict[int, Any] = {}
        self.needed: set[int] = set()  # results that gradients need

    def run(self) -> Self:
        """Do all steps."""
        for at, step in enumerate(self._steps):
            self.do(at, step)
        return self

    def at(self, places: tuple[int, ...]) -> tuple[Any, ...]:
        """Arrays by their places."""
        return tuple([self.values[i] if i >= 0 else self._outside[~i] for i in places])

    def do(self, at: int, step: CallStep | BackwardStep) -> None:
        """Do the step of this number."""
        if isinstance(step, CallStep):
            out = self.called(at, step, self.at(step.places))
            self.values += out if isinstance(out, tuple | list) else (out,)
        else:
            found = zip(self.backward(step), step.leaves, strict=True)
            self.values += [jnp.zeros(*leaf) if g is None else g for g, leaf in found]

    def called(self, at: int, call: CallStep, data: tuple[Any, ...]) -> Any:
        """Return the results of a call."""
        if call.takes is None:
            out = call.bound.fn(*data)
            return out if call.bound.op.grad else jax.lax.stop_gradient(out)  # the steps may be differentiated as one
        if at in self._kept:
            return self._with_residuals(at, call, call.takes, data)
        if at not in self._differentiated:
            return call.bound.fn(*data)
        if call.bound.keeps:
            out, self.gradients[at] = forward_of(call.bound).traced(call.takes, data)
        else:
            out, self.gradients[at] = call.bound.traced(data, call.takes)
        return out

    def _with_residuals(self, at: int, call: CallStep, takes: tuple[bool, ...], data: tuple[Any, ...]) -> Any:
        """Return the same where a node keeps residuals: arguments and results among them are not given once more."""
        data = tuple([jnp.asarray(d) if d.__class__ is int else d for d in data])  # residuals are arrays
        outs, residuals = self._forward(call, takes, data)
        pull, pool, n = residuals.pull(), (*data, *outs, *residuals.arrays), len(data)
        self.residuals[at] = residuals
        self.gradients[at] = lambda cts: pull.vjp([pool[i] for i in pull.kept], cts, ())
        self.needed |= {call.first + i - n for i in pull.kept if n <= i < n + len(outs)}
        return outs

    def _forward(self, call: CallStep, takes: tuple[bool, ...], data: tuple[Any, ...]) -> Any:
        return forward_of(call.bound).function(takes)(*data)

    def backward(self, step: BackwardStep) -> list[Any]:
        """Return the gradients of a graph."""
        structure, others = tape.Structure.of(step.key), iter(self.at(step.places))
        held = [
            self.gradients[at] if at >= 0 else tuple([next(others) for _ in range(n)])
            for at, n in zip(step.calls, structure.sizes(), strict=True)
        ]
        return tape.walk(structure, held, (), self._pull, self._add)

    _add: Callable[[Any, Any], Any] = staticmethod(operator.add)

    def _pull(self, bound: BoundOp, held: Any, cotangents: tuple[Any, ...], mask: tuple[bool, ...]) -> list[Any]:
        return held(cotangents) if callable(held) else bound.vjp(held, cotangents, mask)


class AbstractSteps(TracedSteps):
    """The same for shapes and dtypes, to see how what is wanted is nested: it traces only functions with residuals."""

    def do(self, at: int, step: CallStep | BackwardStep) -> None:
        """Do the step of this number."""
        if isinstance(step, BackwardStep):
            self.values += [jax.ShapeDtypeStruct(*leaf) for leaf in step.leaves]
            return
        if step.bound.lazy is None:  # an update, which is the last step, so that nothing reads its results
            self.values += [jax.ShapeDtypeStruct((), bool)] * step.n
            return
        data = self.at(step.places)
        self.values += step.bound.lazy.results(data).specs
        if step.takes is not None and at in self._kept:
            self._with_residuals(at, step, step.takes, data)

    def _forward(self, call: CallStep, takes: tuple[bool, ...], data: tuple[Any, ...]) -> Any:
        return jax.eval_shape(forward_of(call.bound).function(takes), *data)


class OneByOne(TracedSteps):
    """The same op by op, for what is not worth a program of its own, or has none."""

    def do(self, at: int, step: CallStep | BackwardStep) -> None:
        """Do the step of this number; where it fails, the others go on."""
        before = len(self.values)
        failed = next((d for d in self.at(step.places) if d.__class__ is Failed), None)
        if failed is None and isinstance(step, BackwardStep):
            failed = next((f for i in step.calls if (f := self.gradients.get(i)).__class__ is Failed), None)
        if failed is None:
            try:
                super().do(at, step)
            except Exception as e:
                failed = Failed(self._explained(step, e))
        if failed is not None:
            self.gradients[at] = failed
            n = step.n if isinstance(step, CallStep) else len(step.leaves)
            self.values[before:] = [failed] * n

    def _explained(self, step: CallStep | BackwardStep, error: Exception) -> Exception:
        if isinstance(step, BackwardStep):
            return error
        args = [wrap(d) if is_array(d) else d for d in self.at(step.places)]
        return explain(step.bound, tuple(args), error)

    def called(self, at: int, call: CallStep, data: tuple[Any, ...]) -> Any:
        """Return the results of a call."""
        if call.takes is None or not call.bound.keeps:
            out = call.bound.jitted(*data)
            if call.takes is not None:
                mask = call.takes
                self.gradients[at] = lambda cts: call.bound.gradients(data, cts, mask)
            return out
        out, pull, saved = forward_of(call.bound)(call.takes, data)
        self.residuals[at] = pull, saved
        mask = tuple([t for t in call.takes if t])
        self.gradients[at] = lambda cts: pull.gradients(saved, cts, mask)
        return out

    _add = staticmethod(added)

    def _pull(self, bound: BoundOp, held: Any, cotangents: tuple[Any, ...], mask: tuple[bool, ...]) -> list[Any]:
        return held(cotangents) if callable(held) else bound.gradients(held, cotangents, mask)


def one_by_one(steps: Steps, outside: Arrays) -> tuple[dict[int, Any], dict[int, Any]]:
    """Compute the results of LazyProgram.run() op by op."""
    done = OneByOne(outside, steps).run()
    return dict(enumerate(done.values)), done.residuals
