"""The namespace paddle.callbacks."""

from .core.argument_docs import document as _document
from .hapi import callbacks, progress, writers
from .hapi.callbacks import *  # noqa: F403
from .hapi.progress import *  # noqa: F403
from .hapi.writers import *  # noqa: F403

__all__ = [*callbacks.__all__, *progress.__all__, *writers.__all__]

_document(globals())
