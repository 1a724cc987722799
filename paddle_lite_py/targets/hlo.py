"""Contents of a compiled program: buffers with the user's lines, and collectives."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{\s*$")
_INSTRUCTION = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = (.+?) ([a-z][\w\-]*)\((.*)$")
ARRAY = re.compile(r"\b([a-z]\w*)\[([\d,]*)\](?:\{([^}]*)\})?")
_OPERAND = re.compile(r"%([\w.\-]+)")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_CALLED = re.compile(r"\b(?:body|to_apply|branch_computations|calls)=\{?((?:%[\w.\-]+(?:, )?)+)")
_TRIPS = re.compile(r'known_trip_count":\{"n":"(\d+)"')
_CONDITION, _BODY = re.compile(r"\bcondition=%([\w.\-]+)"), re.compile(r"\bbody=%([\w.\-]+)")
_INDEX = re.compile(r"\bindex=(\d+)")
_ALIAS = re.compile(r"\{([\d, ]*)\}: \((\d+),")
_TILE = re.compile(r"T\(([\d,]+)\)")
_SPACE = re.compile(r"S\((\d+)\)")
_LINE = re.compile(r"(\w[\w.]*?)\.\d+:([^/()\"]+:\d+)")
_GROUPS = re.compile(r"replica_groups=(?:\[(?:\d+,)*(\d+)\]<=|\{\{([\d,]+)\})")
_AXES = re.compile(r"replica_groups=mesh\[([^\]]*)\].*?\{([^}]*)\}")
_PARTITIONS = re.compile(r"\bnum_partitions=(\d+)")
_ARGUMENT = re.compile(r"^args\[(\d+)\]")
_BITS = {"pred": 8, "token": 0, "opaque": 0}
# Operations whose result shares the memory of an operand.
_SAME_PLACE = frozenset(
    "bitcast get-tuple-element tuple while optimization-barrier after-all domain add-dependency".split()
)
_COLLECTIVES = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
)


class Buffer(NamedTuple):
    """Memory that one value takes.

    Examples:
        >>> Buffer(4, "f32[]", "add", "net.py:3").where
        'net.py:3'
    """

    bytes: int
    shape: str
    what: str  # an op, or the name of an argument
    where: str  # the user's line; empty for an argument, and where it is not known
    argument: bool = False

    @property
    def label(self) -> str:
        """Describe what it is, and where."""
        return f"{self.what}, {self.where}" if self.where else self.what


class Collective(NamedTuple):
    """An exchange between devices.

    Examples:
        >>> Collective("all-reduce", 4, "f32[]", "net.py:3", 1, 4).sent
        6.0
    """

    kind: str
    bytes: int  # that each device has of the result
    shape: str
    where: str
    times: int = 1
    group: int = 1  # the devices that exchange with each other

    @property
    def sent(self) -> float:
        """The bytes that each device sends, once, around a ring of its group."""
        others = self.group - 1
        if self.kind == "reduce-scatter":
            return float(self.bytes * others)
        if self.kind == "collective-permute":
            return float(self.bytes)
        return self.bytes * others / self.group * (2 if self.kind == "all-reduce" else 1)


class Instruction(NamedTuple):
    """A line of a computation."""

    name: str
    shape: str
    opcode: str
    rest: str
    root: bool
    operands: list[str]  # the names of its operands

    @property
    def op_name(self) -> str:
        """Where it comes from, as JAX writes it."""
        found = _OP_NAME.search(self.rest)
        return found[1] if found else ""


def source(op_name: str) -> tuple[str, str]:
    """Return the op and the user's line in an XLA name; empty if there are none.

    Examples:
        >>> source("jit(step)/grad.3:train.py:9/transpose(jvp(conv2d.0:net.py:12))/conv_general_dilated")
        ('gradient of conv2d', 'net.py:12')
    """
    found = _LINE.findall(op_name)
    if not found:
        return op_name.rpartition("/")[2], ""
    op, where = found[-1]
    return (f"gradient of {op}" if "transpose(" in op_name else op), where


def arrays(shape: str, everywhere: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the arrays of a shape in the device's memory, each with its bytes as they lie there, padding included.

    Arguments:
        everywhere: those in a TPU's memory on the chip as well.

    Examples:
        >>> list(arrays("(f32[2,3]{1,0}, bf16[3,5]{1,0:T(8,128)})"))
        [('f32[2,3]', 24), ('bf16[3,5]', 2048)]
    """
    for kind, sizes, layout in ARRAY.findall(shape):
        dims = [int(n) for n in sizes.split(",") if n]
        order = [int(n) for n in layout.partition(":")[0].split(",") if n.strip().isdigit()]
        tile = _TILE.search(layout)
        if tile and not everywhere and (space := _SPACE.search(layout)) and space[1] != "0":
            continue
        if tile and order:
            for axis, least in zip(order, reversed([int(n) for n in tile[1].split(",")]), strict=False):
                dims[axis] = -(-dims[axis] // least) * least
        yield f"{kind}[{sizes}]", math.prod(dims) * bits(kind) // 8


def bits(kind: str) -> int:
    """Bits of an element of a dtype as XLA writes it."""
    if kind in _BITS:
        return _BITS[kind]
    digits = re.search(r"\d+", kind)
    return int(digits[0]) if digits else 0


def size(shape: str) -> int:
    """Bytes of all arrays of a shape."""
    return sum(n for _, n in arrays(shape))


class Resident(NamedTuple):
    """A value that a computation holds."""

    computation: str
    name: str
    bytes: int


class Module:
    """The text of a compiled program, taken apart.

    Arguments:
        text: what XLA gives.
        names: of the arguments.
    """

    def __init__(self, text: str, names: Sequence[str] = ()) -> None:
        self.names = names
        self._peaks: dict[str, tuple[int, list[Resident]]] = {}
        self.computations: dict[str, list[Instruction]] = {}
        self.entry = ""
        head, current = text.partition("\n")[0], ""
        partitions = _PARTITIONS.search(head)
        self.devices = int(partitions[1]) if partitions else 1
        self.aliases = dict(_ALIAS.findall(head.partition("entry_computation_layout")[0]))
        for line in text.splitlines():
            if found := _COMPUTATION.match(line):
                current = found[2]
                self.computations[current] = []
                self.entry = current if found[1] else self.entry
            elif current and (made := _INSTRUCTION.match(line)):
                taken = _OPERAND.findall(made[5].partition("), ")[0])
                self.computations[current].append(Instruction(made[2], made[3], made[4], made[5], bool(made[1]), taken))

    # -- collectives -----------------------------------------------------------------------------------------------
    def collectives(self) -> list[Collective]:
        """Return the exchanges of one run of the program, those that send most first."""
        counts: dict[Collective, int] = {}
        runs = self.runs()
        for name, instructions in self.computations.items():
            shapes = {i.name: i.shape for i in instructions}
            for i in instructions:
                kind = i.opcode.removesuffix("-start")
                if kind not in _COLLECTIVES:
                    continue
                found = list(arrays(i.shape, True))
                taken = [n for o in i.operands for _, n in arrays(shapes.get(o, ""), True)]
                started = i.opcode.endswith("-start") and kind != "all-reduce"  # its shape includes its operands
                sent = sum(n for _, n in found) - (sum(taken) if started else 0)
                names = [s for s, _ in found[len(taken) if started else 0 :]]
                where = source(i.op_name)[1]
                made = Collective(kind, sent, ", ".join(names)[:60], where, group=self._group(i))
                counts[made] = counts.get(made, 0) + runs.get(name, 1)
        return sorted((c._replace(times=n) for c, n in counts.items()), key=lambda c: -c.bytes * c.times)

    def runs(self, loops: bool = True) -> dict[str, int]:
        """Return how often each computation runs, or would if each loop ran once; callers come after what they call."""
        runs = {self.entry: 1}
        for name, instructions in reversed(self.computations.items()):
            for i in instructions if name in runs else ():
                times = runs[name] * (self._trips(i) if loops and i.opcode == "while" else 1)
                for called in (c for found in _CALLED.findall(i.rest) for c in _OPERAND.findall(found)):
                    runs[called] = runs.get(called, 0) + times
        return runs

    def _trips(self, loop: Instruction) -> int:
        """Return how often a loop runs: as XLA knows it, or as its condition compares a counter from 0 with a number.

        Where the number depends on data, it is 1.
        """
        if known := _TRIPS.search(loop.rest):
            return int(known[1])
        condition, body = (self._named(pattern, loop) for pattern in (_CONDITION, _BODY))
        for test in condition.values():
            counter, limit = (condition.get(o) for o in (*test.operands, "", "")[:2])
            if "direction=LT" in test.rest and counter and limit and (end := _constant(limit)) > 0:
                place = _INDEX.search(counter.rest)
                return -(-end // _step(body, int(place[1]))) if place else end
        return 1

    def _named(self, pattern: re.Pattern[str], i: Instruction) -> dict[str, Instruction]:
        """Return the instructions of a computation that an instruction names."""
        found = pattern.search(i.rest)
        return {k.name: k for k in self.computations.get(found[1], [])} if found else {}

    def _group(self, i: Instruction) -> int:
        """Return the number of devices that exchange with each other: all, where nothing else is said."""
        if named := _AXES.search(i.rest):
            sizes = dict(re.findall(r"('[^']+')=(\d+)", named[1]))
            return math.prod(int(sizes.get(axis.strip(), 1)) for axis in named[2].split(","))
        found = _GROUPS.search(i.rest)
        if found is None:
            return self.devices
        return int(found[1]) if found[1] else len(found[2].split(","))

    # -- memory ----------------------------------------------------------------------------------------------------
    def at_peak(self, n: int = 100) -> list[Buffer]:
        """Return what is in memory at the peak, the n largest first: arguments, and values in schedule order."""
        given = self._given()
        sizes = {name: b.bytes for name, b in given.items()}
        held = sorted(self._peak(self.entry, sizes, self._over_arguments())[1], key=lambda h: -h.bytes)[:n]
        return [given[h.name] if h.computation == self.entry and h.name in given else self._buffer(h) for h in held]

    def _given(self) -> dict[str, Buffer]:
        made = {}
        for i in self.computations.get(self.entry, ()):
            if i.opcode == "parameter":
                position = _ARGUMENT.match(i.op_name)
                name = self.names[int(position[1])] if position and int(position[1]) < len(self.names) else i.name
                shapes = list(arrays(i.shape))
                made[i.name] = Buffer(sum(n for _, n in shapes), shapes[0][0] if shapes else i.shape, name, "", True)
        return made

    def _over_arguments(self) -> list[str]:
        """Return the results that are written over arguments, which were donated."""
        root = next((i for i in self.computations.get(self.entry, ()) if i.root), None)
        if root is None:
            return []
        results = {str(k): o for k, o in enumerate(root.operands)} if root.opcode == "tuple" else {"": root.name}
        return [results[k] for k in self.aliases if k in results]

    def _peak(self, name: str, given: dict[str, int], elsewhere: Sequence[str] = ()) -> tuple[int, list[Resident]]:
        """Return the peak memory of a computation, besides what its caller holds, and what it consists of."""
        if not given and name in self._peaks:
            return self._peaks[name]
        instructions = self.computations.get(name, [])
        roots, last = _lifetimes(instructions)
        made = _memory_made(instructions, roots, elsewhere)
        inside = [max((self._peak(c, {}) for c in self._called(i)), default=(0, []), key=_first) for i in instructions]
        totals, total = [], sum(given.values())
        for n, i in enumerate(instructions):
            total += made.get(i.name, 0)
            totals.append(total + inside[n][0])
            total -= sum(
                made.get(r, 0) for r in {r for o in (*i.operands, i.name) for r in roots.get(o, ())} if last[r] == n
            )
        at = max(range(len(totals)), key=totals.__getitem__, default=-1)
        held = [
            Resident(name, i.name, made[i.name])
            for i in instructions[: at + 1]
            if made.get(i.name) and last[i.name] >= at
        ]
        held += [Resident(name, k, n) for k, n in given.items()] + (inside[at][1] if at >= 0 else [])
        found = (totals[at] if at >= 0 else total), held
        if not given:
            self._peaks[name] = found
        return found

    def _buffer(self, held: Resident) -> Buffer:
        around = self.computations[held.computation]
        i = next(k for k in around if k.name == held.name)
        op, where = self._source(i, around)
        largest = max(arrays(i.shape), key=lambda s: s[1], default=("", 0))[0]
        return Buffer(held.bytes, largest, op, where)

    def _source(self, i: Instruction, around: list[Instruction]) -> tuple[str, str]:
        """Return the op and the user's line of an instruction: its own, or those of what is nearest to it."""
        own = source(i.op_name)
        for k in itertools.chain([i], self._fused(i), _beside(i, around)):
            if (found := source(k.op_name))[1]:
                return found
        return own[0] or i.opcode, ""

    def _fused(self, i: Instruction) -> list[Instruction]:
        """Return the instructions of the computation that an instruction calls, the last one first."""
        called = _CALLED.search(i.rest)
        return self.computations.get(_OPERAND.findall(called[1])[0], [])[::-1] if called else []

    def _called(self, i: Instruction) -> list[str]:
        """Return the computations that run as a part of an instruction, with memory of their own."""
        if i.opcode not in ("while", "conditional", "call", "async-start"):
            return []
        return [name for found in _CALLED.findall(i.rest) for name in _OPERAND.findall(found)]


def _first(found: tuple[int, list[Resident]]) -> int:
    return found[0]


def _constant(i: Instruction) -> int:
    """Return the value of an integer constant; 0 for others."""
    text = i.rest.partition(")")[0]
    return int(text) if i.opcode == "constant" and text.isdigit() else 0


def _step(body: dict[str, Instruction], place: int) -> int:
    """Return what the body of a loop adds to the value at a place of what it carries."""
    root = next((i for i in body.values() if i.root), None)
    added = body.get(root.operands[place]) if root and place < len(root.operands) else None
    if added is None or added.opcode != "add":
        return 1
    return max((_constant(body[o]) for o in added.operands if o in body), default=1) or 1


def _beside(i: Instruction, around: list[Instruction]) -> Iterator[Instruction]:
    """Return the memory of an instruction, then what holds it."""
    yield from (k for k in around if k.name in i.operands)
    yield from (k for k in around if i.name in k.operands)


def _memory_made(
    instructions: list[Instruction], roots: dict[str, frozenset[str]], elsewhere: Sequence[str]
) -> dict[str, int]:
    """Return the memory that each instruction of a computation takes anew."""
    sizes = {i.name: size(i.shape) for i in instructions}
    saved: dict[str, int] = {}
    for result in elsewhere:
        for root in roots.get(result, ()):
            saved[root] = saved.get(root, 0) + sizes[result]
    out: dict[str, int] = {}
    for i in instructions:
        if not same_place(i.opcode) and i.opcode not in ("parameter", "constant"):
            taken = sum(sizes.get(o, 0) for o in i.operands) if i.opcode.endswith("-start") else 0
            out[i.name] = max(sizes[i.name] - saved.get(i.name, 0) - taken, 0)
    return out


def same_place(opcode: str) -> bool:
    """Whether the result lies where an operand lies."""
    return opcode in _SAME_PLACE or opcode.endswith("-done")


def _lifetimes(instructions: list[Instruction]) -> tuple[dict[str, frozenset[str]], dict[str, int]]:
    """Return the values whose memory each name speaks of, and when each such value is read for the last time."""
    roots = {i.name: frozenset([i.name]) for i in instructions}
    for i in instructions:
        if same_place(i.opcode):
            roots[i.name] = frozenset(itertools.chain(*[roots.get(o, ()) for o in i.operands]))
    last = {r: n for n, i in enumerate(instructions) for o in (*i.operands, i.name) for r in roots.get(o, ())}
    return roots, last
