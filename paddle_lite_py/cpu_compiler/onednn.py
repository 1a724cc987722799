"""oneDNN's convolutions, of the package `onednn-cpu-gomp`, as functions that XLA programs call."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from ..core.config import cpu_features
from ..core.memo import once
from ..core.switches import is_on
from .machine_code import CONVOLUTION, Compiler, compiler, key_of

PACKAGE, LIBRARY, MAJOR = "onednn-cpu-gomp", "libdnnl.so.3", 3
# Each XLA thread that calls oneDNN has its own OpenMP team: on more cores that would be many idle threads.
MOST_CORES = 16
ALIGNMENT = 64
# Fewer products than that one thread does as fast, since it wakes no other, and XLA has the rest for other work.
MIN_PRODUCTS_SHARED = 1 << 24
# A plan: whether all threads take part, the number of steps, and the steps: a oneDNN primitive, how many arguments,
# the arguments; of each oneDNN's name, a description of its memory, which buffer of the call it is in, at which byte.
_CALLED = ("memory_create", "memory_destroy", "primitive_execute", "stream_wait")

KINDS = ("forward", "data", "weights")  # a convolution, the gradient of its input, and that of its weights

# oneDNN's numbers (dnnl_types.h).
_CPU, _FLOAT32, _ANY_FORMAT, _TRAINING, _DIRECT, _USERS_SCRATCH = 1, 3, 1, 64, 1, 1
_IMPLEMENTATION, _WEIGHTS_MD, _DIFF_WEIGHTS_MD, _SCRATCH_MD = 8, 131, 132, 136
_FROM, _TO, _SOURCE, _WEIGHTS, _RESULT = 1, 17, 1, 33, 17
_DIFF_SOURCE, _DIFF_WEIGHTS, _DIFF_RESULT, _SCRATCH = 129, 161, 145, 80

Ints = tuple[int, ...]


class Strided(NamedTuple):
    """Where the elements of an array are: batch, channels, space; or of weights groups (if any), out, in, space."""

    sizes: Ints
    strides: Ints


class Convolution(NamedTuple):
    """A convolution, or one of its gradients, as oneDNN sees it: kind says which of the three arrays is computed."""

    kind: str  # of KINDS
    source: Strided
    weights: Strided
    result: Strided
    stride: Ints
    dilation: Ints
    before: Ints  # padding
    after: Ints

    @property
    def windows(self) -> int:
        """The number of windows of the source."""
        return self.result.sizes[0] * math.prod(self.result.sizes[2:])

    @property
    def products(self) -> int:
        """The number of products that are summed in all."""
        return math.prod(self.weights.sizes) * self.windows


class CallPlan(NamedTuple):
    """A call's key, the bytes that it needs besides its result, and whether threads sum partial results."""

    key: int
    scratch: int
    sums: bool


class OneDNNError(Exception):
    """oneDNN does not support the convolution."""


def convolution_from(data: Sequence[Any]) -> Convolution:
    """Return a convolution that was written as JSON."""
    kind, source, weights, result, *window = data
    arrays: list[Any] = [Strided(tuple(sizes), tuple(strides)) for sizes, strides in (source, weights, result)]
    return Convolution(kind, *arrays, *map(tuple, window))


def planned(key: int) -> Convolution | None:
    """Return the convolution for which this process has a plan of that key."""
    library = loaded()
    return None if library is None else library.planned.get(key)


def plan(convolution: Convolution) -> CallPlan | None:
    """How oneDNN does it; None where it does not, or has only a slow reference for it."""
    library = loaded()
    return None if library is None else library.plan(convolution)


@once
def loaded() -> OneDNN | None:
    """The library, once for a process; None where it does not serve."""
    if not is_on("FLAGS_use_onednn") or (llvm := compiler()) is None:
        return None
    if (os.cpu_count() or 1) > MOST_CORES or "avx2" not in cpu_features():
        return None
    from importlib import metadata  # takes a hundredth of a second, for what few programs need

    try:
        path = next(p for p in metadata.files(PACKAGE) or () if p.name == LIBRARY)
        return OneDNN(Path(str(path.locate())), llvm)
    except (ImportError, StopIteration, OSError, OneDNNError):  # a package or OpenMP is missing, or it is another one
        return None


