"""Discrete Fourier transforms: rows of a table."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..dispatch.define import composite, op
from .creation import float_dtype
from .dynamic import fresh
from .promote import floating, numpy_dtype
from .types import Array, Axis, DTypeLike

NORMS = ("backward", "ortho", "forward")
_ONE, _TWO, _ALL = "the last one", "the last two", "all"

_DOC = """{what}.

Arguments:
    x: tensor of any shape with at least one dimension.
    {size}, the length of the transform; `x` is cropped or padded with zeros to it. None: the size of `x`.
    {axis} to transform. Default: {where}.
    norm: the direction that divides by the length: "backward" or "forward"; "ortho": both, by its square root.
        Default: "backward".

Returns:
    {result}.

Examples:
    >>> import paddle_lite_py as paddle
    >>> paddle.fft.{name}(paddle.to_tensor({x})).tolist()
    {value}
"""


def _result(name: str) -> str:
    """Describe the result of a transform."""
    kind = name.rstrip("2n")
    if kind in ("irfft", "hfft"):
        return "A real tensor; by default an input of size m along the last dimension gives size 2 * (m - 1)"
    if kind in ("rfft", "ihfft"):
        return "A complex tensor with size n // 2 + 1 along the last transformed dimension of length n"
    return "A complex tensor with the shape of `x`, but of the given lengths"


def _checked(norm: str) -> str:
    if norm not in NORMS:
        raise ValueError(f"norm is {norm!r}; expected one of {NORMS}")
    return norm


def _some(x: Any, name: str, axis: int) -> Any:
    if not name.startswith(("rfft", "ihfft")):
        return floating(x)
    if x.ndim > axis >= -x.ndim and x.shape[axis] == 0:
        raise ValueError(f"x has the shape {list(x.shape)}; expected elements along axis {axis}")
    if jnp.iscomplexobj(x):
        raise TypeError(f"x is {x.dtype}; expected real numbers: use {name.removeprefix('r').removeprefix('ih')}()")
    return floating(x)


def _length(n: Any, axis: Any) -> tuple[Any, int]:
    """Return a length and a dimension, checked."""
    if n is not None and (not isinstance(n, (int, np.integer)) or n < 1):
        raise ValueError(f"n is {n!r}; expected a positive int or None")
    if not isinstance(axis, (int, np.integer)):
        raise ValueError(f"axis is {axis!r}; expected an int")
    return n, int(axis)


def _lengths(s: Any, axes: Any, two: bool) -> tuple[Any, Any]:
    """Return lengths and dimensions, checked."""
    what = "a list of two ints" if two else "a list of ints"
    for name, given in (("s", s), ("axes", axes)):
        if given is None:
            continue
        if not isinstance(given, (list, tuple)) or (two and len(given) != 2):
            raise ValueError(f"{name} is {given!r}; expected {what} or None")
    if s is not None and any(not isinstance(n, (int, np.integer)) or n < 1 for n in s):
        raise ValueError(f"s is {s!r}; expected positive lengths")
    if s is not None and axes is not None and len(s) != len(axes):
        raise ValueError(f"s is {s!r} and axes {axes!r}; expected a length for each axis")
    return s, axes


def _define(name: str, f: Any, what: str, where: str, x: str, value: str) -> Any:
    """Define a transform along one dimension (n, axis) or several (s, axes)."""
    if where == _ONE:

        def fn(x: Any, /, n: Any = None, axis: Any = -1, norm: str = "backward") -> Any:
            n, axis = _length(n, axis)
            return f(_some(x, name, axis), n, axis, _checked(norm))
    else:
        default = (-2, -1) if where == _TWO else None

        def fn(x: Any, /, s: Any = None, axes: Any = default, norm: str = "backward") -> Any:  # type: ignore[misc]
            s, axes = _lengths(s, axes, where == _TWO)
            return f(_some(x, name, -1 if not axes else axes[-1]), s, axes, _checked(norm))

    fn.__name__ = fn.__qualname__ = name
    made = op(fn)
    size, axis = "s: list of ints", "axes: list of ints, the dimensions"
    if where == _ONE:
        size, axis = "n: int", "axis: int, the dimension"
    made.__doc__ = _DOC.format(
        what=what, result=_result(name), name=name, size=size, axis=axis, where=where, x=x, value=value
    )
    made.__module__ = __name__
    return made


def _hermitian(x: Any, s: Any, axes: Any, norm: str) -> Any:
    """Return a real signal from half of its Hermitian spectrum: inverse of the other axes, then hfft of the last."""
    axes = (
        tuple(range(-len(s), 0)) if axes is None and s is not None else tuple(range(x.ndim)) if axes is None else axes
    )
    x = jnp.fft.fftn(x, None if s is None else s[:-1], axes[:-1], norm) if len(axes) > 1 else x
    return jnp.fft.hfft(x, None if s is None else s[-1], axes[-1], norm)


def _half(x: Any, s: Any, axes: Any, norm: str) -> Any:
    axes = (
        tuple(range(-len(s), 0)) if axes is None and s is not None else tuple(range(x.ndim)) if axes is None else axes
    )
    x = jnp.fft.ihfft(x, None if s is None else s[-1], axes[-1], norm)
    return jnp.fft.ifftn(x, None if s is None else s[:-1], axes[:-1], norm) if len(axes) > 1 else x


_F, _I, _R, _S = (
    "Compute the discrete Fourier transform",
    "Compute the inverse discrete Fourier transform",
    "of a real signal",
    "to a real signal",
)
_H, _J = "Compute the transform of a Hermitian signal, given half of it,", "Compute the inverse of hfft"
fft = _define("fft", jnp.fft.fft, f"{_F} along one axis", _ONE, "[1.0, 1.0]", "[(2+0j), 0j]")
ifft = _define("ifft", jnp.fft.ifft, f"{_I} along one axis", _ONE, "[2.0, 0.0]", "[(1+0j), (1+0j)]")
rfft = _define("rfft", jnp.fft.rfft, f"{_F} {_R}: half the spectrum", _ONE, "[1.0, 1.0]", "[(2+0j), 0j]")
irfft = _define("irfft", jnp.fft.irfft, f"{_I} {_S}", _ONE, "[2 + 0j, 0j]", "[1.0, 1.0]")
hfft = _define("hfft", jnp.fft.hfft, f"{_H} along one axis", _ONE, "[1 + 0j, 0j]", "[1.0, 1.0]")
ihfft = _define("ihfft", jnp.fft.ihfft, f"{_J} along one axis", _ONE, "[1.0, 1.0]", "[(1+0j), 0j]")
fft2 = _define("fft2", jnp.fft.fftn, f"{_F} along two axes", _TWO, "[[1.0, 1.0]]", "[[(2+0j), 0j]]")
ifft2 = _define("ifft2", jnp.fft.ifftn, f"{_I} along two axes", _TWO, "[[2.0, 0.0]]", "[[(1+0j), (1+0j)]]")
rfft2 = _define("rfft2", jnp.fft.rfftn, f"{_F} {_R} along two axes", _TWO, "[[1.0, 1.0]]", "[[(2+0j), 0j]]")
irfft2 = _define("irfft2", jnp.fft.irfftn, f"{_I} {_S} along two axes", _TWO, "[[2 + 0j, 0j]]", "[[1.0, 1.0]]")
hfft2 = _define("hfft2", _hermitian, f"{_H} along two axes", _TWO, "[[1 + 0j, 0j]]", "[[1.0, 1.0]]")
ihfft2 = _define("ihfft2", _half, f"{_J}2 along two axes", _TWO, "[[1.0, 1.0]]", "[[(1+0j), 0j]]")
fftn = _define("fftn", jnp.fft.fftn, f"{_F} along several axes", _ALL, "[1.0, 1.0]", "[(2+0j), 0j]")
ifftn = _define("ifftn", jnp.fft.ifftn, f"{_I} along several axes", _ALL, "[2.0, 0.0]", "[(1+0j), (1+0j)]")
rfftn = _define("rfftn", jnp.fft.rfftn, f"{_F} {_R} along several axes", _ALL, "[1.0, 1.0]", "[(2+0j), 0j]")
irfftn = _define("irfftn", jnp.fft.irfftn, f"{_I} {_S} along several axes", _ALL, "[2 + 0j, 0j]", "[1.0, 1.0]")
hfftn = _define("hfftn", _hermitian, f"{_H} along several axes", _ALL, "[1 + 0j, 0j]", "[1.0, 1.0]")
ihfftn = _define("ihfftn", _half, f"{_J}n along several axes", _ALL, "[1.0, 1.0]", "[(1+0j), 0j]")


@op
def fftshift(x: Array, /, axes: Axis = None) -> Any:
    """Shift the zero frequency to the center of the spectrum.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.fft.fftshift(paddle.to_tensor([0.0, 1.0, -1.0])).tolist()
        [-1.0, 0.0, 1.0]
    """
    return jnp.fft.fftshift(x, axes)


@op
def ifftshift(x: Array, /, axes: Axis = None) -> Any:
    """Undo `fftshift()`.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.fft.ifftshift(paddle.to_tensor([-1.0, 0.0, 1.0])).tolist()
        [0.0, 1.0, -1.0]
    """
    return jnp.fft.ifftshift(x, axes)


@composite(creates=True)
def fftfreq(n: int, d: float = 1.0, dtype: DTypeLike = None) -> Any:
    """Return the sample frequencies of a transform of length `n` with sample spacing `d`.

    Returns:
        A 1-D tensor of length `n`: 0, positive, then negative frequencies in cycles per unit of `d`.

    Raises:
        ValueError: if `n` or `d` is 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.fft.fftfreq(4).tolist()
        [0.0, 0.25, -0.5, -0.25]
    """
    return fresh(jnp.fft.fftfreq(*_spaced("fftfreq", n, d), dtype=numpy_dtype(float_dtype(dtype))))


@composite(creates=True)
def rfftfreq(n: int, d: float = 1.0, dtype: DTypeLike = None) -> Any:
    """Return the sample frequencies of `rfft()` of length `n` with sample spacing `d`.

    Returns:
        A 1-D tensor of length `n // 2 + 1`.

    Raises:
        ValueError: if `n` or `d` is 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.fft.rfftfreq(4).tolist()
        [0.0, 0.25, 0.5]
    """
    return fresh(jnp.fft.rfftfreq(*_spaced("rfftfreq", n, d), dtype=numpy_dtype(float_dtype(dtype))))


def _spaced(who: str, n: int, d: float) -> tuple[int, float]:
    if n == 0 or d == 0:
        raise ValueError(f"{who}: n is {n} and d is {d}; expected numbers other than 0")
    return n, d


__all__ = [
    *("fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift"),
    *("ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"),
]
