"""Facts on the variables of a function: which are live, and which may be undefined, at each point."""

from __future__ import annotations

from collections.abc import Callable

from .cfg import FlowNode, Graph

Names = frozenset[str]
NONE: Names = frozenset()


class Flow:
    """Liveness and definedness of the local variables, by one worklist.

    Arguments:
        graph: the function's control-flow graph.
        local: the variables to follow.
        undefined: those without a value at the entry.
        always: those that are read in ways which the graph does not show (nested functions, nonlocal, global).

    Example:
        >>> import gast
        >>> graph = Graph(gast.parse("if c:\\n    x = 1\\nprint(x)").body)
        >>> flow = Flow(graph, {"c", "x"}, {"x"}, set())
        >>> flow.undefined_before(graph.nodes[-1]), flow.live_before(graph.entry) == {"c", "x"}
        (frozenset({'x'}), True)
    """

    def __init__(self, graph: Graph, local: set[str], undefined: set[str], always: set[str]) -> None:
        self.always = frozenset(always)
        self.local = frozenset(local)
        self._undefined_at_entry = frozenset(undefined)
        self._entry = graph.entry
        self._live = _solve(graph.nodes[::-1], self._live_transfer, lambda n: n.next, lambda n: n.previous)
        self._undefined = _solve(graph.nodes, self._undefined_transfer, lambda n: n.previous, lambda n: n.next)

    def _live_transfer(self, node: FlowNode, after: Names) -> Names:
        access = node.access
        return (self.local & access.read) | (after - access.written - access.deleted)

    def _undefined_transfer(self, node: FlowNode, before: Names) -> Names:
        if node is self._entry:
            return self._undefined_at_entry
        access = node.access
        return (before - (access.written - access.deleted)) | (access.deleted & self.local)

    def live_before(self, node: FlowNode) -> Names:
        """Return the variables whose values at this point may be read later."""
        return self._live[node] | self.always

    def live_after(self, node: FlowNode) -> Names:
        """Return the variables whose values after this point may be read later."""
        return self.always.union(*(self._live[n] for n in node.next))

    def undefined_before(self, node: FlowNode) -> Names:
        """Return the variables that may have no value at this point."""
        return NONE.union(*(self._undefined[n] for n in node.previous))


def _solve(
    nodes: list[FlowNode],
    transfer: Callable[[FlowNode, Names], Names],
    sources: Callable[[FlowNode], list[FlowNode]],
    targets: Callable[[FlowNode], list[FlowNode]],
) -> dict[FlowNode, Names]:
    """Return the least solution of `value[n] = transfer(n, union of value over sources(n))`."""
    value: dict[FlowNode, Names] = dict.fromkeys(nodes, NONE)
    work, waiting = list(nodes[::-1]), set(nodes)
    while work:
        node = work.pop()
        waiting.discard(node)
        new = transfer(node, NONE.union(*(value[source] for source in sources(node))))
        if new != value[node]:
            value[node] = new
            fresh = [target for target in targets(node) if target not in waiting]
            work += fresh
            waiting.update(fresh)
    return value
