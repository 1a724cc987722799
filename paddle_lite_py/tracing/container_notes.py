"""What a trace notes of lists, dicts and sets before they change."""

from __future__ import annotations

from typing import Any

from .aliases import Aliases
from .frame import CONTENTS, Frame, Replay, Write, item


class ContainerNotes:
    """The part of a Builder that is told of containers."""

    frame: Frame
    aliases: Aliases
    outside: dict[int, Any]  # containers that were there before the trace
    replays: list[tuple[Any, Replay, tuple[Any, ...]]]  # what each run does with them again

    def contents_written(self, container: Any) -> None:
        """Note all that a list, dict or set holds, before a branch or loop changes it."""
        self.aliases.contents_written(container)
        self.frame.note_contents(container)

    def contents_change(self, container: Any) -> None:
        """A method changes a container outside of branches and loops: noted where items of it have been noted."""
        self.aliases.contents_written(container)
        if any(w.is_item and w.owner is container for w in self.frame.log.values()):
            self.frame.note_contents(container)

    def replay(self, container: Any, method: str, args: tuple[Any, ...], traced: bool) -> None:
        """Have each run call a method of a container from outside, which the trace gives back as it was.

        What puts no traced tensors into it is left to the trace alone, unless something before did.
        """
        if id(container) in self.outside and (traced or any(container is c for c, _, _ in self.replays)):
            self.contents_written(container)
            self.replays.append((container, Replay(method), args))

    def item_written(self, container: Any, key: Any) -> None:
        """Note what an item of a dict or list holds."""
        self.aliases.contents_written(container)
        if (id(container), CONTENTS, True) not in self.frame.log:
            self.frame.log.setdefault((id(container), key, True), Write(container, key, item(container, key), True))
