"""`core.eager` of PaddlePaddle: the tensor, and what works beneath it."""

from collections.abc import Sequence
from types import SimpleNamespace

from .. import _legacy_C_ops
from ..core.dtypes import DType
from ..eager.tensor import Tensor
from ..migrate.core_names import _run_custom_op, register_saved_tensors_hooks, reset_saved_tensors_hooks

ops = SimpleNamespace(legacy=_legacy_C_ops)
__all__ = [
    "Tensor",
    "_run_custom_op",
    "get_grads_types",
    "ops",
    "register_saved_tensors_hooks",
    "reset_saved_tensors_hooks",
]


def get_grads_types(params: Sequence[Tensor]) -> list[DType]:
    """Return the dtype of the gradient of each parameter that has one.

    Arguments:
        params: tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([2], dtype="float32")
        >>> x.stop_gradient = False
        >>> (x * 2).sum().backward()
        >>> get_grads_types([x])
        [paddle.float32]
    """
    return [p.grad.dtype for p in params if isinstance(p.grad, Tensor)]
