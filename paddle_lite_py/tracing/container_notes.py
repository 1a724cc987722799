"""The lists, dicts and sets that a trace notes before they change."""

from __future__ import annotations

from typing import Any

from ..core.interpreter import Observer
from .aliases import Aliases
from .frame import CONTENTS, Frame, Replay, Write
from .places import item


class ContainerNotes(Observer):
    """The part of a Builder that is notified of containers."""

    frame: Frame
    aliases: Aliases
    spaces: dict[int, Any]  # by id of the dict that has its attributes, a tensor of the arguments
    root: Frame
    outside: dict[int, tuple[Any, bool]]  # containers from outside, by id; True for one of which nothing is read
    replays: list[tuple[Any, Replay, tuple[Any, ...]]]  # what each run does with them again

    def contents_written(self, container: Any, before: Any = None) -> None:
        """Note all that a list, dict or set holds, before it is changed.

        Outside of branches and loops, one that the trace has made itself needs no note.

        Arguments:
            before: what it held, where it has been changed already.
        """
        if id(container) in self.spaces:
            raise NotImplementedError(
                "vars(x) of an argument x is changed by a method of dict: set one attribute (`x.a = ...`) or item "
                "(`vars(x)['a'] = ...`) after the other"
            )
        self.aliases.contents_written(container)
        held = id(container) in self.outside and not self.outside[id(container)][1]
        if (
            self.frame is not self.root
            or held
            or any(w.is_item and w.owner is container for w in self.frame.log.values())
        ):
            self.frame.note_contents(container, before)

    def replay(self, container: Any, method: str, args: tuple[Any, ...]) -> None:
        """Have each run call a method of a container that only grows again, which the trace gives back as it was."""
        _, grows = self.outside.get(id(container), (None, False))
        if grows and self.frame is self.root:
            self.frame.note_contents(container)
            self.replays.append((container, Replay(method), args))

    def item_written(self, container: Any, key: Any) -> None:
        """Note what an item of a dict or list holds."""
        if id(container) in self.spaces:
            return self.rebound(self.spaces[id(container)], key)
        self.aliases.contents_written(container)
        if (id(container), CONTENTS, True) not in self.frame.log:
            self.frame.log.setdefault((id(container), key, True), Write(container, key, item(container, key), True))
