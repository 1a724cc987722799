"""Unknown dimensions of a static program: each is a symbol of its own, until an op says that two are the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..core import symbolic
from ..ir.block import Block, Operator
from ..tracing.fitting import fitting, substituted

if TYPE_CHECKING:
    from .builder import StaticBuilder


class Unknown(symbolic.Symbols):
    """The symbols of one program."""

    def shape(self, name: str, sizes: Sequence[Any]) -> tuple[Any, ...]:
        """A shape whose unknown sizes (None, -1) are symbols; sizes of other data of the program stay theirs."""
        stem = re.sub(r"\W", "_", name).lstrip("_0123456789") or "n"
        names = [self.new(f"{stem}_{i}") if n is None or n == -1 else "" for i, n in enumerate(sizes)]
        return tuple([self.symbols[name] if name else n for name, n in zip(names, sizes, strict=True)])

    def settled(self, builder: StaticBuilder, emit: Callable[[], Any], bound: Any, inputs: tuple[Any, ...]) -> Any:
        """What emit() gives; where it fails, as few unknown dimensions as it takes are made the same."""
        try:
            return emit()
        except Exception:
            given = {n: s for n, s in self.symbols.items() if n not in builder.measured}
            found = fitting(given, bound, inputs) if given else None
            if found is None:
                raise
        for name, other in found:
            self._unify(builder, name, other)
        return emit()

    def _unify(self, builder: StaticBuilder, name: str, other: Any) -> None:
        known = self.symbols | {name: other}
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
