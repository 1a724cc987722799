"""Models that run in stages, one in each process."""

from __future__ import annotations

from typing import Any

from ...nn import Layer

__all__ = ["PipelineParallel"]


class PipelineParallel(Layer):
    """A model in stages: here one, which is all of it.

    Args:
        layers: a `PipelineLayer`.
        hcg, strategy: accepted for compatibility.
    """

    def __init__(self, layers: Any, hcg: Any = None, strategy: Any = None) -> None:
        super().__init__()
        self._layers = layers

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The model's."""
        return self._layers(*inputs, **kwargs)
