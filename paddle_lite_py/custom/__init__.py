"""Operators of the user's own: written with JAX, with NumPy, or compiled."""

from .host import numpy_op, py_func
from .jax_op import MissingOperatorError, custom_op

__all__ = ["MissingOperatorError", "custom_op", "numpy_op", "py_func"]
