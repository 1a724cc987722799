"""The namespace paddle.callbacks."""

from .hapi.callbacks import *  # noqa: F403
from .hapi.callbacks import __all__ as __all__
