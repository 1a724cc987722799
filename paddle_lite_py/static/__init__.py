"""The static graph's front door: programs that are built once and run many times."""

from typing import Any as _Any

from ..core.argument_docs import document as _document
from ..custom import py_func
from ..nn import create_parameter
from ..tracing.input_spec import InputSpec
from . import amp, nn
from .backward import append_backward, gradients
from .drawing import draw
from .executor import Executor
from .ipu import IpuCompiledProgram, IpuStrategy, ipu_shard_guard, set_ipu_shard
from .merging import ExponentialMovingAverage, GradientMergeOptimizer
from .metrics import accuracy, auc, ctr_metric_bundle
from .mode import (
    Variable,
    data,
    default_main_program,
    default_startup_program,
    device_guard,
    disable_static,
    enable_static,
    name_scope,
    program_guard,
)
from .program import Program
from .saving import (
    load,
    load_inference_model,
    load_program_state,
    normalize_program,
    save,
    save_inference_model,
    set_program_state,
)
from .scope import Scope, global_scope, scope_guard
from .scope_variable import UninitializedError
from .serialized import (
    deserialize_persistables,
    deserialize_program,
    load_from_file,
    save_to_file,
    serialize_persistables,
    serialize_program,
)
from .strategy import BuildStrategy, CompiledProgram, ExecutionStrategy
from .variable_files import load_vars, save_vars
from .variables import (
    Print,
    WeightNormParamAttr,
    cpu_places,
    create_global_var,
    cuda_places,
    setitem,
    xpu_places,
)


def __getattr__(name: str) -> _Any:
    """Data sets are those of paddle.distributed, which is loaded with the first of them."""
    if name not in ("InMemoryDataset", "QueueDataset"):
        raise AttributeError(f"module 'paddle.static' has no attribute {name!r} here")
    from ..distributed.fleet import dataset

    return getattr(dataset, name)


_document(globals())
