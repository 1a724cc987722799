"""How tensors go from process to process: as arrays."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...ops.convert import to_tensor


def _rebuilt(array: np.ndarray, dtype: str, stop_gradient: bool) -> Tensor:
    return to_tensor(array, dtype, stop_gradient=stop_gradient)


def reduce_tensor(tensor: Tensor) -> Any:
    """Return the form in which a tensor is sent to another process.

    Args:
        tensor: a leaf, or one without gradient.
    """
    return _rebuilt, (tensor.numpy(), tensor.dtype.name, tensor.stop_gradient)


def init_reductions() -> None:
    """Let queues and pipes send tensors."""
    ForkingPickler.register(Tensor, reduce_tensor)


init_reductions()
