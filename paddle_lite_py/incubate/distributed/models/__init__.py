"""Models of which processes have different parts."""

from . import moe

__all__ = ["moe"]
