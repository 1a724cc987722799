"""`paddle.tensor`: the functions on tensors under the reference's module paths."""

# ruff: noqa: F401

from .core.param_attr import ParamAttr
from .eager.tensor import Parameter, RemoveHandle, Tensor, _restore
from .framework import core, in_dynamic_mode
from .linalg import *  # noqa: F403
from .migrate.legacy import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
    set_printoptions,
)
from .nn import create_parameter
from .ops.lists import *  # noqa: F403
from .ops.public import *  # noqa: F403
from .signal import istft, stft
