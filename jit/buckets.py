"""Lengths that vary, rounded up to a few sizes, so that XLA compiles a handful of programs."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core import symbolic
from paddle_lite_py.core.arrays import as_array
from paddle_lite_py.core.traced_number import ScalarInputs
from paddle_lite_py.eager.tensor import Tensor, wrap
from paddle_lite_py.ops.creation import zeros
from paddle_lite_py.ops.joining import concat
from paddle_lite_py.tracing.trace import LOCK

from .check import CheckError, EffectValues, alike
from .entry import Entry
from .spec import InputSpec

# The padded runs of a program that are compared with one without padding, which may have to be compiled.
LOOKS = frozenset(4**i for i in range(12))
HIDING = 1e4  # numbers as large as this hide others


class Buckets:
    """Sizes that unknown dimensions are padded to.

    Arguments:
        sizes: increasing sizes for all unknown dimensions, or a dict from the name of a dimension to its sizes.
    """

    def __init__(self, sizes: Sequence[int] | Mapping[str, Sequence[int]]) -> None:
        self._by_name = dict(sizes) if isinstance(sizes, Mapping) else None
        self._all = () if isinstance(sizes, Mapping) else tuple(sizes)
        for found in self._by_name.values() if self._by_name is not None else [self._all]:
            if not found or list(found) != sorted(set(found)) or not all(isinstance(n, int) and n > 0 for n in found):
                raise ValueError(f"to_static: buckets={sizes!r}; expected increasing sizes such as [32, 64, 128]")

    def size(self, dim: Any, n: int) -> int:
        """Return the padded size of a dimension of n; n itself if no bucket is large enough, or none is declared."""
        if isinstance(dim, int) and dim >= 0:
            return n
        sizes = self._all if self._by_name is None else self._by_name.get(str(dim), ())
        at = bisect.bisect_left(sizes, n)
        return sizes[at] if at < len(sizes) else n

    def padded(self, tensors: list[Tensor], specs: list[InputSpec]) -> list[Tensor]:
        """Return the tensors with zeros behind their data."""
        return [self._pad(t, s) for t, s in zip(tensors, specs, strict=True)]

    def _pad(self, tensor: Tensor, spec: InputSpec) -> Tensor:
        for axis, dim in enumerate(spec.shape):
            shape = tensor.shape
            shape[axis] = self.size(dim, shape[axis]) - shape[axis]
            if shape[axis]:
                tensor = concat([tensor, zeros(shape, tensor.dtype)], axis=axis)
        return tensor

    def run(self, entry: Entry, tensors: list[Tensor], specs: list[InputSpec], numbers: ScalarInputs, name: str) -> Any:
        """Run on padded tensors, and cut the results to what they would be without.

        Raises:
            CheckError: if the padding reaches its results or its state. That is looked at in the first padded run of a
                program, with other numbers than those at hand too (the largest of positive numbers is the same among
                zeros), and then ever more seldom.
        """
        wide = (
            self.padded(tensors, specs) if entry.executable.repeatable else tensors
        )  # what acts shows true sizes, once
        if all(a is b for a, b in zip(wide, tensors, strict=True)):
            return entry.run_with(tensors, numbers)
        entry.padded_runs += 1
        if entry.padded_runs not in LOOKS:
            return self._cut(entry.run_with(wide, numbers), entry, tensors)
        with LOCK:
            others = _others(tensors, wide) if entry.padded_runs == 1 else ()
            same = all(self._compared(entry, other, specs, numbers)[0] for other in others)
            agrees, got = self._compared(entry, tensors, specs, numbers, keeps=True)
        if not (same and agrees):
            entry.padded_runs = 0
            raise CheckError(
                f"`{name}` gives other results when its arguments are padded to a bucket: an operation (a mean, a "
                "softmax, batch statistics) mixes the padding into them. Mask it out by a length or mask argument, or "
                "use no buckets"
            )
        return got

    def _compared(
        self,
        entry: Entry,
        tensors: list[Tensor],
        specs: list[InputSpec],
        numbers: ScalarInputs,
        keeps: bool = False,
    ) -> Any:
        """Whether a run with padding does what one without does, and its results; `keeps`: what it changes stays."""
        before = EffectValues(entry, tensors)
        want, after = entry.run_with(tensors, numbers), EffectValues(entry, tensors)
        before.restore()
        got = self._cut(entry.run_with(self.padded(tensors, specs), numbers), entry, tensors)
        same = _alike(want, got) and all(map(_alike, after.values, before.now()))
        if not keeps:
            before.restore()
        return same, got

    def _cut(self, result: Any, entry: Entry, tensors: list[Tensor]) -> Any:
        block = entry.traced.program.block
        n = len(tensors)
        dims = symbolic.solve([v.shape for v in block.inputs[:n]], [t._payload.shape for t in tensors])
        shapes = iter([v.shape for v in block.outputs[: entry.traced.n_results]])
        return _map(result, lambda t: _slice(t, [symbolic.evaluate(d, dims) for d in next(shapes)]))


def _others(tensors: list[Tensor], wide: list[Tensor]) -> Iterator[list[Tensor]]:
    """Arguments with which zeros are the largest, and the smallest, of what stands along an axis that is padded.

    Masks and what is added to hide something (-1e9) mean what they are, and stay; so do integers, such as ids.
    """
    for sign in (-1.0, 1.0):
        yield [t if t is w or _is_mask(t) else _with_sign(t, sign) for t, w in zip(tensors, wide, strict=True)]


def _is_mask(tensor: Tensor) -> bool:
    if not tensor.dtype.is_floating:
        return True
    data = np.asarray(tensor._payload, np.float64)
    return bool(((data == 0) | (data == 1)).all() or not (np.abs(data) < HIDING).all())


def _with_sign(tensor: Tensor, sign: float) -> Tensor:
    data = np.asarray(tensor._payload)
    made = wrap(as_array((sign * (np.abs(data) + 1)).astype(data.dtype)))
    made.stop_gradient = tensor.stop_gradient
    return made


def _slice(tensor: Tensor, shape: list[int]) -> Tensor:
    if tensor.shape == shape:
        return tensor
    return tensor[tuple([slice(0, n) for n in shape])]


def _map(value: Any, f: Callable[[Tensor], Tensor]) -> Any:
    leaves: list[Tensor] = []
    structure = nested.flatten(value, lambda v: isinstance(v, Tensor), leaves)
    return nested.unflatten(structure, iter(map(f, leaves)))


def _alike(a: Any, b: Any) -> bool:
    left: list[Any] = []
    right: list[Any] = []
    for value, leaves in ((a, left), (b, right)):
        nested.flatten(value, lambda v: isinstance(v, Tensor), leaves)
    return len(left) == len(right) and all(map(alike, left, right)) if left or right else alike(a, b)
