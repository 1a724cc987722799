"""Transforms of pictures."""

from ...core.argument_docs import document as _document
from . import base, chance, functional
from .base import *  # noqa: F403
from .chance import *  # noqa: F403
from .functional import *  # noqa: F403

__all__ = [*base.__all__, *chance.__all__, *functional.__all__]

_document(globals())
