"""Programs as text."""

from __future__ import annotations

from typing import Any, Protocol

from .block import Block, Operator, Value


class Printable(Protocol):
    """A Program, seen from its text."""

    block: Block
    input_names: list[str]
    measured: dict[str, Any]


def to_text(program: Printable, names: Names | None = None) -> str:
    """Return a program as readable text, one operator a line, with the user's line at its end.

    Arguments:
        names: those of values that were printed before, to be used again.

    Examples:
        >>> from paddle_lite_py.ir.block import Block, Value
        >>> from paddle_lite_py.ir.program import Program
        >>> x = Value((2,), "float32")
        >>> print(to_text(Program(Block([x], [], [x]), ["x"])))
        program(%x: float32[2]) -> (%x) {
        }
    """
    names = names or Names()
    for value, name in zip(program.block.inputs, program.input_names, strict=True):
        names.give(value, name)
    text = _block(program.block, names, "")
    sizes = [_size(name, found, names) for name, found in program.measured.items()]
    return f"program{text}" + (f" where {', '.join(sizes)}" if sizes else "")


def _size(name: str, found: Any, names: Names) -> str:
    """Where a run finds a size."""
    part = f".shape[{found.axis}]" if found.axis is not None else "" if found.element is None else f"[{found.element}]"
    return f"{name} = {names(found.value)}{part} + 1"


class Names:
    """The names of values in a text."""

    def __init__(self) -> None:
        self._names: dict[Value, str] = {}
        self._taken: set[str] = set()

    def give(self, value: Value, name: str) -> None:
        """Name a value, if it has no name yet; a name that is taken gets an underscore."""
        if value in self._names:
            return
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self._names[value] = f"%{name}"

    def __call__(self, value: Any) -> str:
        if not isinstance(value, Value):
            return repr(value)
        if value not in self._names:
            self.give(value, value.name or str(len(self._names)))
        return self._names[value]

    def typed(self, value: Value) -> str:
        """Return a value with its type."""
        return f"{self(value)}: {value.dtype}[{', '.join(map(str, value.shape))}]"


def _block(block: Block, names: Names, indent: str) -> str:
    head = f"({', '.join(map(names.typed, block.inputs))}) -> "
    body = "".join(_operator(op, names, indent + "  ") for op in block.ops)
    return f"{head}({', '.join(map(names, block.outputs))}) {{\n{body}{indent}}}"


def _operator(op: Operator, names: Names, indent: str) -> str:
    outs = ", ".join(map(names.typed, op.outputs))
    ins = ", ".join(map(names, op.inputs))
    attrs = [
        f"{k}={_block(a, names, indent) if isinstance(a, Block) else repr(a)}"
        for k, a in zip(op.bound.op.attr_names, op.bound.attrs, strict=True)
    ]
    tail = f" {{{', '.join(attrs)}}}" if attrs else ""
    return f"{indent}{outs} = {op.name}({ins}){tail}  # {op.where}\n"
