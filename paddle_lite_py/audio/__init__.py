"""Sound: files, scales, windows, spectra and what is made of them."""

from ..core.argument_docs import document as _document
from . import backends, features, functional
from .files import AudioInfo, info, load, save

__all__ = ["AudioInfo", "backends", "features", "functional", "info", "load", "save"]

_document(globals())
