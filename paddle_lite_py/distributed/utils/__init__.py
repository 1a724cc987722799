"""Paths under which programs look for parts of this package."""

from .. import group
from . import moe_utils

__all__ = ["group", "moe_utils"]
