"""Open sizes in branches that comparisons of sizes decide: `if n > 3: x[3]` needs n >= 4 there, and nowhere else.

Such a branch has symbols of its own for the sizes, of which that is known, while it is traced. Then it has the others
again: what runs it knows the sizes, and leaves out the branch that they do not take.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jax import export

from ..core import symbolic
from ..core.errors import UNKNOWN
from ..core.symbolic import has_symbolic
from ..core.unknown_size import Shape
from ..ir.block import Block
from ..registry.bound import BoundOp
from .frame import Frame
from .size_facts import Fact

_WORD = re.compile(r"[A-Za-z_]\w*")


class Branch(NamedTuple):
    """A branch that a comparison of sizes decides, within others."""

    key: str
    holds: tuple[Fact, ...]  # what decides it
    names: dict[str, str]  # its symbols, by those of the program
    outer: Branch | None

    @property
    def all(self) -> Iterator[Branch]:
        """Yield it, and those around it."""
        here: Branch | None = self
        while here is not None:
            yield here
            here = here.outer


class BranchSizes:
    """The branches of one program, over all attempts to trace it."""

    def __init__(self) -> None:
        self.facts: dict[str, list[Fact]] = {}  # by branch, in symbols of the program
        self.symbols: dict[str, Any] = {}
        self.originals: dict[str, str] = {}  # by symbol of a branch, that of the program
        self.knowing: set[Block] = set()  # blocks of branches that know more of sizes
        self._count = 0

    # -- an attempt ------------------------------------------------------------------------------------------------
    def constraints(self, relations: Sequence[str]) -> list[str]:
        """Begin an attempt; return what is known of its symbols, given that of the program's."""
        self._count, self.originals, self.knowing, found = 0, {}, set(), list[str]()
        for key, facts in self.facts.items():
            names = {n: f"{n}_in_{key}" for f in facts for n in sorted(f.names)}
            self.originals |= {local: n for n, local in names.items()}
            about = [t for t in relations if names.keys() & _WORD.findall(t)]
            found += [_renamed(t, names) for t in [*about, *[f.text for f in facts]]]
        return found

    def begin(self, scope: Any) -> dict[str, Any]:
        """Return the symbols of all branches, in the scope of the attempt."""
        self.symbols = {n: export.symbolic_shape(n, scope=scope)[0] for n in self.originals}
        return self.symbols

    def enter(self, frame: Frame, facts: Sequence[tuple[Any, str, Any]]) -> None:
        """Note that a frame is the branch in which these comparisons hold."""
        self._count += 1
        holds = [Fact(self.original(str(a)), how, self.original(str(b)), UNKNOWN) for a, how, b in facts]
        frame.holds = tuple(holds)
        key, outer = str(self._count), frame.sizes
        own = {n: f"{n}_in_{key}" for f in self.facts.get(key, ()) for n in f.names}
        frame.sizes = Branch(key, frame.holds, ({} if outer is None else outer.names) | own, outer)

    def leave(self, frame: Frame) -> None:
        """Give what a branch has made the symbols of the branch around it."""
        here, outer = frame.sizes, frame.parent.sizes if frame.parent else None
        frame.sizes = outer  # what is still to be put into its block is
        if here is None or here is outer or not here.names:
            return
        self.knowing.add(frame.block)
        for value in frame.block.inputs:
            value.shape = self.moved(value.shape, outer)
        for op in frame.block.all_ops():
            op.bound = self.bound_in(op.bound, outer)
            for value in (*op.outputs, *[v for block in op.blocks for v in block.inputs]):
                value.shape = self.moved(value.shape, outer)

    def agreed(self, frames: tuple[Frame, Frame], a: Any, b: Any) -> Any:
        """Return the size of a result of two branches that has these sizes in them, if one says that they are equal."""
        pair = {self.original(str(a)), self.original(str(b))}
        for frame, other in zip(frames, (b, a), strict=True):
            if any(f.relation == "eq" and {f.left, f.right} == pair for f in frame.holds):
                self.knowing |= {f.block for f in frames}
                return other
        return None

    # -- symbols ---------------------------------------------------------------------------------------------------
    def original(self, text: str) -> str:
        """Return an expression in symbols of the program."""
        return _renamed(text, self.originals)

    def moved(self, value: Any, branch: Branch | None) -> Any:
        """Return a size, shape or attribute in the symbols that a branch has."""
        if not self.originals or not has_symbolic(value):
            return value
        names = {} if branch is None else branch.names
        words = set(_WORD.findall(str(value)))
        local = {w: names.get(root := self.originals.get(w, w), root) for w in words}
        if all(w == to for w, to in local.items()):
            return value
        scope = next(iter(self.symbols.values())).scope
        known = {w: export.symbolic_shape(to, scope=scope)[0] for w, to in local.items() if w not in _FUNCTIONS}
        made = symbolic.substitute(tuple(value) if isinstance(value, Shape) else value, known)
        return Shape(made) if isinstance(value, Shape) else made

    def bound_in(self, bound: BoundOp, branch: Branch | None) -> BoundOp:
        """Return a bound op with the attributes that it has in a branch."""
        if not self.originals or not any(map(has_symbolic, bound.attrs)):
            return bound
        attrs = tuple([self.moved(a, branch) for a in bound.attrs])
        return bound if attrs == bound.attrs else bound.rebound(attrs)

    # -- facts -----------------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return sum(map(len, self.facts.values()))

    def learn(self, fact: Fact, branch: Branch | None, relations: Sequence[str]) -> bool:
        """Know a fact, in symbols of the program, of a branch alone; False if it does not follow from what decides it.

        Arguments:
            relations: what is known of the program's symbols.
        """
        around = [] if branch is None else list(branch.all)
        decides = [text for b in around for fact in b.holds for text in _bounds(fact)]
        if branch is None or fact.relation in ("eq", "ne") or not _implies([*relations, *decides], fact):
            return False
        found = self.facts.setdefault(branch.key, [])
        known = {f.text for f in found}
        found += [f for f in [fact, *[f for b in around[1:] for f in self.facts.get(b.key, ())]] if f.text not in known]
        return True


_FUNCTIONS = ("max", "min", "floordiv", "mod")


def _renamed(text: str, names: dict[str, str]) -> str:
    return _WORD.sub(lambda m: names.get(m[0], m[0]), text) if names else text


def _bounds(fact: Fact) -> list[str]:
    """Return a fact as constraints; nothing for one that sizes differ."""
    if fact.relation == "eq":
        return [f"{fact.left} >= {fact.right}", f"{fact.left} <= {fact.right}"]
    return [] if fact.relation == "ne" else [fact.text]


def _implies(relations: Sequence[str], fact: Fact) -> bool:
    """Whether a fact follows from others."""
    try:
        scope = export.SymbolicScope([t for t in relations if "!=" not in t])
        left, right = (export.symbolic_shape(t, scope=scope)[0] for t in (fact.left, fact.right))
        return bool(getattr(operator, fact.relation)(left, right))
    except Exception:  # undecided, or no constraint that JAX takes
        return False
