"""Saving and loading of nested state."""

from .io import load, save

__all__ = ["load", "save"]
