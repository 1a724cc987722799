"""Reverse-mode differentiation of eager code.

A forward op leaves a Node: the bound op, its input arrays as they were, and where they came from. Backward cuts the
graph into segments at Python boundaries (hooks, PyLayer). The structure of a segment is a key: one seen before runs as
ONE compiled executable, a new one op by op through cached pullbacks, so that changing shapes cause no compile storm.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax

from ..core.errors import GraphFreedError
from ..dispatch.bound import ONES, BoundOp, xla_jit

Array = Any
MAX_FORMS = 512
# A segment is compiled when it is met for this many-th time, and for that many shapes; then shapes must come back too.
HOT = 2
MAX_TRACES = 8


next_number = itertools.count().__next__
_number = operator.attrgetter("number")


class Node:
    """One recorded call: which function, on which arrays, that came from where."""

    # {output index: functions of a cotangent}; they make the node a Python boundary.
    hooks: dict[int, dict[Any, Callable[[Array], Array]]] | None = None

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
Cotangents = dict[tuple[Node, int], Array]


def producer(source: Source) -> tuple[Node, int] | None:
    """The node and output index behind a source; None for a leaf."""
    if source.__class__ is Node:
        return source, 0
    return (source.node, source.index) if source.__class__ is Output else None


def toposort(roots: Iterable[Node], parents: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Nodes reachable from the roots, each before its parents."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(r, False) for r in roots]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend([(p, False) for p in parents(node) if p not in seen])
    order.reverse()
    return order


def parents(node: Node) -> list[Node]:
    """The nodes that made a node's arguments."""
    out = []
    for s in node.sources:
        if s.__class__ is Node:
            out.append(s)
        elif s.__class__ is Output:
            out.append(s.node)
    return out


class Sweep:
    """One backward pass: cotangents in flight, and the gradients that reached leaves."""

    def __init__(self, cotangents: Cotangents, watched: Iterable[tuple[Node, int]] = ()) -> None:
        self.cotangents = cotangents
        self.watched = set(watched)
        self.leaves: dict[int, tuple[Any, Array]] = {}
        self.seen: dict[tuple[Node, int], Array] = {}

    def run(self, retain_graph: bool) -> None:
        """Visit every node once, in topological order, a segment at a time."""
        order = toposort([n for n, _ in self.cotangents], parents)
        watched_nodes = {n for n, _ in self.watched}
        segment: list[Node] = []
        for node in order:
            if node.hooks is not None or not node.bound.compiled or node in watched_nodes:
                self._flush(segment)
                segment = []
                self._observe(node)
            if node.bound.compiled:
                segment.append(node)
            else:
                self._python(node)
        self._flush(segment)
        if not retain_graph:
            for node in order:
                node.data = None

    def _observe(self, node: Node) -> None:
        for index, hooks in (node.hooks or {}).items():
            for hook in list(hooks.values()):
                if (node, index) in self.cotangents:
                    self.cotangents[node, index] = hook(self.cotangents[node, index])
        for key in self.watched:
            if key[0] is node and key in self.cotangents:
                self.seen[key] = self.cotangents[key]

    def _python(self, node: Node) -> None:
        cts = self._take(node)
        for source, grad in zip(node.sources, node.bound.backward(_data(node), cts), strict=True):
            if source is not None and grad is not None:
                self.add(source, grad)

    def _take(self, node: Node) -> dict[int, Array]:
        return {i: self.cotangents.pop((n, i)) for n, i in list(self.cotangents) if n is node}

    def add(self, source: Source, grad: Array) -> None:
        """Add a cotangent to its source."""
        key = producer(source)
        if key is not None:
            before = self.cotangents.get(key)
            self.cotangents[key] = grad if before is None else _add(before, grad)
        else:
            held = self.leaves.get(id(source))
            self.leaves[id(source)] = (source, grad if held is None else _add(held[1], grad))

    def _flush(self, nodes: list[Node]) -> None:
        if not nodes:
            return
        segment = Segment(nodes, self.cotangents)
        for source, grad in zip(segment.slots, segment.run(), strict=True):
            if grad is not None:
                self.add(source, grad)


