"""Resizing and warping arrays [h, w, c]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..image import pillow

PIL_MODES = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}


def _linear(d: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(d), 0)


def _cubic(d: np.ndarray, a: float = -0.75) -> np.ndarray:
    d = np.abs(d)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * (d**3 - 5 * d**2 + 8 * d - 4)
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


_KERNELS: dict[str, tuple[Callable[..., np.ndarray], int]] = {"bilinear": (_linear, 1), "bicubic": (_cubic, 2)}


def _weights(size: int, target: int, mode: str) -> np.ndarray:
    """[target, size]: how much of each old pixel each new one takes. Pixels are areas; the border is repeated."""
    out = np.zeros((target, size), np.float64)
    if mode == "nearest":
        out[np.arange(target), np.minimum(np.arange(target) * size // target, size - 1)] = 1
        return out
    if mode == "area":
        edges = np.arange(target + 1) * size / target
        pixel = np.arange(size)
        out = np.clip(np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel), 0, None)
        return out / out.sum(1, keepdims=True)
    kernel, reach = _KERNELS[mode]
    centre = (np.arange(target) + 0.5) * size / target - 0.5
    for k in range(1 - reach, reach + 1):
        at = np.floor(centre) + k
        np.add.at(out, (np.arange(target), np.clip(at, 0, size - 1).astype(int)), kernel(centre - at))
    return out


def resize(array: np.ndarray, height: int, width: int, mode: str) -> np.ndarray:
    """Return an array in another size, sampled without smoothing, as OpenCV does."""
    if mode not in ("nearest", "area", *_KERNELS):
        raise ValueError(f"resize: interpolation is {mode!r}; expected 'nearest', 'bilinear', 'bicubic' or 'area'")
    rows, columns = (_weights(s, t, mode) for s, t in zip(array.shape[:2], (height, width), strict=True))
    out = np.tensordot(columns, np.tensordot(rows, array.astype(np.float64), (1, 0)), (1, 1)).swapaxes(0, 1)
    return rounded(out, array.dtype)


def rounded(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Floats in a dtype: rounded and limited where it is of integers."""
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        values = np.clip(np.rint(values), info.min, info.max)
    return values.astype(dtype)


def warp(array: np.ndarray, inverse: np.ndarray, size: tuple[int, int], mode: str, fill: Any) -> np.ndarray:
    """Return the array seen through a projective map: the pixel (x, y) of the result is that at inverse (x, y, 1)."""
    if mode not in ("nearest", "bilinear", "bicubic"):
        raise ValueError(f"interpolation is {mode!r}; expected 'nearest', 'bilinear' or 'bicubic'")
    image, channels = pillow(), array.shape[2]
    fills = list(fill) if isinstance(fill, list | tuple) else [fill] * channels
    bytes_ = array.dtype == np.uint8
    planes = []
    for c in range(channels):
        plane = image.fromarray(np.ascontiguousarray(array[:, :, c] if bytes_ else array[:, :, c].astype(np.float32)))
        data = tuple((inverse / inverse[2, 2]).reshape(-1)[:8])
        made = plane.transform(size[::-1], image.Transform.PERSPECTIVE, data, PIL_MODES[mode], fillcolor=fills[c])
        planes.append(np.asarray(made))
    return np.stack(planes, -1).astype(array.dtype)
