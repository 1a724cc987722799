"""Trace a function into a Program: what it computes, what it reads from outside, and the state it leaves changed."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core import memory
from ..core import structure as nested
from ..core.arrays import is_array
from ..core.errors import MadeInTraceError
from ..core.interpreter import use
from ..core.symbolic import is_symbolic
from ..core.traced_number import ScalarGuard
from ..eager import views
from ..eager.random import default_generator
from ..eager.tensor import Tensor
from ..ir.block import Value
from ..ir.program import Program
from ..ir.simplify import dead_code
from .aliases import Undecided
from .builder import Builder
from .checks import Cleared
from .dimensions import Dimensions
from .effects import Argument, AtPath, Effect
from .escape import find_made
from .frame import Capture, TracedValue, Write, is_leaf
from .made_objects import attributes, copies_of, is_from_outside, is_made, note_stored, with_own_copies
from .owned import Owned, owned_by, with_attributes
from .schedules import TracedSchedule
from .speculation import Speculated, Speculation
from .traced_scalars import NUMBER_LEAF, is_number, with_known_keys

# Held while a program is traced, when handles stand for values of the program, and by runs that change handles.
LOCK = threading.RLock()


class Traced(NamedTuple):
    """A program with its ties to the Python world."""

    program: Program
    n_args: int
    captures: list[Tensor]
    providers: list[Callable[[], Any]]
    structure: Any  # of the result
    n_results: int
    effects: list[Effect]
    requires_grad: tuple[bool, ...]  # for each result, whether it is still differentiable
    layers: list[Any]  # that were called
    # Attributes and items that runs replace by new tensors: the spec they have, and a weak reference to the first one.
    paths: list[tuple[Write, Any, Any]]
    gradients: list[tuple[Tensor, str]]  # what .grad of a tensor must hold: "some", "empty", "none" or "zeros"
    checks: Any = None  # the asserts and raises; the code of the one that failed is an output after the rest
    loop_buffer: Any = None  # of loops with a gradient; the iterations that they needed are the very last output
    schedules: tuple[TracedSchedule, ...] = ()  # that the program steps, or reads
    reached: dict[int, Any] = {}  # noqa: RUF012  arguments that a backward() inside gives gradients to, and its line
    speculated: tuple[
        Speculated, ...
    ] = ()  # values taken for granted; those of a run are outputs after those of the effects

    looked: tuple[tuple[Tensor, Any], ...] = ()  # tensors whose data Python has read, and those data
    same: dict[int, int] = {}  # noqa: RUF012  outputs that are one tensor: the place of each, and of the first of them
    asked: dict[int, str] = {}  # noqa: RUF012  arguments by what is done with their gradient first
    assumed: tuple[Any, ...] = ()  # facts that it relies on: see Interpreter.assumes
    left: tuple[int, ...] = ()  # outputs that state takes, which gradients flow out of too
    constraints: tuple[str, ...] = ()  # between unknown dimensions, which the trace has taken for granted
    seen: tuple[ScalarGuard, ...] = ()  # what the trace has found out about numbers that it does not know
    owned: tuple[Owned, ...] = ()  # attributes of arguments that it has asked for
    copies: Any = None  # what runs have copied of values of its own, if they give any

    @property
    def speculated_outputs(self) -> slice:
        """Where the outputs stand that are compared with `assumed`."""
        own = bool(self.checks) + bool(self.loop_buffer)
        return slice(-own - len(self.speculated), -own or None)

    @property
    def shown(self) -> slice:
        """Where the outputs stand that the message of a failed check shows."""
        end = self.speculated_outputs.start
        return slice(end - len(self.checks.shown), end or None)

    @property
    def flows(self) -> list[int]:
        """The outputs that gradients flow out of."""
        return [i for i, f in enumerate(self.requires_grad) if f] + [*self.left]

    @property
    def counted(self) -> list[TracedSchedule]:
        """The schedules of which the program counts steps."""
        return [s for s in self.schedules if s.steps is not None]

    @property
    def steps(self) -> slice:
        """Where the outputs stand that count them."""
        end = self.speculated_outputs.start - len(self.checks.shown if self.checks else ())
        return slice(end - len(self.counted), end or None)


def trace(
    fn: Callable[..., Any],
    specs: Sequence[Any],
    grads: Sequence[bool],
    names: Sequence[str],
    convert: Callable[[Any], Any] = lambda f: f,
    outside: dict[int, Any] | None = None,
    shared: tuple[Any, ...] = (),
    sizes: Dimensions | None = None,
    decided: frozenset[Any] | None = None,
    callers: Sequence[Tensor] = (),
    is_of_calls: bool = False,
    reads_all: bool = False,
) -> Traced:
    """Trace fn(*tensors), one tensor for each spec.

    State that fn changes is given back whatever happens: only a run changes it. Arrays among the specs are those of a
    call, whose values the program may take for granted. `outside` has the containers that fn can reach, by id; `shared`
    says which of the tensors are views of which (views.shared); `sizes` has the unknown dimensions of the specs;
    `decided` says which statements data decide, if they may: then Undecided tells of more; `callers` are the tensors
    of the call, if the trace is of one; `is_of_calls` says that what it makes must be made anew by each;
    `reads_all` that it may read attributes of tensors that it does not name.
    """
    with LOCK, memory.paused_collection():
        builder = Builder(convert)
        builder.outside, builder.sizes, builder.size_answers = outside or {}, sizes, sizes
        builder.callers, builder.is_of_calls, builder.reads_all = callers, is_of_calls, reads_all
        if sizes is not None and sizes.for_file:
            builder.unknown = sizes.measured
        if all(is_array(s) for s in specs):
            builder.speculation = Speculation(builder, specs)
            if decided is not None:
                builder.decided, builder.aliases.decides = decided, True
        tensors = [builder.argument(s, i, g) for i, (s, g) in enumerate(zip(specs, grads, strict=True))]
        views.share(tensors, shared)
        builder.share_settings(tensors)
        generator = default_generator.state, default_generator.state._payload
        try:
            found = _trace(builder, fn, tensors, names)
        except Exception:  # perhaps of what was taken for another tensor than it is
            generator[0]._payload = generator[1]  # the function itself draws the same numbers
            if builder.aliases.open:
                raise Undecided(builder.aliases.open, builder.unsure) from None
            raise
        if builder.aliases.open or builder.unsure:
            raise Undecided(builder.aliases.open, builder.unsure)
        return found


def _trace(builder: Builder, fn: Any, tensors: list[Tensor], names: Sequence[str]) -> Traced:
    for tensor, name in zip(tensors, names, strict=True):
        tensor._payload.name = name
    leaves: list[TracedValue] = []
    effects: list[Effect] = []
    try:
        with use(builder):
            result = fn(*tensors)
            _look_for_stale(builder)
            _forget_put_back(builder)
            made = find_made(list(builder.root.log.values()), has_open_sizes=builder.unknown is not None)
            outside = [w for w in builder.root.log.values() if id(w.owner) not in made and builder.is_outside(w)]
            builder.replaced = _find_replacements(builder, outside)
            builder.replaced |= {id(handle): Write(t, "_grad", None) for t, handle, _ in builder.stand_ins}
            outside = [w for w in outside if not (w.is_tie or _follows(builder, w))]
            _look_for_kept_aliases(builder, outside)
            updated = {id(w.owner) for w in outside if w.key == "_payload"}
            note_stored(builder, outside)
            rebuilt: dict[int, bool] = {}
            structure = _outputs(builder, result, leaves, updated, rebuilt)
            outside = [w for w in outside if id(w.owner) not in rebuilt]
            n_results = len(leaves)
            skipped = [*_own(builder), *[owner for owner, _, _ in builder.replays]]
            for write in outside:
                if any(write.owner is t for t in skipped) or _unchanged(builder, write):
                    continue
                if isinstance(write.get(), Cleared):
                    write.owner._grad = builder.settled(write.owner)
                at = len(leaves)
                held = write.get()
                found = _outputs(builder, held, leaves, updated)
                effects.append(Effect(_owned(builder, write), found, len(leaves) - at))
            for tensor, handle, before in builder.stand_ins:
                if handle._payload is not before:  # who holds the gradient sees the change
                    _outputs(builder, handle._payload, leaves, updated)
                    place = Write(tensor, "_grad", None)
                    effects.append(Effect(Write(AtPath(place), "_payload", None), nested.LEAF, 1))
            for owner, method, args in builder.replays:
                at = len(leaves)
                found = _outputs(builder, args, leaves, updated)
                effects.append(Effect(Write(owner, method, None), found, len(leaves) - at))
            leaves += [builder.value_of(t) for t in _own(builder)]
            paths = _follow_paths(builder)
            effects = _by_path(effects, paths)
    finally:
        builder.root.undo()
        builder.root.closed = True
    return _assemble(builder, len(tensors), structure, leaves, n_results, effects, paths)


def _look_for_stale(builder: Builder) -> None:
    """Tensors from outside must have seen all writes."""
    for held in builder.aliases.stale_objects():
        if isinstance(held, Tensor) and builder.is_outside(Write(held, "_payload", None)):
            builder.aliases.read(held)


def _forget_put_back(builder: Builder) -> None:
    """`o.v = o.v` is no change: what stands there is the tensor that other names have as well."""
    log = builder.root.log
    for key, write in list(log.items()):
        if isinstance(write.before, Tensor) and write.key not in ("_payload", "_grad") and write.get() is write.before:
            del log[key]


def _look_for_kept_aliases(builder: Builder, writes: list[Write]) -> None:
    """Check that what is put into state is no alias of a tensor that stays in another place of it."""
    if not builder.aliases.stand_ins:
        return
    held = {id(v): v for c, _ in builder.outside.values() for v in (c.values() if isinstance(c, dict) else c)}
    for write in writes:
        if write.key in ("_payload", "_grad"):
            continue
        tensors: list[Tensor] = []
        nested.flatten(write.get(), lambda v: isinstance(v, Tensor), tensors)
        for tensor in tensors:
            builder.aliases.settle(tensor, held.keys())


def _follows(builder: Builder, write: Write) -> bool:
    """True for a view of a tensor from outside that changes too: a run shows the change in the views there are then."""
    view = write.owner._view if write.key == "_payload" and isinstance(write.owner, Tensor) else None
    found = None if view is None else builder.root.log.get((id(view[0]), "_payload", False))
    return found is not None and builder.is_outside(found)


def _own(builder: Builder) -> list[Tensor]:
    """Return the handles of the framework's own that the executor looks at after a run."""
    checks, loop_buffer, speculation = builder.checks, builder.loop_buffer, builder.speculation
    return [
        *[s.steps for s in builder.schedules.values() if s.steps is not None],
        *(checks.shown if checks else []),
        *(speculation.handles if speculation else []),
        *([checks.code] if checks else []),
        *([loop_buffer.needed] if loop_buffer else []),
    ]


