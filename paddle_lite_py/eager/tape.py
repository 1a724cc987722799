"""Reverse-mode differentiation of eager code.

A forward op leaves a Node: the bound op, its input arrays as they were, and where they came from. Backward is a sweep
over the nodes, those made last first, cut into segments at Python boundaries (hooks, PyLayer). The structure of a
segment is a key: one seen before runs as ONE compiled executable, a new one op by op through cached pullbacks, so that
changing shapes cause no compile storm.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax

from ..core import cache_checks
from ..core.errors import GraphFreedError
from ..core.memo import Memo
from ..core.nan_checks import look
from ..host.tier import added, tiered
from ..registry.bound import ONES, BoundOp
from ..registry.text import text_or_none
from .recurring import MAX_FORMS, Recurring

Array = Any


next_number = itertools.count().__next__
_number = operator.attrgetter("number")


class Node:
    """One recorded call: which function, on which arrays, that came from where."""

    # {output index: functions of a cotangent}; they make the node a Python boundary.
    hooks: dict[int, dict[Any, Callable[[Array], Array]]] | None = None
    queue: Any = None  # while its op waits: the ops that wait (deferred.Deferred), and which of them it is
    place = -1

    def __init__(self, bound: Any, data: Sequence[Array] | None, sources: tuple[Source, ...]) -> None:
        self.bound = bound
        self.data = data
        self.sources = sources
        self.number = next_number()  # later nodes have higher ones


class Output(NamedTuple):
    """One of several outputs of a node."""

    node: Node
    index: int  # type: ignore[assignment]


# Where an argument came from: a leaf tensor, a node's only output, one of several outputs, or nowhere (no gradient).
Source = Any
Cotangents = dict[tuple[Node, int], Any]


def producer(source: Source) -> tuple[Node, int] | None:
    """Return the node and output index behind a source; None for a leaf."""
    if source.__class__ is Node:
        return source, 0
    return (source.node, source.index) if source.__class__ is Output else None


def reachable(roots: Iterable[Node]) -> list[Node]:
    """Return all nodes under the roots, those made last first: each before those that made its arguments."""
    nodes = list(dict.fromkeys(roots))
    found = set(nodes)
    for node in nodes:  # grows as it goes
        for s in node.sources:
            made = s if s.__class__ is Node else s.node if s.__class__ is Output else node
            if made not in found:
                found.add(made)
                nodes.append(made)
    nodes.sort(key=_number, reverse=True)
    return nodes


def saved(node: Node) -> Sequence[Array]:
    """Return what a node keeps for its gradient.

    Raises:
        GraphFreedError: a backward has freed it.
    """
    if node.data is None:
        raise GraphFreedError(
            f"backward() reached `{node.bound.op.name}` a second time, but the first backward() freed what it saved; "
            "call the first one as backward(retain_graph=True), or compute the loss again"
        )
    return node.data


def free(nodes: Iterable[Node]) -> None:
    """Let go of what the nodes keep."""
    for node in nodes:
        node.data = None


def is_boundary(node: Node) -> bool:
    """True where backward calls Python of the user."""
    return node.hooks is not None or not node.bound.compiled


class Sweep:
    """One backward pass: cotangents in flight, and the gradients that reached leaves."""

    watched: Container[Node] = ()  # nodes whose cotangents are looked at

    def __init__(self) -> None:
        self.cotangents: Cotangents = {}
        self.leaves: dict[int, tuple[Any, Any]] = {}

    def run(self, retain_graph: bool) -> None:
        """Visit every node once, a segment at a time."""
        order = reachable([n for n, _ in self.cotangents])
        leads = self._leading(order)
        segment: list[Node] = []
        for node in order:
            if node in self.watched or (is_boundary(node) and node in leads):
                self._flush(segment)
                segment = []
                self._observe(node)
            if node not in leads:
                continue
            if node.bound.compiled:
                segment.append(node)
            else:
                self._python(node)
        self._flush(segment)
        if not retain_graph:
            free(order)

    def _leading(self, order: list[Node]) -> Container[Node]:
        """Return the nodes to visit."""
        return set(order)

    def add(self, source: Source, grad: Any) -> None:
        """Add a cotangent to its source."""
        key = producer(source)
        if key is not None:
            before = self.cotangents.get(key)
            self.cotangents[key] = grad if before is None else self.sum(before, grad)
        else:
            held = self.leaves.get(id(source))
            self.leaves[id(source)] = (source, grad if held is None else self.sum(held[1], grad))

    def pop_cotangents(self, node: Node) -> dict[int, Any]:
        """Return the cotangents of a node by output, which are in flight no more."""
        return {i: self.cotangents.pop((n, i)) for n, i in list(self.cotangents) if n is node}

    # The type of cotangents: here arrays, in gradients.RecordedSweep tensors.
    sum: Callable[[Any, Any], Any] = staticmethod(added)

    def _hooked(self, hook: Callable[[Array], Array], cotangent: Any) -> Any:
        return hook(cotangent)

    def _python_backward(self, node: Node, cotangents: dict[int, Any]) -> list[Any]:
        return node.bound.backward(saved(node), cotangents)

    def _segment(self, nodes: list[Node]) -> Iterable[tuple[Source, Any]]:
        """Return each source outside of a run of nodes, with the gradient that it gets."""
        position = {n: i for i, n in enumerate(nodes)}
        inside = [(n, i) for n, i in self.cotangents if n in position]
        described = describe(nodes, grows=False) if inside else None
        if described is None:
            return ()
        key, data, slots, _ = described
        heads = tuple([self.cotangents.pop(k) for k in inside])
        codes = tuple([position[n] * FAN + i for n, i in inside])
        return zip(slots, form_of((codes, *key)).run(data, heads), strict=True)

    def _observe(self, node: Node) -> None:
        for index, hooks in (node.hooks or {}).items():
            for hook in list(hooks.values()):
                if (node, index) in self.cotangents:
                    self.cotangents[node, index] = self._hooked(hook, self.cotangents[node, index])

    def _python(self, node: Node) -> None:
        self._add_all(zip(node.sources, self._python_backward(node, self.pop_cotangents(node)), strict=True))

    def _flush(self, nodes: list[Node]) -> None:
        if nodes:
            self._add_all(self._segment(nodes))

    def _add_all(self, found: Iterable[tuple[Source, Any]]) -> None:
        for source, grad in found:
            if source is not None and grad is not None:
                self.add(source, grad)


# -- the structure of a segment ------------------------------------------------------------------------------------
FAN = 1 << 20
# Of a segment: its bound ops, each followed by a code for each of its arguments. -1: no gradient; node * FAN + output:
# made by a node of the segment; ~(slot + 1): a slot, which is anything outside of it, a leaf or an earlier node. Where
# cotangents do not start as ones at the first node, the codes of the outputs where they do come before, as a tuple.
Key = tuple[Any, ...]


def describe(nodes: list[Node], grows: bool) -> tuple[Key, list[Array], list[Source], bool] | None:
    """Key, arrays and slots of a segment, and whether there is no Python boundary in it.

    Arguments:
        nodes: of the segment, those made last first.
        grows: `nodes` holds the root, and is filled with all nodes under it. Then the result is None if a node was met
            before all that read it.
    """
    position = {n: i for i, n in enumerate(nodes)}
    last = nodes[0].number + 1
    slots: list[Source] = []
    slot_of: dict[Any, int] = {}
    key: list[Any] = []
    data: list[Array] = []
    plain = True
    for node in nodes:  # grows as it goes
        number, bound = node.number, node.bound
        if number >= last:
            return None
        last = number
        if node.hooks is not None or not bound.compiled:
            plain = False
        data += saved(node) if node.data is None else node.data
        key.append(bound)
        for s in node.sources:
            if s is None:
                key.append(-1)
                continue
            if s.__class__ is Node:
                made, index = s, 0
            elif s.__class__ is Output:
                made, index = s
            else:
                made = None
            at = position.get(made)  # type: ignore[arg-type]
            if at is None:
                if made is None or not grows:  # tensors compare by element, so by identity
                    slot = slot_of.setdefault(id(s) if made is None else (made, index), len(slots))
                    if slot == len(slots):
                        slots.append(s)
                    key.append(-2 - slot)
                    continue
                at = position[made] = len(nodes)
                nodes.append(made)
            key.append(at * FAN + index)
    return tuple(key), data, slots, plain


def connect(node: Node, made: Sequence[Any], flows: Sequence[bool], several: bool) -> None:
    """Say of results that a node made them. Nodes with residuals count those only that gradients flow out of."""
    keeps = node.bound.keeps
    flowing = [i for i, f in enumerate(flows) if f]
    for n, i in enumerate(flowing):
        made[i].stop_gradient = False
        alone = len(flowing) == 1 if keeps else not several
        made[i]._source = node if alone else Output(node, n if keeps else i)


class Structure(NamedTuple):
    """The structure that a key identifies."""

    bounds: tuple[BoundOp, ...]
    codes: tuple[tuple[int, ...], ...]
    heads: tuple[int, ...]  # none: ones at the first node
    n_slots: int

    @classmethod
    def of(cls, key: Key) -> Structure:
        """Return the structure of a key."""
        heads, key = (key[0], key[1:]) if isinstance(key[0], tuple) else ((), key)
        bounds: list[BoundOp] = []
        codes: list[list[int]] = []
        for item in key:
            if isinstance(item, int):
                codes[-1].append(item)
            else:
                bounds.append(item)
                codes.append([])
        n_slots = max([-1 - c for row in codes for c in row if c < -1], default=0)
        return cls(tuple(bounds), tuple(map(tuple, codes)), heads, n_slots)

    def split(self, flat: Iterable[Array]) -> list[tuple[Array, ...]]:
        """Return the arrays of each node."""
        it = iter(flat)
        return [tuple(itertools.islice(it, n)) for n in self.sizes()]

    def sizes(self) -> list[int]:
        """Return the number of arrays that each node keeps."""
        return [
            len(codes) if b.n_saved is None else b.n_saved for b, codes in zip(self.bounds, self.codes, strict=True)
        ]


class Form(Recurring):
    """What is known of a structure, and its compiled backward."""

    __slots__ = ("backward", "compiled", "structure", "windows")

    def __init__(self, structure: Structure) -> None:
        is_open = any(b.is_open for b in structure.bounds)
        super().__init__(varies=is_open, compiled_first=0 if is_open else None)
        self.structure = structure

        def backward(data: list[Array], heads: Any) -> list[Array | None]:
            self.traces += 1
            return walk(structure, structure.split(data), heads, lambda bound, *a: bound.vjp(*a), operator.add)

        def backward_flat(*flat: Array) -> list[Array | None]:
            n = len(flat) - len(structure.heads)
            return backward(list(flat[:n]), flat[n:])

        def backward_of_ones(*data: Array) -> list[Array | None]:
            return backward(list(data), ())

        backward_flat.__name__ = backward_of_ones.__name__ = "backward"
        self.windows = any(b.windows for b in structure.bounds)
        self.backward = backward_flat if structure.heads else backward_of_ones
        self.compiled: Any = None

    def run(self, data: list[Array], heads: tuple[Array, ...] = ()) -> list[Array | None]:
        """Return the gradient of each slot (None where none arrives)."""
        if self.should_compile(data):
            if self.compiled is None:
                bounds = self.structure.bounds
                n = len(data) + len(heads) if all(b.hosted for b in bounds) else None
                plain, operators = any(b.plain for b in bounds), sum(b.operators for b in bounds)
                text = partial(text_or_none, "backward", self.structure)
                self.compiled = tiered(self.backward, n, self.windows, plain, deep=True, operators=operators, text=text)
            found: list[Any] = self.compiled(*data, *heads)
            if cache_checks.EVERY and cache_checks.is_due():
                cache_checks.expect_same("a backward segment", found, lambda: self._one_by_one(data, heads))
            return found
        return self._one_by_one(data, heads)

    def _one_by_one(self, data: list[Array], heads: tuple[Array, ...]) -> list[Array | None]:
        return walk(self.structure, self.structure.split(data), heads, _gradients, added)


# Key: bound ops and how they follow each other; jax.jit tells shapes and dtypes apart.
_forms: Memo[Key, Form] = Memo("backward segments", MAX_FORMS)


def form_of(key: Key) -> Form:
    """Return the form of a key, kept for the next time."""
    return _forms.get(key) or _forms.put(key, Form(Structure.of(key)))


def graph_under(root: Node) -> tuple[list[Node], Key, list[Array], list[Source]] | None:
    """Return all nodes under a node, and their key, arrays and slots; None if the graph has Python boundaries."""
    nodes = [root]
    found = describe(nodes, grows=True)
    if found is None:  # a node came before one of its readers: repeat in the order in which they were made
        nodes = reachable([root])
        found = describe(nodes, grows=True)
    assert found is not None
    key, data, slots, plain = found
    return (nodes, key, data, slots) if plain else None


def backward_plain(root: Node, retain_graph: bool) -> tuple[list[Source], list[Array | None]] | None:
    """The leaves under a node whose cotangent is ones, and their gradients; None if the graph has Python boundaries.

    A Sweep over one segment, without what only several need, because it runs in every training step.
    """
    found = graph_under(root)
    if found is None:
        return None
    nodes, key, data, slots = found
    grads = form_of(key).run(data)
    if not retain_graph:
        free(nodes)
    return slots, grads


def _gradients(bound: BoundOp, data: Any, cts: Any, mask: tuple[bool, ...]) -> list[Array]:
    return bound.gradients(data, cts, mask)


def arriving(structure: Structure) -> list[bool]:
    """Return for each slot whether a gradient arrives there."""
    flowing: list[set[int]] = [set() for _ in structure.bounds]
    slots = [False] * structure.n_slots
    for code in structure.heads or (0,):
        flowing[code // FAN].add(code % FAN)
    for bound, codes, here in zip(structure.bounds, structure.codes, flowing, strict=True):
        gets = bound.reaches(frozenset(here)) if here and bound.reaches is not None else [bool(here)] * len(codes)
        for code in [c for c, gets_one in zip(codes, gets, strict=True) if gets_one and c != -1]:
            if code >= 0:
                flowing[code // FAN].add(code % FAN)
            else:
                slots[-2 - code] = True
    return slots


def walk(
    structure: Structure, data: Any, heads: Any, vjp: Callable[..., list[Array]], add: Callable[[Array, Array], Array]
) -> list[Array | None]:
    """Backward over a segment: used as it is, and traced into its compiled form."""
    flowing: list[dict[int, Array]] = [{} for _ in structure.bounds]
    slots: list[Array | None] = [None] * structure.n_slots
    for code, ct in zip(structure.heads or (0,), heads or (ONES,), strict=True):
        flowing[code // FAN][code % FAN] = ct
    for bound, codes, arrays, cts in zip(structure.bounds, structure.codes, data, flowing, strict=True):
        mask = tuple([c != -1 for c in codes])
        if not cts or not any(mask):
            continue
        full = tuple([cts.get(i) for i in range(max(cts) + 1)])
        targets = [c for c in codes if c != -1]
        found = vjp(bound, arrays, full, mask)
        look(found, f"{bound.op.name}_grad")
        for code, grad in zip(targets, found, strict=True):
            if grad is None or grad.dtype == jax.dtypes.float0:
                continue
            if code >= 0:
                here = flowing[code // FAN]
                here[code % FAN] = add(here[code % FAN], grad) if code % FAN in here else grad
            else:
                at = slots[-2 - code]
                slots[-2 - code] = grad if at is None else add(at, grad)
    return slots
