"""The static graph's front door."""

from .input_spec import InputSpec

__all__ = ["InputSpec"]
