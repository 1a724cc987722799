"""Steps that move elements and leave them as they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import small
from ..core.dtypes import numpy_name
from .rules import has_fewer, rule
from .steps import PICKED, HostStep, UnknownStepError

Function = Callable[..., Any]
_ALIGNMENT = 64  # bytes


@rule("reshape", "squeeze", "expand_dims", moves=True)
def _reshape(step: HostStep) -> str:
    if math.prod(step.given[0].shape) != math.prod(step.made[0].shape):  # which JAX does not ask of symbols
        raise UnknownStepError("another number of elements")
    order = step.params.get("dimensions") if step.name == "reshape" else None
    turned = "" if order is None else f".transpose({tuple(order)})"
    shape = step.made[0].shape
    if not turned and shape == step.given[0].shape:
        return "{0}"
    return f"{{0}}{turned}" + (".ravel()" if len(shape) == 1 else f".reshape({shape})")


@rule("transpose", moves=True)
def _transpose(step: HostStep) -> str:
    order = tuple(step.params["permutation"])
    return "{0}.T" if order == tuple(range(len(order)))[::-1] else f"{{0}}.transpose({order})"


@rule("slice", moves=True)
def _slice(step: HostStep) -> str:
    p = step.params
    strides = p["strides"] or (1,) * len(p["start_indices"])
    ranges = zip(
        p["start_indices"], p["limit_indices"], strides, step.given[0].shape, strict=False
    )  # keys have one more
    picked = p.get(PICKED, ())
    return _index_text([str(r[0]) if i in picked else _range(*r) for i, r in enumerate(ranges)])


def _range(start: int, end: int, stride: int, size: int) -> str:
    if (str(start), stride, str(end)) == ("0", 1, str(size)):  # texts: open sizes are not asked what they stand for
        return ":"
    return f"{start}:{end}" + (f":{stride}" if stride != 1 else "")


def _index_text(parts: list[str]) -> str:
    while parts and parts[-1] == ":":
        parts.pop()
    return f"{{0}}[{', '.join(parts)}]" if parts else "{0}"


@rule("rev", moves=True)
def _rev(step: HostStep) -> str:
    turned = [":"] * len(step.given[0].shape)
    for axis in step.params["dimensions"]:
        turned[axis] = "::-1"
    return _index_text(turned)


@rule("concatenate", moves=True)
def _concatenate(step: HostStep) -> str:
    made = step.made[0]
    # A cache that grows is copied once for each token, and not once more for XLA.
    out = "" if has_fewer(made.shape, small.MOST + 1) else f", _aligned({made.shape}, '{numpy_name(made.dtype)}')"
    return f"_concatenate(({_names(step)}), {step.params['dimension']}{out})"


def aligned(shape: tuple[int, ...], dtype: str) -> np.ndarray | None:
    """Return an empty array whose memory begins where XLA has arrays begin; None for a small one, which it copies."""
    if math.prod(shape) <= small.MOST:
        return None
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    memory = np.empty(size + _ALIGNMENT, np.uint8)
    first = -memory.__array_interface__["data"][0] % _ALIGNMENT
    return memory[first : first + size].view(kind).reshape(shape)


def is_aligned(array: np.ndarray) -> bool:
    """Whether an array is all of what aligned() made, so that XLA takes it over without a copy."""
    memory = array.base
    return (
        memory.__class__ is np.ndarray
        and memory.dtype == np.uint8
        and memory.nbytes == array.nbytes + _ALIGNMENT
        and array.flags.c_contiguous
    )


@rule("stack", moves=True)
def _stack(step: HostStep) -> str:
    return f"_stack(({_names(step)}), {step.params['axis']})"


def _names(step: HostStep) -> str:
    return "".join(
        [f"{{{i}}}, " for i, aval in enumerate(step.given) if 0 not in aval.shape or 0 in step.made[0].shape]
    )


@rule("tile", moves=True)
def _tile(step: HostStep) -> Function:
    return lambda x: np.tile(x, step.params["reps"])


@rule("split", moves=True)
def _split(step: HostStep) -> str:
    ends = itertools.accumulate(step.params["sizes"])
    before = ":, " * step.params["axis"]
    parts = [f"{{0}}[{before}{end - n}:{end}]" for n, end in zip(step.params["sizes"], ends, strict=True)]
    return f"({', '.join(parts)},)"


@rule("unstack", moves=True)
def _unstack(step: HostStep) -> str:
    before = ":, " * step.params["axis"]
    return "".join(["(", *[f"{{0}}[{before}{i}], " for i in range(len(step.made))], ")"])


@rule("iota", moves=True)
def _iota(step: HostStep) -> Function:
    shape, axis = step.made[0].shape, step.params["dimension"]
    column = [-1 if i == axis else 1 for i in range(len(shape))]
    return lambda: np.broadcast_to(np.arange(shape[axis], dtype=step.made[0].dtype).reshape(column), shape)


@rule("dim_as_value", moves=True)
def _dim_as_value(step: HostStep) -> str:
    return f"_asarray({step.params['dim']}, _{numpy_name(step.made[0].dtype)})"


@rule("pad", moves=True)
def _pad(step: HostStep) -> Function:
    return padding(step.params["padding_config"], step.given[0].shape, step.made[0])


def padding(config: Sequence[tuple[int, int, int]], shape: tuple[int, ...], made: Any) -> Function:
    """Return the code that pads an array of this shape with a value, around and between its elements, to `made`.

    Arguments:
        config: for each axis how much before, after and between; what is negative cuts off.
    """
    box, kept = [], []
    for (low, _, inner), n, size in zip(config, shape, made.shape, strict=True):
        places = [i for i in range(n) if 0 <= low + i * (inner + 1) < size]  # negative padding cuts off
        first, last = (places[0], places[-1]) if places else (0, -1)
        kept.append(slice(first, last + 1))
        start = low + first * (inner + 1)
        box.append(slice(start, start + (last - first) * (inner + 1) + 1, inner + 1) if places else slice(0, 0))
    to, of = tuple(box), tuple(kept)

    def pad(x: Any, value: Any) -> Any:
        out = np.full(made.shape, value, made.dtype)
        out[to] = x[of]
        return out

    return pad
