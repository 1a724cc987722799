"""Ops: JAX functions with a decorator, one file a family."""

from . import linalg, math, reduction

__all__ = ["linalg", "math", "reduction"]
