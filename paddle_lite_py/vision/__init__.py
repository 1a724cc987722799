"""Vision: transforms of pictures, data sets, models, and ops on boxes. Pictures are read by Pillow."""

import importlib
from typing import Any

from .image import get_image_backend, image_load, set_image_backend

_PARTS = ("datasets", "models", "ops", "transforms")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    for part in _PARTS:  # paddle.vision.LeNet, paddle.vision.Compose, ...
        module = importlib.import_module(f"{__name__}.{part}")
        if name in getattr(module, "__all__", ()):
            return getattr(module, name)
    raise AttributeError(f"module 'paddle.vision' has no attribute {name!r} here")


__all__ = ["get_image_backend", "image_load", "set_image_backend"]
