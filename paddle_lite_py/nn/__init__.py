"""Layers, and what is needed to build and train them."""

from . import clip, functional, initializer, layer, quant, unique_name, utils
from .families import *  # noqa: F403
from .families import _convert_attention_mask, _convert_param_attr_to_list, _ConvNd  # noqa: F401
