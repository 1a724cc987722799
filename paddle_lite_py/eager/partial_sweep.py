"""The backward pass of grad(): only to the requested tensors, and only through nodes that lead to them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from . import tape
from .tape import Node, Source, producer


class PartialSweep(tape.Sweep):
    """A backward pass to some sources.

    Arguments:
        wanted: the leaves, and outputs of nodes, whose gradients are requested.
    """

    def __init__(self, wanted: Iterable[Source]) -> None:
        super().__init__()
        self.wanted = {_identity(s): s for s in wanted}
        self.watched = {key[0] for s in self.wanted.values() if (key := producer(s)) is not None}
        self.seen: tape.Cotangents = {}

    def found(self, source: Source) -> Any:
        """Return the gradient of a source; None where none arrived."""
        key = producer(source)
        return self.leaves.get(id(source), (None, None))[1] if key is None else self.seen.get(key)

    def _leading(self, order: list[Node]) -> Container[Node]:
        leads: set[Node] = set()
        for node in reversed(order):  # what a node was given comes before it
            if any(self._leads(source, leads) for source in node.sources if source is not None):
                leads.add(node)
        return leads

    def _leads(self, source: Source, leads: Container[Node]) -> bool:
        key = producer(source)
        return _identity(source) in self.wanted or (key is not None and key[0] in leads)

    def _observe(self, node: Node) -> None:
        super()._observe(node)
        self.seen |= {key: g for key, g in self.cotangents.items() if key[0] is node and key in self.wanted}


def _identity(source: Source) -> Any:
    """Return what identifies a source: the node and the output, or the leaf."""
    return producer(source) or id(source)
