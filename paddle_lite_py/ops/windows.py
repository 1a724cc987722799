"""Sliding windows over spatial dimensions, shared by pooling, unfolding and their inverses."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.jax_compat.sizes import is_known
from .convolution import paddings, tuple_of


class Windows(NamedTuple):
    """Sizes, strides and paddings of sliding windows, one entry per spatial dimension; the first one is `at`."""

    kernel: tuple[int, ...]
    step: tuple[int, ...]
    pad: tuple[tuple[int, int], ...]  # ceil_mode's additional elements not among them
    space: tuple[int, ...]
    number: tuple[int, ...]
    at: int
    ceil: bool  # whether windows may reach over the edge

    def starts(self, i: int) -> Any:
        """Return the start of each window along a spatial axis."""
        return jnp.arange(self.number[i]) * self.step[i] - self.pad[i][0]

    def full(self, values: Any, other: Any, ndim: int) -> tuple[Any, ...]:
        """Return the values for the spatial axes, and `other` for the remaining ones."""
        out = [other] * ndim
        out[self.at : self.at + len(values)] = values
        return tuple(out)

    def extended(self, ndim: int) -> tuple[Any, ...]:
        """Return the padding of all axes, including what ceil_mode adds."""
        if not self.ceil:
            return self.full(self.pad, (0, 0), ndim)
        after = [
            (c - 1) * s + k - n - p[0]
            for c, s, k, n, p in zip(self.number, self.step, self.kernel, self.space, self.pad, strict=True)
        ]
        # Along an axis whose windows stay inside, less would be cut off.
        after = [max(a, p[1]) if is_known(a) else a for a, p in zip(after, self.pad, strict=True)]
        return self.full([(p[0], a) for p, a in zip(self.pad, after, strict=True)], (0, 0), ndim)


def windows(x: Any, n: int, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, first: bool) -> Windows:
    """Parse the arguments of a pooling over n spatial dimensions."""
    if x.ndim != n + 2:
        raise ValueError(f"x has {x.ndim} dimensions; expected {n + 2}: batch, channels and {n} of space")
    at = 2 if first else 1
    space = x.shape[at : at + n]
    k = tuple_of(kernel, n, "kernel_size")
    s = k if stride is None or stride == () else tuple_of(stride, n, "stride")
    pad = paddings(padding, n, "NC" if first else "N")
    if pad == "SAME":
        total = [max(-(-a // b) * b - b + c - a, 0) for a, b, c in zip(space, s, k, strict=True)]
        pad = tuple([(t // 2, t - t // 2) for t in total])
    elif pad == "VALID":
        pad = ((0, 0),) * n
    # As in the reference, one window that lacks less than a step is there, such as one of 7 over a map of 2.
    rest = [a + sum(p) - c for a, p, c in zip(space, pad, k, strict=True)]
    up = [b - 1 if ceil_mode or (is_known(r) and -b < r < 0) else 0 for r, b in zip(rest, s, strict=True)]
    count = [(a + sum(p) - c + u) // b + 1 for a, p, c, u, b in zip(space, pad, k, up, s, strict=True)]
    if any(is_known(c) and c < 1 for c in count):
        raise ValueError(f"kernel_size is {list(k)}, more than the padded size of x ({list(space)} before padding)")
    return Windows(k, s, pad, tuple(space), tuple(count), at, any(up))


def indices(w: Windows) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return for each axis the indices [windows, elements], and the mask of those inside."""
    inside, found = [], []
    for i, n in enumerate(w.space):
        at = np.arange(w.number[i])[:, None] * w.step[i] - w.pad[i][0] + np.arange(w.kernel[i])
        found.append(np.clip(at, 0, n - 1))
        inside.append((at >= 0) & (at < n))
    return found, inside


def adaptive(space: Any, sizes: Any) -> tuple[list[Any], list[Any]]:
    """Return the indices of adaptive windows along each axis, from floor(i n / size) to ceil((i + 1) n / size)."""
    inside, found = [], []
    for n, size in zip(space, sizes, strict=True):
        start, end = bounds(n, size)
        at = start[:, None] + (np.arange((end - start).max()) if isinstance(n, int) else jnp.arange(-(-n // size) + 1))
        found.append(at.clip(None, n - 1))
        inside.append(at < end[:, None])
    return found, inside


def bounds(n: Any, size: int) -> tuple[Any, Any]:
    """Return where adaptive windows along an axis of n elements begin and end."""
    i = np.arange(size)
    return i * n // size, -(-(i + 1) * n // size)


def gathered(x: Any, found: Any, inside: Any, fill: Any) -> tuple[Any, Any]:
    """Gather the windows of `x` [n, c, *space] as [n, c, *counts, elements], and the flat index of each element."""
    n, space = len(found), x.shape[2:]
    flat: Any = 0
    valid: Any = True
    for i, (at, ok) in enumerate(zip(found, inside, strict=True)):
        x = jnp.take(x, at, axis=2 + 2 * i)
        shape = [1] * (2 * n)
        shape[2 * i : 2 * i + 2] = at.shape
        flat, valid = flat * space[i] + at.reshape(shape), valid & ok.reshape(shape)
    x = jnp.where(valid, x, fill)
    order = [*range(0, 2 * n, 2), *range(1, 2 * n, 2)]
    counts = [len(a) for a in found]
    size = math.prod([a.shape[1] for a in found])
    flat = (
        (np if isinstance(flat, np.ndarray) else jnp)
        .broadcast_to(flat, valid.shape)
        .transpose(order)
        .reshape(*counts, size)
    )
    x = jnp.transpose(x, (0, 1, *[2 + a for a in order]))
    return x.reshape(*x.shape[: 2 + n], size), flat


def lowest(dtype: Any) -> Any:
    """Return the lowest number of a dtype: the maximum of a window that lies in the padding."""
    return np.array((jnp.finfo if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo)(dtype).min, dtype)


def window_sum(x: Any, w: Windows) -> Any:
    """Compute the sum of each window."""
    size, step = w.full(w.kernel, 1, x.ndim), w.full(w.step, 1, x.ndim)
    return jax.lax.reduce_window(x, np.zeros((), x.dtype), jax.lax.add, size, step, w.extended(x.ndim))
