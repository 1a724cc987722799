"""Functions of images: Pillow images, arrays [h, w, c] or tensors [c, h, w]; the result is of the same form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...ops.convert import to_tensor as _tensor
from ..image import apply, is_pillow, pillow, unpack
from . import resample

__all__ = [
    *("adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation", "affine", "center_crop", "crop"),
    *("erase", "hflip", "normalize", "pad", "perspective", "resize", "rotate", "to_grayscale", "to_tensor", "vflip"),
]


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """Convert an image to a float32 tensor; uint8 values are divided by 255.

    Arguments:
        pic: a Pillow image or an array [H, W, C] or [H, W].
        data_format: layout of the result, "CHW" or "HWC". Default: 'CHW'.

    Returns:
        A float32 tensor [C, H, W], or [H, W, C] for "HWC".

    Examples:
        >>> to_tensor(np.full([1, 2, 3], 255, np.uint8)).shape
        paddle.Size([3, 1, 2])
    """
    if data_format not in ("CHW", "HWC"):
        raise ValueError(f"to_tensor: data_format is {data_format!r}; expected 'CHW' or 'HWC'")
    if isinstance(pic, Tensor):
        return pic
    array, _ = unpack(pic, "to_tensor")
    values = array.astype(np.float32)
    if array.dtype == np.uint8:
        values = values / np.float32(255)
    return _tensor(values if data_format == "HWC" else np.ascontiguousarray(values.transpose(2, 0, 1)))


def _size(img: Any) -> tuple[int, int]:
    """Height and width."""
    array, _ = unpack(img, "the size of a picture")
    return array.shape[0], array.shape[1]


def resize(img: Any, size: Any, interpolation: str = "bilinear") -> Any:
    """Resize an image.

    Arguments:
        size: (height, width), or an integer for the shorter side.
        interpolation: "nearest", "bilinear" or "bicubic"; for Pillow images also "box", "lanczos" and "hamming", for
            others "area". Default: 'bilinear'.

    Returns:
        The result, in the form of img.

    Examples:
        >>> resize(np.zeros([4, 8, 3], np.uint8), 2).shape
        (2, 4, 3)
    """
    height, width = _size(img)
    if isinstance(size, int):
        short = min(height, width)
        size = (int(size * height / short), int(size * width / short))
    elif not (isinstance(size, Sequence) and len(size) in (1, 2)):
        raise TypeError(f"resize: size is {size!r}; expected a number or (height, width)")
    if len(size) == 1:
        return resize(img, int(size[0]), interpolation)
    if not is_pillow(img):
        return apply(img, "resize", lambda a: resample.resize(a, int(size[0]), int(size[1]), interpolation))
    if interpolation not in resample.PIL_MODES:
        raise ValueError(f"resize: interpolation is {interpolation!r}; expected one of {', '.join(resample.PIL_MODES)}")
    return img.resize((int(size[1]), int(size[0])), resample.PIL_MODES[interpolation])


def _borders(padding: Any) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a padding argument."""
    given = [padding] if isinstance(padding, int) else list(padding)
    if len(given) not in (1, 2, 4):
        raise ValueError(f"pad: padding is {padding!r}; expected 1, 2 or 4 numbers")
    left, top, right, bottom = given * (4 // len(given))
    return left, top, right, bottom


_PAD_MODES = {"edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """Pad the borders of an image.

    Arguments:
        padding: an integer, (left and right, top and bottom) or (left, top, right, bottom).
        fill: value of the border, or one for each channel. Default: 0.
        padding_mode: "constant", "edge", "reflect" or "symmetric". Default: 'constant'.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.pad(image, 1).shape
        (6, 6, 3)
    """
    if padding_mode not in ("constant", *_PAD_MODES):
        raise ValueError(f"pad: padding_mode is {padding_mode!r}; expected one of constant, {', '.join(_PAD_MODES)}")
    left, top, right, bottom = _borders(padding)
    widths = ((top, bottom), (left, right), (0, 0))

    def bordered(array: np.ndarray) -> np.ndarray:
        if padding_mode != "constant":
            return np.pad(array, widths, mode=padding_mode)  # type: ignore[call-overload]
        h, w, c = array.shape
        out = np.empty((h + top + bottom, w + left + right, c), array.dtype)
        out[:] = np.asarray(fill).astype(array.dtype)
        out[top : top + h, left : left + w] = array
        return out

    return apply(img, "pad", bordered)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """Crop a rectangle of an image.

    Arguments:
        top: first row.
        left: first column.
        height: number of rows.
        width: number of columns.

    Returns:
        The result, in the form of img.

    Examples:
        >>> crop(np.zeros([8, 8, 3], np.uint8), 1, 2, 3, 4).shape
        (3, 4, 3)
    """
    return apply(img, "crop", lambda a: a[top : top + height, left : left + width])


def center_crop(img: Any, output_size: Any) -> Any:
    """Crop the center of an image.

    Arguments:
        output_size: (height, width), or an integer for both.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.center_crop(np.zeros([4, 4, 3], "uint8"), 2).shape
        (2, 2, 3)
    """
    th, tw = (output_size, output_size) if isinstance(output_size, int) else output_size
    h, w = _size(img)
    return crop(img, round((h - th) / 2.0), round((w - tw) / 2.0), th, tw)


def hflip(img: Any) -> Any:
    """Flip an image horizontally.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.hflip(np.array([[[1], [2]]], "uint8")).tolist()
        [[[2], [1]]]
    """
    return apply(img, "hflip", lambda a: a[:, ::-1])


def vflip(img: Any) -> Any:
    """Flip an image vertically.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.vflip(np.array([[[1]], [[2]]], "uint8")).tolist()
        [[[2]], [[1]]]
    """
    return apply(img, "vflip", lambda a: a[::-1])


# -- colours -------------------------------------------------------------------------------------------------------
def _grey(array: np.ndarray) -> np.ndarray:
    """Luma [h, w, 1] (ITU-R 601), rounded as Pillow does for bytes."""
    if array.shape[2] == 1:
        return array
    if array.dtype == np.uint8:
        wide = array.astype(np.int64)
        return ((wide[..., :3] @ np.array([19595, 38470, 7471]) + 0x8000) >> 16).astype(np.uint8)[:, :, None]
    return (array[..., :3] @ np.array([0.299, 0.587, 0.114], array.dtype))[:, :, None]


def _blend(array: np.ndarray, other: Any, factor: float) -> np.ndarray:
    """other + factor * (array - other), limited to what a picture may hold."""
    base = np.asarray(other, np.float32)
    mixed = base + np.float32(factor) * (array.astype(np.float32) - base)
    return np.clip(mixed, 0, 255 if array.dtype == np.uint8 else 1).astype(array.dtype)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """Multiply the brightness of an image by a factor.

    Arguments:
        brightness_factor: 0: black; 1: unchanged; above 1: brighter.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.adjust_brightness(np.full([1, 1, 3], 10, "uint8"), 2.0).tolist()
        [[[20, 20, 20]]]
    """
    return apply(img, "adjust_brightness", lambda a: _blend(a, 0, brightness_factor))


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """Multiply the contrast of an image by a factor.

    Arguments:
        contrast_factor: 0: uniform gray; 1: unchanged; above 1: more contrast.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.adjust_contrast(image, 0.0)[0, 0].tolist()
        [24, 24, 24]
    """

    def change(array: np.ndarray) -> np.ndarray:
        mean = _grey(array).mean()
        return _blend(array, int(mean + 0.5) if array.dtype == np.uint8 else mean, contrast_factor)

    return apply(img, "adjust_contrast", change)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """Multiply the saturation of an image by a factor.

    Arguments:
        saturation_factor: 0: grayscale; 1: unchanged; above 1: more saturated.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.adjust_saturation(image, 0.0)[0, 0].tolist()
        [1, 1, 1]
    """
    return apply(img, "adjust_saturation", lambda a: _blend(a, _grey(a), saturation_factor))


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """Shift the hue of an image.

    Arguments:
        hue_factor: shift as a fraction of the color wheel, in [-0.5, 0.5].

    Returns:
        The result, in the form of img.

    Raises:
        ValueError: if hue_factor is outside of [-0.5, 0.5].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.adjust_hue(image, 0.25)[0, 0].tolist()
        [2, 0, 2]
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"adjust_hue: hue_factor is {hue_factor}; expected a number in [-0.5, 0.5]")

    def turn(array: np.ndarray) -> np.ndarray:
        if array.shape[2] == 1:
            return array
        scale = 1 if array.dtype == np.uint8 else 255
        image = pillow().fromarray((array * scale).astype(np.uint8)).convert("HSV")
        hsv = np.array(image)
        hsv[..., 0] += np.uint8(int(hue_factor * 255) % 256)
        found = np.array(pillow().fromarray(hsv, "HSV").convert("RGB"))
        return (found / scale).astype(array.dtype) if scale > 1 else found

    return apply(img, "adjust_hue", turn)


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Convert an image to grayscale.

    Arguments:
        num_output_channels: 1, or 3 for three equal channels. Default: 1.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.to_grayscale(image).shape
        (4, 4, 1)
    """
    if num_output_channels not in (1, 3):
        raise ValueError(f"to_grayscale: num_output_channels is {num_output_channels}; expected 1 or 3")
    return apply(img, "to_grayscale", lambda a: np.repeat(_grey(a), num_output_channels, 2))


def normalize(img: Any, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> Any:
    """Normalize each channel: `(img - mean) / std`, in float32.

    Arguments:
        img: a tensor, array or Pillow image in the layout data_format.
        mean: mean, a number or one for each channel.
        std: standard deviation, likewise.
        data_format: layout of img, "CHW" or "HWC". Default: 'CHW'.
        to_rgb: swap the first and last channel first. Default: False.

    Returns:
        A float32 tensor for a tensor, else an array.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.vision.transforms.normalize(np.ones([1, 2, 2], "float32"), [0.5], [0.5])[0, 0].tolist()
        [1.0, 1.0]
    """
    shape = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    if isinstance(img, Tensor):
        low, scale = (_tensor(np.asarray(v, np.float32).reshape(shape)) for v in (mean, std))
        return (img - low) / scale
    array = np.asarray(img, np.float32)
    if to_rgb:
        array = array[::-1] if data_format == "CHW" else array[..., ::-1]
    m, s = (np.asarray(v, np.float32).reshape(shape) for v in (mean, std))
    return (array - m) / s


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """Fill a rectangle of an image.

    Arguments:
        i: first row.
        j: first column.
        h: number of rows.
        w: number of columns.
        v: the value, a number or one for each channel.
        inplace: write into img. Default: False.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.erase(image, 0, 0, 1, 1, 7)[0, 0].tolist()
        [7, 7, 7]
    """
    if isinstance(img, Tensor):
        value = v if isinstance(v, Tensor) else _tensor(np.asarray(v, img.dtype.np))
        out = img if inplace else img.clone()
        out[:, i : i + h, j : j + w] = value
        return out
    if inplace and isinstance(img, np.ndarray):
        img[i : i + h, j : j + w] = v
        return img

    def fill(array: np.ndarray) -> np.ndarray:
        out = array.copy()
        out[i : i + h, j : j + w] = np.asarray(v)
        return out

    return apply(img, "erase", fill)


# -- geometry ------------------------------------------------------------------------------------------------------
def _about(centre: tuple[float, float], linear: np.ndarray, shift: Sequence[float] = (0, 0)) -> np.ndarray:
    """Return the matrix [3, 3] of: minus centre, linear map, plus centre and shift."""
    out = np.eye(3)
    out[:2, :2] = linear
    out[:2, 2] = np.asarray(centre) + np.asarray(shift) - linear @ np.asarray(centre)
    return out


def affine(
    img: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: str = "nearest",
    fill: Any = 0,
    center: tuple[float, float] | None = None,
) -> Any:
    """Apply an affine transform to an image: rotation, shear, scaling and translation.

    Arguments:
        angle: clockwise rotation in degrees.
        translate: horizontal and vertical shift in pixels.
        scale: factor of the size.
        shear: shear in degrees, a number for x or a pair for x and y.
        center: center of the transform (x, y); None: the center of the image.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.affine(image, 0.0, [1, 0], 1.0, 0.0)[0, 1].tolist()
        [0, 1, 2]
    """
    h, w = _size(img)
    shears: list[Any] = [shear, 0.0] if isinstance(shear, int | float) else list(shear)
    turn, sx, sy = (math.radians(v) for v in (angle, *shears))
    a, b = math.cos(turn - sy) / math.cos(sy), -math.cos(turn - sy) * math.tan(sx) / math.cos(sy) - math.sin(turn)
    c, d = math.sin(turn - sy) / math.cos(sy), -math.sin(turn - sy) * math.tan(sx) / math.cos(sy) + math.cos(turn)
    linear = scale * np.array([[a, b], [c, d]])
    inverse = np.linalg.inv(_about(center or (w * 0.5, h * 0.5), linear, translate))
    return apply(img, "affine", lambda x: resample.warp(x, inverse, (h, w), interpolation, fill))


def rotate(
    img: Any,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: tuple[float, float] | None = None,
    fill: Any = 0,
) -> Any:
    """Rotate an image counter-clockwise.

    Arguments:
        angle: the angle in degrees.
        expand: enlarge the result to hold the whole rotated image. Default: False.
        center: center of rotation (x, y); None: the center of the image.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.rotate(image, 90)[0, 0].tolist()
        [9, 10, 11]
    """
    h, w = _size(img)
    turn = -math.radians(angle)
    linear = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    forward = _about(center or (w / 2.0, h / 2.0), linear)
    size = (h, w)
    if expand:
        corners = forward @ np.array([[0, w, 0, w], [0, 0, h, h], [1, 1, 1, 1]])
        low, high = corners[:2].min(1), corners[:2].max(1)
        spans = zip(low, high, strict=True)
        width, height = (math.ceil(round(float(x), 6)) - math.floor(round(float(n), 6)) for n, x in spans)
        size = (height, width)
        middle = forward[:2] @ np.array([w / 2, h / 2, 1])
        forward[:2, 2] += np.array([width / 2, height / 2]) - middle
    inverse = np.linalg.inv(forward)
    return apply(img, "rotate", lambda x: resample.warp(x, inverse, size, interpolation, fill))


def perspective(img: Any, startpoints: Any, endpoints: Any, interpolation: str = "nearest", fill: Any = 0) -> Any:
    """Apply the perspective transform that maps four points to four others.

    Arguments:
        startpoints: four points (x, y) of the image.
        endpoints: where they are mapped to.

    Returns:
        The result, in the form of img.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> corners = [[0, 0], [3, 0], [3, 3], [0, 3]]
        >>> paddle.vision.transforms.perspective(image, corners, corners)[0, 0].tolist()
        [0, 1, 2]
    """
    rows, right = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    solved = np.linalg.lstsq(np.array(rows, np.float64), np.array(right, np.float64), rcond=None)[0]
    inverse = np.append(solved, 1.0).reshape(3, 3)
    return apply(img, "perspective", lambda a: resample.warp(a, inverse, a.shape[:2], interpolation, fill))
