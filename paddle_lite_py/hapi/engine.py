"""Who runs the batches of a Model: the model itself, or in static mode programs that are built for them."""

from __future__ import annotations

from typing import Any

from ..core.interpreter import state
from ..eager.execute import Eager


def engine_of(model: Any) -> Any:
    """What runs the batches of a model in static mode; None where it runs them itself."""
    if isinstance(state.interpreter, Eager):
        return None
    from ..static.builder import StaticBuilder  # static mode is loaded by those who use it
    from .static_engine import StaticEngine

    return StaticEngine(model) if isinstance(state.interpreter, StaticBuilder) else None