def _data(node: Node) -> Sequence[Array]:
    if node.data is None:
        raise GraphFreedError(
            f"backward() reached `{node.bound.op.name}` a second time, but the first backward() freed what it saved; "
            "call the first one as backward(retain_graph=True), or compute the loss again"
        )
    return node.data


_add = jax.jit(lambda a, b: a + b)


class Structure(NamedTuple):
    """What a segment looks like apart from its arrays: the key of its compiled form.

    A source code is -1 for no gradient, node * FAN + output for a node of the segment, and ~(slot + 1) for a slot:
    anything outside the segment, a leaf or an earlier node.
    """

    bounds: tuple[BoundOp, ...]
    codes: tuple[tuple[int, ...], ...]
    heads: tuple[int, ...]
    n_slots: int


FAN = 1 << 20


class Segment:
    """A run of nodes whose backward is one JAX function."""

    def __init__(self, nodes: list[Node], cotangents: Cotangents) -> None:
        self.slots: list[Source] = []
        self._slot_of: dict[Any, int] = {}
        self.position = {n: i for i, n in enumerate(nodes)}
        self.data = tuple([_data(n) for n in nodes])
        codes = tuple([tuple([self._code(s) for s in n.sources]) for n in nodes])
        inside = [(n, i) for n, i in cotangents if n in self.position]
        self.heads = tuple([cotangents.pop(k) for k in inside])
        heads = tuple([self.position[n] * FAN + i for n, i in inside])
        self.structure = Structure(tuple([n.bound for n in nodes]), codes, heads, len(self.slots))

    def _code(self, source: Source) -> int:
        if source is None:
            return -1
        key = producer(source)
        if key is not None and key[0] in self.position:
            return self.position[key[0]] * FAN + key[1]
        ident = id(source) if key is None else key
        slot = self._slot_of.get(ident)
        if slot is None:
            slot = self._slot_of[ident] = len(self.slots)
            self.slots.append(source)
        return -2 - slot

    def run(self) -> list[Array | None]:
        """The gradient of each slot (None where none arrives)."""
        form = _form(self.structure, lambda: self.structure)
        if form.is_hot([x for arrays in self.data for x in arrays]):
            return form.call(self.data, self.heads)
        return walk(self.structure, self.data, self.heads, _call_pullback)


class _Form:
    """What is known of a structure: how often it was met, and its compiled backward."""

    __slots__ = ("call", "call_flat", "met", "shapes", "structure", "traces")

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.met = 0
        self.traces = 0
        self.shapes: OrderedDict[Any, int] = OrderedDict()

        def backward(data: Any, heads: Any) -> list[Array | None]:
            self.traces += 1
            return walk(structure, data, heads, lambda bound, *a: bound.vjp(*a))

        library = not any(bound.windows for bound in structure.bounds)
        self.call = xla_jit(backward, library)
        sizes = [
            len(codes) if b.n_saved is None else b.n_saved
            for b, codes in zip(structure.bounds, structure.codes, strict=True)
        ]

        def backward_flat(*flat: Any) -> list[Array | None]:
            it = iter(flat)
            return backward([[next(it) for _ in range(n)] for n in sizes], ())

        self.call_flat = xla_jit(backward_flat, library)

    def is_hot(self, arrays: list[Any]) -> bool:
        """True if the compiled form should run: the structure came before, and its shapes are no stream of new ones."""
        self.met += 1
        if self.traces < MAX_TRACES:
            return self.met >= HOT
        key = tuple([getattr(x, "shape", None) for x in arrays])
        count = self.shapes[key] = self.shapes.get(key, 0) + 1
        if len(self.shapes) > MAX_FORMS:
            self.shapes.popitem(last=False)
        return count >= HOT


_forms: OrderedDict[Any, _Form] = OrderedDict()


def _form(key: Any, structure: Callable[[], Structure]) -> _Form:
    form = _forms.get(key)
    if form is None:
        form = _forms[key] = _Form(structure())
        if len(_forms) > MAX_FORMS:
            _forms.popitem(last=False)
    return form


