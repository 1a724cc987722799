"""Vision: transforms of pictures, data sets, models, and ops on boxes. Pictures are read by Pillow."""

from ..core.argument_docs import document as _document
from . import datasets, models, ops, transforms
from .datasets import *  # noqa: F403
from .image import get_image_backend, image_load, set_image_backend
from .models import *  # noqa: F403
from .ops import *  # noqa: F403
from .transforms import *  # noqa: F403

__all__ = ["get_image_backend", "image_load", "set_image_backend"]

_document(globals())
