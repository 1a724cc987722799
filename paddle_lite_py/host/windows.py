"""Convolutions and pooling of large arrays: windows are views of the padded array, products are the library's.

These rules serve the baseline tier alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from .movement import padding
from .rules import BASELINE_RULES, has_fewer, rule
from .steps import HostStep, UnknownStepError

Function = Callable[..., Any]
Sizes = tuple[int, ...]


def _pad(shape: Sizes, pads: Sequence[tuple[int, int]], dilation: Sequence[int], dtype: Any) -> tuple[Any, Function]:
    """The array (shape and dtype) that windows of an axis each slide over, and what makes it with a value around."""
    sizes = tuple([(n - 1) * d + 1 + sum(p) for n, p, d in zip(shape, pads, dilation, strict=True)])
    made = jax.ShapeDtypeStruct(sizes, dtype)
    if sizes == tuple(shape):
        return made, lambda x, value: x
    return made, padding([(*p, d - 1) for p, d in zip(pads, dilation, strict=True)], shape, made)


def _taps(window: Sizes, strides: Sizes, dilation: Sizes, out: Sizes) -> Iterator[tuple[slice, ...]]:
    """For each element of a window, in order, where it stands in all windows."""
    for at in itertools.product(*map(range, window)):
        yield tuple(
            [slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, n, s in zip(at, dilation, out, strides, strict=True)]
        )


# -- pooling ---------------------------------------------------------------------------------------------------------
_FOLDS: dict[str, Any] = {"max": np.maximum, "min": np.minimum, "sum": np.add}


def _start(name: str, dtype: np.dtype) -> Any:
    """Return the neutral element of the reduction."""
    if name == "sum":
        return dtype.type(0)
    if dtype.kind == "f":
        return dtype.type(-math.inf if name == "max" else math.inf)
    return np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max


@rule(*[f"reduce_window_{name}" for name in _FOLDS], table=BASELINE_RULES)
def _reduce_window(step: HostStep) -> Function:
    p, (x,), (made,) = step.params, step.given, step.made
    name = step.name.removeprefix("reduce_window_")
    if made.dtype.kind not in "fiu":
        raise UnknownStepError(f"windows of {made.dtype}")
    _, pad = _pad(x.shape, p["padding"], p["base_dilation"], x.dtype)
    taps = list(_taps(p["window_dimensions"], p["window_strides"], p["window_dilation"], made.shape))
    fold, start = _FOLDS[name], _start(name, x.dtype)

    def reduce_window(x: Any) -> Any:
        x = pad(x, start)
        out = np.full(made.shape, start, made.dtype)
        for at in taps:
            fold(out, x[at], out=out)
        return out

    return reduce_window


@rule("select_and_scatter_add", table=BASELINE_RULES)
def _select_and_scatter_add(step: HostStep) -> Function:
    """Return the gradient of a maximum: each window adds its number to the first of its largest elements."""
    p, (source, x) = step.params, step.given
    ones, largest = (1,) * len(x.shape), p["select_prim"].name == "ge"
    full, pad = _pad(x.shape, p["padding"], ones, x.dtype)
    taps = list(_taps(p["window_dimensions"], p["window_strides"], ones, source.shape))
    least, keeps = _start("max" if largest else "min", x.dtype), np.greater_equal if largest else np.less_equal
    cropped = tuple([slice(low, low + n) for (low, _), n in zip(p["padding"], x.shape, strict=True)])

    def select_and_scatter_add(source: Any, x: Any) -> Any:
        x = pad(x, least)
        best, chosen = x[taps[0]].copy(), np.zeros(source.shape, np.int32)
        for i, at in enumerate(taps[1:], 1):
            better = ~keeps(best, x[at])
            np.copyto(best, x[at], where=better)
            chosen[better] = i
        out = np.zeros(full.shape, x.dtype)
        for i, at in enumerate(taps):
            out[at] += np.where(chosen == i, source, 0)
        return np.ascontiguousarray(out[cropped])

    return select_and_scatter_add


# -- convolutions ----------------------------------------------------------------------------------------------------
@rule("conv_general_dilated", table=BASELINE_RULES)
def _convolution(step: HostStep) -> Function:
    """As a product of matrices for each group, or as a sum over elements of the window where a group is one channel."""
    p, (x, kernel), (made,) = step.params, step.given, step.made
    if not x.dtype == kernel.dtype == made.dtype or made.dtype.kind != "f":
        raise UnknownStepError("a convolution in another dtype")
    of_x, of_kernel, of_out = p["dimension_numbers"]
    images, channels, *space = [x.shape[i] for i in of_x]
    outputs, each, *window = [kernel.shape[i] for i in of_kernel]
    batches, groups = p["batch_group_count"], p["feature_group_count"]
    images, channels, groups = images // batches, channels * batches, groups * batches
    out = tuple([made.shape[i] for i in of_out[2:]])
    full, pad = _pad((images, channels, *space), [(0, 0)] * 2 + list(p["padding"]), (1, 1, *p["lhs_dilation"]), x.dtype)
    shape = (images, groups, each, *full.shape[2:])
    taps = math.prod(window)
    # Of open sizes this is looked at again once they are known.
    product = _by_spots if has_fewer(out, taps) else _by_taps if each == 1 else _by_columns
    sides = (tuple(window), p["window_strides"], p["rhs_dilation"], out)
    places = list(_taps(*(sides[::-1] if product is _by_spots else sides)))
    back = tuple(np.argsort(of_out))

    def convolution(x: Any, kernel: Any) -> Any:
        x, kernel = x.transpose(of_x), kernel.transpose(of_kernel)
        if batches > 1:
            x = x.reshape(batches, images, -1, *space).swapaxes(0, 1)
        x = pad(x.reshape(images, channels, *space), 0).reshape(shape)
        found = product(x, kernel.reshape(groups, outputs // groups, each, taps), places, out)
        return found.reshape(images, outputs, *out).transpose(back)

    return convolution


def _by_taps(x: Any, kernel: Any, taps: Sequence[tuple[slice, ...]], out: Sizes) -> Any:
    """Windows of one channel: a sum over their elements, each of which is an array of all windows'."""
    images, (groups, outputs) = len(x), kernel.shape[:2]
    ones = (1,) * len(out)
    found = np.zeros((images, groups, outputs, *out), x.dtype)
    part = np.empty_like(found)
    for i, at in enumerate(taps):
        np.multiply(x[(..., *at)], kernel[:, :, 0, i].reshape(groups, outputs, *ones), part)
        found += part
    return found


