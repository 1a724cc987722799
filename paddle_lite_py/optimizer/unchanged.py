"""The guard of a program on an optimizer: the settings that its update was traced with."""

from __future__ import annotations

from typing import Any, NamedTuple


class Unchanged(NamedTuple):
    """That an optimizer has the same groups, and for some parameters of one the same settings."""

    optimizer: Any
    group: Any
    active: list[int]
    settings: Any
    clip: Any
    groups: int
    own: tuple[Any, ...] = ()  # the optimizer, where its update is the user's code

    @classmethod
    def of(cls, optimizer: Any, group: Any, active: list[int], settings: Any, clip: Any) -> Unchanged:
        """Return the fact that all is as it is now."""
        return cls(optimizer, group, active, settings, clip, len(optimizer._groups))

    @property
    def reads(self) -> tuple[Any, ...]:
        """Objects of the user whose code runs in an update."""
        return (self.clip, *self.own)

    def holds(self) -> bool:
        """Whether it is so."""
        now = self.optimizer
        same = len(now._groups) == self.groups and now._clip_of(self.group) is self.clip
        return same and now._settings(self.group, self.active) == self.settings

    def change(self) -> str:
        """Describe what changed."""
        return f"the settings of {type(self.optimizer).__name__}, of its clipping or of its parameters changed"