def _unchanged(builder: Builder, write: Write) -> bool:
    """True for a number that is what it was, and for a gradient that is still the same tensor, whatever it holds."""
    if not write.is_item and write.get() is builder.initial.get((id(write.owner), write.key, False), write):
        return True
    return write.key == "_grad" and any(write.get() is handle for _, handle, _ in builder.stand_ins)


def _owned(builder: Builder, write: Write) -> Write:
    position = builder.arguments.get(id(write.owner))
    owner = write.owner if position is None else Argument(position)
    return write._replace(owner=owner, before=None)  # the old value must not be kept alive


def _outputs(
    builder: Builder,
    value: Any,
    leaves: list[TracedValue],
    updated: set[int],
    rebuilt: dict[int, bool] | None = None,
) -> Any:
    """Flatten a result; its traced tensors become outputs, and tensors from outside stay themselves.

    `updated` has the ids of those from outside that are given new payloads. `rebuilt` gets the ids of objects that
    each run makes anew, and whether their content is being flattened; None: there are none.
    """
    if isinstance(value, Value):  # a payload
        leaves.append(builder.value_of(builder.handle(value)))
        return nested.LEAF
    elif is_array(value):
        return nested.Static(value)
    tensors: list[Any] = []
    value = with_known_keys(value)
    for_file = builder.sizes is not None and builder.sizes.for_file  # which holds copies

    def is_whole(held: Any) -> bool:
        known = isinstance(held, Tensor) or is_symbolic(held)
        return known or not for_file and (is_from_outside(builder, held) or is_new(held))

    def is_new(held: Any) -> bool:
        return rebuilt is not None and is_made(builder, held)

    structure = nested.flatten(value, is_whole, tensors)

    def place(tensor: Any) -> Any:
        if not isinstance(tensor, Tensor) and not is_symbolic(tensor):
            if rebuilt is None or not is_new(tensor):
                return nested.Static(tensor)
            if rebuilt.get(id(tensor)):
                raise MadeInTraceError(f"the function returns a {type(tensor).__name__} that holds itself")
            rebuilt[id(tensor)], held = True, attributes(tensor)
            parts = [_outputs(builder, v, leaves, updated, rebuilt) for v in held.values()]
            rebuilt[id(tensor)] = False
            return nested.Nest(type(tensor), tuple(held), tuple(parts))
        tensor = tensor if isinstance(tensor, Tensor) else builder.sizes.returned(tensor)
        if is_number(tensor) and tensor._value is not None:
            return nested.Static(tensor._value)
        if id(tensor) in builder.arguments:
            return nested.Static(Argument(builder.arguments[id(tensor)]))
        if id(tensor) in builder.replaced:
            builder.value_of(tensor)  # an input of the program, which is read where a run finds it
            return nested.Static(AtPath(builder.replaced[id(tensor)]))
        if id(tensor) in updated or not isinstance(tensor._payload, Value):
            return nested.Static(tensor)
        known = id(tensor) in builder.given
        builder.given.setdefault(id(tensor), []).append(len(leaves))
        builder.kept.append(tensor)
        leaves.append(builder.value_of(tensor))
        if is_number(tensor):
            return NUMBER_LEAF
        own = {} if known or for_file else owned_by(tensor)
        return with_attributes(nested.LEAF, {k: _outputs(builder, v, leaves, updated) for k, v in own.items()})

    return with_own_copies(builder, nested.replace_leaves(structure, iter([place(t) for t in tensors])))


