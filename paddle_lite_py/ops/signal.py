"""Framing and short-time Fourier transforms."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array

__all__ = ["frame", "istft", "overlap_add", "stft"]


@op(name="frame")
def frame(x: Array, /, frame_length: int, hop_length: int, axis: int = -1) -> Any:
    """Slice a signal into overlapping frames.

    Returns:
        A tensor [..., frame_length, frames]; [frames, frame_length, ...] for `axis` 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> frame(paddle.arange(4.0), 2, 1).tolist()
        [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]
    """
    if axis not in (0, -1):
        raise ValueError(f"axis is {axis}; expected 0 or -1")
    n = x.shape[axis]
    if not 0 < frame_length <= n or hop_length < 1:
        raise ValueError(f"frame_length is {frame_length} and hop_length {hop_length}, for a signal of length {n}")
    at = jnp.arange(0, n - frame_length + 1, hop_length)[:, None] + jnp.arange(frame_length)
    return jnp.take(x, at, axis=0) if axis == 0 else jnp.take(x, at.T, axis=-1)


@op(name="overlap_add")
def overlap_add(x: Array, /, hop_length: int, axis: int = -1) -> Any:
    """Reconstruct a signal from overlapping frames by adding them: the adjoint of `frame()`.

    Returns:
        A tensor [..., length] with `length = (frames - 1) * hop_length + frame_length`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> overlap_add(paddle.ones([2, 3]), 1).tolist()
        [1.0, 2.0, 2.0, 1.0]
    """
    if axis not in (0, -1):
        raise ValueError(f"axis is {axis}; expected 0 or -1")
    frames = jnp.moveaxis(x, (0, 1), (-1, -2)) if axis == 0 else x
    length, count = frames.shape[-2:]
    if hop_length < 1:
        raise ValueError(f"hop_length is {hop_length}; expected at least 1")
    at = jnp.arange(length)[:, None] + jnp.arange(count) * hop_length
    out = jnp.zeros((*frames.shape[:-2], (count - 1) * hop_length + length), x.dtype).at[..., at].add(frames)
    return jnp.moveaxis(out, -1, 0) if axis == 0 else out


def _window(window: Any, n_fft: int, win_length: int, dtype: Any) -> Any:
    if window is None:
        window = jnp.ones(win_length, dtype)
    if window.shape != (win_length,):
        raise ValueError(f"window has the shape {list(window.shape)}; expected [{win_length}]")
    left = (n_fft - win_length) // 2
    return jnp.pad(window, (left, n_fft - win_length - left))


@op(name="stft")
def _stft(
    x: Any,
    window: Any = None,
    /,
    *,
    n_fft: int,
    hop: int,
    win: int,
    center: bool,
    mode: str,
    normalized: bool,
    onesided: bool,
) -> Any:
    w = _window(window, n_fft, win, x.real.dtype)
    if center:
        x = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode=mode)
    frames = jnp.moveaxis(frame.__op__.fn(x, n_fft, hop), -1, -2) * w
    found = jnp.fft.rfft(frames) if onesided else jnp.fft.fft(frames)
    return jnp.moveaxis(found / (n_fft**0.5 if normalized else 1), -1, -2)


def stft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    name: Any = None,
) -> Any:
    """Compute the short-time Fourier transform of signals [..., length].

    Arguments:
        n_fft: int, length of each transform.
        hop_length: int, samples between frames. Default: `n_fft // 4`.
        win_length: int, length of the window. Default: `n_fft`.
        window: 1-D tensor [win_length] that weights the samples of each frame; None: ones.
        center: pad the signal by `pad_mode`, so that frame i is centered at sample `i * hop_length`. Default: True.
        normalized: divide by `sqrt(n_fft)`. Default: False.
        onesided: return non-negative frequencies only. Default: True for real signals.

    Returns:
        A complex tensor [..., n_fft // 2 + 1, frames]; [..., n_fft, frames] if not `onesided`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.signal.stft(paddle.ones([16]), n_fft=8).shape
        paddle.Size([5, 9])
    """
    if x.ndim not in (1, 2):
        raise ValueError(f"stft: x has {x.ndim} dimensions; expected 1 or 2")
    if not 0 < n_fft <= x.shape[-1]:
        raise ValueError(f"stft: n_fft is {n_fft}; expected 1 to {x.shape[-1]}, the length of x")
    hop, win = n_fft // 4 if hop_length is None else hop_length, win_length or n_fft
    if not 0 < win <= n_fft or hop < 1:
        raise ValueError(
            f"stft: win_length is {win} and hop_length {hop}; expected at most n_fft={n_fft}, and 1 or more"
        )
    real = not x.dtype.is_complex
    if onesided and not real:
        raise ValueError("stft: onesided=True needs a real signal, and x is complex")
    fn: Any = _stft
    sided = real if onesided is None else onesided
    return fn(
        x, window, n_fft=n_fft, hop=hop, win=win, center=center, mode=pad_mode, normalized=normalized, onesided=sided
    )


@op(name="istft")
def _istft(
    x: Any,
    window: Any = None,
    /,
    *,
    n_fft: int,
    hop: int,
    win: int,
    center: bool,
    normalized: bool,
    onesided: bool,
    length: int | None,
    is_complex: bool,
) -> Any:
    w = _window(window, n_fft, win, x.real.dtype)
    spectrum = jnp.moveaxis(x, -1, -2) * (n_fft**0.5 if normalized else 1)
    frames = jnp.fft.irfft(spectrum, n_fft) if onesided else jnp.fft.ifft(spectrum, n_fft)
    frames = frames if is_complex or onesided else frames.real
    add = overlap_add.__op__.fn
    total = add(jnp.moveaxis(frames * w, -1, -2), hop)
    weight = add(jnp.repeat(jnp.square(w)[:, None], frames.shape[-2], 1), hop)
    start = n_fft // 2 if center else 0
    stop = total.shape[-1] - start if length is None else start + length
    total, weight = total[..., start:stop], weight[start:stop]
    out = total / jnp.where(weight > 1e-11, weight, 1)
    short = 0 if length is None else length - out.shape[-1]
    return jnp.pad(out, [(0, 0)] * (out.ndim - 1) + [(0, max(short, 0))])


def istft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
    return_complex: bool = False,
    name: Any = None,
) -> Any:
    """Compute the inverse short-time Fourier transform of [..., frequencies, frames]; arguments as for `stft()`.

    Arguments:
        length: int, length of the signal; None: what the frames cover.
        return_complex: return a complex signal; needs `onesided=False`. Default: False.

    Returns:
        A tensor [..., length].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([16])
        >>> paddle.signal.istft(paddle.signal.stft(x, 8), 8).allclose(x).item()
        True
    """
    hop, win = n_fft // 4 if hop_length is None else hop_length, win_length or n_fft
    if hop < 1:
        raise ValueError(f"istft: hop_length is {hop}; expected at least 1")
    rows = n_fft // 2 + 1 if onesided else n_fft
    if x.shape[-2] != rows:
        raise ValueError(
            f"istft: x has {x.shape[-2]} frequencies; expected {rows} for n_fft={n_fft}, onesided={onesided}"
        )
    if return_complex and onesided:
        raise ValueError("istft: return_complex=True needs onesided=False")
    fn: Any = _istft
    settings: dict[str, Any] = {"n_fft": n_fft, "hop": hop, "win": win, "center": center, "normalized": normalized}
    return fn(x, window, **settings, onesided=onesided, length=length, is_complex=return_complex)