@contextmanager
def _sleeping_threads() -> Iterator[None]:
    """While OpenMP's library is loaded: else its threads would spin when they have nothing to do, on XLA's cores."""
    if (name := "OMP_WAIT_POLICY") in os.environ:
        yield
        return
    os.environ[name] = "passive"
    try:
        yield
    finally:
        del os.environ[name]


class OneDNN:
    """oneDNN in this process."""

    def __init__(self, path: Path, llvm: Compiler) -> None:
        with _sleeping_threads():
            self.c = ctypes.CDLL(str(path))
        self.c.dnnl_version.restype = ctypes.POINTER(ctypes.c_int)
        if self.c.dnnl_version()[0] != MAJOR:
            raise OneDNNError(path)
        self.c.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        self.c.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
        self.engine = self.new("dnnl_engine_create", _CPU, ctypes.c_size_t(0))
        self.stream = self.new("dnnl_stream_create", self.engine, 1)
        self.attributes = self.new("dnnl_primitive_attr_create")
        self.check(self.c.dnnl_primitive_attr_set_scratchpad_mode(self.attributes, _USERS_SCRATCH))
        called = [getattr(self.c, f"dnnl_{name}") for name in _CALLED]
        self.table = llvm.target(CONVOLUTION, "onednn_call.ll", onednn=[*called, self.engine, self.stream])
        self.planned: dict[int, Convolution] = {}
        self.plan = once(self._plan)

    def check(self, status: int) -> None:
        """Raise what a status says."""
        if status:
            raise OneDNNError(status)

    def new(self, name: str, *args: Any) -> ctypes.c_void_p:
        """Create an object by a oneDNN function; it is kept for good."""
        made = ctypes.c_void_p()
        self.check(getattr(self.c, name)(ctypes.byref(made), *args))
        return made

    def described(self, array: Strided, any_format: bool = False) -> ctypes.c_void_p:
        """Return a description of memory; any_format: oneDNN chooses the order of the elements."""
        n, sizes = len(array.sizes), _ints(array.sizes)
        if any_format:
            return self.new("dnnl_memory_desc_create_with_tag", n, sizes, _FLOAT32, _ANY_FORMAT)
        return self.new("dnnl_memory_desc_create_with_strides", n, sizes, _FLOAT32, _ints(array.strides))

    def primitive(self, description: ctypes.c_void_p) -> ctypes.c_void_p:
        """Create an executable primitive."""
        return self.new("dnnl_primitive_create", description)

    def asked(self, description: ctypes.c_void_p, what: int) -> ctypes.c_void_p:
        """Return a description of memory that a primitive has."""
        return ctypes.c_void_p(self.c.dnnl_primitive_desc_query_md(description, what, 0))

    def size(self, memory: ctypes.c_void_p) -> int:
        """Return its bytes."""
        return self.c.dnnl_memory_desc_get_size(memory)

    def reorder(self, given: ctypes.c_void_p, wanted: ctypes.c_void_p) -> ctypes.c_void_p:
        """Return a copy into another order."""
        return self.new("dnnl_reorder_primitive_desc_create", given, self.engine, wanted, self.engine, self.attributes)

    def convolution(self, c: Convolution, memories: Sequence[ctypes.c_void_p]) -> ctypes.c_void_p:
        """Return the description of a primitive, of the source, the weights and the result."""
        source, weights, result = memories
        dilation = _ints([d - 1 for d in c.dilation])
        window = _ints(c.stride), dilation, _ints(c.before), _ints(c.after)
        name, forward = "dnnl_convolution_forward_primitive_desc_create", (_TRAINING, _DIRECT)
        found = self.new(name, self.engine, *forward, source, weights, None, result, *window, self.attributes)
        if c.kind == "forward":
            return found
        name = f"dnnl_convolution_backward_{c.kind}_primitive_desc_create"
        arrays = (source, weights, result) if c.kind == "data" else (source, weights, None, result)
        return self.new(name, self.engine, _DIRECT, *arrays, *window, found, self.attributes)

    def name(self, description: ctypes.c_void_p) -> str:
        """Return the implementation that oneDNN has chosen."""
        text = ctypes.c_char_p()
        self.check(self.c.dnnl_primitive_desc_query(description, _IMPLEMENTATION, 0, ctypes.byref(text)))
        return (text.value or b"").decode()

    def _plan(self, c: Convolution) -> CallPlan | None:
        try:
            key, shared = key_of(repr(c)), c.products >= MIN_PRODUCTS_SHARED
            with nullcontext() if shared else self._one_thread():
                found = self._steps(c)
        except OneDNNError:
            return None
        self.planned[key] = c
        self.table.add(key, [shared, len(found.steps), *(word for step in found.steps for word in step)])
        return CallPlan(key, found.scratch, found.sums)

    @contextmanager
    def _one_thread(self) -> Iterator[None]:
        """Create primitives for a single thread in the block."""
        threads = self.c.omp_get_max_threads()
        self.c.omp_set_num_threads(1)
        try:
            yield
        finally:
            self.c.omp_set_num_threads(threads)

    def _steps(self, c: Convolution) -> _Steps:
        """Return the words of the steps; weights go through an order of oneDNN's own."""
        source, given, result = self.described(c.source), self.described(c.weights), self.described(c.result)
        found = self.convolution(c, (source, self.described(c.weights, any_format=True), result))
        if "ref" in self.name(found):
            raise OneDNNError(self.name(found))
        own = self.asked(found, _DIFF_WEIGHTS_MD if c.kind == "weights" else _WEIGHTS_MD)
        scratch = _Scratch(self)
        kept = 2 if c.kind == "weights" else 1
        same = bool(self.c.dnnl_memory_desc_equal(own, given))
        held = (given, kept, 0) if same else (own, *scratch.place(own))
        names = {
            "forward": [(_SOURCE, source, 0, 0), (_WEIGHTS, *held), (_RESULT, result, 2, 0)],
            "data": [(_DIFF_RESULT, result, 0, 0), (_WEIGHTS, *held), (_DIFF_SOURCE, source, 2, 0)],
            "weights": [(_SOURCE, source, 0, 0), (_DIFF_RESULT, result, 1, 0), (_DIFF_WEIGHTS, *held)],
        }
        steps = [self._step(found, names[c.kind], scratch)]
        if not same:
            plain = (given, kept, 0)
            first, then = (held, plain) if c.kind == "weights" else (plain, held)
            reorder = self._step(self.reorder(first[0], then[0]), [(_FROM, *first), (_TO, *then)], scratch)
            steps.insert(1 if c.kind == "weights" else 0, reorder)
        sums = c.kind == "weights" and self.size(self.asked(found, _SCRATCH_MD)) >= self.size(own)
        return _Steps(steps, scratch.bytes, sums)

    def _step(self, found: ctypes.c_void_p, arguments: list[tuple[Any, ...]], scratch: _Scratch) -> list[int]:
        needed = self.asked(found, _SCRATCH_MD)
        if self.size(needed):
            arguments = [*arguments, (_SCRATCH, needed, *scratch.place(needed))]
        words = [getattr(word, "value", word) for a in arguments for word in a]
        return [self.primitive(found).value or 0, len(arguments), *words]


class _Steps(NamedTuple):
    steps: list[list[int]]
    scratch: int
    sums: bool  # each thread has its own weights, which are summed


class _Scratch:
    """The scratch buffer next to the result, and the offsets in it."""

    def __init__(self, library: OneDNN) -> None:
        self.library, self.bytes = library, 0

    def place(self, memory: ctypes.c_void_p) -> tuple[int, int]:
        """Which buffer of the call it is, and at which byte."""
        start = self.bytes
        self.bytes += math.ceil(self.library.size(memory) / ALIGNMENT) * ALIGNMENT
        return 3, start


def _ints(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * len(values))(*values)
