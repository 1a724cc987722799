"""Recomputation, under the name that programs use."""

from ..recompute import recompute, recompute_sequential

__all__ = ["recompute", "recompute_sequential"]
