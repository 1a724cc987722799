"""Ops: JAX functions with a decorator, one file a family."""

from . import (
    base,
    binary,
    convert,
    creation,
    decomposition,
    diagonals,
    dynamic,
    effects,
    factors,
    fft,
    gather,
    indexing,
    inplace,
    joining,
    linalg,
    logic,
    manipulation,
    math,
    norms,
    random,
    reduction,
    scatter,
    search,
    slicing,
    statistics,
    unary,
)

__all__ = [
    *("base", "binary", "convert", "creation", "decomposition", "diagonals", "dynamic", "effects", "factors", "fft"),
    *("gather", "indexing", "inplace", "joining", "linalg", "logic", "manipulation", "math", "norms", "random"),
    *("reduction", "scatter", "search", "slicing", "statistics", "unary"),
]
