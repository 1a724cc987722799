"""Who runs the batches of a Model: eagerly, as compiled programs, or in static mode."""

from __future__ import annotations

from typing import Any

from ..core.interpreter import state
from .compiled_engine import CompiledEngine
from .eager_engine import EagerEngine


def engine_of(model: Any) -> Any:
    """Return the engine that runs the batches of a model in the current mode."""
    if state.interpreter.is_eager:
        return (EagerEngine if model.eager else CompiledEngine)(model)
    from ..static.builder import StaticBuilder  # static mode is loaded by those who use it
    from .static_engine import StaticEngine

    return StaticEngine(model) if isinstance(state.interpreter, StaticBuilder) else EagerEngine(model)