def _find_replacements(builder: Builder, outside: list[Write]) -> dict[int, Write]:
    """By ids of tensors from outside, where a run puts others in their place: a later run finds another one there."""
    written = [w for w in outside if isinstance(w.before, Tensor) and w.key not in ("_payload", "_grad")]
    written = [w for w in written if id(w.owner) not in builder.arguments]  # whose attributes are part of the key
    held = [w for w in written if builder.is_outside(Write(w.before, "_payload", None))]
    return {id(w.before): w._replace(before=None) for w in held}


def _payload_of(place: Write) -> Any:
    return place.get()._payload


def _follow_paths(builder: Builder) -> list[tuple[Write, Any, Any]]:
    """Read by path what runs replace: the tensor that `self.h` held at first is not the one it holds later."""
    paths, followed = [], dict[int, TracedValue]()
    for write in builder.root.log.values():
        before = write.before
        if not isinstance(before, Tensor) or write.key in ("_payload", "_grad") or id(write.owner) in builder.arguments:
            continue
        place = write._replace(before=None)
        held = builder.captures.get(id(before))
        if held is not None and held.handle is before:
            del builder.captures[id(before)]
            followed[id(before)] = held.value
            builder.providers.append((functools.partial(_payload_of, place), held.value))
        if id(before) in followed:
            paths.append((place, followed[id(before)].spec, weakref.ref(before)))
    return paths


