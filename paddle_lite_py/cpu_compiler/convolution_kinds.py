"""JAX's convolutions as oneDNN sees them: one JAX equation is a convolution or one of its two gradients.

A gradient is known by where the axes stand and how far apart elements are, never by sizes: a kernel may be larger than
the picture.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .onednn import Convolution, Ints, Strided

ONE_GROUP = 1


class Operand(NamedTuple):
    """An array of a convolution: sizes and strides of its axes."""

    sizes: Ints
    strides: Ints
    dtype: Any

    @classmethod
    def of(cls, aval: Any) -> Operand:
        """Return an array with its elements in order."""
        sizes = aval.shape
        known = all(type(n) is int for n in sizes)
        strides = tuple(itertools.accumulate(sizes[:0:-1], lambda a, b: a * b, initial=1))[::-1] if known else ()
        return cls(sizes, strides, aval.dtype)

    def permuted(self, axes: Ints) -> Operand:
        """Return the same array with its axes in another order."""
        return Operand(tuple([self.sizes[a] for a in axes]), tuple([self.strides[a] for a in axes]), self.dtype)

    def from_transposed(self, aval: Any, permutation: Sequence[int]) -> Operand:
        """This array in the memory of what a transpose makes of it."""
        return Operand.of(aval).permuted(tuple([list(permutation).index(i) for i in range(len(permutation))]))

    def placed(self, spec: Ints) -> Strided:
        """Return its axes in oneDNN's order."""
        return Strided(tuple([self.sizes[i] for i in spec]), tuple([self.strides[i] for i in spec]))


class Described(NamedTuple):
    """A convolution, and whether its kernel has to be mirrored first."""

    convolution: Convolution
    turn: bool


def described(params: dict[str, Any], x: Operand, weight: Operand, out: Operand, turned: bool) -> Described | None:
    """The convolution of an equation that says params; turned: what it multiplies with is the mirrored weight."""
    if not _is_plain(params, x, weight, out):
        return None
    x_spec, w_spec, out_spec = params["dimension_numbers"]
    of = x.placed(x_spec), weight.placed(w_spec), out.placed(out_spec)
    plain = _spreads_nothing(params, "lhs_dilation")
    if is_of_weights(params):
        found = _of_weights(params, *of) if plain and params["feature_group_count"] == 1 else None
    elif (turned or not plain) and _spreads_nothing(params, "window_strides"):
        found, turned = _of_data(params, *of), not turned
    else:
        found = _forward(params, *of) if plain else None
    return None if found is None or not _is_possible(found) else Described(found, turned)


def is_of_weights(params: dict[str, Any]) -> bool:
    """Whether an equation that says params gives a gradient of weights: where the batch was are the channels."""
    return params["dimension_numbers"].lhs_spec[0] != 0 or params["batch_group_count"] > 1


def _is_plain(params: dict[str, Any], *operands: Operand) -> bool:
    """Whether these are arrays of float32 with 1 to 3 axes of space, with something in them."""
    wanted = params["preferred_element_type"]
    return (
        all(o.dtype == np.float32 and o.strides and 0 not in o.sizes for o in operands)
        and 3 <= len(operands[0].sizes) <= 5
        and (wanted is None or wanted == np.float32)
    )


def _spreads_nothing(params: dict[str, Any], name: str) -> bool:
    return set(params[name]) == {1}


def _group(strided: Strided, groups: int, out: int) -> Strided:
    """Weights as groups, out, in, space; the axis `out` has all groups, the other of the two first has one."""
    (sizes, strides), other = strided, 1 - out
    parts = [(groups, sizes[out] // groups * strides[out]), (sizes[out] // groups, strides[out])]
    rest = (sizes[other], strides[other]), *zip(sizes[2:], strides[2:], strict=True)
    return _as_strided([*parts, *rest])


def _as_strided(axes: Sequence[tuple[int, int]]) -> Strided:
    return Strided(tuple([a for a, _ in axes]), tuple([b for _, b in axes]))


def _swap(strided: Strided, first: int = 0) -> Strided:
    """With two axes, side by side, in each other's place."""
    axes = list(zip(*strided, strict=True))
    axes[first : first + 2] = axes[first + 1], axes[first]
    return _as_strided(axes)


def _forward(params: dict[str, Any], x: Strided, weight: Strided, out: Strided) -> Convolution:
    before = tuple([a for a, _ in params["padding"]])
    weights = _group(weight, params["feature_group_count"], 0)
    return _whole("forward", x, weights, out, params["window_strides"], params["rhs_dilation"], before)


def _of_data(params: dict[str, Any], x: Strided, weight: Strided, out: Strided) -> Convolution:
    steps = params["rhs_dilation"]
    pads = zip(params["padding"], weight.sizes[2:], steps, strict=True)
    before = tuple([d * (k - 1) - a for (a, _), k, d in pads])
    weights = _swap(_group(weight, params["feature_group_count"], 0), 1)
    return _whole("data", out, weights, x, params["lhs_dilation"], steps, before)


def _of_weights(params: dict[str, Any], x: Strided, weight: Strided, out: Strided) -> Convolution:
    before = tuple([a for a, _ in params["padding"]])
    weights = _group(out, params["batch_group_count"], 1)
    steps, stride = params["window_strides"], params["rhs_dilation"]
    return _whole("weights", _swap(x), weights, _swap(weight), stride, steps, before)


def _whole(
    kind: str, source: Strided, weights: Strided, result: Strided, stride: Any, dilation: Any, before: Ints
) -> Convolution:
    """With the padding after each axis, which follows from the sizes; and weights without groups where there is one."""
    ends = zip(source.sizes[2:], weights.sizes[3:], result.sizes[2:], stride, dilation, before, strict=True)
    after = tuple([(m - 1) * s + (k - 1) * d + 1 - a - p for a, k, m, s, d, p in ends])
    if weights.sizes[0] == ONE_GROUP:
        weights = Strided(weights.sizes[1:], weights.strides[1:])
    return Convolution(kind, source, weights, result, tuple(stride), tuple(dilation), before, after)


def _is_possible(c: Convolution) -> bool:
    """Whether oneDNN takes such paddings: none before that is negative, none after that leaves a whole stride out."""
    return min(c.before) >= 0 and all(p + s > 0 for p, s in zip(c.after, c.stride, strict=True))
