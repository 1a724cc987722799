"""The programs of one function: found by the kind of call, bounded, and able to say why each was traced."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.context import Context
from paddle_lite_py.core.errors import warn_user
from paddle_lite_py.core.memo import Memo
from paddle_lite_py.core.traced_number import ScalarInputs
from paddle_lite_py.eager.tensor import Tensor

from .entry import Entry
from .spec import ArgumentNames

# Programs of one function that are kept, those used longest ago dropped first.
SIZE = 64
# As many traces in all are worth a warning, and again each time as many have come.
STORM = 8
HISTORY = 256


class CacheKey(NamedTuple):
    """All of a call that a program depends on, but for what guards look at."""

    context: Context  # of the thread
    structure: Any  # of the arguments, with the Python values among them
    tensors: tuple[Any, ...]  # shape, dtype and stop_gradient of each


class Sharing(NamedTuple):
    """Stands among the kinds of tensors where some share elements: which, and by which views."""

    among: tuple[Any, ...]

    def __str__(self) -> str:
        return "tensors that share elements"


class Declared(NamedTuple):
    """Stands for the kind of a tensor whose InputSpec tells it."""

    spec: Any
    stopped: bool

    def __str__(self) -> str:
        return f"{self.spec!r}{'' if self.stopped else ' with gradient'}"


class Record(NamedTuple):
    """One trace."""

    what: str
    cause: str
    seconds: float


class Cache:
    """The programs of one function."""

    def __init__(self, name: str, size: int) -> None:
        self.name, self.size = name, size
        self.warns = True  # of many traces
        # Key: the context, structure and Python values of the arguments, kinds of tensors; guards see the
        # rest.
        self.entries: Memo[CacheKey, list[Entry]] = Memo(f"programs of {name}", size)
        self.history: deque[Record] = deque(maxlen=HISTORY)
        self.count = 0

    def find(
        self, key: CacheKey, numbers: ScalarInputs, serves: Callable[[Entry], bool], tensors: Sequence[Tensor]
    ) -> tuple[Entry | None, str]:
        """The program for a call with `tensors`, among those that may serve; where none of its kind does, the cause."""
        entries = self.entries.get(key, [])
        cause = ""
        for i, entry in enumerate(entries):
            stale = entry.stale(numbers) or (entry.owned and entry.owns_otherwise(tensors)) or None
            if stale is None and not serves(entry):
                continue
            if stale is None:
                entries.insert(0, entries.pop(i))
                self.entries.recent(key)
                return entry, ""
            cause = cause or stale
        return None, cause

    def add(self, key: CacheKey, entry: Entry, what: str, cause: str, since: float) -> None:
        """Keep a new program, and drop the one used longest ago if there are too many."""
        self.entries.put(key, [entry, *self.entries.get(key, [])])
        while len(self) > self.size:
            oldest = next(iter(self.entries.values()))
            oldest.pop()
            if not oldest:
                self.entries.evict()
        self._note(Record(what, cause, time.perf_counter() - since))

    def __iter__(self) -> Iterator[Entry]:
        """Return the programs, the one used last at the end."""
        return (e for entries in self.entries.values() for e in reversed(entries))

    def __len__(self) -> int:
        return sum(map(len, self.entries.values()))

    def news(self, key: CacheKey, names: ArgumentNames) -> str:
        """In what a kind of call that has no program differs from those that have one, in words."""
        if not self.count:
            return "first call"
        if not self.entries:
            return "no program is left of earlier calls"
        known = min(reversed(self.entries), key=lambda k: len(differences(k, key, names)))
        return "; ".join(differences(known, key, names)) or "the same call as before"

    def _note(self, record: Record) -> None:
        self.count += 1
        self.history.append(record)
        if self.warns and self.count % STORM == 0:
            warn_user(
                f"`{self.name}` has been traced {self.count} times, the last time because: {record.cause}. "
                f"{advice(record.cause)}"
            )

    def explain(self) -> str:
        """Return one line for each trace: what it was for, why it was needed, and how long it took."""
        head = f"`{self.name}`: {self.count} traces, {len(self)} programs kept (at most {self.size})"
        skipped = self.count - len(self.history)
        lines = [
            f"{i}. {r.what}: {r.cause} ({r.seconds * 1000:.0f} ms)" for i, r in enumerate(self.history, skipped + 1)
        ]
        return "\n".join([head, *lines])


def advice(cause: str) -> str:
    """Return the advice against many traces of one cause."""
    if re.search(r"changed from \w+\[", cause):
        return (
            "If a shape changes, declare it: to_static(input_spec=[InputSpec([None, ...])]), with buckets= if each "
            "length is compiled anew"
        )
    return "Pass what changes as a tensor, or keep it out of the function; print(f.explain()) lists all traces"


def differences(a: CacheKey, b: CacheKey, names: ArgumentNames) -> list[str]:
    """In what two kinds of call differ, in words."""
    out = []
    if a.context != b.context:
        out.append(f"the mode changed from {a.context} to {b.context}")
    if len(a.tensors) == len(b.tensors):
        for i, (x, y) in enumerate(zip(a.tensors, b.tensors, strict=True)):
            name = names.tensors[i] if i < len(names.tensors) else f"tensor {i}"
            if x != y:
                out.append(f"argument `{name}` changed from {tensor_text(x)} to {tensor_text(y)}")
    if a.structure != b.structure or len(a.tensors) != len(b.tensors):
        out.append(_structures(a.structure, b.structure, names.parameters))
    return out


def tensor_text(kind: Any) -> str:
    """Return the kind of a tensor in words."""
    if not isinstance(kind, tuple) or isinstance(kind, Sharing | Declared):
        return str(kind)
    shape, dtype, stopped = kind
    return f"{dtype}{list(shape)}{'' if stopped else ' with gradient'}"


def _structures(a: Any, b: Any, parameters: list[str]) -> str:
    found = _first_difference(a, b, ())
    path, x, y = found if found else ((), a, b)
    if len(path) < 2:
        return f"the arguments changed from {x!r:.60} to {y!r:.60}"
    first = path[1] if path[0] else parameters[path[1]] if path[1] < len(parameters) else f"*{path[1]}"
    return f"argument `{first}{''.join(f'[{key!r}]' for key in path[2:])}` changed from {x!r:.60} to {y!r:.60}"


def _first_difference(a: Any, b: Any, path: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, Any] | None:
    nests = isinstance(a, nested.Nest) and isinstance(b, nested.Nest)
    if not nests or (a.kind, a.keys, len(a.children)) != (b.kind, b.keys, len(b.children)):
        return None if a == b else (path, a, b)
    for key, x, y in zip(a.keys or range(len(a.children)), a.children, b.children, strict=True):
        if found := _first_difference(x, y, (*path, key)):
            return found
    return None
