"""The handle returned by registering a hook."""

from __future__ import annotations

from typing import Any

from ..core.interpreter import layer_version


class RemoveHandle:
    """Takes a hook off again."""

    def __init__(self, hooks: Any, key: Any) -> None:
        self._hooks, self._key = hooks, key

    def __repr__(self) -> str:
        return f"RemoveHandle({'on' if self._key in self._hooks else 'removed'})"

    def remove(self) -> bool:
        """Remove the hook; True if it was still there."""
        layer_version.number += 1
        return self._hooks.pop(self._key, None) is not None
