"""Spectra of sound as layers."""

from __future__ import annotations

from typing import Any

from .. import signal
from ..core.argument_docs import document as _document
from ..nn.base import Layer
from ..ops.linalg import matmul
from . import functional as AF

__all__ = ["MFCC", "LogMelSpectrogram", "MelSpectrogram", "Spectrogram"]


class Spectrogram(Layer):
    """Powers of the short-time Fourier transform of signals [batch, samples]: [batch, frequencies, frames].

    Arguments: as of paddle.signal.stft; power: of the absolute values.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.audio.features.Spectrogram(n_fft=8, hop_length=4)(paddle.ones([1, 32])).shape
        paddle.Size([1, 5, 9])
    """

    def __init__(
        self,
        n_fft: int = 512,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 1.0,
        center: bool = True,
        pad_mode: str = "reflect",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        if power <= 0:
            raise ValueError(f"Spectrogram: power is {power}; expected a positive number")
        self.power = power
        self._settings: dict[str, Any] = {"n_fft": n_fft, "hop_length": hop_length, "win_length": win_length or n_fft}
        self._settings |= {"center": center, "pad_mode": pad_mode}
        self.register_buffer("fft_window", AF.get_window(window, win_length or n_fft, True, dtype))

    def forward(self, x: Any) -> Any:
        """The powers."""
        return signal.stft(x, window=self.fft_window, **self._settings).abs().pow(self.power)


class MelSpectrogram(Layer):
    """A spectrogram through filters that are equally spaced on the mel scale: [batch, n_mels, frames].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.audio.features.MelSpectrogram(8000, n_fft=32, hop_length=8, n_mels=4)(paddle.ones([1, 64])).shape
        paddle.Size([1, 4, 9])
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 2048,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: Any = "slaney",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        bank = AF.compute_fbank_matrix(sr, n_fft, n_mels, f_min, f_max, htk, norm, dtype)
        self.register_buffer("fbank_matrix", bank)

    def forward(self, x: Any) -> Any:
        """The filtered powers."""
        product: Any = matmul
        return product(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """A mel spectrogram in decibels; see power_to_db().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> LogMelSpectrogram(8000, 64, n_mels=4)(paddle.ones([1, 128])).shape
        paddle.Size([1, 4, 9])
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: Any = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        places = (sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels)
        self._melspectrogram = MelSpectrogram(*places, f_min, f_max, htk, norm, dtype)
        self._levels = ref_value, amin, top_db

    def forward(self, x: Any) -> Any:
        """Decibels."""
        return AF.power_to_db(self._melspectrogram(x), *self._levels)


class MFCC(Layer):
    """The first n_mfcc cosine coefficients of a log mel spectrogram: [batch, n_mfcc, frames].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.audio.features.MFCC(8000, n_mfcc=3, n_fft=32, hop_length=8, n_mels=4)(paddle.ones([1, 64])).shape
        paddle.Size([1, 3, 9])
    """

    def __init__(
        self,
        sr: int = 22050,
        n_mfcc: int = 40,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: Any = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        if n_mfcc > n_mels:
            raise ValueError(f"MFCC: n_mfcc is {n_mfcc}; expected at most n_mels={n_mels}")
        places = (sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels)
        levels = (ref_value, amin, top_db, dtype)
        self._log_melspectrogram = LogMelSpectrogram(*places, f_min, f_max, htk, norm, *levels)
        self.register_buffer("dct_matrix", AF.create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Any) -> Any:
        """The coefficients."""
        product: Any = matmul
        return product(self._log_melspectrogram(x).transpose([0, 2, 1]), self.dct_matrix).transpose([0, 2, 1])


_document(globals())
