"""Gradients inside a program: the forward operators move into one operator that has their gradient as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..core.errors import DataDependentError, GraphFreedError, user_frame, warn_no_gradient
from ..core.interpreter import no_grad
from ..eager.gradients import given_by_backward, leaf_gradient
from ..eager.tensor import Tensor, wrap
from ..ir import control
from ..ir.block import Operator
from ..ir.graph import acts, ancestors, close
from ..registry.bound import BoundOp
from ..registry.op import REGISTRY
from .aliases import Aliases
from .frame import Frame, TracedValue, origin, traced_copy
from .reopen import reopen


class Differentiation:
    """The part of the builder that differentiates."""

    frame: Frame
    value_of: Callable[[Tensor], TracedValue]
    handle: Callable[[TracedValue], Tensor]
    emit: Callable[..., tuple[TracedValue, ...]]
    inner: Callable[..., Any]
    arguments: dict[int, int]
    reached: dict[int, Any]
    asked: dict[int, str]
    convert: Callable[[Any], Any]
    rebind: Callable[[Tensor, Any], None]
    is_leaf: Callable[[Tensor], bool]
    aliases: Aliases
    unsure: frozenset[Any]
    _detach: Callable[[TracedValue], TracedValue]

    def backward(self, tensors: list[Tensor], grads: list[Tensor | None], retain_graph: bool) -> None:
        """Append the gradient of `tensors` and add it to the leaves' .grad."""
        pairs = [(t, g) for t, g in zip(tensors, grads, strict=True) if self._has_gradient(t)]
        roots, grads = [self._root(t) for t, _ in pairs], [g for _, g in pairs]
        if not roots:
            return
        read = {v for op in ancestors(self.frame.block.ops, roots) for v in op.inputs if isinstance(v, TracedValue)}
        self._check_reachable(read)
        leaves = [v for v in self.frame.leaves if v in read]
        for v in leaves:
            position = self.arguments.get(id(self.frame.leaves[v]))
            if position is not None:
                self.reached.setdefault(position, user_frame())
        found = self.gradient(roots, grads, leaves, retain_graph, create_graph=False)
        for leaf, g in zip(leaves, found, strict=True):
            if g is not None:
                self.frame.leaves[leaf]._accumulate(g)

    def _look_for_chance(self, ops: list[Operator], roots: list[TracedValue], reached: set[Any], wrt: Any) -> None:
        """Decide the statements that leave open whether there is a gradient by the data, where possible.

        A gradient that is zero adds nothing to one that is there.
        """
        if not self.aliases.decides:
            return
        chance = reached.intersection(wrt) - _reached(ops, roots, surely=True)
        leaves = [(v, self.frame.leaves.get(v)) for v in chance]
        seen = {v for v, t in leaves if t is None or id(t) in self.arguments or t._grad is None or t._hooks}
        if seen:
            self.unsure |= _statements_behind(ops, reached, seen)

    def grad(
        self,
        outputs: list[Tensor],
        inputs: list[Tensor],
        grads: list[Tensor | None],
        create_graph: bool,
    ) -> list[Tensor | None]:
        """Gradients of the outputs with respect to the inputs; None where none depends on one."""
        roots, wrt = [self._root(t) for t in outputs], [self.value_of(t) for t in inputs]
        return self.gradient(roots, grads, wrt, True, create_graph)

    def _asks(self, tensor: Any, use: str) -> None:
        """Note what is done with the gradient of an argument, which the trace knows nothing of: see Entry."""
        position = self.arguments.get(id(tensor))
        if position is not None and self.asked.setdefault(position, use) == "added" and use == "read":
            self.asked[position] = "summed"

    def overwrite(self, tensor: Tensor, data: Any) -> None:
        """Give a tensor another payload, through which gradients go on to where its own went."""
        held = tensor._payload
        if isinstance(data, TracedValue) and data.requires_grad:
            data = self._detach(data)
        if isinstance(held, TracedValue) and held.requires_grad and not self.is_leaf(tensor):
            data = self._with_gradient_of(self.value_of(wrap(data)), self.value_of(tensor))
        self.rebind(tensor, data)

    def _with_gradient_of(self, new: TracedValue, old: TracedValue) -> TracedValue:
        """Return a value that passes its gradient on to another one."""
        return self.emit(REGISTRY["with_gradient_of"].bind(()), (new, old), True)[0]

    def register_hook(self, tensor: Tensor, hook: Callable[[Tensor], Any]) -> Any:
        """Call `hook` with the gradient of a tensor.

        An identity with the hook as its gradient stands right behind the operator that made the tensor, so that all
        uses pass it.
        """
        value = self.value_of(tensor)
        at = next((i for i, op in enumerate(self.frame.block.ops) if value in op.outputs), None)
        if at is None or value.freed:
            raise DataDependentError(
                f"register_hook() at {user_frame()} inside a static function is only supported on a tensor that was "
                "made in the same block of it; register it on a leaf outside of the static function"
            )
        block, operands = self._hook_block(value, self.convert(hook))
        maker = self.frame.block.ops[at]
        late = {v for op in self.frame.block.ops[at + 1 :] for v in op.outputs}
        if late.intersection(operands):
            raise NotImplementedError(
                f"register_hook() at {user_frame()}: the hook reads a tensor that is made after the hooked one; "
                "make it before"
            )
        made = TracedValue(value.shape, value.dtype, self.frame, True)
        maker.outputs = tuple([made if v is value else v for v in maker.outputs])
        bound = control.custom(block, 1, 1)
        self.frame.block.ops.insert(at + 1, Operator(bound, (made, made, *operands), (value,), user_frame()))
        return _Fixed()

    def _hook_block(self, value: TracedValue, hook: Callable[[Tensor], Any]) -> tuple[Any, list[TracedValue]]:
        with self.inner() as frame, no_grad():
            grad = leaf_gradient(frame.new_input(value))
            changed = hook(grad)
            frame.block.outputs = [self.value_of(grad if changed is None else changed)]
        frame.closed = True
        return frame.block, frame.operands

    def custom_gradient(self, layer: Any, ctx: Any, inputs: list[Tensor], out: Any) -> Any:
        """Give results that forward() of a PyLayer made the gradient that its backward() computes, as a block."""
        outs = [t for t in (out if isinstance(out, tuple | list) else [out]) if isinstance(t, Tensor)]
        values = [self.value_of(t) for t in outs]
        with self.inner() as frame, no_grad():
            cotangents = [leaf_gradient(frame.new_input(v)) for v in values]
            needed = [not t.stop_gradient for t in inputs]
            grads = given_by_backward(layer, self.convert(layer.backward)(ctx, *cotangents), needed)
            zeros = [t * 0 if g is None else g for g, t in zip(grads, inputs, strict=True)]
            frame.block.outputs = [self.value_of(g) for g in zeros]
        frame.closed = True
        bound = control.custom(frame.block, len(values), len(inputs))
        given = [self.value_of(t) for t in inputs]
        made = self.emit(bound, (*values, *given, *frame.operands), True)
        handles = iter([self.handle(v) for v in made])
        kept = [
            next(handles) if isinstance(t, Tensor) else t for t in (out if isinstance(out, tuple | list) else [out])
        ]
        return type(out)(kept) if isinstance(out, tuple | list) else kept[0]

    def _check_reachable(self, read: set[TracedValue]) -> None:
        for v in self.frame.block.inputs:
            if v in read and v.requires_grad and v not in self.frame.leaves:
                raise DataDependentError(
                    f"backward() at {user_frame()} is in a staged branch or loop, but the graph of its loss begins "
                    f"outside of it (at {origin(v).where}); move the forward computation in, or backward() out"
                )

    def _has_gradient(self, tensor: Tensor) -> bool:
        """Whether backward() of a tensor does something; it warns otherwise."""
        if self.value_of(tensor).requires_grad:
            return True
        warn_no_gradient(tensor)
        return False

    def _root(self, tensor: Tensor) -> TracedValue:
        value = self.value_of(tensor)
        if not value.requires_grad:
            raise RuntimeError(
                f"grad() of a {tensor.dtype.name}{[*tensor.shape]} tensor that does not require gradient: nothing "
                "that it was made from has stop_gradient=False (or it was made under paddle.no_grad())"
            )
        if value.freed:
            raise GraphFreedError(
                f"backward() a second time through the graph of the tensor made at {value.where}; "
                "call the first one as backward(retain_graph=True)"
            )
        if value in self.frame.leaves or value in self.frame.block.inputs:
            return self.emit(identity(), (value,), requires_grad=True)[0]
        return value

    def gradient(
        self,
        roots: list[TracedValue],
        grads: list[Tensor | None],
        wrt: list[TracedValue],
        retain_graph: bool,
        create_graph: bool,
    ) -> list[Tensor | None]:
        """Move what the roots depend on into one grad operator; gradients of `wrt`, inner values included."""
        frame = self.frame
        asked = set(wrt)
        reopen(frame, roots, lambda v: v in asked)
        starts = _starts(frame.block.ops, wrt)
        roots = [self.emit(identity(), (r,), requires_grad=True)[0] if r in starts else r for r in roots]
        ops = frame.block.ops
        _check_reachable_inside(ops, starts)
        behind = _differentiated(ops, roots, starts)
        between = _from(behind, set(wrt))
        moved = {v for op in between for v in op.outputs}
        pairs = [(r, g) for r, g in zip(roots, grads, strict=True) if r in moved]
        if not pairs:  # nothing depends on the requested inputs
            return [None] * len(wrt)
        roots, given = [r for r, _ in pairs], [1.0 if g is None else self.value_of(g) for _, g in pairs]
        ops = frame.block.ops
        needed = _with_effects(ops, between)
        block, mapping, outer = close(needed)
        first = ancestors(ops, [v for v in (*outer, *given) if isinstance(v, TracedValue)])
        made = {v: None for op in needed for v in op.outputs}
        forward = list(dict.fromkeys([*roots, *made]))
        inner = [v for v in dict.fromkeys(wrt) if v in made]
        block.outputs = [mapping[v] for v in [*forward, *inner]]
        outside = [v for v in dict.fromkeys(wrt) if v in mapping and v not in made]
        at = tuple([outer.index(v) for v in outside])
        bound = control.grad(block, at, tuple(range(len(inner))), len(roots), create_graph)
        outs = {v: TracedValue(v.shape, v.dtype, frame, create_graph) for v in [*outside, *inner]}
        # Where the gradient reads some of the included operators, all of them stay: XLA computes them once.
        apart = not set(first).isdisjoint(needed)
        results = (*[traced_copy(v, frame) if apart else v for v in forward], *outs.values())
        op = Operator(bound, (*outer, *given), results, user_frame())
        taken = set(first) if apart else set(first) | set(needed)
        frame.block.ops = [*first, op, *[o for o in ops if o not in taken]]
        for v in [v for op in behind for v in op.outputs] if not retain_graph else ():
            v.freed = v.freed or v.requires_grad  # type: ignore[attr-defined]
        reached = _reached(needed, roots)
        self._look_for_chance(needed, roots, reached, wrt)
        return [self.handle(outs[v]) if v in outs and v in reached else None for v in wrt]


