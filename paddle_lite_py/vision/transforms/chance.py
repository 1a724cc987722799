"""Random transforms: their draws come from Python's `random`, as random.seed() sets it."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..image import unpack
from . import functional as F
from .base import BaseTransform, pair

__all__ = [
    *("BrightnessTransform", "ColorJitter", "ContrastTransform", "HueTransform", "RandomAffine", "RandomCrop"),
    *("RandomErasing", "RandomHorizontalFlip", "RandomPerspective", "RandomResizedCrop", "RandomRotation"),
    *("RandomVerticalFlip", "SaturationTransform"),
]

Keys = Sequence[str] | None


def _size(image: Any) -> tuple[int, int]:
    array, _ = unpack(image, "a transform")
    return array.shape[0], array.shape[1]


class RandomHorizontalFlip(BaseTransform):
    """Flip an image horizontally with probability prob.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.RandomHorizontalFlip(1.0)(image)[0, 0].tolist()
        [9, 10, 11]
    """

    def __init__(self, prob: float = 0.5, keys: Keys = None) -> None:
        super().__init__(keys)
        self.prob = prob

    def _get_params(self, inputs: tuple[Any, ...]) -> bool:
        return random.random() < self.prob

    def _apply_image(self, image: Any) -> Any:
        return F.hflip(image) if self.params else image


class RandomVerticalFlip(RandomHorizontalFlip):
    """Flip an image vertically with probability prob.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.RandomVerticalFlip(1.0)(image)[0, 0].tolist()
        [36, 37, 38]
    """

    def _apply_image(self, image: Any) -> Any:
        return F.vflip(image) if self.params else image


class RandomCrop(BaseTransform):
    """Crop an image at a random position.

    Arguments:
        size: (height, width), or an integer for both.
        padding: padding before cropping; see functional.pad(); None: none.
        pad_if_needed: pad images that are smaller than size. Default: False.
        fill: value of the padding, or one for each channel. Default: 0.
        padding_mode: "constant", "edge", "reflect" or "symmetric". Default: 'constant'.

    Raises:
        ValueError: when called, if the image is smaller than size.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.RandomCrop(2)(np.zeros([4, 4, 3], "uint8")).shape
        (2, 2, 3)
    """

    def __init__(
        self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill: Any = 0,
        padding_mode: str = "constant", keys: Keys = None,
    ) -> None:  # fmt: skip
        super().__init__(keys)
        self.size, self.padding, self.pad_if_needed = pair(size), padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def _padded(self, image: Any) -> Any:
        if self.padding is not None:
            image = F.pad(image, self.padding, self.fill, self.padding_mode)
        h, w = _size(image)
        if self.pad_if_needed and w < self.size[1]:
            image = F.pad(image, (self.size[1] - w, 0), self.fill, self.padding_mode)
        if self.pad_if_needed and h < self.size[0]:
            image = F.pad(image, (0, self.size[0] - h), self.fill, self.padding_mode)
        return image

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[int, int, int, int]:
        return self._get_param(self._padded(inputs[self.keys.index("image")]), self.size)

    def _get_param(self, img: Any, output_size: Sequence[int]) -> tuple[int, int, int, int]:
        """Return (top, left, height, width) of a crop: programs call this to crop two pictures alike."""
        h, w = _size(img)
        th, tw = output_size
        if h < th or w < tw:
            raise ValueError(f"RandomCrop: the picture has the size {(h, w)}, which is smaller than {output_size}")
        return random.randint(0, h - th), random.randint(0, w - tw), th, tw

    def _apply_image(self, image: Any) -> Any:
        return F.crop(self._padded(image), *self.params)


class RandomResizedCrop(BaseTransform):
    """Crop a random area with a random aspect ratio, and resize it (Szegedy et al., 2015).

    Arguments:
        size: size of the result: (height, width), or an integer for both.
        scale: smallest and largest fraction of the area. Default: (0.08, 1.0).
        ratio: smallest and largest aspect ratio (width / height).
        interpolation: "nearest", "bilinear" or "bicubic"; for Pillow images also "box", "lanczos" and "hamming", for
            others "area". Default: 'bilinear'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.RandomResizedCrop(2)(image).shape
        (2, 2, 3)
    """

    def __init__(
        self,
        size: Any,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4, 4.0 / 3),
        interpolation: str = "bilinear",
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            raise ValueError(f"RandomResizedCrop: scale is {scale} and ratio {ratio}; expected (least, greatest)")
        self.size, self.scale, self.ratio, self.interpolation = pair(size), scale, ratio, interpolation

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[int, int, int, int]:
        h, w = _size(inputs[self.keys.index("image")])
        for _ in range(10):
            area = random.uniform(*self.scale) * h * w
            ratio = math.exp(random.uniform(*map(math.log, self.ratio)))
            tw, th = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < tw <= w and 0 < th <= h:
                return random.randint(0, h - th), random.randint(0, w - tw), th, tw
        ratio = min(max(w / h, self.ratio[0]), self.ratio[1])
        th, tw = (h, round(h * ratio)) if w / h > ratio else (round(w / ratio), w)
        return (h - th) // 2, (w - tw) // 2, th, tw

    def _apply_image(self, image: Any) -> Any:
        return F.resize(F.crop(image, *self.params), self.size, self.interpolation)


class _Factor(BaseTransform):
    """Base of the changes of colour by a random factor around 1."""

    def __init__(self, value: Any, keys: Keys = None) -> None:
        super().__init__(keys)
        self.value = self._range(value)

    def _range(self, value: Any) -> tuple[float, float] | None:
        name = type(self).__name__
        low, high = (max(0.0, 1 - value), 1 + value) if isinstance(value, int | float) else value
        if (isinstance(value, int | float) and value < 0) or low > high or low < 0:
            raise ValueError(f"{name}: value is {value!r}; expected a number from 0 on, or (least, greatest)")
        return None if low == high == 1 else (low, high)

    def _get_params(self, inputs: tuple[Any, ...]) -> float | None:
        return None if self.value is None else random.uniform(*self.value)

    def _change(self, image: Any, factor: float) -> Any:
        raise NotImplementedError

    def _apply_image(self, image: Any) -> Any:
        return image if self.params is None else self._change(image, self.params)


class BrightnessTransform(_Factor):
    """Multiply the brightness by a factor drawn from [1 - value, 1 + value].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.BrightnessTransform(0.4)(image).shape
        (4, 4, 3)
    """

    def _change(self, image: Any, factor: float) -> Any:
        return F.adjust_brightness(image, factor)


class ContrastTransform(_Factor):
    """Multiply the contrast by a factor drawn from [1 - value, 1 + value].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.ContrastTransform(0.4)(image).shape
        (4, 4, 3)
    """

    def _change(self, image: Any, factor: float) -> Any:
        return F.adjust_contrast(image, factor)


class SaturationTransform(_Factor):
    """Multiply the saturation by a factor drawn from [1 - value, 1 + value].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.SaturationTransform(0.4)(image).shape
        (4, 4, 3)
    """

    def _change(self, image: Any, factor: float) -> Any:
        return F.adjust_saturation(image, factor)


class HueTransform(_Factor):
    """Shift the hue by a fraction of the color wheel drawn from [-value, value].

    Arguments:
        value: range of the shift, in [0, 0.5].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.HueTransform(0.2)(image).shape
        (4, 4, 3)
    """

    def _range(self, value: Any) -> tuple[float, float] | None:
        low, high = (-value, value) if isinstance(value, int | float) else value
        if not -0.5 <= low <= high <= 0.5:
            raise ValueError(f"HueTransform: value is {value!r}; expected a number in [0, 0.5], or (least, greatest)")
        return None if low == high == 0 else (low, high)

    def _change(self, image: Any, factor: float) -> Any:
        return F.adjust_hue(image, factor)


class ColorJitter(BaseTransform):
    """Change brightness, contrast, saturation and hue by random amounts, in random order.

    Arguments:
        brightness: range of the factor: drawn from [1 - brightness, 1 + brightness]. Default: 0.
        contrast: range of the factor, likewise. Default: 0.
        saturation: range of the factor, likewise. Default: 0.
        hue: range of the shift: drawn from [-hue, hue], at most 0.5. Default: 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)(image).shape
        (4, 4, 3)
    """

    def __init__(
        self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0, keys: Keys = None
    ) -> None:
        super().__init__(keys)
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue

    def _get_params(self, inputs: tuple[Any, ...]) -> list[tuple[_Factor, Any]]:
        parts: list[_Factor] = [BrightnessTransform(self.brightness), ContrastTransform(self.contrast)]
        parts += [SaturationTransform(self.saturation), HueTransform(self.hue)]
        random.shuffle(parts)
        return [(part, part._get_params(inputs)) for part in parts]

    def _apply_image(self, image: Any) -> Any:
        for part, factor in self.params:
            image = image if factor is None else part._change(image, factor)
        return image


def _angles(degrees: Any, who: str) -> tuple[float, float]:
    if isinstance(degrees, int | float):
        if degrees < 0:
            raise ValueError(f"{who}: degrees is {degrees}; expected a number from 0 on, or (least, greatest)")
        return -degrees, degrees
    return tuple(degrees)


class RandomRotation(BaseTransform):
    """Rotate an image by a random angle; see functional.rotate().

    Arguments:
        degrees: (min, max), or a number d for (-d, d).
        expand: enlarge the result to hold the whole rotated image. Default: False.
        center: center of rotation (x, y); None: the center of the image.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.RandomRotation(10)(image).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        degrees: Any,
        interpolation: str = "nearest",
        expand: bool = False,
        center: Any = None,
        fill: Any = 0,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.degrees = _angles(degrees, "RandomRotation")
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def _get_params(self, inputs: tuple[Any, ...]) -> float:
        return random.uniform(*self.degrees)

    def _apply_image(self, image: Any) -> Any:
        return F.rotate(image, self.params, self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(BaseTransform):
    """Apply a random affine transform: rotation, translation, scaling and shear; see functional.affine().

    Arguments:
        degrees: range of the rotation (min, max), or a number d for (-d, d).
        translate: largest horizontal and vertical shift, as fractions of width and height; None: none.
        scale: smallest and largest factor; None: none.
        shear: range of the shear in degrees: a number, (min, max) for x, or four numbers for x and y; None: none.
        center: center of the transform (x, y); None: the center of the image.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.RandomAffine(10)(image).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        degrees: Any,
        translate: Any = None,
        scale: Any = None,
        shear: Any = None,
        interpolation: str = "nearest",
        fill: Any = 0,
        center: Any = None,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.degrees, self.translate, self.scale = _angles(degrees, "RandomAffine"), translate, scale
        self.shear = (-shear, shear) if isinstance(shear, int | float) else shear
        self.interpolation, self.fill, self.center = interpolation, fill, center

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        h, w = _size(inputs[self.keys.index("image")])
        angle, shift, shear = random.uniform(*self.degrees), (0, 0), [0.0, 0.0]
        if self.translate is not None:
            x, y = self.translate[0] * w, self.translate[1] * h
            shift = (round(random.uniform(-x, x)), round(random.uniform(-y, y)))
        scale = 1.0 if self.scale is None else random.uniform(*self.scale)
        if self.shear is not None:
            shear[0] = random.uniform(*self.shear[:2])
            shear[1] = random.uniform(*self.shear[2:4]) if len(self.shear) == 4 else 0.0
        return angle, shift, scale, shear

    def _apply_image(self, image: Any) -> Any:
        angle, shift, scale, shear = self.params
        return F.affine(image, angle, shift, scale, shear, self.interpolation, self.fill, self.center)


class RandomPerspective(BaseTransform):
    """Apply a random perspective transform with probability prob.

    Arguments:
        distortion_scale: strength of the distortion, in [0, 1]. Default: 0.5.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.RandomPerspective(1.0)(image).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        prob: float = 0.5,
        distortion_scale: float = 0.5,
        interpolation: str = "nearest",
        fill: Any = 0,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.prob, self.distortion_scale, self.interpolation, self.fill = prob, distortion_scale, interpolation, fill

    def get_params(self, width: int, height: int, distortion_scale: float) -> tuple[Any, Any]:
        """Draw the end points of the corners.

        Returns:
            The corners, and their random end points.
        """
        x, y = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))
        start = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
        inward = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
        end = [
            (cx + sx * random.randint(0, x), cy + sy * random.randint(0, y))
            for (cx, cy), (sx, sy) in zip(start, inward, strict=True)
        ]
        return start, end

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        h, w = _size(inputs[self.keys.index("image")])
        return self.get_params(w, h, self.distortion_scale) if random.random() < self.prob else None

    def _apply_image(self, image: Any) -> Any:
        if self.params is None:
            return image
        start, end = self.params
        return F.perspective(image, start, end, self.interpolation, self.fill)


