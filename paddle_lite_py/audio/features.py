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
    """Magnitude spectrogram: `|STFT(x)|**power`.

    Shape:
        Input: signals [batch, samples].
        Output: [batch, n_fft // 2 + 1, frames], with frames along the last dimension.

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
        """Compute the spectrograms of signals [batch, samples]."""
        return signal.stft(x, window=self.fft_window, **self._settings).abs().pow(self.power)


class MelSpectrogram(Layer):
    """Mel spectrogram: a spectrogram multiplied by a mel filter bank.

    Shape:
        Input: signals [batch, samples].
        Output: [batch, n_mels, frames], with frames along the last dimension.

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
        """Compute the mel spectrograms of signals [batch, samples]."""
        product: Any = matmul
        return product(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """Mel spectrogram in decibels: `10 * log10(max(mel, amin) / ref_value)`.

    Arguments:
        ref_value: power that is mapped to 0 dB. Default: 1.0.
        amin: lower bound of the powers. Default: 1e-10.
        top_db: dynamic range in dB; None: no limit.

    Shape:
        Input: signals [batch, samples].
        Output: [batch, n_mels, frames], with frames along the last dimension.

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
        """Compute the log mel spectrograms of signals [batch, samples]."""
        return AF.power_to_db(self._melspectrogram(x), *self._levels)


class MFCC(Layer):
    """Mel-frequency cepstral coefficients: the discrete cosine transform of a log mel spectrogram.

    Arguments:
        n_mfcc: number of coefficients. Default: 40.
        ref_value: power that is mapped to 0 dB. Default: 1.0.
        amin: lower bound of the powers. Default: 1e-10.
        top_db: dynamic range in dB; None: no limit.

    Shape:
        Input: signals [batch, samples].
        Output: [batch, n_mfcc, frames], with frames along the last dimension.

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
        """Compute the coefficients of signals [batch, samples]."""
        product: Any = matmul
        return product(self._log_melspectrogram(x).transpose([0, 2, 1]), self.dct_matrix).transpose([0, 2, 1])


_document(globals())