# Elements of the columns that are in memory at once, unless one image has more.
MOST_COLUMNS = 1 << 25


def _by_columns(x: Any, kernel: Any, taps: Sequence[tuple[slice, ...]], out: Sizes) -> Any:
    """Windows as the columns of a matrix, which that of the kernel is multiplied with, some images at a time."""
    step = max(MOST_COLUMNS // (math.prod(x.shape[1:3]) * len(taps) * math.prod(out)), 1)
    parts = [_product_of_columns(x[i : i + step], kernel, taps, out) for i in range(0, len(x), step)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _product_of_columns(x: Any, kernel: Any, taps: Sequence[tuple[slice, ...]], out: Sizes) -> Any:
    (images, groups, each), (_, outputs, _, _) = x.shape[:3], kernel.shape
    columns = np.empty((groups, each, len(taps), images, *out), x.dtype)
    for i, at in enumerate(taps):
        columns[:, :, i] = np.moveaxis(x[(..., *at)], 0, 2)
    found = kernel.reshape(groups, outputs, -1) @ columns.reshape(groups, each * len(taps), -1)
    return np.moveaxis(found.reshape(groups, outputs, images, *out), 2, 0)


def _by_spots(x: Any, kernel: Any, spots: Sequence[tuple[slice, ...]], out: Sizes) -> Any:
    """Return the same for few windows of many elements, which are the rows of a matrix."""
    (images, groups, each), (_, outputs, _, taps) = x.shape[:3], kernel.shape
    rows = np.empty((groups, images, len(spots), each * taps), x.dtype)
    for i, at in enumerate(spots):
        rows[:, :, i] = x[(..., *at)].reshape(images, groups, -1).swapaxes(0, 1)
    found = kernel.reshape(groups, outputs, -1) @ rows.reshape(groups, -1, each * taps).swapaxes(1, 2)
    return np.moveaxis(found.reshape(groups, outputs, images, *out), 2, 0)
