"""Unknown dimensions of a static program: each is a symbol of its own, until an op says that two are the same."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
from jax import export

from ..core import symbolic
from ..core.errors import UNKNOWN, user_frame
from ..core.interpreter import state
from ..ir.block import Block, Operator
from ..ir.sized import substituted
from ..registry.op import REGISTRY
from ..tracing.dimensions import UnknownSizeError
from ..tracing.fitting import fit_symbols, serves_small
from ..tracing.size_facts import Fact, full_cuts, replace_weaker, undecided, windows_fit

if TYPE_CHECKING:
    from ..tracing.builder import Builder


class Unknown(symbolic.Symbols):
    """The symbols of one program."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[Fact] = []  # what ops have taken for granted
        self.squeezed: set[str] = set()  # sizes of dimensions that are removed, if they are 1
        self.serves_any_size = False  # ops are looked at with samples, and no size is made another one

    @property
    def constraints(self) -> list[str]:
        """Return the assumptions of ops, as text."""
        return [f.text for f in self.facts]

    def check(self, dims: dict[str, int]) -> None:
        """Compare sizes that are fed with what is taken for granted.

        Raises:
            ValueError: they are others.
        """
        for fact in self.facts:  # of data that a run does not need nothing is known
            if dims.keys() >= fact.names and not fact.holds(dims):
                line = "the program" if fact.where is UNKNOWN else fact.where
                raise ValueError(f"feed: {line} takes {fact.text} for granted; fed were {dims}")

    # -- what code asks, by an UnknownSize -------------------------------------------------------------------------
    def number(self, dim: Any) -> Any:
        """Return a dimension as a tensor of the program."""
        builder: Any = state.interpreter
        (value,) = builder.emit(REGISTRY["dimension"].bind((dim,)), (), requires_grad=False)
        return builder.handle(value)

    def compare(self, relation: str, a: Any, b: Any) -> bool:
        """Whether a is less than b, or equal, ..., if that is so for all sizes."""
        try:
            return bool(getattr(operator, relation)(a, b))
        except jax.errors.InconclusiveDimensionOperation:
            return bool(self.wanted(a if symbolic.is_symbolic(a) else b))

    def wanted(self, dim: Any) -> int:
        """Return the value of a dimension that Python needs: no run has given it.

        Raises:
            UnknownSizeError: always.
        """
        raise UnknownSizeError(
            f"{user_frame()} needs the size {dim}, which is known only at run time: compute with x.shape[0] in tensors "
            "(static.nn.cond, static.nn.while_loop), or give static.data a number there"
        )

    # -- what ops ask ----------------------------------------------------------------------------------------------
    def shape(self, name: str, sizes: Sequence[Any]) -> tuple[Any, ...]:
        """Return a shape whose unknown sizes (None, -1) are symbols; sizes of other data of the program stay theirs."""
        stem = re.sub(r"\W", "_", name).lstrip("_0123456789") or "n"
        names = [self.new(f"{stem}_{i}") if n is None or n == -1 else "" for i, n in enumerate(sizes)]
        return tuple([self.symbols[name] if name else n for name, n in zip(names, sizes, strict=True)])

    def settled(self, builder: Builder, emit: Callable[[Any], Any], bound: Any, inputs: tuple[Any, ...]) -> Any:
        """What emit(bound) gives; where it fails, as few unknown dimensions as it takes are made the same."""
        while True:
            try:
                values = emit(bound)
                if facts := windows_fit(bound, values, self.symbols):
                    self._take_for_granted(builder, facts)
                return values
            except Exception as e:
                given = {n: s for n, s in self.symbols.items() if n not in builder.measured}
                if given and self._is_larger(builder, e, bound, inputs, given):
                    continue
                if (made := self._of_any_size(functools.partial(emit, bound))) is not None:
                    return made
                found = fit_symbols(given, bound, inputs, measured=self.symbols) if given else None
                if found is None:
                    raise
            for name, other in found:
                known = self.symbols | {name: other}
                self._substitute(builder, known)
                bound = substituted(bound, known)
            return emit(bound)

    def _of_any_size(self, emit: Callable[[], Any]) -> Any:
        """Return emit() if samples of different sizes determine the shapes; None otherwise."""
        self.serves_any_size = True
        try:
            return emit()
        except Exception:
            return None
        finally:
            self.serves_any_size = False

    def _is_larger(
        self, builder: Builder, error: Exception, bound: Any, inputs: tuple[Any, ...], given: dict[str, Any]
    ) -> bool:
        """Take a size to be larger than a number, where an op had to know; False if that was not the question."""
        asked, found = undecided(error), full_cuts(inputs)
        is_plain = asked is not None and asked[0] in given and asked[1] in (">=", ">") and asked[2].isdigit()
        if asked is not None and is_plain and not serves_small(bound, inputs, self.symbols, *asked):
            found = [Fact(asked[0], "ge" if asked[1] == ">=" else "gt", asked[2], user_frame())]
        fact = next((f for f in found if f.text not in self.constraints and f.names <= given.keys()), None)
        if fact is None:
            return False
        self._take_for_granted(builder, [fact])
        return True

    def _take_for_granted(self, builder: Builder, found: list[Fact]) -> None:
        self.facts = replace_weaker(self.facts, found)
        self.scope = export.SymbolicScope(self.constraints)
        self._substitute(builder, {n: export.symbolic_shape(n, scope=self.scope)[0] for n in self.symbols})

    def _substitute(self, builder: Builder, known: dict[str, Any]) -> None:
        frame: Any = builder.frame
        while frame is not None:
            _rename(frame.block, known)
            frame = frame.parent
        self.symbols = {k: symbolic.substitute(v, known) for k, v in self.symbols.items()}


def _rename(block: Block, known: dict[str, Any]) -> None:
    for value in block.inputs:
        value.shape = symbolic.substitute(value.shape, known)
    for op in block.ops:
        for value in op.outputs:
            value.shape = symbolic.substitute(value.shape, known)
        for inner in op.blocks:
            _rename(inner, known)
        _rename_attributes(op, known)


def _rename_attributes(op: Operator, known: dict[str, Any]) -> None:
    op.bound = substituted(op.bound, known)
