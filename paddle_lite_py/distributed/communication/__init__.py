"""Exchanges and groups, under the names of their modules."""

from . import group, reduce, stream

__all__ = ["group", "reduce", "stream"]
