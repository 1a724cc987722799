"""Ops: JAX functions with a decorator, one file a family."""

from . import (
    binary,
    convert,
    creation,
    decomposition,
    diagonals,
    dynamic,
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
    *("binary", "convert", "creation", "decomposition", "diagonals", "dynamic", "factors", "fft", "gather", "indexing", "inplace", "joining", "linalg"),
    *("logic", "manipulation", "math", "norms", "random", "reduction", "scatter", "search", "slicing", "statistics", "unary"),
]
