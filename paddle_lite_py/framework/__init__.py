"""Saving and loading of nested state, and what programs ask of the framework beside it."""

from ..autograd import no_grad
from ..dtypes import get_default_dtype, set_default_dtype
from ..flags import get_flags, set_flags
from ..ops.dynamic import is_eager as in_dynamic_mode
from ..param_attr import ParamAttr
from ..place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from ..place import current as _current_expected_place
from ..random import seed
from ..tensor import Parameter
from ..tensor import Tensor as Variable
from . import core, io
from .io import EagerParamBase, load, save

in_dynamic_or_pir_mode = in_dynamic_mode

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "EagerParamBase",
    "ParamAttr",
    "Parameter",
    "Variable",
    "_current_expected_place",
    "core",
    "get_default_dtype",
    "get_flags",
    "in_dynamic_mode",
    "in_dynamic_or_pir_mode",
    "io",
    "load",
    "no_grad",
    "save",
    "seed",
    "set_default_dtype",
    "set_flags",
]
