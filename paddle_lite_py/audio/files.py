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
    """What a sound file says of itself.

    Examples:
        >>> AudioInfo(8000, 100, 1, 16, "PCM_S").sample_rate
        8000
    """

    sample_rate: int
    num_frames: int
    num_channels: int
    bits_per_sample: int
    encoding: str


def _opened(file: Any) -> wave.Wave_read:
    try:
        return wave.open(file if hasattr(file, "read") else str(file), "rb")
    except (wave.Error, EOFError) as e:
        raise NotImplementedError(f"audio: {file} is no wave file of integers ({e}); convert it to one") from None


def info(filepath: Any) -> AudioInfo:
    """What a wave file says of itself.

    Arguments:
        filepath: a path, or a file opened for reading.

    Raises:
        NotImplementedError: if it is no wave file.

    Examples:
        >>> import io
        >>> file = io.BytesIO()
        >>> save(file, paddle.zeros([1, 100]), 8000); _ = file.seek(0)
        >>> info(file)
        AudioInfo(sample_rate=8000, num_frames=100, num_channels=1, bits_per_sample=16, encoding='PCM_S')
    """
    with _opened(filepath) as f:
        return AudioInfo(f.getframerate(), f.getnframes(), f.getnchannels(), 8 * f.getsampwidth(), "PCM_S")


def load(
    filepath: Any, frame_offset: int = 0, num_frames: int = -1, normalize: bool = True, channels_first: bool = True
) -> tuple[Tensor, int]:
    """The samples of a wave file, float32 [channels, time], and its sample rate.

    Arguments:
        filepath: a path, or a file opened for reading.
        frame_offset, num_frames: which part; -1: to the end.
        normalize: samples from -1 to 1; otherwise as they are in the file.
        channels_first: False: [time, channels].

    Raises:
        NotImplementedError: if it is no wave file of 16-bit samples.

    Examples:
        >>> import io
        >>> file = io.BytesIO()
        >>> save(file, paddle.to_tensor([[0.5, -0.25]]), 8000); _ = file.seek(0)
        >>> sound, rate = load(file)
        >>> sound.tolist(), rate
        ([[0.5, -0.25]], 8000)
    """
    with _opened(filepath) as f:
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
    """Write samples as a wave file.

    Arguments:
        filepath: a path, or a file opened for writing.
        src: [channels, time]: floats from -1 to 1 (louder ones are cut), or int16.
        channels_first: False: [time, channels].
        encoding: None or "PCM_S". bits_per_sample: 16.

    Raises:
        ValueError: if src has not two dimensions, or the encoding is another one.

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
