"""Checks of a static run against the original function: eager next to static, operator by operator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import numpy as np

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core import symbolic
from paddle_lite_py.core.errors import Where, user_frame
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.traced_number import ScalarInputs, of_call
from paddle_lite_py.eager.casting import choose_interpreter
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.ir.block import Block, Operator
from paddle_lite_py.ir.lower import concrete, read
from paddle_lite_py.tracing.effects import Argument
from paddle_lite_py.tracing.frame import CONTENTS, Replay, Write
from paddle_lite_py.tracing.owned import label_of
from paddle_lite_py.tracing.trace import LOCK

from .entry import Entry

# Relative difference that two ways of computing the same may have, by the size of a floating number in bytes.
TOLERANCE = {1: 0.25, 2: 0.03, 4: 2e-4, 8: 1e-8, 16: 1e-8}


class CheckError(ValueError):
    """Error: the results of a static function differ from those of the original function.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.jit.CheckError, Exception)
        True
    """


class OperatorRun(NamedTuple):
    """One operator that ran."""

    name: str
    where: Where
    outputs: tuple[Any, ...]


class EffectValues:
    """The values that a run of a program changes, as they are now."""

    def __init__(self, entry: Entry, tensors: Sequence[Tensor]) -> None:
        self.writes = [_on(e.write, tensors) for e in entry.traced.effects]
        self.values = [w.get() for w in self.writes]
        self.schedules = [(s.schedule, s.schedule.forked()) for s in entry.traced.schedules]

    def restore(self) -> None:
        """Put it back."""
        for schedule, copy in self.schedules:
            schedule.become(copy)
        for write, value in zip(self.writes, self.values, strict=True):
            write.put(value)

    def now(self) -> list[Any]:
        """Return the current values by name."""
        return [w.get() for w in self.writes]

    def name(self, i: int) -> str:
        """Return the user's name of it."""
        owner, key = self.writes[i].owner, self.writes[i].key
        if isinstance(owner, Tensor):
            return f"the gradient of '{label_of(owner)}'" if key == "_grad" else f"tensor '{label_of(owner)}'"
        return f"{type(owner).__name__}.{key}"


def _on(write: Write, tensors: Sequence[Tensor]) -> Write:
    if isinstance(write.key, Replay):
        return Write(write.owner, CONTENTS, None, True)
    return write._replace(owner=tensors[write.owner.position]) if isinstance(write.owner, Argument) else write


def checked(entry: Entry, function: Callable[[], Any], tensors: list[Tensor], numbers: ScalarInputs, name: str) -> Any:
    """Return the result of a static run, after comparing it and all state with those of `function`, run first.

    Raises:
        CheckError: naming the first operator and source line whose values differ; state is then as `function` left it.
    """
    with LOCK:
        before = EffectValues(entry, tensors)
        steps: list[OperatorRun] = []
        with _recording(steps):
            want = function()
        after = EffectValues(entry, tensors)
        before.restore()
        got = entry.run_with(tensors, numbers)
        found = _first(want, got, after, before.now())
        if not found:
            return got
        before.restore()
        where = _where(entry, tensors, numbers, steps)
        after.restore()
    raise CheckError(f"`{name}` as a static function does not give what it gives as it is: {found}; {where}")


@contextmanager
def _recording(steps: list[OperatorRun]) -> Iterator[None]:
    """Note each operator that eager code runs."""

    def observe(bound: Any, args: tuple[Any, ...], out: Any) -> None:
        outs = out if isinstance(out, tuple) else (out,)
        steps.append(OperatorRun(bound.op.name, user_frame(), tuple([t._payload for t in outs])))

    before, mode.observers = mode.observers, (*mode.observers, observe)
    choose_interpreter()
    try:
        yield
    finally:
        mode.observers = before
        choose_interpreter()


# -- comparing -----------------------------------------------------------------------------------------------------
def _first(want: Any, got: Any, after: EffectValues, state: list[Any]) -> str:
    """Return the first result or piece of state that differs, in words; empty if none does."""
    pairs = [(f"result {path}".strip(), a, b) for path, a, b in _pairs(want, got, "")]
    for i, (a, b) in enumerate(zip(after.values, state, strict=True)):
        pairs += [(f"{after.name(i)}{path}", x, y) for path, x, y in _pairs(a, b, "")]
    return next((f"{name} is {_text(b)} and not {_text(a)}" for name, a, b in pairs if not alike(a, b)), "")