class RandomErasing(BaseTransform):
    """Erase a random rectangle with probability prob (Zhong et al., 2017).

    Arguments:
        scale: smallest and largest fraction of the area. Default: (0.02, 0.33).
        ratio: smallest and largest aspect ratio (height / width). Default: (0.3, 3.3).
        value: a number, one for each channel, or "random" for noise. Default: 0.
        inplace: write into the input. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> image = np.arange(48, dtype="uint8").reshape(4, 4, 3)
        >>> paddle.vision.transforms.RandomErasing(1.0)(image).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        prob: float = 0.5,
        scale: tuple[float, float] = (0.02, 0.33),
        ratio: tuple[float, float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.prob, self.scale, self.ratio, self.value, self.inplace = prob, scale, ratio, value, inplace

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        if random.random() >= self.prob:
            return None
        height, width = _size(inputs[self.keys.index("image")])
        for _ in range(10):
            area = random.uniform(*self.scale) * height * width
            ratio = math.exp(random.uniform(*map(math.log, self.ratio)))
            h, w = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < h < height and 0 < w < width:
                return random.randint(0, height - h), random.randint(0, width - w), h, w
        return None

    def _apply_image(self, image: Any) -> Any:
        if self.params is None:
            return image
        i, j, h, w = self.params
        array, _ = unpack(image, "RandomErasing")
        value = self.value
        if value == "random":
            seed = random.getrandbits(32)
            value = np.random.default_rng(seed).normal(size=(h, w, array.shape[2])).astype(np.float32)
        if not isinstance(image, np.ndarray) and hasattr(image, "stop_gradient"):  # a tensor: channels first
            value = np.asarray(value)
            value = value.transpose(2, 0, 1) if value.ndim == 3 else value.reshape(-1, 1, 1) if value.ndim else value
        return F.erase(image, i, j, h, w, value, self.inplace)
