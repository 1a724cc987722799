"""Tensors as text, laid out as PaddlePaddle's are: elements of one width, filled up on the right."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes


class _Options:
    """See paddle.set_printoptions()."""

    precision = 8  # digits after the point
    threshold = 1000  # of more elements some are shown only
    edgeitems = 3  # so many at each end of a dimension
    linewidth = 80
    sci_mode = False


options = _Options()


def as_text(array: np.ndarray, place: Any, stop_gradient: bool, kind: str = "Tensor", layout: str = "") -> str:
    """Return a tensor with its shape, dtype and place; `layout`: how it lies over several devices."""
    shape, name = list(array.shape), dtypes.from_numpy(array.dtype).name
    body = text_of(array, 7)
    layout = f" {layout}, GlobalDenseTensor=" if layout else ""
    return (
        f"{kind}(shape={shape}, dtype={name}, place={place!r}, stop_gradient={stop_gradient},{layout}\n       {body})"
    )


def format_tensor(var: Any, summary: Any, indent: int = 0) -> str:
    """Return the elements of a tensor, as published packages take them; `summary`: only those at the ends."""
    return text_of(var.numpy(), indent, bool(summary))


def text_of(array: np.ndarray, indent: int, brief: bool | None = None) -> str:
    """Return the elements of an array, the lines after the first one indented; `brief`: only those at the ends."""
    if array.dtype.kind not in "biufcSU":
        array = array.astype(np.float32)  # bfloat16 and its like
    if not array.ndim:
        return _element(array[()])
    ends = _ends(array)
    brief = array.size > options.threshold if brief is None else brief
    cut = [brief and n > 2 * options.edgeitems for n in array.shape]
    return _listed(ends if brief else array, cut, indent, _Layout(ends))


class _Layout:
    """The width of all elements, as those at the ends have it."""

    def __init__(self, ends: np.ndarray) -> None:
        texts = [_element(x) for x in ends.ravel()]
        self.width = max(map(len, texts), default=0)
        self.signed = ends.dtype.kind in "ifc" and bool((ends < 0).any())

    def fill(self, x: Any) -> str:
        """Return an element in that width; those without a sign stand below those with one."""
        text = _element(x)
        if self.signed and not x < 0 and len(text) < self.width:
            text = f" {text}"
        return text.ljust(self.width)


def _listed(array: np.ndarray, cut: list[bool], indent: int, layout: _Layout) -> str:
    if array.ndim > 1:
        items = [_listed(row, cut[1:], indent + 1, layout) for row in array]
        return f"[{(',' + chr(10) * (array.ndim - 1) + ' ' * (indent + 1)).join(_with_dots(items, cut[0]))}]"
    items = _with_dots([layout.fill(x) for x in array], cut[0])
    count = max(1, (options.linewidth - indent) // (layout.width + 2))
    lines = [", ".join(items[i : i + count]) for i in range(0, len(items), count)]
    return f"[{(',' + chr(10) + ' ' * (indent + 1)).join(lines)}]"


def _with_dots(items: list[str], cut: bool) -> list[str]:
    n = options.edgeitems
    return [*items[:n], "...", *items[n:]] if cut else items


def _ends(array: np.ndarray) -> np.ndarray:
    """Return the first and last items of each dimension."""
    n = options.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * n:
            array = np.take(array, [*range(n), *range(size - n, size)], axis)
    return array


def _element(x: Any) -> str:
    digits, kind = options.precision, "e" if options.sci_mode else "f"
    if isinstance(x, np.complexfloating):
        return f"({x.real:.{digits}{kind}}{x.imag:+.{digits}{kind}}j)"
    if not isinstance(x, np.floating):
        return str(x)
    if not options.sci_mode and np.ceil(x) == x:
        return f"{x:.0f}."
    return f"{x:.{digits}{kind}}"