# -- the common case: one root, no Python boundary -----------------------------------------------------------------
def backward_plain(root: Node, retain_graph: bool) -> tuple[list[Any], list[Array | None]] | None:
    """The leaves under a node whose cotangent is ones, and their gradients; None if the graph has Python boundaries.

    It does in one pass what Sweep and Segment do in general, because it runs in every training step.
    """
    nodes = [root]
    found = _described(nodes)
    if found is None:  # a node was met before all that read it: once more, in the order in which they were made
        nodes = _reachable(root)
        found = _described(nodes)
    assert found is not None
    key, data, slots, plain = found
    if not plain:
        return None
    form = _forms.get(key) or _form(key, functools.partial(_structure, key))
    if form.is_hot(data):
        grads = form.call_flat(*data)
    else:
        grads = walk(form.structure, [n.data for n in nodes], (), _call_pullback)
    if not retain_graph:
        for node in nodes:
            node.data = None
    return slots, grads


def _reachable(root: Node) -> list[Node]:
    """All nodes under a root, those made last first."""
    found, nodes = {root}, [root]
    for node in nodes:  # grows as it goes
        for s in node.sources:
            made = s if s.__class__ is Node else s.node if s.__class__ is Output else root
            if made not in found:
                found.add(made)
                nodes.append(made)
    nodes.sort(key=_number, reverse=True)
    return nodes


def _described(nodes: list[Node]) -> tuple[tuple[Any, ...], list[Any], list[Any], bool] | None:
    """Key, arrays and slots of a graph, and whether it has no Python boundary.

    `nodes` holds the root and is filled with all nodes, or holds all already. None if a node came too early.
    """
    position = {n: i for i, n in enumerate(nodes)}
    last = nodes[0].number + 1
    slots: list[Any] = []
    slot_of: dict[Any, int] = {}
    key: list[Any] = []
    data: list[Any] = []
    plain = True
    for node in nodes:  # grows as it goes
        number, bound = node.number, node.bound
        if number >= last:
            return None
        last = number
        if node.hooks is not None or not bound.compiled:
            plain = False
        data += _data(node) if node.data is None else node.data
        key.append(bound)
        for s in node.sources:
            if s is None:
                key.append(-1)
                continue
            if s.__class__ is Node:
                made, index = s, 0
            elif s.__class__ is Output:
                made, index = s
            else:  # a leaf: tensors compare by element, so by identity
                slot = slot_of.setdefault(id(s), len(slots))
                if slot == len(slots):
                    slots.append(s)
                key.append(-2 - slot)
                continue
            at = position.get(made)
            if at is None:
                at = position[made] = len(nodes)
                nodes.append(made)
            key.append(at * FAN + index)
    return tuple(key), data, slots, plain


def _structure(key: tuple[Any, ...]) -> Structure:
    """The structure that a flat key of backward_plain stands for."""
    bounds: list[Any] = []
    codes: list[list[int]] = []
    for item in key:
        if isinstance(item, int):
            codes[-1].append(item)
        else:
            bounds.append(item)
            codes.append([])
    n_slots = max([-1 - c for row in codes for c in row if c < -1], default=0)
    return Structure(tuple(bounds), tuple(map(tuple, codes)), (0,), n_slots)


def _call_pullback(bound: BoundOp, data: Any, cts: Any, mask: tuple[bool, ...]) -> list[Array]:
    return bound.pullback(mask)(data, cts)


def walk(structure: Structure, data: Any, heads: Any, vjp: Callable[..., list[Array]]) -> list[Array | None]:
    """Backward over a segment: used as it is, and traced into its compiled form."""
    flowing: list[dict[int, Array]] = [{} for _ in structure.bounds]
    slots: list[Array | None] = [None] * structure.n_slots
    for code, ct in zip(structure.heads, heads or (ONES,), strict=True):
        flowing[code // FAN][code % FAN] = ct
    for bound, codes, arrays, cts in zip(structure.bounds, structure.codes, data, flowing, strict=True):
        mask = tuple([c != -1 for c in codes])
        if not cts or not any(mask):
            continue
        full = tuple([cts.get(i) for i in range(max(cts) + 1)])
        targets = [c for c in codes if c != -1]
        for code, grad in zip(targets, vjp(bound, arrays, full, mask), strict=True):
            if grad is None or grad.dtype == jax.dtypes.float0:
                continue
            if code >= 0:
                here = flowing[code // FAN]
                here[code % FAN] = here[code % FAN] + grad if code % FAN in here else grad
            else:
                at = slots[-2 - code]
                slots[-2 - code] = grad if at is None else at + grad
    return slots
