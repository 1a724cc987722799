"""Layers, and what is needed to build and train them."""

from ..core.argument_docs import document as _document
from . import clip, families, functional, init, initializer, layer, quant, unique_name, utils
from .families import *  # noqa: F403
from .families import _convert_attention_mask, _convert_param_attr_to_list, _ConvNd  # noqa: F401
from .utils import spectral_norm  # noqa: F401

__all__ = [name for name in dir(families) if not name.startswith("_") and isinstance(getattr(families, name), type)]
__all__ += ["functional", "initializer", "quant", "utils"]

_document(globals())
