"""The program of a file as an op: eager, on the tape, and inside static functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paddle_lite_py.ir.lower import lower
from paddle_lite_py.ir.program import Program
from paddle_lite_py.registry.bound import BoundOp
from paddle_lite_py.registry.op import Op

from .artifact import ArtifactError

# The Python errors of an operator's function for attributes or inputs that do not fit it.
MEANINGLESS = (AttributeError, IndexError, KeyError, StopIteration, AssertionError, ZeroDivisionError, OverflowError)


class SavedIndexError(ArtifactError, IndexError):
    """An index of a saved program is out of range: for these arguments, or in any call since the file is damaged."""


@contextmanager
def meaningful(name: str) -> Iterator[None]:
    """Make an ArtifactError of what is raised while operators of a file run that are none."""
    try:
        yield
    except MEANINGLESS as e:
        kind = SavedIndexError if isinstance(e, IndexError) else ArtifactError
        raise kind(f"the program of `{name}` cannot be run: {type(e).__name__}: {e}") from e


def bind(name: str, program: Program) -> BoundOp:
    """Return the program of a loaded method as an op."""
    run, single = lower(program), len(program.block.outputs) == 1

    def compute(*arrays: Any) -> Any:
        with meaningful(name):
            outs = run(*arrays)
        return outs[0] if single else tuple(outs)

    return BoundOp(Op(compute, name), compute)
