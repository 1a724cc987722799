"""Compile, save and load: joins the converter and the framework."""

import os

import dy2static as _dy2static
from paddle_lite_py.core.argument_docs import document as _document
from paddle_lite_py.core.errors import OWN_DIRS

from .artifact import ArtifactError
from .check import CheckError
from .inspection import ConcreteProgram
from .save_load import save
from .spec import InputSpec
from .static_function import StaticFunction
from .to_static import (
    enable_to_static,
    ignore_module,
    not_to_static,
    set_code_level,
    set_verbosity,
    to_static,
)
from .translated import TranslatedLayer, load
from .unrolled import DataDependentWarning

__all__ = [
    "ArtifactError",
    "CheckError",
    "ConcreteProgram",
    "DataDependentWarning",
    "InputSpec",
    "StaticFunction",
    "TranslatedLayer",
    "enable_to_static",
    "ignore_module",
    "load",
    "not_to_static",
    "save",
    "set_code_level",
    "set_verbosity",
    "to_static",
]

# Their frames are not the user's either.
OWN_DIRS.extend(os.path.dirname(os.path.abspath(f)) + os.sep for f in (__file__, _dy2static.__file__))

_document(globals())
