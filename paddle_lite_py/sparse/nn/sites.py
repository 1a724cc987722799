"""Neighbor tables of sparse convolutions: which input sites contribute to which output sites, found on the host."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.memo import IdentityMemo
from ...eager.tensor import Tensor
from ...ops.convolution import paddings, tuple_of
from ...ops.dynamic import fresh
from ..tensors import SparseCooTensor


class Window(NamedTuple):
    """The geometry of a sparse convolution window, one entry per spatial dimension."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: Any
    dilation: tuple[int, ...]
    same_sites: bool = False  # the result has the sites of the input (a submanifold convolution)
    ceil: bool = False

    @classmethod
    def of(cls, kernel: Any, stride: Any, padding: Any, dilation: Any, **more: Any) -> Window:
        """Create a window from a layer's settings."""
        n = len(kernel)
        steps = tuple_of(stride, n, "stride"), paddings(padding, n, "N"), tuple_of(dilation, n, "dilation")
        return cls(tuple(kernel), *steps, **more)

    def placed(self, space: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the leading padding and the output size of each dimension."""
        k, s, d, size = (np.array(v) for v in (self.kernel, self.stride, self.dilation, space))
        if self.same_sites:
            return d * (k // 2), size
        span = d * (k - 1) + 1
        if self.padding == "SAME":
            out = -(-size // s)
            return np.maximum((out - 1) * s + span - size, 0) // 2, out
        pad = np.zeros((len(k), 2), int) if self.padding == "VALID" else np.array(self.padding)
        left = size + pad.sum(1) - span
        return pad[:, 0], (-(-left // s) if self.ceil else left // s) + 1


class Meeting(NamedTuple):
    """The output sites, and the input sites that contribute to each."""

    sites: np.ndarray | None  # [1 + axes, results]; None: those of the input, which must not be kept alive
    table: Tensor  # [window positions, output sites]: input site, or the number of sites if there is none
    space: tuple[int, ...]


# For the indices of live tensors, by identity: consecutive layers usually share them.
# Key: the index array, which is immutable: see host.tier; and the window.
_known = IdentityMemo("rulebooks of places")


def find_neighbors(x: SparseCooTensor, window: Window) -> Meeting:
    """Compute the neighbor table of a tensor [batch, *space, channels] with dense channels."""
    held: dict[Any, Meeting] | None = _known.find(x._indices)
    if held is None:
        held = _known.put(x._indices, {})
    key = (window, tuple(x.shape))
    if key not in held:
        held[key] = _neighbor_table(x._indices, x.shape, window)
    return held[key]


def _neighbor_table(places: np.ndarray, shape: list[int], window: Window) -> Meeting:
    n, count = len(window.kernel), places.shape[1]
    pad, space = window.placed(shape[1:-1])
    if (space < 1).any():
        raise ValueError(f"the window {list(window.kernel)} is larger than the padded space {[*shape[1:-1]]}")
    offsets = np.indices(window.kernel).reshape(n, -1)
    stride = np.array(window.stride if not window.same_sites else (1,) * n)[:, None, None]
    shifted = places[1:, None] + pad[:, None, None] - (offsets * np.array(window.dilation)[:, None])[:, :, None]
    at = shifted // stride
    fits = ((shifted % stride == 0) & (at >= 0) & (at < space[:, None, None])).all(0)
    offset, source = np.nonzero(fits)
    sizes = (shape[0], *space.tolist())
    codes = np.ravel_multi_index((places[0, source], *at[:, offset, source]), sizes)
    if window.same_sites:
        own = np.ravel_multi_index(tuple(places), sizes)
        order = np.argsort(own)
        result = order[np.minimum(np.searchsorted(own, codes, sorter=order), max(count - 1, 0))]
        there = own[result] == codes
        offset, source, result = offset[there], source[there], result[there]
        sites, results = None, count
    else:
        kept, result = np.unique(codes, return_inverse=True)
        sites, results = np.stack(np.unravel_index(kept, sizes)).astype(np.int64), len(kept)
    table = np.full((offsets.shape[1], results), count, np.int32)
    table[offset, result.reshape(-1)] = source
    return Meeting(sites, fresh(table), sizes[1:])
