"""Sound files: waves of 16-bit samples."""

from __future__ import annotations

import wave
from typing import Any, NamedTuple

import numpy as np

from ..eager.tensor import Tensor
from ..ops.convert import to_tensor

__all__ = ["AudioInfo", "info", "load", "save"]

FULL = 2**15  # the size of the loudest sample


class AudioInfo(NamedTuple):
    """Metadata of an audio file: sample rate, length, channels, bits per sample and encoding.

    Examples:
        >>> AudioInfo(8000, 100, 1, 16, "PCM_S").sample_rate
        8000
    """

    sample_rate: int
    num_frames: int
    num_channels: int
    bits_per_sample: int
    encoding: str


def _open(file: Any) -> wave.Wave_read:
    try:
        return wave.open(file if hasattr(file, "read") else str(file), "rb")
    except (wave.Error, EOFError) as e:
        raise NotImplementedError(f"audio: {file} is no wave file of integers ({e}); convert it to one") from None


def info(filepath: Any) -> AudioInfo:
    """Read the metadata of a wave file.

    Arguments:
        filepath: a path, or a file object opened for reading.

    Returns:
        An AudioInfo.

    Raises:
        NotImplementedError: if it is not a wave file.

    Examples:
        >>> import io
        >>> file = io.BytesIO()
        >>> save(file, paddle.zeros([1, 100]), 8000); _ = file.seek(0)
        >>> info(file)
        AudioInfo(sample_rate=8000, num_frames=100, num_channels=1, bits_per_sample=16, encoding='PCM_S')
    """
    with _open(filepath) as f:
        return AudioInfo(f.getframerate(), f.getnframes(), f.getnchannels(), 8 * f.getsampwidth(), "PCM_S")


def load(
    filepath: Any, frame_offset: int = 0, num_frames: int = -1, normalize: bool = True, channels_first: bool = True
) -> tuple[Tensor, int]:
    """Read a wave file.

    Arguments:
        filepath: a path, or a file object opened for reading.
        frame_offset: number of frames to skip. Default: 0.
        num_frames: number of frames to read; -1: to the end. Default: -1.
        normalize: return float32 samples in [-1, 1]; False: the integers of the file. Default: True.
        channels_first: return [channels, time]; False: [time, channels]. Default: True.

    Returns:
        The samples, and the sample rate in Hz.

    Raises:
        NotImplementedError: if it is not a wave file with 16-bit samples.

    Examples:
        >>> import io
        >>> file = io.BytesIO()
        >>> save(file, paddle.to_tensor([[0.5, -0.25]]), 8000); _ = file.seek(0)
        >>> sound, rate = load(file)
        >>> sound.tolist(), rate
        ([[0.5, -0.25]], 8000)
    """
    with _open(filepath) as f:
        if f.getsampwidth() != 2:
            raise NotImplementedError(f"audio.load: the samples have {8 * f.getsampwidth()} bits; expected 16")
        frames = f.getnframes()
        start = min(frame_offset, frames)
        f.setpos(start)
        data = f.readframes(frames - start if num_frames < 0 else num_frames)
        channels, rate = f.getnchannels(), f.getframerate()
    samples = np.frombuffer(data, "<i2").reshape(-1, channels).astype(np.float32)
    samples = samples / np.float32(FULL) if normalize else samples
    return to_tensor(np.ascontiguousarray(samples.T) if channels_first else samples), rate


def save(
    filepath: Any,
    src: Tensor,
    sample_rate: int,
    channels_first: bool = True,
    encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:
    """Write a wave file.

    Arguments:
        filepath: a path, or a file object opened for writing.
        src: samples [channels, time]: floats in [-1, 1], clipped to that range, or int16.
        sample_rate: sample rate in Hz.
        channels_first: src is [channels, time]; False: [time, channels]. Default: True.
        encoding: None or "PCM_S".
        bits_per_sample: 16. Default: 16.

    Raises:
        ValueError: if src is not 2-D, or the encoding is another one.

    Examples:
        >>> import io
        >>> file = io.BytesIO()
        >>> save(file, paddle.zeros([2, 3]), 8000)
        >>> len(file.getvalue())
        56
    """
    if src.ndim != 2 or bits_per_sample not in (None, 16) or encoding not in (None, "PCM_S", "PCM_16"):
        raise ValueError(
            f"audio.save: src has the shape {list(src.shape)}, encoding is {encoding!r} and bits_per_sample "
            f"{bits_per_sample}; expected two dimensions, 'PCM_S' and 16"
        )
    samples = src.numpy().T if channels_first else src.numpy()
    if samples.dtype.kind == "f":
        samples = np.clip(samples * FULL, -FULL, FULL - 1)
    with wave.open(filepath if hasattr(filepath, "write") else str(filepath), "wb") as f:
        f.setnchannels(samples.shape[1])
        f.setsampwidth(2)
        f.setframerate(sample_rate)
        f.writeframes(np.ascontiguousarray(samples).astype("<i2").tobytes())
