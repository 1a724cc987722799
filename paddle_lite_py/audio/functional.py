"""Functions of sound: the mel scale, filter banks, decibels, windows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor
from ..ops.convert import to_tensor
from .windows import get_window  # noqa: F401

__all__ = [
    *("compute_fbank_matrix", "create_dct", "fft_frequencies", "get_window", "hz_to_mel", "mel_frequencies"),
    *("mel_to_hz", "power_to_db"),
]

# Slaney's scale: linear below 1000 Hz, logarithmic above.
STEP, KNEE = 200.0 / 3, 1000.0
LOG_STEP = math.log(6.4) / 27.0


def _on_values(function: Any, value: Any) -> Any:
    """function of a number, or of the values of a tensor."""
    if not isinstance(value, Tensor):
        return float(function(np.float64(value)))
    return to_tensor(function(value.numpy().astype(np.float64)).astype(value.dtype.np))


def _to_mel(f: Any, htk: bool) -> Any:
    if htk:
        return 2595.0 * np.log10(1.0 + f / 700.0)
    return np.where(f >= KNEE, KNEE / STEP + np.log(np.maximum(f, 1e-10) / KNEE) / LOG_STEP, f / STEP)


def _to_hz(m: Any, htk: bool) -> Any:
    if htk:
        return 700.0 * (10.0 ** (m / 2595.0) - 1.0)
    return np.where(m >= KNEE / STEP, KNEE * np.exp(LOG_STEP * (m - KNEE / STEP)), STEP * m)


def hz_to_mel(freq: Any, htk: bool = False) -> Any:
    """Convert frequencies from Hz to the mel scale.

    Arguments:
        freq: frequencies in Hz, a float or tensor.
        htk: use HTK's formula `2595 * log10(1 + f / 700)` instead of Slaney's. Default: False.

    Returns:
        The mel values, in the form of freq.

    Examples:
        >>> round(hz_to_mel(1000.0), 6)
        15.0
    """
    return _on_values(lambda f: _to_mel(f, htk), freq)


def mel_to_hz(mel: Any, htk: bool = False) -> Any:
    """Convert frequencies from the mel scale to Hz.

    Arguments:
        mel: mel values, a float or tensor.
        htk: use HTK's formula instead of Slaney's. Default: False.

    Returns:
        The frequencies in Hz, in the form of mel.

    Examples:
        >>> round(mel_to_hz(15.0), 6)
        1000.0
    """
    return _on_values(lambda m: _to_hz(m, htk), mel)


def _mels(n_mels: int, f_min: float, f_max: float, htk: bool) -> np.ndarray:
    low, high = (float(_to_mel(np.float64(f), htk)) for f in (f_min, f_max))
    return _to_hz(np.linspace(low, high, n_mels), htk)


def mel_frequencies(
    n_mels: int = 64, f_min: float = 0.0, f_max: float = 11025.0, htk: bool = False, dtype: str = "float32"
) -> Tensor:
    """Return n_mels frequencies that are equally spaced on the mel scale.

    Arguments:
        n_mels: number of frequencies. Default: 64.
        f_min: smallest frequency in Hz. Default: 0.0.
        f_max: largest frequency in Hz. Default: 11025.0.
        htk: use HTK's formula instead of Slaney's. Default: False.

    Returns:
        A tensor [n_mels], in Hz.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.audio.functional.mel_frequencies(4, 0.0, 60.0).shape
        paddle.Size([4])
    """
    return to_tensor(_mels(n_mels, f_min, f_max, htk).astype(dtype))


def fft_frequencies(sr: int, n_fft: int, dtype: str = "float32") -> Tensor:
    """Return the frequencies of the bins of a discrete Fourier transform.

    Arguments:
        sr: sampling rate in Hz.
        n_fft: length of the transform.

    Returns:
        A tensor [n_fft // 2 + 1], in Hz.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.audio.functional.fft_frequencies(8, 4).tolist()
        [0.0, 2.0, 4.0]
    """
    return to_tensor(np.linspace(0, sr / 2, n_fft // 2 + 1).astype(dtype))


def compute_fbank_matrix(
    sr: int,
    n_fft: int,
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float | None = None,
    htk: bool = False,
    norm: Any = "slaney",
    dtype: str = "float32",
) -> Tensor:
    """Compute a mel filter bank: triangular filters that are equally spaced on the mel scale.

    Arguments:
        sr: sampling rate in Hz.
        n_fft: length of the Fourier transform.
        n_mels: number of filters. Default: 64.
        f_min: smallest frequency in Hz. Default: 0.0.
        f_max: largest frequency in Hz; None: sr / 2.
        htk: use HTK's mel formula instead of Slaney's. Default: False.
        norm: "slaney": divide each filter by its width in Hz; a number: by its norm of that order; None: no
            normalization. Default: 'slaney'.

    Returns:
        A tensor [n_mels, n_fft // 2 + 1].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.audio.functional.compute_fbank_matrix(8000, 32, n_mels=4).shape
        paddle.Size([4, 17])
    """
    edges = _mels(n_mels + 2, f_min, sr / 2 if f_max is None else f_max, htk)
    bins = np.linspace(0, sr / 2, n_fft // 2 + 1)
    slopes = edges[:, None] - bins
    widths = np.diff(edges)[:, None]
    bank = np.maximum(0, np.minimum(-slopes[:-2] / widths[:-1], slopes[2:] / widths[1:]))
    if norm == "slaney":
        bank = bank * (2.0 / (edges[2:] - edges[:-2]))[:, None]
    elif isinstance(norm, int | float):
        bank = bank / np.maximum(np.linalg.norm(bank, norm, axis=-1, keepdims=True), 1e-12)
    return to_tensor(bank.astype(dtype))


def power_to_db(spect: Tensor, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0) -> Tensor:
    """Convert a power spectrogram to decibels: `10 * log10(max(spect, amin) / ref_value)`.

    Arguments:
        spect: a tensor of powers.
        ref_value: power that is mapped to 0 dB. Default: 1.0.
        amin: lower bound of the powers. Default: 1e-10.
        top_db: dynamic range: values are at least the maximum minus top_db; None: no limit. Default: 80.0.

    Returns:
        A tensor of the shape of spect.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.audio.functional.power_to_db(paddle.to_tensor([1.0, 10.0])).tolist()
        [0.0, 10.0]
    """
    if amin <= 0 or ref_value <= 0 or (top_db is not None and top_db < 0):
        raise ValueError("power_to_db: amin and ref_value must be positive, and top_db not negative")
    out = 10.0 * spect.clip(min=amin).log10() - 10.0 * math.log10(max(amin, ref_value))
    return out if top_db is None else out.maximum(out.max() - top_db)


def create_dct(n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: str = "float32") -> Tensor:
    """Return the matrix of the discrete cosine transform of type II.

    Arguments:
        n_mfcc: number of coefficients.
        n_mels: number of inputs.
        norm: "ortho" for an orthonormal transform; None: no normalization. Default: 'ortho'.

    Returns:
        A tensor [n_mels, n_mfcc].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.audio.functional.create_dct(2, 4).shape
        paddle.Size([4, 2])
    """
    k, n = np.arange(n_mfcc)[:, None], np.arange(n_mels)
    dct = np.cos(math.pi / n_mels * (n + 0.5) * k)
    if norm is None:
        return to_tensor((2.0 * dct).T.astype(dtype))
    if norm != "ortho":
        raise ValueError(f"create_dct: norm is {norm!r}; expected 'ortho' or None")
    dct[0] /= math.sqrt(2.0)
    return to_tensor((dct * math.sqrt(2.0 / n_mels)).T.astype(dtype))


_document(globals())
