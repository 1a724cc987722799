"""`core.eager` of PaddlePaddle: the tensor, and what works beneath it."""

from types import SimpleNamespace

from .. import _legacy_C_ops
from ..eager.tensor import Tensor
from ..migrate.core_names import _run_custom_op, register_saved_tensors_hooks, reset_saved_tensors_hooks

ops = SimpleNamespace(legacy=_legacy_C_ops)
__all__ = ["Tensor", "_run_custom_op", "ops", "register_saved_tensors_hooks", "reset_saved_tensors_hooks"]
