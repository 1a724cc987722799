"""How processes are arranged."""

from . import topology

__all__ = ["topology"]
