"""StableHLO with the weights in it: text, and the portable form that other compilers read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
from jax import export

from .source import SavedProgram


def exported(source: SavedProgram, platforms: Sequence[str] = ("cpu", "cuda", "tpu")) -> Any:
    """Return the program with any size of its unknown dimensions, as jax.export has it."""
    values = source.program.block.inputs[: len(source.inputs)]
    names = sorted({str(n) for v in values for n in v.shape if not isinstance(n, int)})
    scope = export.SymbolicScope()
    shapes = [export.symbolic_shape(",".join(map(str, v.shape)), scope=scope) if names else v.shape for v in values]
    specs = [jax.ShapeDtypeStruct(s, v.dtype) for s, v in zip(shapes, values, strict=True)]
    return export.export(jax.jit(source.function()), platforms=list(platforms))(*specs)


def fix_shapes(source: SavedProgram, shapes: Sequence[tuple[int, ...]], platforms: Sequence[str] = ("cpu",)) -> Any:
    """Return the program for one choice of shapes."""
    specs = [jax.ShapeDtypeStruct(s, i.dtype.np) for s, i in zip(shapes, source.inputs, strict=True)]
    return export.export(jax.jit(source.function()), platforms=list(platforms))(*specs)


def to_stablehlo(source: SavedProgram, output: str, shapes: Sequence[tuple[int, ...]] | None = None) -> str:
    """Write a program as StableHLO.

    Arguments:
        output: the text file to write; the portable form is written next to it, with the suffix .mlirbc.
        shapes: of the inputs; those that it was saved with if absent, unknown ones among them.

    Returns:
        A line that says what was written.
    """
    found = exported(source) if shapes is None else fix_shapes(source, shapes)
    text, portable = Path(output).with_suffix(".mlir"), Path(output).with_suffix(".mlirbc")
    text.parent.mkdir(parents=True, exist_ok=True)
    text.write_text(found.mlir_module())
    portable.write_bytes(found.mlir_module_serialized)
    return f"{text} and {portable}: {portable.stat().st_size:,} bytes, for {', '.join(found.platforms)}"
