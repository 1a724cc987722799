"""Deep learning with the PaddlePaddle API on JAX and XLA.

Examples:
    >>> import paddle_lite_py as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> (x * x).sum().backward()
    >>> x.grad.tolist()
    [2.0, 4.0]
"""

from . import config

config.configure()

from . import autograd, eager, fft, linalg, ops  # noqa: E402
from .autograd import enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled  # noqa: E402
from .dtypes import (  # noqa: E402
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
)
from .dtypes import bool_ as bool  # noqa: E402
from .ops.binary import *  # noqa: E402, F403
from .ops.convert import *  # noqa: E402, F403
from .ops.creation import *  # noqa: E402, F403
from .ops.decomposition import inverse  # noqa: E402
from .ops.diagonals import *  # noqa: E402, F403
from .ops.gather import *  # noqa: E402, F403
from .ops.inplace import *  # noqa: E402, F403
from .ops.joining import *  # noqa: E402, F403
from .ops.linalg import *  # noqa: E402, F403
from .ops.logic import *  # noqa: E402, F403
from .ops.manipulation import *  # noqa: E402, F403
from .ops.math import *  # noqa: E402, F403
from .ops.norms import *  # noqa: E402, F403
from .ops.random import *  # noqa: E402, F403
from .ops.reduction import *  # noqa: E402, F403
from .ops.scatter import *  # noqa: E402, F403
from .ops.search import *  # noqa: E402, F403
from .ops.slicing import *  # noqa: E402, F403
from .ops.statistics import *  # noqa: E402, F403
from .ops.unary import *  # noqa: E402, F403
from .place import CPUPlace, CUDAPinnedPlace, CUDAPlace, Place, TPUPlace, get_device, set_device  # noqa: E402
from .random import Generator, get_rng_state, seed, set_rng_state  # noqa: E402
from .tensor import Tensor, install_methods  # noqa: E402

install_methods()

from . import framework, io, metric, nn, optimizer, regularizer  # noqa: E402
from .framework import load, save  # noqa: E402
from .nn import create_parameter  # noqa: E402
from .param_attr import ParamAttr  # noqa: E402

__version__ = "0.1.0"

import paddle_lite_py.jit as jit  # noqa: E402
