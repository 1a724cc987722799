"""Run traced programs: one compiled call, then the state that it leaves changed is written back to its handles."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax

from ..core import memory, traced_number
from ..core import structure as nested
from ..core.arrays import spec_of
from ..core.donation import donatable
from ..core.dtypes import is_inexact
from ..core.errors import DataDependentError
from ..core.interpreter import state
from ..core.uninitialized import Uninitialized
from ..cpu_compiler import prepare
from ..eager.gradients import custom_gradient
from ..eager.pending import payload_of, set_payload
from ..eager.residuals import Forward
from ..eager.tape import Node, Output
from ..eager.tensor import Tensor, wrap
from ..eager.views import family, shares_with
from ..eager.waiting import defer_op
from ..host.tier import for_xla, program_jit, xla_jit
from ..ir.block import Block, Value
from ..ir.index_reads import index_reads
from ..ir.lower import lower
from ..ir.parts import is_unrolled, runs_in_parts
from ..ir.program import Program
from ..ir.simplify import only_needed
from . import spans
from .across import AcrossBackward, Pullbacks
from .body import Body, reached
from .call_that_waits import CallThatWaits, call_of
from .checks import look_at_indices, note_failure
from .effects import (
    Argument,
    AtPath,
    Sorted,
    found,
    found_in,
    join,
    mentions,
    owner_of,
    put,
    resolve,
    settle_numbers,
    show,
)
from .parts import PartedBlock
from .schedules import finish, have_room
from .speculation import compare
from .trace import LOCK, Traced
from .traits import acts_for_results, is_worth_donating, suits_plain

PATIENCE = 600  # seconds that a run waits for a trace in another thread to end


class SharedWithState(Exception):
    """An argument shares elements with what the program changes: a call that another program has to serve."""


class Executable:
    """A traced program, compiled: for inference, and with residuals where a gradient is to flow out of it.

    `repeats`: where a run raises, the function that was traced is called; see index_reads().
    """

    def __init__(self, traced: Traced, name: str, repeats: bool = False) -> None:
        self.traced = traced
        self.name = name
        program, n = traced.program, traced.n_args
        written = {id(e.write.owner): k for k, e in enumerate(traced.effects) if e.write.key == "_payload"}
        captures = list(enumerate(traced.captures, n))
        # In the order of the results that take their memory, by which JAX pairs those of one shape.
        changing = sorted([(i, h) for i, h in captures if id(h) in written], key=lambda c: written[id(c[1])])
        self.mutable = [h for _, h in changing]
        self.fixed = [h for _, h in captures if id(h) not in written]
        # Arguments that share elements with these tensors are views of them, which the program must have been made for.
        # An argument whose gradient the program looks at elsewhere, as an optimizer does, is one of them.
        changes_arguments = any(type(e.write.owner) is Argument for e in traced.effects)
        held = [*(traced.captures if changes_arguments else self.mutable), *[t for t, _ in traced.gradients]]
        self.watched = {id(r) for h in held for r in family(h)}
        order = [i for i, _ in changing] + [i for i, h in captures if id(h) not in written]
        self.place = [*order, *range(n), *range(n + len(captures), len(program.block.inputs))]
        # A failed check leaves all state as it was, and a run that had too little room for the gradient of a loop is
        # repeated from the same state: neither may have given that state away.
        self.keeps_no_state = not (traced.checks or traced.loop_buffer or traced.speculated or traced.counted)
        self.donates = self.keeps_no_state and is_worth_donating(program, self.mutable)
        self.index_reads = index_reads(program, n + len(captures), repeats)
        # One result and nothing else to do: the hot path of small functions.
        asked = self.index_reads or traced.checks or traced.loop_buffer or traced.providers or traced.speculated
        self.repeatable = not any(op.bound.op.effect for op in program.ops())
        asked = asked or not self.repeatable
        self.plain = traced.structure is nested.LEAF and not (traced.effects or traced.schedules or asked)
        self.effects = Sorted(traced.effects, traced.n_results)
        self.by_path = any(type(e.write.owner) is AtPath or mentions(e.structure, AtPath) for e in traced.effects)
        self.gives_by_path = mentions(traced.structure, AtPath)
        self.counted = traced.counted
        self.gives_numbers = mentions(traced.structure, traced_number.TracedNumber)
        self.sets_numbers = any(mentions(e.structure, traced_number.TracedNumber) for e in traced.effects)
        self.acts = bool(traced.effects or traced.schedules or traced.checks)
        if traced.loop_buffer is not None and not self.repeatable and acts_for_results(program):
            raise DataDependentError(
                f"`{name}` uses what a call that acts on the world gives, and has a loop with a gradient, which may "
                "have to run twice: make the call outside of the static function"
            )
        self.records_loops = traced.loop_buffer is not None and any(op.name == "grad" for op in program.ops())
        self._compile()

    def _compile(self, traces: int = 0) -> None:
        self.body = body = Body(self.traced.program, self.place, self.plain, self.traced.flows, traces)
        donated = tuple(range(len(self.mutable))) if self.donates else ()
        operators = self.traced.program.ops()
        updated = sum(math.prod(h._payload.shape) for h in self.mutable) if self.donates else 0
        plain = suits_plain(self.traced.program, updated, self.traced.loop_buffer is not None)
        made = sum(len(o.outputs) for o in operators)  # an optimizer is one operator and updates many parameters
        across = [a for o in operators if (a := o.bound.op.across) is not None]
        jit: Any = (
            functools.partial(across[0], operators=operators)
            if across
            else functools.partial(program_jit, operators=made, plain=plain, text=body.text)
        )
        self._across: Any = jit if across else None  # compiles for all processes that run the program at once
        self._pullbacks = Pullbacks(self.name, body.flowing, self.traced, self.place, jit)
        named = self._named(body.call)
        # What runs before it is compiled takes it as it was traced, without the calls that are prepared for XLA.
        self.jitted = jit(named if across else prepare(named, donated), donate_argnums=donated)
        if runs_in_parts(program := self.traced.program) or (not self.mutable and is_unrolled(program)):
            self.parts = PartedBlock(program.block, program.measured)
            self.jitted = lambda *arrays: self.parts(body.in_order(arrays))
        n = 0 if across else len(operators)
        deep, reaches = not across, body.reaches
        self.forward: Any = Forward(self.name, body.flowing, False, False, plain, deep, n, reaches=reaches)
        self.fresh = True  # the first run compiles
        spans.follow(self)
        foreseen = not self.repeatable and (self.traced.speculated or self.counted)
        self.guard_program = self._guard_program() if foreseen else None

    def _guard_program(self) -> Callable[..., Any]:
        """The values that decide whether a run is right, and nothing else: what acts on the world may run only once."""
        block, names = self.traced.program.block, self.traced.program.input_names
        parts = [(self.traced.speculated, self.traced.speculated_outputs), (self.counted, self.traced.steps)]
        outputs = [v for wanted, places in parts if wanted for v in block.outputs[places]]
        lowered = lower(only_needed(Program(Block(block.inputs, block.ops, outputs), names)))
        return xla_jit(lambda *arrays: lowered(*self.body.in_order(arrays)))

    def _foresee(self, arrays: list[Any]) -> None:
        """See to it that a run of a program that acts on the world need not be repeated."""
        while self.guard_program is not None:
            found, n = self.guard_program(*arrays), len(self.traced.speculated)
            compare(self.traced.speculated, found[:n])
            if have_room(self.counted, found[n:]):
                return
            arrays[-len(self.traced.providers) :] = [get() for get in self.traced.providers]

    @functools.cached_property
    def _again(self) -> Executable:
        """Return a function that repeats a run with too little room for a loop's gradient, without external effects."""
        if self.repeatable:
            return self
        return Executable(self.traced._replace(program=only_needed(self.traced.program)), self.name)

    @property
    def traces(self) -> int:
        """How often it was compiled, but for gradients."""
        return self.body.traces

    def _named(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            return fn(*args)

        call.__name__ = call.__qualname__ = self.name
        return call

    def lower(self, args: Sequence[Any], with_grad: bool, numbers: Any = ()) -> Any:
        """Lower for arguments of these specs, as XLA gets it: a jax.stages.Lowered."""
        arrays = self.given(args, numbers)
        made = self.forward.compiled(self._takes(arrays)) if with_grad else self.jitted
        return made.lower(*arrays)

    def given(self, args: Sequence[Any], numbers: Any = ()) -> list[Any]:
        """All that the compiled function takes, as specs, for arguments of these specs: what it changes comes first."""
        with traced_number.of_call(numbers):
            provided = [get() for get in self.traced.providers]
        return [*[spec_of(h._payload) for h in (*self.mutable, *self.fixed)], *args, *provided]

    def function_for(self, arrays: Sequence[Any], with_grad: bool) -> Callable[..., Any]:
        """Return the function to compile, not traced yet: what depends on the platform may be for another one."""
        if self._across is not None:
            self.jitted.lower()  # raises: one process alone cannot
        if with_grad:
            return self.forward.function(self._takes(arrays))
        return self.body.function

    def _takes(self, arrays: Sequence[Any]) -> tuple[bool, ...]:
        """Which of what it takes, arguments left out, a gradient flows to."""
        takes = [not h.stop_gradient and is_inexact(h._payload.dtype) for h in (*self.mutable, *self.fixed)]
        return (*takes, *[False] * (len(arrays) - len(takes)))

    def run(self, args: Sequence[Tensor]) -> Any:
        """Results for the argument tensors, without a gradient."""
        if not self.plain:
            return self._alone(self._run, args)
        arrays = []
        for h in (*self.fixed, *args):
            arrays.append(for_xla(h._payload))  # noqa: PERF401  (a comprehension would be a call)
        try:
            return wrap(self.jitted(*arrays))
        except TypeError:
            return self._after_trace(self.run, args, arrays)

    def _alone(self, run: Callable[..., Any], args: Sequence[Tensor]) -> Any:
        """Run a program that changes handles, while no other thread traces or changes some."""
        if not LOCK.acquire(timeout=PATIENCE):
            raise RuntimeError(
                f"`{self.name}` has waited {PATIENCE} s for another thread to end its trace; a static function must "
                "not wait for another thread while it is traced"
            )
        try:
            return run(args)
        except TypeError:
            self._refuse_undrawn(args)
            raise
        finally:
            LOCK.release()

    def _refuse_undrawn(self, args: Sequence[Tensor]) -> None:
        """Name what has no data; JAX has met it as something that is no array."""
        for h in (*self.mutable, *self.fixed, *args):
            if isinstance(h._payload, Uninitialized):
                h._payload.concrete(f"{self.name}()")

    def _after_trace(self, run: Callable[..., Any], args: Sequence[Tensor], arrays: list[Any]) -> Any:
        """Run again what met a handle that another thread was tracing with."""
        if not any(isinstance(a, Value) for a in arrays):
            self._refuse_undrawn(args)
            raise  # noqa: PLE0704  (called while the error is handled)
        return self._alone(run, args)

    def _run(self, args: Sequence[Tensor]) -> Any:
        look_at_indices(self.index_reads, (*args, *self.traced.captures))
        if self.fresh:
            self.fresh = False
            with memory.trim_afterwards(), memory.paused_collection():
                result = self._run(args)
                jax.block_until_ready([h._payload for h in self.mutable])  # so that the step's own buffers are free
                return result
        arrays = [h._payload for h in self.mutable]
        if arrays and self.donates:
            arrays = donatable(arrays)
        arrays += [for_xla(h._payload) for h in (*self.fixed, *args)]
        if self.watched:
            self._look_for_shared(args)
        traced = self.traced
        if traced.providers:
            arrays += [get() for get in traced.providers]
        self._foresee(arrays)
        outs = self.jitted(*arrays)
        if traced.speculated:
            compare(traced.speculated, outs[traced.speculated_outputs])
        while self.records_loops and self._short_of_room(outs):
            outs = self._again.jitted(*arrays)
        while self.counted and not have_room(self.counted, outs[traced.steps]):
            arrays[-len(traced.providers) :] = [get() for get in traced.providers]
            outs = self.jitted(*arrays)
        return self._finish(outs, [wrap(a) for a in outs[: traced.n_results]], args)

    def _finish(self, outs: list[Any], made: Sequence[Tensor], args: Sequence[Tensor]) -> Any:
        """The result of a run, after what it does to state; `made` has the results, and all that is on the tape."""
        traced = self.traced
        if not self.repeatable:
            jax.effects_barrier()  # eager code has acted when it returns
        if traced.copies is not None:
            traced.copies.made.clear()  # of a run that an error ended
        tensors = [made[traced.same.get(i, i)] for i in range(traced.n_results)] if traced.same else [*made]
        del tensors[traced.n_results :]
        structure = found_in(traced.structure) if self.gives_by_path else traced.structure
        structure = settle_numbers(structure) if self.gives_numbers else structure
        if self.acts:
            self._apply(outs, args, tensors, {i: made[i] for i in traced.left} if len(made) > len(tensors) else {})
        if structure is nested.LEAF:
            return tensors[0]
        found = nested.unflatten(resolve(structure, args), iter(tensors))
        if traced.copies is not None:
            traced.copies.made.clear()
        return found

    def _look_for_shared(self, args: Sequence[Tensor]) -> None:
        for a in args:
            if (a._view is not None or a._views is not None or id(a) in self.watched) and shares_with(a, self.watched):
                raise SharedWithState

    def _short_of_room(self, outs: list[Any]) -> bool:
        """True, after making more, if a loop ran for more iterations than its gradient had room for."""
        capacity, needed = self.traced.loop_buffer.capacity, int(outs[-1])
        if needed <= capacity.size:
            return False
        capacity.size = 1 << (needed - 1).bit_length()
        self._compile(self.traces)
        return True

    def _apply(self, outs: list[Any], args: Sequence[Tensor], results: list[Tensor], left: dict[int, Tensor]) -> None:
        if self.traced.checks is not None and (failed := int(outs[-2 if self.traced.loop_buffer else -1])):
            error = self.traced.checks.failure(failed, outs[self.traced.shown])
            if self.repeatable:
                note_failure(error)
            raise error
        others = self.effects.others if not self.by_path else [(at, found(e)) for at, e in self.effects.others]
        if self.sets_numbers:
            others = [(at, e._replace(structure=settle_numbers(e.structure))) for at, e in others]
        for tensor, at in self.effects.renewed:
            set_payload(tensor, outs[at])
        for tensor, gradient in self.effects.cleared:
            tensor.__dict__["_grad"] = gradient
        made = dict[int, Tensor]()
        for at, effect in others:
            arrays = outs[at : at + effect.n_leaves]
            if self.traced.same and effect.write.key != "_payload":
                arrays = self._once(at, arrays, results, made)
            put(effect, [left.get(i, a) for i, a in enumerate(arrays, at)] if left else arrays, args)
        for tensor, at in self.effects.renewed:
            if at in left:
                join(tensor, left[at])
            show(tensor)
        for _, effect in others:
            if effect.write.key == "_payload":
                show(owner_of(effect, args))
        if self.traced.schedules:
            finish(self.traced.schedules, outs[self.traced.steps] if self.counted else ())

    def _once(self, at: int, arrays: list[Any], results: list[Tensor], made: dict[int, Tensor]) -> list[Any]:
        """Outputs from `at` on, as one tensor where they are one."""
        firsts = [self.traced.same.get(i, i) for i in range(at, at + len(arrays))]
        return [
            results[first] if first < len(results) else made.setdefault(first, wrap(array))
            for first, array in zip(firsts, arrays, strict=True)
        ]

    # -- with a gradient -------------------------------------------------------------------------------------------
    def run_with_grad(self, args: Sequence[Tensor]) -> Any:
        """Results for the argument tensors, as one node on the tape."""
        return self._alone(self._run_with_grad if self._across is None else self._run_across_with_grad, args)

    def _run_across_with_grad(self, args: Sequence[Tensor]) -> Any:
        handles = [*self.mutable, *self.fixed, *args]
        arrays = [for_xla(h._payload) for h in handles] + [get() for get in self.traced.providers]
        takes = tuple([not h.stop_gradient and is_inexact(h._payload.dtype) for h in handles])
        takes += (False,) * len(self.traced.providers)
        outs = self.jitted(*(donatable(list(arrays)) if self.donates else arrays))
        outs = (outs,) if self.plain else outs
        layer = AcrossBackward(self.name, functools.partial(self._pullbacks, takes), arrays)
        tensors, flows = self._wrapped(list(outs)), self.traced.flows
        inputs = [h for h, t in zip(handles, takes, strict=False) if t]
        for i, made in zip(flows, custom_gradient(layer, layer, inputs, [tensors[i] for i in flows]), strict=True):
            tensors[i] = made
        return self._finish(list(outs), tensors, args)

    def _run_with_grad(self, args: Sequence[Tensor]) -> Any:
        handles = [*self.mutable, *self.fixed, *args]
        look_at_indices(self.index_reads, (*args, *self.traced.captures))
        provided = [get() for get in self.traced.providers]
        if self.watched:
            self._look_for_shared(args)
        pairs = zip(handles, self._reached, strict=True)
        takes = tuple([r and not h.stop_gradient and is_inexact(payload_of(h).dtype) for h, r in pairs])
        leaves = self.body.leaves(takes)
        made = None if leaves else self._defer(handles, takes, provided)
        if made is not None:
            return self._finish(list(map(payload_of, made)), made, args)
        arrays = [for_xla(h._payload) for h in handles] + provided
        self._foresee(arrays)
        takes += (False,) * len(provided)
        outs, pull, saved = self.forward(takes, arrays)
        if self.traced.speculated:
            compare(self.traced.speculated, outs[self.traced.speculated_outputs])
        while self.traced.loop_buffer is not None and self._short_of_room(outs):
            outs, pull, saved = self._again.forward(takes, arrays)
        while self.counted and not have_room(self.counted, outs[self.traced.steps]):
            arrays[-len(provided) :] = [get() for get in self.traced.providers]
            outs, pull, saved = self.forward(takes, arrays)
        again = saved.again[0] if self.repeatable else self._again.forward.again
        saved.again = again, [*map(payload_of, handles), *provided]  # arrays by which leaves are known again
        sources = [(h._source or h) if t else None for h, t in zip(handles, takes, strict=False)]
        sources += [None] * len(provided)
        tensors = self._on_tape(outs, Node(pull, saved, tuple(sources)), leaves)
        return self._finish(outs, tensors, args)

    def _defer(self, handles: list[Tensor], takes: tuple[bool, ...], provided: list[Any]) -> Any:
        """All outputs of a call that waits, as a part of what an eager step computes at once; None if it runs now."""
        if self._that_waits is None or state.timer is not None:
            return None
        shown = any(t._views is not None or t._view is not None for t, _ in self.effects.renewed)
        odd = any(not t and not h.stop_gradient for h, t in zip(handles, takes, strict=True))
        return None if shown or odd else defer_op(self._that_waits, (*handles, *provided))

    @functools.cached_property
    def _reached(self) -> list[bool]:
        """Of the handles and arguments, whether gradients come to them from the results."""
        found = reached(self.traced.program.block, self.traced.flows)
        n = len(self.mutable) + len(self.fixed) + self.traced.n_args
        return [self.traced.program.block.inputs[i] in found for i in self.place[:n]]

    @functools.cached_property
    def _that_waits(self) -> CallThatWaits | None:
        return call_of(self)

    def _wrapped(self, outs: list[Any]) -> list[Tensor]:
        """Return the results as tensors, and all other outputs where state joins the graph."""
        return [wrap(a) for a in (outs if self.traced.left else outs[: self.traced.n_results])]

    def _on_tape(self, outs: list[Any], node: Node, leaves: frozenset[int]) -> list[Tensor]:
        tensors, flows = self._wrapped(outs), self.traced.flows
        for i, index in enumerate(flows):
            tensors[index].stop_gradient = False
            if i not in leaves:
                tensors[index]._source = node if len(flows) == 1 else Output(node, i)
        return tensors
