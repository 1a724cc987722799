"""Unknown dimensions of a static program: each is a symbol of its own, until an op says that two are the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from jax import export

from ..core import symbolic
from ..ir.block import Block, Operator
from ..tracing.dimensions import fitting, substituted

if TYPE_CHECKING:
    from ..tracing.builder import Builder


class Unknown:
    """The symbols of one program."""

    def __init__(self) -> None:
        self.scope = export.SymbolicScope()
        self.symbols: dict[str, Any] = {}

    def shape(self, name: str, sizes: Iterable[Any]) -> tuple[Any, ...]:
        """A shape whose unknown sizes (None, -1) are symbols; sizes of other data of the program stay theirs."""
        return tuple([self._new(name, i) if n is None or n == -1 else n for i, n in enumerate(sizes)])

    def _new(self, name: str, axis: int) -> Any:
        stem = re.sub(r"\W", "_", name).lstrip("_0123456789") or "n"
        text = f"{stem}_{axis}"
        while text in self.symbols:
            text += "_"
        self.symbols[text] = export.symbolic_shape(text, scope=self.scope)[0]
        return self.symbols[text]

    def settled(self, builder: Builder, emit: Callable[[], Any], bound: Any, inputs: tuple[Any, ...]) -> Any:
        """What emit() gives; where it fails, as few unknown dimensions as it takes are made the same."""
        try:
            return emit()
        except Exception:
            found = fitting(self.symbols, bound, inputs) if self.symbols else None
            if found is None:
                raise
        for name, other in found:
            self._unify(builder, name, other)
        return emit()

    def _unify(self, builder: Builder, name: str, other: Any) -> None:
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
