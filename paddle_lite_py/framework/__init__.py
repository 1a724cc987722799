"""Saving and loading of nested state, and other public functions of the framework."""

from ..autograd import no_grad
from ..core.argument_docs import document as _document
from ..core.dtypes import get_default_dtype, set_default_dtype
from ..core.flags import get_flags, set_flags
from ..core.param_attr import ParamAttr
from ..core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from ..core.place import current as _current_expected_place
from ..eager.random import seed
from ..eager.tensor import Parameter
from ..eager.tensor import Tensor as Variable
from ..ops.dynamic import is_eager as in_dynamic_mode
from . import core, io
from .background import async_save, clear_async_save_task_queue
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
    "async_save",
    "clear_async_save_task_queue",
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

_document(globals())