class _Fixed:
    """The handle of a hook that is part of a program."""

    def remove(self) -> bool:
        """Refuse: the program holds the hook."""
        raise NotImplementedError(
            f"remove() at {user_frame()} of a hook that was registered inside a static function: register it there "
            "only where it is wanted"
        )


def _starts(ops: list[Operator], wrt: list[TracedValue]) -> set[TracedValue]:
    """Return the values of `wrt` that depend on no other of them: where the differentiated computation begins."""
    wanted = set(wrt)
    starts = set()
    for v in wanted:
        above = {u for op in ancestors(ops, [v]) for u in op.inputs if isinstance(u, TracedValue)}
        if not above & (wanted - {v}):
            starts.add(v)
    return starts


def _check_reachable_inside(ops: list[Operator], starts: set[TracedValue]) -> None:
    """Refuse gradients of what is read inside of the part that makes it, where that is computed again as a whole."""
    for op in ops:
        if op.name == "recompute" and not starts.isdisjoint(op.outputs):
            read = {v for inner in op.blocks[0].ops for v in inner.inputs}
            if any(v in starts and k in read for v, k in zip(op.outputs, op.blocks[0].outputs, strict=True)):
                raise RuntimeError(
                    f"a gradient with respect to a tensor made inside of recompute() (line {op.where}), which is used "
                    "there: return it from the function, or call that without recompute()"
                )


