"""Arguments that share elements with tensors from outside that a program reads: in it, they are views of those."""

from __future__ import annotations

from typing import Any, NamedTuple

from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.eager import views
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.tracing.executor import Executable


class ArgumentAlias(NamedTuple):
    """One such argument: its place, the tensor that has its storage, and the steps of the view from there."""

    position: int
    root: Tensor
    steps: tuple[Any, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        """Return its key; a program keeps the tensor."""
        return self.position, id(self.root), self.steps

    def build(self) -> Tensor:
        """Return the argument in a program."""
        out = self.root
        for step in self.steps:
            out = mode.interpreter.run(step.bound, (out, *step.others))
        return out


class Shared(NamedTuple):
    """The arguments of a call that share elements: which are views of each other, and which of tensors from outside."""

    among: tuple[Any, ...] = ()
    aliases: tuple[ArgumentAlias, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """Return its key; empty if nothing is shared."""
        return (self.among, *[t.key for t in self.aliases]) if self.among or self.aliases else ()


ALONE = Shared()


class ArgumentAliases:
    """Finds the arguments of calls of one function that share elements with tensors that its programs read."""

    def __init__(self) -> None:
        self._watched: set[int] = set()

    def learn(self, executable: Executable) -> None:
        """Look for what a new program reads or changes from now on."""
        self._watched |= executable.watched

    def of(self, tensors: list[Any]) -> tuple[ArgumentAlias, ...]:
        """Return those of a call."""
        if not self._watched:
            return ()
        return tuple([
            ArgumentAlias(i, views.root_of(t), tuple(views.steps(t._view)))
            for i, t in enumerate(tensors)
            if views.shares_with(t, self._watched)
        ])  # fmt: skip


def with_aliases(tensors: tuple[Tensor, ...], aliases: tuple[ArgumentAlias, ...]) -> list[Tensor]:
    """Return the arguments of a trace, those with aliases as views of what they alias."""
    out = list(tensors)
    for alias in aliases:
        out[alias.position] = alias.build()
    return out
