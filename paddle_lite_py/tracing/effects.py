"""The effects of a run on state: what is stored where, and which tensors stand for those of the caller."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core import structure as nested
from ..core.traced_number import TracedNumber
from ..eager.pending import payload_of, set_payload
from ..eager.tensor import ZEROS, Tensor, wrap
from ..eager.views import replaced
from .frame import Write


class Argument(NamedTuple):
    """Stands for the caller's own tensor, in a result or as the owner of state."""

    position: int


class AtPath(NamedTuple):
    """Stands for the tensor that a run finds in a place, as the owner of state, or in a result."""

    place: Write


class Effect(NamedTuple):
    """State to set after each run: the write, and its new content, whose leaves are outputs of the program."""

    write: Write
    structure: Any
    n_leaves: int


class Copies(threading.local):
    """The copies that a run has made for its results and for state, by id of what they are copies of."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}


class Sorted:
    """Effects by how they are done: most give a tensor new data or take its gradient away, an assignment each.

    Arguments:
        effects: what is done after each run, in order.
        first: the place of their first output.
    """

    def __init__(self, effects: Sequence[Effect], first: int) -> None:
        self.renewed: list[tuple[Tensor, int]] = []  # with the place of the data
        self.cleared: list[tuple[Tensor, Any]] = []  # with a stand-in for no gradient
        self.others: list[tuple[int, Effect]] = []  # with the place of their first output
        at = first
        for effect in effects:
            (owner, key, *_), structure = effect.write, effect.structure
            known = isinstance(owner, Tensor)
            if known and key == "_payload" and structure is nested.LEAF:
                self.renewed.append((owner, at))
            elif known and key == "_grad" and _no_gradient(structure):
                self.cleared.append((owner, structure.value))
            else:
                self.others.append((at, effect))
            at += effect.n_leaves


def _no_gradient(structure: Any) -> bool:
    return type(structure) is nested.Static and (structure.value is None or structure.value is ZEROS)


def found(effect: Effect) -> Effect:
    """Return the effect on, and of, the tensors that are in their places now, before they are put elsewhere."""
    owner = effect.write.owner
    write = effect.write._replace(owner=owner.place.get()) if type(owner) is AtPath else effect.write
    return effect._replace(write=write, structure=found_in(effect.structure))


def found_in(structure: Any) -> Any:
    """Return a structure with the tensors that are in their places now."""
    if isinstance(structure, nested.Nest):
        return structure._replace(children=tuple([found_in(c) for c in structure.children]))
    if isinstance(structure, nested.Static) and isinstance(structure.value, AtPath):
        return nested.Static(structure.value.place.get())
    return structure


def settle_numbers(structure: Any) -> Any:
    """Return a structure with the numbers of the call under way."""
    if isinstance(structure, nested.Nest):
        return structure._replace(children=tuple([settle_numbers(c) for c in structure.children]))
    return nested.Static(structure.value.get()) if mentions(structure, TracedNumber) else structure


def owner_of(effect: Effect, args: Sequence[Tensor]) -> Any:
    """Return the object that an effect changes, for these arguments of the run."""
    owner = effect.write.owner
    return args[owner.position] if owner.__class__ is Argument else owner


def show(tensor: Tensor) -> None:
    """Show a new payload in what shares the elements of a tensor."""
    if tensor._views is not None or tensor._view is not None:
        replaced(tensor)


def join(owner: Tensor, made: Tensor) -> None:
    """Put a tensor where another one is in the graph."""
    owner._source, owner.stop_gradient = made._source, False


def put(effect: Effect, arrays: list[Any], args: Sequence[Tensor]) -> None:
    """Set state."""
    write, owner = effect.write, owner_of(effect, args)
    if write.key == "_payload" and effect.structure is nested.LEAF and isinstance(arrays[0], Tensor):
        set_payload(owner, payload_of(arrays[0]))
        return join(owner, arrays[0])
    if write.key == "_payload":
        return set_payload(owner, arrays[0] if effect.structure is nested.LEAF else effect.structure.value)
    structure = resolve(effect.structure, args)
    value = nested.unflatten(structure, iter([a if isinstance(a, Tensor) else wrap(a) for a in arrays]))
    if write.key == "_grad" and isinstance(value, Tensor):
        value.stop_gradient = False
    write._replace(owner=owner).put(value)


def resolve(structure: Any, args: Sequence[Tensor]) -> Any:
    """Return a structure with the caller's own tensors where a result stands for them."""
    return _resolved(structure, args) if mentions(structure, Argument) else structure


def _resolved(structure: Any, args: Sequence[Tensor]) -> Any:
    if isinstance(structure, nested.Nest):
        return structure._replace(children=tuple([_resolved(c, args) for c in structure.children]))
    if isinstance(structure, nested.Static) and isinstance(structure.value, Argument):
        return nested.Static(args[structure.value.position])
    return structure


def mentions(structure: Any, kind: type) -> bool:
    """True if a result is, or holds, what stands for a tensor: an Argument, or what is AtPath."""
    if isinstance(structure, nested.Nest):
        return any(mentions(c, kind) for c in structure.children)
    return isinstance(structure, nested.Static) and issubclass(type(structure.value), kind)
