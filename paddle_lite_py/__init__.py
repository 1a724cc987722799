"""Deep learning with the PaddlePaddle API on JAX and XLA.

Examples:
    >>> import paddle_lite_py as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> (x * x).sum().backward()
    >>> x.grad.tolist()
    [2.0, 4.0]
"""

# ruff: noqa: E402, F401, F403  (JAX is configured before anything else; the facade only re-exports)

import gc as _gc
import importlib
import sys as _sys
from typing import TYPE_CHECKING, Any

from .migrate import module_paths as _module_paths

_module_paths.install()

from .core.quiet import quiet as _quiet

_quiet("jax")

from .core import config, interrupts, processes

config.configure()
interrupts.install()
_joined = processes.join()
# Hundreds of ops are made below, none of them garbage: to look through JAX's objects for some would cost half as much.
_collects = _gc.isenabled()
_gc.disable()

from . import autograd, nn, ops
from .autograd import enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled
from .core.argument_docs import document as _document
from .core.dtypes import (
    bfloat16,
    complex64,
    complex128,
    dtype,
    finfo,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
)
from .core.dtypes import bool_ as bool
from .core.dtypes import complex64 as cfloat
from .core.dtypes import complex128 as cdouble
from .core.dtypes import float16 as half
from .core.dtypes import float32 as float
from .core.dtypes import float64 as double
from .core.dtypes import int16 as short
from .core.dtypes import int32 as int
from .core.dtypes import int64 as long
from .core.param_attr import ParamAttr
from .core.place import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    CustomPlace,
    Place,
    TPUPlace,
    XPUPinnedPlace,
    XPUPlace,
    get_device,
    set_device,
)
from .core.size import Size
from .dispatch.define import add_methods as _add_methods
from .eager import execute
from .eager.random import Generator, get_rng_state, seed, set_rng_state
from .eager.tensor import Tensor
from .nn import create_parameter
from .ops.public import *
from .registry.op import LATE as _LATE
from .version import full_version as __version__  # of the API that is spoken, which programs ask for
from .version import lite_version

_document(globals())


def _brought(name: str, module: str, doc: str) -> Any:
    def method(self: Tensor, *args: Any, **settings: Any) -> Any:
        return getattr(importlib.import_module(f"{__name__}.{module}"), name)(self, *args, **settings)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    return method


# Methods of Tensor defined in modules that are imported on first use.
_add_methods(
    (name, _brought(name, "sparse.tensors", "As a sparse tensor; see paddle.sparse."))
    for name in ("to_sparse_coo", "to_sparse_csr")
)

if TYPE_CHECKING:
    from . import amp, device, fft, framework, io, linalg, metric, optimizer, regularizer, static, utils, version
    from .framework import async_save, clear_async_save_task_queue, load, save

# Imported on first use, so that `import paddle_lite_py` stays close to the cost of `import jax`.
_SUBPACKAGES = (
    "incubate",
    "passes",
    *("amp", "device", "fft", "framework", "io", "jit", "linalg", "metric", "optimizer", "reader", "regularizer"),
    *("inference", "onnx"),
    *(
        "audio",
        "callbacks",
        "compat",
        "distributed",
        "distribution",
        "geometric",
        "hapi",
        "hub",
        "profiler",
        "quantization",
        "signal",
        "sparse",
    ),
    *("base", "common_ops_import", "dataset", "distributed", "_C_ops", "_legacy_C_ops"),
    *("cuda", "special", "static", "sysconfig", "targets", "tensor", "text", "utils", "version", "vision"),
)
# Names of the facade by the module that has them.
_LAZY = {
    "framework": "save load async_save clear_async_save_task_queue",
    "core.flags": "set_flags get_flags",
    "device": """device_guard is_compiled_with_cuda is_compiled_with_xpu is_compiled_with_rocm is_compiled_with_ipu
        is_compiled_with_cinn is_compiled_with_custom_device is_compiled_with_distribute get_cudnn_version Event
        Stream get_default_device get_device_module set_default_device""",
    "migrate.legacy": """e inf nan pi newaxis manual_seed set_printoptions
        disable_signal_handler get_cuda_rng_state set_cuda_rng_state in_dynamic_mode
        enable_compat disable_compat FloatTensor DoubleTensor HalfTensor BFloat16Tensor IntTensor LongTensor
        ShortTensor CharTensor ByteTensor BoolTensor""",
    "nn.lazy": "LazyGuard",
    "static": "enable_static disable_static",
    "amp": "autocast get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_enabled",
    "utils.dlpack": "to_dlpack",
    "audio.windows": "bartlett_window blackman_window hamming_window kaiser_window",
    "linalg": "cholesky eigvalsh matrix_transpose",
    "nn.functional": "conv1d conv2d conv3d layer_norm group_norm adaptive_avg_pool1d",
    "distributed.data_parallel": "DataParallel",
    "hapi": "Model summary flops",
    "reader": "batch",
    "migrate.alias": "install_as_paddle",
    "version": "__git_commit__",
}
_NAMES = {name: module for module, names in _LAZY.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    # Python suggests a similar name if it knows the full list of candidates, but not a longer name.
    names = dir(_sys.modules[__name__]) if len(name) > 3 else []
    longer = [n for n in names if n.startswith(name) and len(n) > len(name) + 2]
    hint = f"; did you mean 'paddle.{longer[0]}'?" if longer else ""
    message = f"module 'paddle' has no attribute {name!r} here{hint}"
    raise AttributeError(message, name=name, obj=_sys.modules[__name__])


def _load_ops() -> None:
    """Import the modules outside `ops` that define ops, since a program in a file may name them."""
    for part in (
        "distributed",
        "distribution",
        "geometric",
        "incubate.nn.functional",
        "metric",
        "signal",
        "sparse.nn",
        "static",
        "text",
        "vision.kernels",
    ):
        importlib.import_module(f"{__name__}.{part}")


_LATE.append(_load_ops)


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBPACKAGES, *_NAMES})


if _joined:
    importlib.import_module(f"{__name__}.distributed.exchange").exchanges()
_module_paths.complete(importlib.import_module(__name__))
if _collects:
    _gc.enable()