def _differentiated(ops: list[Operator], roots: list[TracedValue], starts: set[TracedValue]) -> list[Operator]:
    """Return the operators that gradients of the roots flow through, and those between them.

    What lies behind a detached value stays outside, where another gradient may still reach it, unless gradients flow
    through a part of it by another way.
    """
    made = [v for op in ops for v in op.outputs]
    stop = starts | {v for v in made if not v.requires_grad}
    while True:
        needed = ancestors(ops, roots, stop)
        inside = set(needed)
        given = {v for op in needed for v in op.inputs if isinstance(v, TracedValue) and v in stop and v not in starts}
        mixed = {v for v in given if inside.intersection(ancestors(ops, [v]))}
        if not mixed:
            return needed
        stop -= mixed


def _from(ops: list[Operator], starts: set[TracedValue]) -> list[Operator]:
    """Return the operators that depend on some of the values: the others are no part of what is differentiated."""
    found: set[Any] = set(starts)
    kept = []
    for op in ops:
        if found.intersection([v for v in op.inputs if isinstance(v, TracedValue)]) or found.intersection(op.outputs):
            found.update(op.outputs)
            kept.append(op)
    return kept


def _reached(ops: list[Operator], roots: Iterable[Any], surely: bool = False) -> set[Any]:
    """Return the values that gradients of the roots flow to: in some run, or in each."""
    found: set[Any] = set(roots)
    for op in reversed(ops):
        if any(v in found and v.requires_grad for v in op.outputs):
            found.update(_read(op, found, surely))
    return found


