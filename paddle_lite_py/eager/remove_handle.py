"""The handle returned by registering a hook."""

from __future__ import annotations

from itertools import count
from typing import Any

from ..core.interpreter import layer_version

_ids = count()


class RemoveHandle:
    """Takes a hook off again."""

    def __init__(self, hooks: Any, key: Any = None) -> None:
        self._hooks = hooks
        self._hook_id = next(_ids) if key is None else key  # by which packages keep hooks of their own

    def __repr__(self) -> str:
        return f"RemoveHandle({'on' if self._hook_id in self._hooks else 'removed'})"

    def remove(self) -> bool:
        """Remove the hook; True if it was still there."""
        layer_version.number += 1
        return self._hooks.pop(self._hook_id, None) is not None
