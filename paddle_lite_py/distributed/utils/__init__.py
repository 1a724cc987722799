"""Paths under which programs look for parts of this package."""

from .. import group
from . import launch_utils, moe_utils

__all__ = ["group", "launch_utils", "moe_utils"]
