"""What processes exchange after backward."""

from __future__ import annotations

from typing import Any


def fused_allreduce_gradients(parameter_list: Any, hcg: Any = None) -> None:
    """Add the gradients of all processes: they are whole."""