def _by_path(effects: list[Effect], paths: list[tuple[Write, Any, Any]]) -> list[Effect]:
    """Return the effects, with the tensors that a run finds by path in the place of those that the trace has found."""
    places = {id(first()): place for place, _, first in paths}

    def moved(effect: Effect) -> Effect:
        owner = AtPath(places[id(effect.write.owner)])
        return effect._replace(write=effect.write._replace(owner=owner))

    return [moved(e) if e.write.key == "_payload" and id(e.write.owner) in places else e for e in effects]


def _left(effects: list[Effect], at: int, leaves: list[TracedValue]) -> tuple[int, ...]:
    """Return the outputs from `at` on that effects give to state, part of the graph as they are."""
    found: list[int] = []
    for effect in effects:
        places = range(at, at := at + effect.n_leaves)
        if effect.write.key != "_grad":
            found += [i for i in places if not is_leaf(leaves[i]) and not leaves[i].freed]
    return tuple(found)


def _updates(captures: list[Capture], at: int, effects: list[Effect]) -> dict[int, Value]:
    """For outputs that captured tensors take as their new value: the inputs that these are."""
    inputs = {id(c.handle): c.value for c in captures}
    found: dict[int, Value] = {}
    for effect in effects:
        if effect.write.key == "_payload" and effect.n_leaves == 1 and id(effect.write.owner) in inputs:
            found[at] = inputs[id(effect.write.owner)]
        at += effect.n_leaves
    return found


def _assemble(
    builder: Builder,
    n_args: int,
    structure: Any,
    leaves: list[TracedValue],
    n_results: int,
    effects: list[Effect],
    paths: list[tuple[Write, Any, Any]],
) -> Traced:
    block = builder.root.block
    captures = list(builder.captures.values())
    block.inputs = [
        *list(block.inputs[:n_args]),
        *[c.value for c in captures],
        *[v for _, v in builder.providers],
    ]
    block.outputs = list(leaves)
    names = [v.name or f"in{i}" for i, v in enumerate(block.inputs)]
    captured: dict[Value, Any] = {c.value: c.handle for c in captures}
    return Traced(
        dead_code(Program(block, names, None, captured, _updates(captures, n_results, effects), builder.measured)),
        n_args,
        [c.handle for c in captures],
        [get for get, _ in builder.providers],
        structure,
        n_results,
        effects,
        tuple([v.requires_grad and not v.freed for v in leaves[:n_results]]),
        builder.layers,
        paths,
        builder.gradients,
        builder.checks,
        builder.loop_buffer,
        tuple([s for s in builder.schedules.values() if s.changes or s.steps is not None]),
        builder.reached,
        tuple(builder.speculation.speculated if builder.speculation else ()),
        tuple(builder.looked.values()),
        asked=builder.asked,
        assumed=tuple(builder.assumed),
        seen=tuple(builder.seen),
        owned=tuple(builder.owned.values()),
        copies=copies_of(builder, [structure, *[e.structure for e in effects]]),
        left=_left(effects, n_results, leaves),
        same={i: at[0] for at in builder.given.values() for i in at[1:]},
    )
