"""An optimizer for gradients and states that processes share. Here it has them all."""

from __future__ import annotations

from typing import Any

__all__ = ["HybridParallelOptimizer"]


class HybridParallelOptimizer:
    """The optimizer, with all its methods.

    Args:
        optimizer: an optimizer.
        hcg, strategy: accepted for compatibility.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = HybridParallelOptimizer(paddle.optimizer.SGD(0.5, [paddle.create_parameter([1], "float32")]))
        >>> opt.get_lr()
        0.5
    """

    def __init__(self, optimizer: Any, hcg: Any = None, strategy: Any = None) -> None:
        self._inner_opt = optimizer

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":  # not there yet, while it is copied
            raise AttributeError(name)
        return getattr(self._inner_opt, name)
