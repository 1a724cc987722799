"""Models of which processes have different parts."""

from . import models

__all__ = ["models"]
