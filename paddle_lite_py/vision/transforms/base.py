"""Transforms as objects: one to compose them, the base of all, and those without chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from . import functional as F

__all__ = ["BaseTransform", "CenterCrop", "Compose", "Grayscale", "Normalize", "Pad", "Resize", "ToTensor", "Transpose"]


class Compose:
    """Apply transforms one after the other.

    Arguments:
        transforms: the transforms.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> T = paddle.vision.transforms
        >>> T.Compose([T.Resize(4), T.ToTensor()])(np.zeros([8, 8, 3], np.uint8)).shape
        paddle.Size([3, 4, 4])
    """

    def __init__(self, transforms: Sequence[Any]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            try:
                data = transform(data)
            except Exception as e:
                e.add_note(f"in the transform {transform!r} of Compose")
                raise
        return data

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *(f"    {t}" for t in self.transforms), ")"])


class BaseTransform:
    """Base class of transforms.

    A subclass defines _apply_image(img), and _get_params(inputs) for random parameters that all inputs share.

    Arguments:
        keys: kinds of the inputs: "image", and others for which a method _apply_<kind> is defined; inputs without a
            method are passed through.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Negative(paddle.vision.transforms.BaseTransform):
        ...     def _apply_image(self, image):
        ...         return 255 - image
        >>> Negative()(np.array([[[0]]], "uint8")).tolist()
        [[[255]]]
    """

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        if keys is not None and not isinstance(keys, list | tuple):
            raise ValueError(f"{type(self).__name__}: keys is {keys!r}; expected a list of kinds such as 'image'")
        self.keys = ("image",) if keys is None else tuple(keys)
        self.params: Any = None

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        return None

    def __call__(self, inputs: Any) -> Any:
        given = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(given)
        out = []
        for kind, value in zip(self.keys, given, strict=False):
            function = getattr(self, f"_apply_{kind}", None)
            out.append(value if function is None else function(value))
        out += given[len(self.keys) :]
        return out[0] if len(out) == 1 else tuple(out)

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _apply_image(self, image)")

    def __repr__(self) -> str:
        shown = {k: v for k, v in vars(self).items() if k not in ("keys", "params") and not k.startswith("_")}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


class ToTensor(BaseTransform):
    """Convert an image to a float32 tensor; uint8 values are divided by 255.

    Arguments:
        data_format: layout of the result, "CHW" or "HWC". Default: 'CHW'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.ToTensor()(np.zeros([4, 4, 3], "uint8")).shape
        paddle.Size([3, 4, 4])
    """

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> Any:
        return F.to_tensor(image, self.data_format)


class Resize(BaseTransform):
    """Resize an image.

    Arguments:
        size: (height, width), or an integer for the shorter side.
        interpolation: "nearest", "bilinear" or "bicubic"; for Pillow images also "box", "lanczos" and "hamming", for
            others "area". Default: 'bilinear'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.Resize(2)(np.zeros([4, 4, 3], "uint8")).shape
        (2, 2, 3)
    """

    def __init__(self, size: Any, interpolation: str = "bilinear", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """Crop the center of an image.

    Arguments:
        size: (height, width), or an integer for both.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.CenterCrop(2)(np.zeros([4, 4, 3], "uint8")).shape
        (2, 2, 3)
    """

    def __init__(self, size: Any, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.size = pair(size)

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


class Pad(BaseTransform):
    """Pad the borders of an image.

    Arguments:
        padding: an integer, (left and right, top and bottom) or (left, top, right, bottom).
        fill: value of the border, or one for each channel. Default: 0.
        padding_mode: "constant", "edge", "reflect" or "symmetric". Default: 'constant'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.Pad(1)(np.zeros([4, 4, 3], "uint8")).shape
        (6, 6, 3)
    """

    def __init__(
        self, padding: Any, fill: Any = 0, padding_mode: str = "constant", keys: Sequence[str] | None = None
    ) -> None:
        super().__init__(keys)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply_image(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)


class Normalize(BaseTransform):
    """Normalize each channel: `(img - mean) / std`.

    Arguments:
        mean: mean, a number or one for each channel. Default: 0.0.
        std: standard deviation, likewise. Default: 1.0.
        data_format: layout of the image, "CHW" or "HWC". Default: 'CHW'.
        to_rgb: swap the first and last channel first. Default: False.

    Examples:
        >>> Normalize(127.5, 127.5, data_format="HWC")(np.full([1, 1, 3], 255, np.uint8)).tolist()
        [[[1.0, 1.0, 1.0]]]
    """

    def __init__(
        self,
        mean: Any = 0.0,
        std: Any = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.mean, self.std = ([v] * 3 if isinstance(v, int | float) else v for v in (mean, std))
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, image: Any) -> Any:
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """Permute the dimensions of an image; by default from [H, W, C] to [C, H, W].

    Arguments:
        order: the dimensions of the input, in the order of the output. Default: (2, 0, 1).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.Transpose()(np.zeros([4, 4, 3], "uint8")).shape
        (3, 4, 4)
    """

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.order = tuple(order)

    def _apply_image(self, image: Any) -> Any:
        if isinstance(image, Tensor):
            return image.transpose(self.order)
        array = np.asarray(image)
        return (array[..., None] if array.ndim == 2 else array).transpose(self.order)


class Grayscale(BaseTransform):
    """Convert an image to grayscale.

    Arguments:
        num_output_channels: 1, or 3 for three equal channels. Default: 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import numpy as np
        >>> paddle.vision.transforms.Grayscale()(np.zeros([4, 4, 3], "uint8")).shape
        (4, 4, 1)
    """

    def __init__(self, num_output_channels: int = 1, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, image: Any) -> Any:
        return F.to_grayscale(image, self.num_output_channels)


def pair(size: Any) -> tuple[int, int]:
    """Return a number as (number, number)."""
    if isinstance(size, int):
        return size, size
    if len(size) == 1:
        return size[0], size[0]
    return tuple(size)
