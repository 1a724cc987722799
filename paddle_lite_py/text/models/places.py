"""Where layers of a kind are in a model, so that they can be replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def layer_places(model: Any, kind: type | tuple[type, ...]) -> Iterator[tuple[Any, str, Any, str]]:
    """Yield the layers of a kind: the layer that has it, its name there, itself, and its full name."""
    for prefix, owner in list(model.named_sublayers(include_self=True)):
        for name, layer in list(owner.named_children()):
            if isinstance(layer, kind):
                yield owner, name, layer, f"{prefix}.{name}" if prefix else name
