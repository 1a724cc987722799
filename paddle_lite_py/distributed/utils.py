"""Paths under which programs look for parts of this package."""

from . import group

__all__ = ["group"]
