"""Eager ops that wait: what a forward pass does to large arrays is computed together with its backward.

An op that a gradient is recorded of, on an array of XLA's, does not run: its results have a shape and a dtype, and the
op waits. Those that read them wait too. Whoever looks at a value, for which reading `_data` is enough, has all of them
computed; backward() does, and is part of the same program then, which is what a static function makes of both. So
eager code takes the time of static code, and holds no more in memory.

While ops wait their segment is the interpreter of the thread; else eager mode is as it is without all this.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..core import small
from ..core.dtypes import is_inexact
from ..core.interpreter import state
from ..core.switches import deferral
from ..host.tier import for_xla
from ..registry.bound import BoundOp, fitting
from . import gradients, tape
from .execute import EAGER, Eager, begin, failure, flows_of, forward_of, payload
from .joined import Call, Computed, Wanted, program_of
from .pending import Pending
from .tape import Node, Output
from .tensor import Tensor
from .views import link

_new: Any = object.__new__
_ref = weakref.ref
# Of more ops XLA makes no faster program, and takes longer for each.
MOST = 1000


class Waiting:
    """How a bound op waits.

    Arguments:
        bound: the op.

    Attributes:
        can: whether it may: not what acts on the world, or looks at its results.
    """

    def __init__(self, bound: BoundOp) -> None:
        op = bound.op
        self.can = bound.compiled and not op.effect and op.across is None and bound.derived(op.output_check) is None
        self.check = bound.derived(op.input_check)
        self._fn = fitting(bound.fn)
        self._results: dict[Any, tuple[list[Any], bool]] = {}

    def results(self, data: Sequence[Any]) -> tuple[list[Any], bool]:
        """Shapes and dtypes of the results for arguments like these, and whether they come as a tuple."""
        key = tuple([(d.shape, d.dtype) if hasattr(d, "shape") else d.__class__ for d in data])
        found = self._results.get(key)
        if found is None:
            specs = [jax.ShapeDtypeStruct(d.shape, d.dtype) if hasattr(d, "shape") else d for d in data]
            out = jax.eval_shape(self._fn, *specs)
            several = isinstance(out, tuple)
            found = self._results[key] = (list(out) if several else [out]), several
        return found


class Deferred(Eager):
    """Eager mode while ops wait."""

    def __init__(self) -> None:
        self._open = True
        self._lock = threading.RLock()
        self._calls: list[Call] = []
        self._outside: list[Any] = []
        self._place: dict[int, int] = {}  # of arrays from outside, by identity
        self._specs: list[Any] = []  # of the results
        self._results: list[weakref.ref[Pending]] = []
        self._nodes: dict[int, weakref.ref[Node]] = {}  # by call

    # -- waiting -----------------------------------------------------------------------------------------------------
    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Put an op off, or run it at once; see interpreter.Interpreter."""
        with self._lock:
            if self._open and (len(self._calls) >= MOST or self._begins_again(bound)):
                self.flush()
            made = self.put_off(bound, args) if self._open else None
        if made is not None:
            return made
        if not self._calls and state.interpreter is self:
            state.interpreter = EAGER
        return EAGER.run(bound, args)

    def _begins_again(self, bound: BoundOp) -> bool:
        """Whether this is a loop whose last turn nobody takes gradients of any more."""
        return bool(self._calls) and bound is self._calls[0].bound and self._node(0) is None

    def _node(self, at: int) -> Node | None:
        node = self._nodes.get(at)
        return None if node is None else node()

    def put_off(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """The results of an op, which waits; None if it is to run at once."""
        waiting = bound.waiting
        if waiting is None:
            waiting = bound.waiting = Waiting(bound)
        if not waiting.can:
            return None
        data = [self._held(a) if isinstance(a, Tensor) else payload(a) for a in args]
        if not self._open:  # another segment's, which has just been computed, made this one look
            return None
        takes = [isinstance(a, Tensor) and not a.stop_gradient for a in args]
        records = state.grad_enabled and any(takes)
        waits = any([d.__class__ is Pending for d in data])
        if not (waits or (records and bound.op.grad and any([isinstance(d, jax.Array) for d in data]))):
            return None
        try:
            if waiting.check is not None:
                waiting.check(*data)
            specs, several = waiting.results(data)
        except Exception as e:
            raise failure(bound, args, e) from None
        flows = flows_of(bound, specs) if records else ()
        if not (waits or any(flows)):
            return None
        places = tuple([d.index if d.__class__ is Pending else self._from_outside(d) for d in data])
        taken = tuple(takes) if any(flows) else None
        self._calls.append(Call(bound, places, taken, len(self._results), len(specs)))
        made = self._made(specs)
        if any(flows):
            sources = tuple([(a._source or a) if t else None for a, t in zip(args, takes, strict=True)])
            node = Node(bound, tuple(data), sources)
            node.segment, node.place = self, len(self._calls) - 1
            self._nodes[node.place] = _ref(node)
            _connect(node, made, flows, several)
        out = tuple(made) if several else made[0]
        if bound.views is not None:
            link(args[0], out, bound, args[1:])
        return out

    def _held(self, tensor: Tensor) -> Any:
        pending = tensor._pending
        return pending if pending is not None and pending.segment is self else tensor._data

    def _made(self, specs: list[Any]) -> list[Tensor]:
        made = []
        for spec in specs:
            t = _new(Tensor)
            t._pending = pending = Pending(self, len(self._results), spec.shape, spec.dtype)
            self._results.append(_ref(pending))
            made.append(t)
        self._specs += specs
        return made

    def _from_outside(self, value: Any) -> int:
        is_array = isinstance(value, jax.Array | np.ndarray)  # two numbers may be one object, and differ next time
        at = self._place.get(id(value)) if is_array else None
        if at is None:
            at = len(self._outside)
            self._outside.append(value)
            if is_array:
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

    # -- computing ---------------------------------------------------------------------------------------------------
    def backward(self, tensors: list[Tensor], grads: list[Tensor | None], retain_graph: bool) -> None:
        """Accumulate gradients in the leaves that the tensors depend on."""
        root = gradients.plain_root(tensors, grads)
        found = None
        if root is not None and root.segment is self:
            with self._lock:
                found = self._with_backward(root, retain_graph) if self._open else None
        if found is None:
            gradients.backward(tensors, grads, retain_graph)
        else:
            gradients.give(*found)

    def flush(self) -> None:
        """Compute all that waits, as far as anybody could ask for it."""
        with self._lock:
            if not self._open:
                return
            wanted = self._wanted()
            if wanted.values:
                computed = self._computed(wanted, [])
                if computed is None:
                    self._one_by_one()
                else:
                    self._finish(computed, wanted)
            self._close()

    def _with_backward(self, root: Node, retain_graph: bool) -> tuple[list[Any], list[Any]] | None:
        """The leaves under a node and their gradients, computed with all that waits; None where that cannot be."""
        graph = tape.graph_under(root)
        if graph is None:
            return None
        nodes, key, slots = graph[0], graph[1], graph[3]
        del graph  # which holds what waits
        places = tuple([n.place if n.segment is self else -1 for n in nodes])
        before = {n: n.data for n in nodes if n.segment is not self}
        if not retain_graph:
            tape.free(nodes)
        computed = None
        try:
            wanted = self._wanted(places, key)
            computed = self._computed(wanted, [a for data in before.values() for a in data or ()])
        finally:
            if computed is None:
                self._restore(nodes, before)
        if computed is None:
            return None
        self._finish(computed, wanted)
        self._close()
        return slots, computed.gradients

    def _restore(self, nodes: list[Node], before: dict[Node, Any]) -> None:
        """Give nodes that were freed what they kept."""
        for node in nodes:
            if node in before:
                node.data = before[node]
            elif node.data is None:
                places = self._calls[node.place].places
                node.data = tuple([self._pending(at) if at >= 0 else self._outside[~at] for at in places])

    def _pending(self, index: int) -> Pending:
        found = self._results[index]()
        if found is None:
            found = Pending(self, index, self._specs[index].shape, self._specs[index].dtype)
            self._results[index] = _ref(found)
        return found

    def _wanted(self, nodes: tuple[int, ...] = (), graph: tape.Key = ()) -> Wanted:
        values = tuple([i for i, r in enumerate(self._results) if r() is not None])
        return Wanted(values, tuple([n.place for n in self._live() if n.bound.keeps]), nodes, graph)

    def _live(self) -> list[Node]:
        """The nodes that a backward may still come to."""
        return [n for r in self._nodes.values() if (n := r()) is not None and n.data is not None]

    def _computed(self, wanted: Wanted, saved: list[Any]) -> Computed | None:
        """What is wanted; None, and nothing computed, where that is better done op by op."""
        program = program_of(self._calls, len(self._outside), wanted)
        if not program.is_hot([*self._outside, *saved]):
            return None
        return program.run([for_xla(a) for a in self._outside], saved)

    def _finish(self, computed: Computed, wanted: Wanted) -> None:
        """Give results and nodes their arrays."""
        values = computed.values
        for i, array in values.items():
            if (pending := self._results[i]()) is not None:
                pending.array = array
        residuals = dict(zip(wanted.kept, computed.residuals, strict=True))
        for node in self._live():
            arrays = tuple([values[d.index] if d.__class__ is Pending else d for d in node.data or ()])
            if node.place in residuals:
                call = self._calls[node.place]
                outs = [values.get(i) for i in range(call.first, call.first + call.count)]
                node.bound, node.data = forward_of(call.bound).kept(arrays, outs, residuals[node.place])
            else:
                node.data = arrays

    def _one_by_one(self) -> None:
        """Compute it op by op, as eager code does."""
        values: list[Any] = []
        for at, call in enumerate(self._calls):
            data = tuple([values[i] if i >= 0 else self._outside[~i] for i in call.places])
            node = self._node(at)
            if node is not None and node.data is not None and call.bound.keeps:
                out, node.bound, node.data = forward_of(call.bound)(call.takes, data)
            else:
                out = call.bound.jitted(*data)
                if node is not None and node.data is not None:
                    node.data = data
            values += out if isinstance(out, tuple | list) else (out,)
        for i, r in enumerate(self._results):
            if (pending := r()) is not None:
                pending.array = values[i]

    def _close(self) -> None:
        for r in self._nodes.values():
            if (node := r()) is not None:
                node.segment = None
        self._open = False
        self._calls, self._outside, self._place = [], [], {}
        self._specs, self._results, self._nodes = [], [], {}
        if state.interpreter is self:
            state.interpreter = EAGER


def _connect(node: Node, made: list[Tensor], flows: Sequence[bool], several: bool) -> None:
    """Say of results that a node made them. Nodes with residuals count those only that gradients flow out of."""
    keeps = node.bound.keeps
    flowing = [i for i, f in enumerate(flows) if f]
    for n, i in enumerate(flowing):
        made[i].stop_gradient = False
        alone = len(flowing) == 1 if keeps else not several
        made[i]._source = node if alone else Output(node, n if keeps else i)


@functools.cache
def _serves() -> bool:
    """Whether ops may wait here: on CPUs, where XLA's programs are made into what pays there."""
    debugs = getattr(jax.config, "jax_debug_nans", False)
    return not debugs and jax.default_backend() == "cpu" and jax.local_device_count() == 1 == jax.process_count()


small.on_change(_serves.cache_clear)


def starts(tensors: Sequence[Tensor]) -> bool:
    """Let ops wait from here on, if the next ones are on tensors that have them wait."""
    if not (state.interpreter is EAGER and state.grad_enabled and deferral.on and _serves()):
        return False
    if all([t.stop_gradient for t in tensors]) or not any([isinstance(t._data, jax.Array) for t in tensors]):
        return False
    state.interpreter = Deferred()
    return True


def _begin(bound: BoundOp, args: tuple[Any, ...]) -> Any:
    if not (deferral.on and _serves()):
        return None
    segment = Deferred()
    made = segment.put_off(bound, args)
    if made is not None:
        state.interpreter = segment
    return made


begin[0] = _begin
