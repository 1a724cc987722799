"""`paddle.tensor`: the functions on tensors under the reference's module paths; called, it makes a tensor.

Examples:
    >>> import paddle_lite_py as paddle
    >>> paddle.tensor([1, 2]).tolist(), paddle.tensor.add is paddle.add
    ([1, 2], True)
"""

# ruff: noqa: F401

import sys
from types import ModuleType
from typing import Any

from .core.argument_docs import document as _document
from .core.param_attr import ParamAttr
from .eager.tensor import Parameter, RemoveHandle, Tensor, _restore
from .framework import core, in_dynamic_mode
from .linalg import *  # noqa: F403
from .migrate.helpers import MmapStorage
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
    fill_constant,
    set_printoptions,
)
from .nn import create_parameter
from .ops.convert import as_tensor
from .ops.lists import *  # noqa: F403
from .ops.public import *  # noqa: F403
from .ops.top_p import top_p_sampling
from .signal import istft, stft


class _CallableModule(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        return as_tensor(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule

_document(globals())
