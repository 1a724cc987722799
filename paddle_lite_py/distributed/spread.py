"""Programs that hold exchanges: all processes of the groups that they exchange in run them at once."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..registry.op import REGISTRY
from . import axis
from .exchange import exchanges
from .group import Group, get_group
from .objects import gathered

_unions: dict[tuple[int, ...], Group] = {}


class Spread(NamedTuple):
    """Who runs a program, and by the number of each of this process's groups the groups that exchange side by side."""

    group: Group
    side_by_side: dict[int, axis.Groups]


def spread(name: str, groups: Sequence[Group]) -> Spread:
    """Agree with the others on who runs a program.

    Arguments:
        name: of the program.
        groups: those of its exchanges that this process belongs to, in their order.

    Raises:
        RuntimeError: if programs of others exchange in other groups.
        NotImplementedError: if groups that exchange side by side are of different sizes.
    """
    if len({tuple(g.ranks) for g in groups}) == 1:
        return Spread(groups[0], {})
    mine = exchanges().here.rank
    known = {mine: [tuple(g.ranks) for g in groups]}
    once = list({tuple(g.ranks): g for g in groups}.values())
    for group in once * len(once):  # what one has heard in a group it tells in the next
        for heard in gathered(known, group):
            known |= heard
    members = tuple(sorted(known))
    found: dict[int, axis.Groups] = {}
    for i, group in enumerate(groups):
        beside = _beside(name, i, known)
        if found.setdefault(group.id, beside) != beside:
            raise RuntimeError(
                f"{name}: ranks {group.ranks} exchange beside other groups the second time; all processes must make "
                "the same exchanges, each in groups of the same kind"
            )
    return Spread(_union(members), {n: [[members.index(r) for r in g] for g in gs] for n, gs in found.items()})


def _beside(name: str, i: int, known: dict[int, list[tuple[int, ...]]]) -> list[tuple[int, ...]]:
    """Return the groups of exchange i of a program, one of which each process is in."""
    own = {rank: groups[i] if i < len(groups) else () for rank, groups in known.items()}
    for rank, ranks in own.items():
        if rank not in ranks or any(own.get(r) != ranks for r in ranks):
            others = {r: own.get(r) for r in ranks if own.get(r) != ranks}
            raise RuntimeError(
                f"{name}: in exchange {i} of the program rank {rank} is among the ranks {[*ranks]}, but "
                f"{', '.join(f'rank {r} among {[*(g or ())]}' for r, g in others.items()) or 'not one of them'}; all "
                "must make the same exchanges in the same order"
            )
    beside = sorted(set(own.values()))
    if len(sizes := {len(g) for g in beside}) > 1:
        raise NotImplementedError(
            f"{name}: groups of {' and of '.join(map(str, sorted(sizes)))} processes exchange side by side in one "
            "program; make them of one size, or exchange outside of the static function"
        )
    return beside


def _union(ranks: tuple[int, ...]) -> Group:
    """Return the group of some ranks: that of all, or one that has a number of its own."""
    everyone = get_group(0)
    if tuple(everyone.ranks) == ranks:
        return everyone
    return _unions.setdefault(ranks, Group.of([*ranks], 1 << 32 | zlib.crc32(repr(ranks).encode())))


class SpreadProgram:
    """A program that holds exchanges, run by all members of its groups at once, each with arrays of its own.

    Arguments:
        fn: of arrays.
        operators: what it does.
        donate_argnums: arrays that it may write its results over.
    """

    def __init__(self, fn: Callable[..., Any], operators: Sequence[Any], donate_argnums: tuple[int, ...] = ()) -> None:
        self.groups = [get_group(o.bound.attrs[1]) for o in operators if o.bound.op.name == "_exchange"]
        self.fn, self.donated, self.name = fn, donate_argnums, fn.__name__
        self._spread: Spread | None = None

    def _run(self, *arrays: Any) -> Any:
        assert self._spread is not None
        with axis.program(self._spread.side_by_side):
            return self.fn(*arrays)

    def __call__(self, *arrays: Any) -> Any:
        """Return the results of this process."""
        if self._spread is None:
            self._spread = spread(self.name, self.groups)
        return exchanges().run(self._spread.group, self.name, self._run, (), *arrays, donated=self.donated)

    def lower(self, *args: Any) -> Any:
        """Lower for XLA in one process alone, which is not this program."""
        raise NotImplementedError(
            f"{self.name}: a program that exchanges values among {self.groups[0].nranks} processes cannot be lowered "
            "or saved; save the model without the exchange"
        )


REGISTRY["_exchange"].across = SpreadProgram
