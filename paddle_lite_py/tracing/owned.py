"""The attributes that programs give to tensors: what a trace reads of its arguments', and leaves on its results."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core import structure as nested
from ..core.interpreter import Observer
from ..eager.pending import payload_of
from ..eager.tensor import Tensor
from .aliases import Aliases
from .places import MISSING

# Attributes of the class that programs may set on a tensor, besides those of their own.
SETTINGS = frozenset({"persistable", "need_clip", "regularizer", "optimize_attr"})


def is_owned(tensor: Tensor, name: str) -> bool:
    """Whether an attribute is one that a program gives to a tensor, none of the framework's; it may hide a method."""
    found = getattr(type(tensor), name, MISSING)
    return name in SETTINGS or found is MISSING or callable(found)


def owned_by(tensor: Tensor) -> dict[str, Any]:
    """Return the attributes that a program has given to a tensor."""
    return {k: v for k, v in vars(tensor).items() if is_owned(tensor, k)}


def label_of(tensor: Tensor) -> str:
    """Return the name of a tensor for a message; that is no question of the program's, which would be noted."""
    given = getattr(payload_of(tensor), "name", None)
    return tensor.name if given is None else tensor._name or str(given)


def own_names(tensor: Tensor, _absent: Any = None) -> tuple[str, ...]:
    """Return the names of the attributes that a program has given to a tensor, as what a guard reads."""
    return tuple(sorted(owned_by(tensor)))


class Owned(NamedTuple):
    """An attribute of an argument that a trace has asked for; MISSING where the caller's tensor has none.

    Without a name: the names of all of them.
    """

    position: int
    name: str
    value: Any

    def now(self, tensor: Tensor) -> Any:
        """Return what it is of the tensor of another call."""
        return vars(tensor).get(self.name, MISSING) if self.name else own_names(tensor)


class OwnedAttributes(Observer):
    """The part of a Builder that gives the tensors of a trace the attributes of the caller's."""

    arguments: dict[int, int]
    aliases: Aliases
    callers: Sequence[Tensor] = ()  # the arguments of the call under way, where the trace is of one

    reads_all = False  # whether the code may read attributes that it does not name, as vars() does

    def __init__(self) -> None:
        self.spaces: dict[int, Tensor] = {}  # by id of the dict that has its attributes, a tensor of the arguments
        self.owned: dict[tuple[int, str], Owned] = {}
        self._taken: set[tuple[int, str]] = set()  # what a handle has been given, which the trace may take away again

    def attribute_of(self, tensor: Any, name: str) -> Any:
        """Return an attribute that the handle of an argument lacks, if the caller's tensor has it, and note that."""
        key = (id(tensor), name)
        if name[:2] != "__" and key not in self._taken:
            found = self._of_caller(tensor, name)
            if found is not MISSING:
                self._taken.add(key)
                vars(tensor)[name] = found
                return found
            self.aliases.settle_if(tensor, lambda t: name in vars(t) or self._of_caller(t, name) is not MISSING)
        return super().attribute_of(tensor, name)

    def name_of(self, tensor: Any) -> str | None:
        """Return the name that the caller has given to an argument, and note that it was asked for."""
        found = self._of_caller(tensor, "_name")
        return None if found is MISSING else found

    def share_settings(self, tensors: Sequence[Tensor]) -> None:
        """Give the handles of arguments the settings of the caller's tensors."""
        for i, (tensor, caller) in enumerate(zip(tensors, self.callers, strict=False)):
            vars(tensor).update({k: vars(caller)[k] for k in SETTINGS & vars(caller).keys()})
            if self.reads_all:
                held = owned_by(caller)
                vars(tensor).update(held)
                self.spaces[id(vars(tensor))] = tensor
                self.owned |= {(i, name): Owned(i, name, value) for name, value in held.items()}
                self.owned[i, ""] = Owned(i, "", own_names(caller))

    def _of_caller(self, tensor: Any, name: str) -> Any:
        """Return an attribute of the caller's tensor that a handle stands for, and note what it was."""
        position = self.arguments.get(id(tensor), len(self.callers))
        if position >= len(self.callers):
            return MISSING
        found = vars(self.callers[position]).get(name, MISSING)
        self.owned[position, name] = Owned(position, name, found)
        return found


@dataclasses.dataclass(eq=False, repr=False)
class WithAttributes:
    """Stands in a result for a tensor with attributes of its own; see structure.unflatten."""

    def settled(self) -> Tensor:
        """Return the tensor."""
        tensor: Tensor = vars(self).pop("")
        vars(tensor).update(vars(self))
        return tensor


def with_attributes(leaf: Any, attributes: dict[str, Any]) -> Any:
    """Return the structure of a tensor with attributes, given as structures."""
    return nested.Nest(WithAttributes, ("", *attributes), (leaf, *attributes.values())) if attributes else leaf