def _read(op: Operator, found: set[Any], surely: bool) -> Iterable[Any]:
    """Return the values that an operator reads for some values; for gradients and choices, those in their blocks."""
    if op.bound.op is control.COND:
        sides = [set(_read_in(b, op.outputs, op.inputs[1:], found, surely)) for b in op.blocks]
        return set.intersection(*sides) if surely else set.union(*sides)
    n = control.Operands(op).results
    if op.bound.op is not control.GRAD or not found.isdisjoint(op.outputs[n:]):
        return op.inputs
    return _read_in(op.blocks[0], op.outputs[:n], op.inputs, found, surely)


def _read_in(block: Any, outputs: Any, inputs: Any, found: set[Any], surely: bool) -> list[Any]:
    """Return the values that a block of an operator reads to compute some of its results."""
    inside = _reached(block.ops, [held for v, held in zip(outputs, block.outputs, strict=False) if v in found], surely)
    return [v for v, held in zip(inputs, block.inputs, strict=False) if held in inside]


def _statements_behind(ops: list[Operator], found: set[Any], values: set[Any]) -> frozenset[Any]:
    """Return the choices that leave open whether gradients, which flow to what is found, flow to one of the values."""
    choices = [op for op in ops if op.bound.op is control.COND and not found.isdisjoint(op.outputs)]
    by_chance = {op: set(_read(op, found, False)).difference(_read(op, found, True)) for op in choices}
    return frozenset(op.where for op in choices if not values.isdisjoint(_reached(ops, by_chance[op])))


def _with_effects(ops: list[Operator], needed: list[Operator]) -> list[Operator]:
    """Return the operators, with those in between that act on the world, if some of them do: their order is kept."""
    inside = set(needed)
    last = max((i for i, op in enumerate(ops) if op in inside and acts(op)), default=-1)
    acting = [op for op in ops[:last] if acts(op)]
    if inside.issuperset(acting):
        return needed
    behind = set(ancestors(ops, [v for op in acting for v in op.inputs if isinstance(v, TracedValue)]))
    made: set[Any] = set()
    for op in ops[:last]:
        if op in inside or op in acting or (op in behind and made.intersection(op.inputs)):
            inside.add(op)
            made.update(op.outputs)
    return [op for op in ops if op in inside]


def identity() -> BoundOp:
    """Return the op that gives its argument as a new value."""
    return REGISTRY["identity"].bind(())
