"""Which convolutions are oneDNN's: those that it was measured to be faster at, by their sizes alone."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..core.memo import memo
from . import onednn
from .convolution_kinds import Operand, described
from .layouts import transposes_are_free
from .onednn import CallPlan, Convolution, Ints

# Fewer products than that take no longer than the call itself.
MIN_PRODUCTS = 1 << 20
# With fewer channels, such as the colours of a picture, most of the kernel would be idle.
MIN_CHANNELS = 8
# Weight gradients with few windows: the weights are most of the data, and oneDNN copies them once more than XLA.
MIN_WINDOWS = 32
# Where its threads add up what each has found they spin until all have, for milliseconds if a core is busy otherwise.
MIN_PRODUCTS_SUMMED = 64 << 20


def chosen(convolution: Convolution) -> CallPlan | None:
    """How oneDNN does a convolution; None where it does not, or is no faster."""
    c = convolution
    if c.products < MIN_PRODUCTS or c.kind == "weights" and c.windows < MIN_WINDOWS:
        return None
    if c.kind != "weights" and (c.source if c.kind == "data" else c.result).sizes[1] < MIN_CHANNELS:
        return None
    plan = onednn.plan(c)
    return None if plan is None or plan.sums and c.products < MIN_PRODUCTS_SUMMED else plan


def takes(
    x: Any, weight: Any, strides: Ints, pads: Sequence[Sequence[int]], steps: Ints, groups: int, *kinds: str
) -> bool:
    """Whether a convolution of x [n, c, *space] and weight [o, c / groups, *sizes] will be oneDNN's, in these kinds.

    It will if transposes are deferred, in which case x is channels-last.
    """
    if not transposes_are_free() or x.dtype != np.float32 or weight.dtype != np.float32 or onednn.loaded() is None:
        return False
    if not all(type(n) is int for n in (*x.shape, *weight.shape)):
        return False
    pairs = tuple([(a, b) for a, b in pads])
    found = _forward(tuple(x.shape), tuple(weight.shape), tuple(strides), pairs, tuple(steps), groups)
    return found is not None and all(chosen(found._replace(kind=kind)) is not None for kind in kinds)


# Key: all sizes of the convolution; pure.
@memo(2048, context=False)
def _forward(x: Ints, weight: Ints, strides: Ints, pads: Any, steps: Ints, groups: int) -> Convolution | None:
    n = len(strides)
    last, first = (0, n + 1, *range(1, n + 1)), tuple(range(n + 2))
    specs = [jax.ShapeDtypeStruct((x[0], *x[2:], x[1]), np.float32), jax.ShapeDtypeStruct(weight, np.float32)]
    settings: dict[str, Any] = {"window_strides": strides, "padding": pads, "rhs_dilation": steps}
    settings["dimension_numbers"] = jax.lax.ConvDimensionNumbers(last, first, last)
    settings["feature_group_count"] = groups
    out = jax.eval_shape(functools.partial(jax.lax.conv_general_dilated, **settings), *specs)
    params = {**settings, "lhs_dilation": (1,) * n, "batch_group_count": 1, "preferred_element_type": None}
    found = described(params, Operand.of(specs[0]), Operand.of(specs[1]), Operand.of(out), turned=False)
    return None if found is None else found.convolution
