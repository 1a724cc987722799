"""Tensors, lists and dicts that stand for one of several: which one, a staged statement has chosen.

After `c = a if t else b`, with a staged `t`, `c` is a new handle on the chosen value. Python's `c` is `a` or `b`
itself, and what is written into one of them shows in the other. As long as nothing is, no one can tell. So writes make
stale what may be the same thing; where something stale is read there is another trace, with `t` decided by the data.
The first one goes on, to find all such places at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from ..core.errors import DataDependentError
from ..core.references import is_shared
from ..eager import views
from ..eager.tensor import Tensor

Places = frozenset[Any]
_NO_PLACES: Places = frozenset()
_NO_BASES: frozenset[int] = frozenset()


class Undecided(Exception):
    """The trace has to begin again, with the statements at these places decided by data.

    Arguments:
        places: in all later traces as well.
        once: only in this one.
    """

    def __init__(self, places: Places, once: Places) -> None:
        super().__init__(places, once)
        self.places, self.once = places, once


class Aliases:
    """What one trace knows of objects that may be the same.

    Attributes:
        decides: whether the data of a call can decide; else whatever needs it is an error.
        stale: by id, what has not seen a write to what it may be, and the statements that left that open.
        open: the statements that data have to decide in the next trace.
    """

    def __init__(self, decides: bool) -> None:
        self.decides = decides
        self.open: Places = _NO_PLACES
        self.stale: dict[int, Places] = {}
        self._may_be: dict[int, frozenset[int]] = {}
        self.stand_ins: dict[int, set[int]] = {}
        self._places: dict[int, Places] = {}
        self._kept: dict[int, Any] = {}  # so that ids stay theirs
        self._written: dict[int, int] = {}  # when
        self.clock = 0

    def join(self, made: Any, others: Iterable[Any], where: Any) -> None:
        """Note that `made` is one of the others, and so each thing in it."""
        others = [o for o in others if type(o) is type(made) or isinstance(made, Tensor) and isinstance(o, Tensor)]
        if not others or any(o is made for o in others):
            return
        if isinstance(made, Tensor | list | dict):
            self._join_one(made, others, where)
        if isinstance(made, list | tuple):
            for i, child in enumerate(made):
                self.join(child, [o[i] for o in others if i < len(o)], where)
        elif isinstance(made, dict):
            for key, child in made.items():
                self.join(child, [o[key] for o in others if key in o], where)

    def _join_one(self, made: Any, others: list[Any], where: Any) -> None:
        bases = frozenset().union(*map(self.bases, others))
        places = frozenset([where]).union(*[self._places.get(id(_root(o)), _NO_PLACES) for o in others])
        for obj in (made, *map(_root, others)):
            self._kept[id(obj)] = obj
        self._may_be[id(made)], self._places[id(made)] = bases, places
        for base in bases:
            self.stand_ins.setdefault(base, set()).add(id(made))

    def bases(self, obj: Any) -> frozenset[int]:
        """Ids of what an object may be; of a view, of what its root may be."""
        root = _root(obj)
        return self._may_be.get(id(root)) or frozenset([id(root)])

    # -- writes and reads ------------------------------------------------------------------------------------------
    def written(self, tensor: Tensor) -> None:
        """Make stale what may share elements with a tensor that is written to."""
        if not self.stand_ins:
            return
        self.clock += 1
        family = {id(r): r for r in views.family(tensor)}
        self._written.update(dict.fromkeys(family, self.clock))
        for other in self._others(family):
            self.stale[other] = self.stale.get(other, _NO_PLACES) | self._between([*family, other])

    def _others(self, family: Collection[int]) -> set[int]:
        """Ids of what may be one of a family, and of what one of them may be."""
        bases = frozenset().union(*[self._may_be.get(i, {i}) for i in family])
        found = set().union(*[self.stand_ins.get(b, ()) for b in bases])
        return (found | bases if found else found).difference(family)

    def _between(self, ids: Iterable[int]) -> Places:
        return _NO_PLACES.union(*[self._places.get(i, _NO_PLACES) for i in ids])

    def contents_written(self, container: Any) -> None:
        """The same for a list or dict, of which reads are not seen: what it may be may still be read."""
        for other in self._others([id(container)]):
            kept = self._kept[other]
            if is_shared(kept, 1):
                self.undecided(self._between([id(container), other]))

    def read(self, tensor: Tensor) -> None:
        """Check whether a tensor is stale."""
        for root in views.family(tensor):
            if id(root) in self.stale:
                self.undecided(self.stale[id(root)])

    def settle(self, tensor: Tensor, held: Collection[int]) -> None:
        """Check whether a tensor may be one of those that are referenced elsewhere."""
        if id(tensor) in self._may_be and not self._may_be[id(tensor)].isdisjoint(held):
            self.undecided(self._places[id(tensor)])

    def settle_if(self, tensor: Tensor, matters: Callable[[Any], bool]) -> None:
        """Have data decide which tensor one is, if they can, where that matters for some that it may be."""
        found = self._may_be.get(id(tensor), _NO_BASES) if self.decides else _NO_BASES
        if sum(bool(matters(self._kept[i])) for i in found):  # of each, since to ask is noted
            self.undecided(self._places[id(tensor)])

    def stale_objects(self) -> list[Any]:
        """Return the stale objects."""
        return [self._kept[i] for i in self.stale]

    def undecided(self, places: Places) -> None:
        """Note that these places are to be decided by data.

        Raises:
            DataDependentError: there are no data to decide.
        """
        if self.decides:
            self.open |= places
            return
        where = ", ".join(sorted(map(str, places)))
        raise DataDependentError(
            f"after the statement at {where} a variable is one of several tensors or lists, which depends on a traced "
            "tensor, and one of them is changed in place: make a copy (`y = x.clone()`), or change it out of place"
        )

    # -- loops -----------------------------------------------------------------------------------------------------
    def carried(self, inside: Any, after: Any, since: int, is_own: Any, where: Any) -> None:
        """Check whether the value that an iteration leaves in a variable may be an alias for the next one.

        Arguments:
            inside: what stood for the variable in the iteration that was traced.
            since: the clock at its start.
            is_own: tells of an id whether the iteration has made the thing, and left it in this variable alone.
        """
        extra = self.bases(after) - self.bases(inside) - {id(inside)}
        foreign = [b for b in extra if not is_own(b)]
        if foreign and any(self._written.get(i, -1) > since for i in (id(inside), *foreign)):
            self.undecided(frozenset([where]))


def _root(obj: Any) -> Any:
    return views.root_of(obj) if isinstance(obj, Tensor) else obj
