"""The graph of a model file of either generation: operators by name, on values by reference."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..jit.artifact import ArtifactError

# The errors of code that finds unexpected content in a file.
DAMAGED = (
    KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError, struct.error, RecursionError,
)  # fmt: skip
Ref = Any  # of a value: a number, or a name


class ModelFileError(ArtifactError):
    """A model file is missing, damaged, or holds what cannot be run here."""


@dataclass
class ModelNode:
    """One operator.

    Attributes:
        operands: references; None for one that is absent, and a list for several that are one operand.
        layer: the layer that it belongs to, for messages.
    """

    op: str
    operands: list[Any]
    attrs: dict[str, Any]
    results: list[Any]
    blocks: list[ModelBlock] = field(default_factory=list)
    layer: str = ""

    def __str__(self) -> str:
        return f"operator `{self.op}`" + (f" of layer {self.layer}" if self.layer else "")


@dataclass
class ModelBlock:
    """Operators in order; a branch or the body of a loop has arguments, and gives results."""

    arguments: list[Ref]
    nodes: list[ModelNode]
    results: list[Ref]


@dataclass(frozen=True)
class ModelWeight:
    """A parameter or buffer."""

    ref: Ref
    name: str
    shape: tuple[int, ...]
    dtype: str
    is_parameter: bool
    is_trainable: bool
    is_stored: bool  # whether the file of weights has it


@dataclass(frozen=True)
class ModelFeed:
    """An input; -1 is an unknown size."""

    ref: Ref
    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass
class ModelGraph:
    """A program in a file; what it gives has names."""

    weights: list[ModelWeight]
    feeds: list[ModelFeed]
    fetches: list[Ref]
    block: ModelBlock
    fetch_names: list[str]


@dataclass(frozen=True)
class LiteralOperand:
    """An operand that stands in the file itself: a number, or a list of numbers."""

    value: Any


def read_graph(path: Path, parse: Callable[[bytes], ModelGraph], limit: int) -> ModelGraph:
    """Return the program of a file.

    Arguments:
        parse: makes it of the bytes of the file.
        limit: no program is larger, in bytes.

    Raises:
        ModelFileError: the file is damaged, or no such program.
    """
    if path.stat().st_size > limit:
        raise ModelFileError(f"{path} is larger than any program ({path.stat().st_size} bytes)")
    return parsed(path.read_bytes(), str(path), parse)


def parsed(data: bytes, name: str, parse: Callable[[bytes], ModelGraph]) -> ModelGraph:
    """Return the program that bytes are, under a name for messages.

    Raises:
        ModelFileError: they are damaged, or no such program.
    """
    with naming(name):
        return parse(data)


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Name what is read, a file or an operator of it, in the errors of its reader.

    Raises:
        ModelFileError: it is damaged.
    """
    try:
        yield
    except ModelFileError as e:
        raise ModelFileError(f"{what}: {e}") from e.__cause__
    except (*DAMAGED, ArithmeticError) as e:
        raise ModelFileError(f"{what} is damaged: {type(e).__name__}: {e}") from None
