"""Ops: JAX functions with a decorator, one file a family."""

from . import base, linalg, math, reduction

__all__ = ["base", "linalg", "math", "reduction"]
