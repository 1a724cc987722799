"""Eager ops that wait: what a forward pass does to large arrays is computed together with its backward.

An op that records a gradient, on an XLA array, is not run at once: its results have a shape and a dtype, and the
op waits. Those that read them wait too. Whoever looks at a value, for which reading `_payload` is enough, has all of
them computed; backward() does, and is part of the same program then, which is what a static function makes of both.
So eager code takes the time of static code, and holds no more in memory.

While ops wait their queue is the interpreter of the thread; else eager mode is as it is without all this.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import cache_checks
from ..core.arrays import array_class
from ..core.donation import worth_donating
from ..core.dtypes import is_inexact
from ..core.errors import SparseError
from ..core.interpreter import UpdateRule, state
from ..core.references import is_shared
from ..core.switches import nan_checks
from ..cpu_compiler import may_be_large
from ..host.varying import sizes_vary
from ..registry.bound import BoundOp
from . import gradients, tape
from .abstract_results import EarlierResults
from .casting import eager_interpreter
from .execute import EAGER, HOSTED, NUMBERS, Eager, failure, forward_of, payload
from .growing import is_growing
from .lazy_op import LazyOpInfo, kinds_of, text_of_call
from .lazy_program import Wanted, checked, program_of
from .open_programs import find_open
from .pending import Failed, Pending, computed, payload_of, set_payload
from .recorded_ops import BackwardStep, CallStep, one_by_one
from .tape import Node, connect
from .tensor import Tensor, wrap
from .views import link

_new: Any = object.__new__
_ref = weakref.ref
# Of more operators XLA makes no faster program, and takes longer for each. A program that is called again and again, as
# in an evaluation whose results are kept, should not be compiled as often: after this many operators it waits again.
MOST, MOST_REPEATED = 1000, 200
# At results of a forward pass, each of which computes it anew.
MAX_LOOKS = 2


class Deferred(Eager):
    """Eager mode while ops wait, under mixed precision too."""

    waits, at_once = True, False

    def __init__(self) -> None:
        self._open = True
        self._lock = threading.RLock()  # another thread may look at a value
        self._steps: list[CallStep | BackwardStep] = []
        self._outside: list[Any] = []
        self._place: dict[int, int] = {}  # of arrays from outside, by identity
        self._results: list[weakref.ref[Pending]] = []
        self._nodes: dict[int, weakref.ref[Node]] = {}  # by step
        self._has_backward = self._loops = False
        self._operators = 0
        # The text of the first op with its arguments, or what gives it, and what earlier processes know of its like.
        self._first: Callable[[], str | None] | None = None
        self._earlier: EarlierResults | None = None
        # The effects of an update: the tensor, its new payload, and the index of its old array among those outside.
        self._updated: list[tuple[Tensor, Pending, int]] = []
        self._donated: tuple[int, ...] = ()
        self._looks = 0  # at results, while the others went on waiting

    def enter(self) -> None:
        """Let what follows wait as well."""
        if self._open:
            state.interpreter = self

    # -- waiting -----------------------------------------------------------------------------------------------------
    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Put an op off, or run it at once; see interpreter.Interpreter."""
        if state.casting is not None:
            args = state.casting.inputs(bound, args)
        try:
            made = self.waiting(bound, args)
        except SparseError:  # of which Eager knows what to do
            made = None
        return EAGER.run(bound, args) if made is None else made

    def waiting(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Return the results of an op, which waits with the others, or after them; None if it is to run at once."""
        with self._lock:
            if self._open and self._is_over(bound):
                self.flush()
            made = self.defer(bound, args) if self._open else None
        if made is None and not self._steps and state.interpreter is self:
            state.interpreter = eager_interpreter()
        return made

    def _is_over(self, bound: BoundOp) -> bool:
        """Whether nothing more should wait: there is much, an update has ended the step, or it was the turn of a loop
        of which nobody takes gradients any more."""
        if self._updated or self._operators >= MOST or nan_checks.on:
            return True
        if bound.operators > 1 and self._operators >= MOST_REPEATED:
            return any(isinstance(s, CallStep) and s.bound is bound for s in self._steps)
        first = self._steps[0] if self._steps else None
        return isinstance(first, CallStep) and bound is first.bound and not self._has_backward and self._node(0) is None

    def _node(self, at: int) -> Node | None:
        node = self._nodes.get(at)
        return None if node is None else node()

    def defer(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Return the results of an op, which waits; None if it is to run at once."""
        waiting = bound.lazy
        if waiting is None:
            waiting = bound.lazy = LazyOpInfo(bound)
        if not waiting.can:
            return None
        data, takes, waits, large = [], [], False, False
        for a in args:
            is_tensor = isinstance(a, Tensor)
            takes.append(is_tensor and not a.stop_gradient)
            d = a._pending if is_tensor else payload(a)  # _held(), written out: each step shows in the time of an op
            if is_tensor and (d is None or d.queue is not self):
                d = a._payload
            data.append(d)
            kind = d.__class__
            if kind is Pending:
                waits = True
            elif kind not in HOSTED:
                if kind is not array_class():  # what has no data, or a trace has left behind
                    return None
                large = True
        if not self._open:  # another queue, which has just been computed, made this one look
            return None
        records = state.grad_enabled and True in takes
        if not (waits or ((large or waiting.may_need_xla) and records and bound.op.grad)):
            return None
        try:
            if waiting.check is not None:
                waiting.check(*data)
            specs, several, flows, on_xla, known = waiting.results(data, self._known_earlier)
        except Exception as e:
            if state.interpreter is self:  # the next op starts a new queue: this one is computed when it is read
                state.interpreter = eager_interpreter()
            raise failure(bound, args, e) from None
        if known is not None:
            return wrap(known)
        if not records:
            flows = ()
        if flows and self._has_backward:  # the forward pass of another step
            self.flush()
            return None
        if not (waits or (flows and (large or on_xla))):
            return None
        made = self._record_call(bound, data, tuple(takes) if flows else None, specs)
        if flows:
            sources = tuple([(a._source or a) if t else None for a, t in zip(args, takes, strict=True)])
            node = Node(bound, tuple(data), sources)
            node.queue, node.place = self, len(self._steps) - 1
            self._nodes[node.place] = _ref(node)
            connect(node, made, flows, several)
        out = tuple(made) if several else made[0]
        if bound.views is not None:
            link(args[0], out, bound, args[1:])
        return out

    def _known_earlier(self, text: str | None) -> EarlierResults:
        """Return what earlier processes know of such records, given the text of an op that may be their first."""
        if self._earlier is None:
            self._earlier = EarlierResults(text if self._first is None else self._first())
        return self._earlier

    def _own_payload(self, tensor: Tensor) -> Any:
        pending = tensor._pending
        return pending if pending is not None and pending.queue is self else tensor._payload

    def _record_call(self, bound: BoundOp, data: Sequence[Any], takes: Any, specs: Sequence[Any]) -> list[Tensor]:
        if self._first is None:
            self._first = partial(text_of_call, bound, kinds_of(data))
        self._step(bound, data, takes, len(specs))
        return [self._result(s.shape, s.dtype) for s in specs]

    def _step(self, bound: BoundOp, data: Sequence[Any], takes: Any, n: int) -> None:
        places = tuple([d.index if d.__class__ is Pending else self._from_outside(d) for d in data])
        self._steps.append(CallStep(bound, places, takes, len(self._results), n))
        self._operators += bound.operators
        if bound.op.loops:
            self._loops = True

    def _result(self, shape: tuple[int, ...], dtype: Any) -> Tensor:
        """Return a tensor on the next result."""
        made = _new(Tensor)
        made._pending = self._promise(shape, dtype)
        return made

    def _promise(self, shape: tuple[int, ...], dtype: Any) -> Pending:
        pending = Pending(self, len(self._results), shape, dtype)
        self._results.append(_ref(pending))
        return pending

    def _from_outside(self, value: Any) -> int:
        at = self._place.get(id(value))
        if at is None:
            at = len(self._outside)
            self._outside.append(value)
            if value.__class__ not in NUMBERS:  # two numbers may be one object, and differ next time
                self._place[id(value)] = at
        return ~at

    def twin(self, tensor: Tensor, detached: bool = False) -> Tensor:
        """Another handle on the value of a tensor."""
        pending = tensor._pending
        if pending is None:
            return super().twin(tensor, detached)
        out = _new(Tensor)
        out._pending = pending
        if not detached and not tensor.stop_gradient:
            out.stop_gradient, out._source = False, tensor._source
        return out

    def backward(self, tensors: list[Tensor], grads: list[Tensor | None], retain_graph: bool) -> None:
        """Accumulate gradients in the leaves that the tensors depend on, which wait as well."""
        root = gradients.plain_root(tensors, grads)
        found = None
        if root is not None and root.queue is self and not retain_graph:
            with self._lock:
                found = self._defer_backward(root) if self._open else None
        if found is None:
            gradients.backward(tensors, grads, retain_graph)
        else:
            gradients.give(*found)

    def _defer_backward(self, root: Node) -> tuple[list[Any], list[Tensor]] | None:
        """Return the leaves under a node and their gradients; None where these cannot wait."""
        graph = None if self._has_backward else tape.graph_under(root)
        if graph is None:
            return None
        nodes, key, leaves = graph[0], graph[1], graph[3]
        if any(n.bound.reaches is not None for n in nodes) and not all(tape.arriving(tape.Structure.of(key))):
            return None  # what waits has a gradient for each leaf
        for node in nodes:
            if node.queue is not None and node.queue is not self:  # another thread's
                node.queue.flush()
        specs = [payload_of(leaf) for leaf in leaves]
        if not all(is_inexact(s.dtype) for s in specs):
            return None
        calls = tuple([n.place if n.queue is self else -1 for n in nodes])
        places = tuple([self._from_outside(a) for n in nodes if n.queue is not self for a in tape.saved(n)])
        tape.free(nodes)
        self._steps.append(BackwardStep(calls, key, places, tuple([(s.shape, s.dtype) for s in specs])))
        self._has_backward = True
        made = [self._result(s.shape, s.dtype) for s in specs]
        for t in made:
            t.stop_gradient = False
        return leaves, made

    def update(self, rule: UpdateRule, rate: Any, grads: list[Any], changed: list[Any], flags: tuple[Any, ...]) -> None:
        """Put off what changes parameters and the state of their optimizer, if their gradients wait."""
        if not self._defer_update(rule.operator(), rate, grads, changed, flags):
            super().update(rule, rate, grads, changed, flags)

    def _defer_update(
        self, bound: BoundOp, rate: Any, grads: Sequence[Tensor], changed: Sequence[Tensor], flags: Sequence[Tensor]
    ) -> bool:
        with self._lock:
            first = [self._own_payload(g) for g in grads]
            if not any(g.__class__ is Pending for g in first) or any(t._views is not None for t in changed):
                return False
            mutable = [self._own(t) for t in changed]
            if not self._open:  # one of them waited
                return False
            before = [~self._from_outside(a) for a in mutable]
            if self._worth_donating(mutable):
                self._donated = tuple(before)
            self._step(bound, [rate, *first, *mutable, *map(self._own_payload, flags)], None, len(mutable))
            for tensor, array, at in zip(changed, mutable, before, strict=True):
                pending = self._promise(array.shape, array.dtype)
                self._updated.append((tensor, pending, at))
                set_payload(tensor, pending)
            return True

    def _own(self, tensor: Tensor) -> Any:
        """Return the array of a tensor, or a copy of it if somebody may read it later."""
        array = tensor._payload
        known = 1 + (id(array) in self._place)  # the tensor, and what waits
        return jnp.copy(array) if array.__class__ is not np.ndarray and is_shared(array, known) else array

    def _worth_donating(self, arrays: list[Any]) -> bool:
        return len({id(a) for a in arrays}) == len(arrays) and worth_donating(self._loops, arrays)

    # -- computing ---------------------------------------------------------------------------------------------------
    def finish_update(self) -> None:
        """Compute what waits if an update is part of it: the end of a training step."""
        if self._updated:
            self.flush()

    def look(self) -> None:
        """Compute what somebody reads, as flush() does, or leave all waiting for a backward, if that is cheaper."""
        with self._lock:
            if not self._open or not self._is_left_waiting():
                self.flush()

    def _is_left_waiting(self) -> bool:
        """Compute results where sizes keep changing: whether that is done, and the ops go on waiting for a backward.

        What a backward keeps would have to be traced for these sizes. To compute the results once more takes less.
        """
        wanted = self._wanted()
        if self._looks >= MAX_LOOKS or not wanted.kept or self._updated or self._has_backward:
            return False
        if not program_of(self._steps, self._outside, wanted).is_rare(self._outside):
            return False
        wanted = Wanted(wanted.results, (), ())
        run = self._open_program(wanted, is_look=True)
        if run is None:
            return False
        program = program_of(self._steps, self._outside, wanted)
        try:
            recurs = program.should_compile(self._outside) and not program.is_rare(self._outside)
            found = program.run(self._outside) if recurs else run()
        except Exception:  # flush() finds out which op has it
            return False
        if found is None:
            return False
        for i, value in found[0].items():
            if (pending := self._results[i]()) is not None:
                pending.array = value
        self._looks += 1
        return True

    def _wanted(self) -> Wanted:
        """Return what somebody could still ask for."""
        results = tuple([i for i, r in enumerate(self._results) if (p := r()) is not None and p.array is None])
        return Wanted(results, tuple([n.place for n in self._live() if n.bound.keeps]), self._donated)

    def flush(self) -> None:
        """Compute all that waits, as far as anybody could ask for it.

        Raises:
            Exception: what an op raised that could not be computed; all others are.
        """
        with self._lock:
            if not self._open:
                return
            failed, wanted = None, self._wanted()
            if wanted.results or self._looks:
                failed = self._compute(wanted)
                if self._earlier is not None and may_be_large(self._operators):
                    self._earlier.write()
            self._close()
        if failed is not None:
            raise failed.error

    def _live(self) -> list[Node]:
        """Return the nodes that a backward may still come to."""
        return [n for r in self._nodes.values() if (n := r()) is not None and n.data is not None]

    def _compute(self, wanted: Wanted) -> Failed | None:
        """Compute what is wanted, and give it to whom it belongs; returns what could not be computed."""
        values, residuals = self._run(wanted) if wanted.results or wanted.kept else ({}, {})
        for i in wanted.results:
            if (pending := self._results[i]()) is not None:
                pending.array = values[i]
        for node in self._live():
            arrays = tuple([computed(d, values) for d in node.data or ()])
            left = residuals.get(node.place)
            if left is None:
                node.data = arrays
            elif left.__class__ is tuple:
                node.bound, node.data = left
            else:
                call = self._steps[node.place]
                assert isinstance(call, CallStep)
                outs = [values.get(i) for i in range(call.first, call.first + call.n)]
                node.bound, node.data = forward_of(call.bound).kept(arrays, outs, left)
        for tensor, pending, before in self._updated:
            if tensor._pending is pending:
                failed = pending.array.__class__ is Failed
                set_payload(tensor, self._outside[before] if failed else pending.array)
        return next((v for i in wanted.results if (v := values[i]).__class__ is Failed), None)

    def _run(self, wanted: Wanted) -> tuple[dict[int, Any], dict[int, Any]]:
        program = program_of(self._steps, self._outside, wanted)
        if self._operators >= MOST_REPEATED and not program.has_run() and is_growing(self._steps, self._outside):
            with sizes_vary():
                return one_by_one(self._steps, self._outside)
        should_compile, is_rare = program.should_compile(self._outside), program.is_rare(self._outside)
        if not should_compile or is_rare:
            run = self._open_program(wanted)
            found = None if run is None else run()
            if found is None and not should_compile:
                found = program.run_once(self._outside) or one_by_one(self._steps, self._outside)
            if found is not None:
                return found
        if cache_checks.EVERY and cache_checks.is_due():
            return checked(program, self._steps, self._outside, wanted)
        try:
            return program.run(self._outside)
        except Exception:  # of one op, perhaps, with which the others have nothing to do
            return one_by_one(self._steps, self._outside)

    def _open_program(
        self, wanted: Wanted, is_look: bool = False
    ) -> Callable[[], tuple[dict[int, Any], dict[int, Any]] | None] | None:
        """Return what computes results if sizes keep changing, which may fail with None; None if there is nothing."""
        promised = [p for i in wanted.results if (p := self._results[i]()) is not None]
        if wanted.kept or len(promised) < len(wanted.results) or nan_checks.on:
            return None
        return find_open(self._steps, self._outside, wanted.results, [p.dtype for p in promised], is_look)

    def _close(self) -> None:
        for r in self._nodes.values():
            if (node := r()) is not None:
                node.queue = None
        self._open, self._updated, self._first, self._earlier = False, [], None, None
        self._steps, self._outside, self._place, self._results, self._nodes = [], [], {}, [], {}
        if state.interpreter is self:
            state.interpreter = eager_interpreter()
