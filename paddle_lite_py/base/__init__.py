"""PaddlePaddle's `base` package, for programs that import it: the same objects as in the public modules."""

import sys

from ..core.param_attr import ParamAttr
from ..core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from ..eager.tensor import Tensor
from ..eager.tensor import Tensor as Variable
from ..framework import core, in_dynamic_mode
from ..nn import unique_name
from ..static import (
    Executor,
    Program,
    Scope,
    append_backward,
    default_main_program,
    default_startup_program,
    device_guard,
    global_scope,
    gradients,
    name_scope,
    program_guard,
    scope_guard,
)
from . import dygraph, framework, older

in_dygraph_mode = in_dynamic_mode
# Importable under these names as well.
sys.modules[f"{__name__}.core"] = core
sys.modules[f"{__name__}.unique_name"] = unique_name

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "Executor",
    "ParamAttr",
    "Program",
    "Scope",
    "Tensor",
    "Variable",
    "append_backward",
    "core",
    "default_main_program",
    "default_startup_program",
    "device_guard",
    "dygraph",
    "framework",
    "global_scope",
    "gradients",
    "in_dygraph_mode",
    "in_dynamic_mode",
    "name_scope",
    "older",
    "program_guard",
    "scope_guard",
    "unique_name",
]
