"""Optimizers around optimizers, for states that are spread over processes."""

from . import dygraph_optimizer

__all__ = ["dygraph_optimizer"]
