"""Images: reading them, and their three forms: Pillow images, arrays [h, w, c] and tensors [c, h, w]."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..eager.tensor import Tensor
from ..ops.convert import to_tensor

__all__ = ["get_image_backend", "image_load", "set_image_backend"]

BACKENDS = ("pil", "cv2", "tensor")
_backend = "pil"


def pillow() -> Any:
    """Return the module PIL.Image.

    Raises:
        ImportError: if Pillow is not installed, saying how to get it.
    """
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as e:
        raise ImportError("pictures are read by Pillow, which is not installed; try `pip install pillow`") from e


def is_pillow(image: Any) -> bool:
    """True for a Pillow image; Pillow need not be installed to ask."""
    return any(c.__module__ == "PIL.Image" and c.__name__ == "Image" for c in type(image).__mro__)


def set_image_backend(backend: str) -> None:
    """Set the form of images that image_load() and the data sets return.

    Arguments:
        backend: "pil" (Pillow images), "cv2" (arrays in BGR order) or "tensor".

    Raises:
        ValueError: for another name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.vision.set_image_backend("pil"); paddle.vision.get_image_backend()
        'pil'
    """
    global _backend
    if backend not in BACKENDS:
        raise ValueError(f"set_image_backend: backend is {backend!r}; expected one of {', '.join(BACKENDS)}")
    _backend = backend


def get_image_backend() -> str:
    """Return the name of the image backend.

    Examples:
        >>> get_image_backend()
        'pil'
    """
    return _backend


def image_load(path: Any, backend: str | None = None) -> Any:
    """Read an image file.

    Arguments:
        path: path of the file.
        backend: "pil", "cv2" or "tensor"; None: the backend set by set_image_backend().

    Returns:
        A Pillow image, an array [H, W, C] or a tensor, by the backend.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> from PIL import Image
        >>> file = tempfile.mkdtemp() + "/a.png"
        >>> Image.new("RGB", (4, 2)).save(file)
        >>> with paddle.vision.image_load(file) as picture:
        ...     print(picture.size)
        (4, 2)
    """
    backend = _backend if backend is None else backend
    if backend not in BACKENDS:
        raise ValueError(f"image_load: backend is {backend!r}; expected one of {', '.join(BACKENDS)}")
    image = pillow().open(path)
    if backend == "pil":
        return image
    array = np.array(image.convert("RGB"))
    return array[:, :, ::-1].copy() if backend == "cv2" else to_tensor(array.transpose(2, 0, 1))


def unpack(image: Any, who: str) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """Return a picture as an array [h, w, c], and what brings such an array back to its form.

    Raises:
        TypeError: if it is no picture.
    """
    if is_pillow(image):
        array = np.array(image)
        flat = array.ndim == 2
        return array[:, :, None] if flat else array, lambda a: _image(a[:, :, 0] if a.shape[2] == 1 else a)
    if isinstance(image, Tensor):
        return image.numpy().transpose(1, 2, 0), lambda a: to_tensor(np.ascontiguousarray(a.transpose(2, 0, 1)))
    if isinstance(image, np.ndarray) and image.ndim in (2, 3):
        if image.ndim == 2:
            return image[:, :, None], lambda a: np.ascontiguousarray(a[:, :, 0] if a.shape[2] == 1 else a)
        return image, np.ascontiguousarray
    what = f"an array of shape {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
    raise TypeError(f"{who}: img is {what}; expected a Pillow image, an array [h, w, c] or a tensor [c, h, w]")


def _image(array: np.ndarray) -> Any:
    return pillow().fromarray(np.ascontiguousarray(array))


def apply(image: Any, who: str, function: Callable[[np.ndarray], np.ndarray]) -> Any:
    """function of the picture as an array [h, w, c], in the picture's form."""
    array, back = unpack(image, who)
    return back(function(array))
