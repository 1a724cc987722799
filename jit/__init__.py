"""Compile, save and load: joins the converter and the framework."""

from .save_load import ArtifactError, TranslatedLayer, load, save
from .spec import InputSpec
from .to_static import StaticFunction, enable_to_static, ignore_module, not_to_static, to_static

__all__ = [
    *("ArtifactError", "InputSpec", "StaticFunction", "TranslatedLayer", "enable_to_static", "ignore_module"),
    *("load", "not_to_static", "save", "to_static"),
]
