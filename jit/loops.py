"""Staged `while` and `for`: bodies become blocks, and the state they change becomes the carries of the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.ir import control
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.checks import LoopBuffer
from paddle_lite_py.tracing.frame import TracedValue
from paddle_lite_py.tracing.sizes import size_of

from . import merge
from .branches import finish
from .carries import Loop
from .cells import Path, content, look_for_leaves, written_cell
from .errors import StagingError
from .iterables import LONGEST

MAX_ATTEMPTS = 12


def while_(
    builder: Builder, test: Callable[[], Any], body: Callable[[], None], state: Any, where: Any, length: Any = None
) -> None:
    """A loop on a staged condition; the length is the number of its iterations, where sizes tell it."""
    loop = Loop(builder, state, where)
    path, inputs, _ = _stable(loop, lambda _: body(), index=False)
    # A run that finds other values than the program takes for granted must end as well.
    holding = builder.speculation.holding() if builder.speculation else None
    held = test if holding is None else lambda: test().logical_and(holding)
    tested, test_inputs, going = loop.trace(lambda _: held(), index=False)
    changes = [
        w for k, (w, now) in tested.written.items() if k not in loop.writes or not _is_in_place(now, test_inputs)
    ]
    if changes:
        write = changes[0]
        raise StagingError(
            f"the condition of the loop at {where} changes {written_cell(write, loop.bodies).name}; do it in the body"
        )
    final_values = loop.final(path)
    look_for_leaves(path, final_values, where)
    with builder.inner(tested.frame):
        answer = merge.as_value(builder, going, "bool")
    init = loop.initial(path)
    operands = list(dict.fromkeys([*tested.frame.operands, *path.frame.operands]))
    finish(tested.frame, operands, [answer], test_inputs)
    finish(path.frame, operands, final_values, inputs)
    grad = mode.grad_enabled and any(v.requires_grad for v in (*init, *final_values))
    if grad and builder.loop_buffer is None:
        builder.loop_buffer = LoopBuffer()
    capacity = builder.loop_buffer.capacity if grad and builder.loop_buffer else None
    bound = control.while_(tested.frame.block, path.frame.block, len(init), capacity)
    results = list(_append(builder, bound, [*init, *operands], path.frame.block.outputs, loop))
    for result, first in zip(results, init, strict=False):  # what no iteration changes
        result.requires_grad = result.requires_grad or first.requires_grad
    loop.leave(path, results[: len(init)], length=length)
    if grad and builder.loop_buffer:
        needed = builder.loop_buffer.needed
        needed._set_payload(needed.maximum(builder.handle(results[-1]))._payload)


def _is_in_place(now: Any, inputs: list[TracedValue]) -> bool:
    """Whether what state holds is what the loop has put there."""
    return all(isinstance(x, Tensor) and any(x._payload is v for v in inputs) for x in merge.parts(content(now))[1])


def for_(
    builder: Builder,
    length: int,
    item: Callable[[Tensor], Any],
    body: Callable[[Any], None],
    state: Any,
    where: Any,
) -> None:
    """A loop of known length; where a list grows, Python runs it, since then the list has a known length as well."""
    loop = Loop(builder, state, where, lists_grow=length > LONGEST)
    path, inputs, _ = _stable(loop, lambda i: body(item(i)), index=True)  # type: ignore[arg-type]
    finals = loop.final(path)
    look_for_leaves(path, finals, where)
    init = loop.initial(path)
    operands = list(path.frame.operands)
    finish(path.frame, operands, finals, inputs)
    bound = control.for_(path.frame.block, len(init), length)
    loop.leave(path, list(_append(builder, bound, [*init, *operands], path.frame.block.outputs, loop)), length)


def _stable(loop: Loop, run: Callable[[Tensor | None], Any], index: bool) -> tuple[Path, list[TracedValue], Any]:
    for _ in range(MAX_ATTEMPTS):
        path, inputs, result = loop.trace(run, index)
        if not loop.widen(path):
            loop.look_for_aliases(path)
            return path, inputs, result
    raise StagingError(f"the types of the loop at {loop.where} do not settle: each iteration changes them again")


def _append(
    builder: Builder, bound: Any, inputs: list[TracedValue], finals: list[Any], loop: Loop
) -> tuple[TracedValue, ...]:
    grad, specs = any(v.requires_grad for v in finals), loop.specs()
    if any(isinstance(n, str) for shape, _ in specs for n in shape) or builder.finds_sizes(bound):
        count = [((), "int32")] if bound.op is control.WHILE and bound.attrs[-1] is not None else []
        values = builder.append_measured(bound, tuple(inputs), [*specs, *count])
    else:
        values = builder.emit(bound, tuple(inputs), grad)
    for value, final in zip(values, finals, strict=False):
        value.requires_grad = final.requires_grad
    return values


def counted(
    builder: Builder,
    length: Any,
    item: Callable[[Tensor], Any],
    body: Callable[[Any], None],
    extra_test: Callable[[], Any] | None,
    state: Any,
    where: Any,
) -> None:
    """A `for` whose length is a tensor, or that a staged break may end: a `while` on a counter."""
    counter = _Counter(state, merge.zero_index(builder))

    def test() -> Any:
        more = counter.value < length
        extra = True if extra_test is None else extra_test()
        if extra is True:
            return more
        return (
            more.logical_and(extra) if isinstance(extra, Tensor) else more.logical_and(more if extra else more != more)
        )

    def step() -> None:
        now = counter.value
        body(item(now))
        counter.value = now + 1

    known = None if extra_test is not None else size_of(length._payload) if isinstance(length, Tensor) else length
    while_(builder, test, step, counter, where, known)


class _Counter:
    """A statement's state with a counter in front."""

    def __init__(self, state: Any, zero: Tensor) -> None:
        self.inner, self.value = state, zero
        self.names = ("the loop's counter", *state.names)
        self.live_out = (False, *state.live_out)
        self.carried = (True, *state.carried)
        self._slots, self._plain = state._slots, state._plain + 1
        self.bodies = state.bodies

    def is_internal(self, index: int) -> bool:
        """True for what the converter made."""
        return index == 0 or self.inner.is_internal(index - 1)

    def get(self) -> tuple[Any, ...]:
        """Return the counter and the state."""
        return (self.value, *self.inner.get())

    def set(self, values: Any) -> None:
        """Set both."""
        self.value = values[0]
        self.inner.set(values[1:])

    def _set(self, values: Any) -> None:
        self.value = values[0]
        self.inner._set(values[1:])