def _pairs(a: Any, b: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    left: list[Any] = []
    right: list[Any] = []
    kinds = [nested.flatten(v, _is_data, leaves) for v, leaves in ((a, left), (b, right))]
    if kinds[0] != kinds[1]:
        yield path, a, b
        return
    for i, (x, y) in enumerate(zip(left, right, strict=True)):
        yield f"{path}[{i}]" if len(left) > 1 else path, x, y


def _is_data(x: Any) -> bool:
    return isinstance(x, Tensor | jax.Array)


def _array(x: Any) -> Any:
    return np.asarray(x._payload if isinstance(x, Tensor) else x) if _is_data(x) else x


def alike(a: Any, b: Any) -> bool:
    """True if two values are the same but for rounding."""
    a, b = _array(a), _array(b)
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return bool(nested.Static(a) == nested.Static(b))
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not jax.numpy.issubdtype(a.dtype, jax.numpy.inexact):
        return bool(np.array_equal(a, b))
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    tolerance = TOLERANCE[a.dtype.itemsize]
    a, b = a.astype(wide), b.astype(wide)
    finite = np.abs(a[np.isfinite(a)])
    scale = float(finite.max()) if finite.size else 0.0
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


def _text(x: Any) -> str:
    x = _array(x)
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)} {np.array2string(x.ravel()[:4], precision=6, threshold=4)}"
    return repr(x)[:60]


# -- operator by operator ------------------------------------------------------------------------------------------
def _where(entry: Entry, tensors: list[Tensor], numbers: ScalarInputs, eager: list[OperatorRun]) -> str:
    static = _replay(entry, tensors, numbers)
    by_place = defaultdict(list)
    for step in static:
        by_place[step.name, step.where].append(step)
    for step in eager:
        same = by_place.get((step.name, step.where))
        if not same:
            continue
        twin = same.pop(0)
        for a, b in zip(step.outputs, twin.outputs, strict=False):
            if not alike(a, b):
                return f"the first operator that differs is {step.name} at {step.where}: {_text(b)}, eager {_text(a)}"
    return "its operators agree one by one, so the difference is in control flow, or in what lies between operators"


def _replay(entry: Entry, tensors: list[Tensor], numbers: ScalarInputs) -> list[OperatorRun]:
    """Run the program of an entry one operator at a time."""
    traced, steps = entry.traced, []  # type: tuple[Any, list[OperatorRun]]
    with of_call(numbers):
        arrays = [t._payload for t in (*tensors, *traced.captures)] + [get() for get in traced.providers]
    block = traced.program.block
    dims = symbolic.solve([v.shape for v in block.inputs], [np.shape(a) for a in arrays])
    with symbolic.known(dims):
        _run(block, arrays, steps)
    return steps


def _run(block: Block, args: Sequence[Any], steps: list[OperatorRun]) -> list[Any]:
    env = dict(zip(block.inputs, args, strict=True))
    for op in block.ops:
        outs = _apply(op, [read(env, v) for v in op.inputs], steps)
        steps.append(OperatorRun(op.name, op.where, tuple(outs)))
        env.update(zip(op.outputs, outs, strict=True))
    return [read(env, v) for v in block.outputs]


def _apply(op: Operator, args: list[Any], steps: list[OperatorRun]) -> Sequence[Any]:
    attrs = op.bound.attrs
    if op.name == "cond":
        return _run(attrs[0] if bool(args[0]) else attrs[1], args[1:], steps)
    if op.name == "for":
        body, n, length = attrs
        carry = list(args[:n])
        for i in range(length):
            carry = _run(body, [np.int64(i), *carry, *args[n:]], steps)
        return carry
    if op.name == "while" and attrs[3] is None:
        test, body, n, _ = attrs
        carry = list(args[:n])
        while bool(_run(test, [*carry, *args[n:]], steps)[0]):
            carry = _run(body, [*carry, *args[n:]], steps)
        return carry
    if op.name == "grad":
        _run(attrs[0], args[: len(attrs[0].inputs)], steps)
    out = concrete(op.bound).fn(*args)
    return out if isinstance(out, tuple | list) else (out,)
