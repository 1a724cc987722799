"""Checkpoints of which each process writes its part."""

from . import dcp

__all__ = ["dcp"]
