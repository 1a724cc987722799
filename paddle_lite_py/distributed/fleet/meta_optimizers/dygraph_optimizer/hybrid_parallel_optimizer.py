"""An optimizer for gradients and states that processes share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....core.interpreter import no_grad
from .....core.no_effect import Immaterial, no_effect
from .....eager.tensor import Tensor
from .....nn.clip import ClipGradBase, ClipGradByGlobalNorm
from .....ops.convert import to_tensor
from ....collective import exchanged
from ....group import ReduceOp
from ...current import hybrid_group

__all__ = ["HybridParallelClipGrad", "HybridParallelOptimizer"]

_DONE = Immaterial("backward() has found the gradients")


class HybridParallelClipGrad(ClipGradBase):
    """ClipGradByGlobalNorm, with the norm over the gradients of all processes.

    Arguments:
        clip: what one process would do.
        hcg: who has which parameters.
        split_norm_comm, timers: see docs/differences.md.

    Raises:
        TypeError: if it is another kind of clipping.
    """

    @no_effect(split_norm_comm=Immaterial("the norm is the same"), timers="messages are not timed")
    def __init__(self, clip: Any, hcg: Any, split_norm_comm: bool = False, timers: Any = None) -> None:
        if not isinstance(clip, ClipGradByGlobalNorm):
            raise TypeError(f"HybridParallelClipGrad: clip is a {type(clip).__name__}; expected a ClipGradByGlobalNorm")
        self._clip, self._hcg, self.clip_norm = clip, hcg, clip.clip_norm

    def key(self) -> None:
        """None: it is not a function of one process's gradients."""

    def __call__(self, params_grads: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Return the pairs with gradients scaled so that their norm over all processes is at most clip_norm."""
        with no_grad():
            limit = to_tensor(self.clip_norm)
            norm = self._squares(params_grads).sqrt()
            scale = limit / norm.maximum(limit)
            return [(p, (g * scale).astype(g.dtype) if p.need_clip else g) for p, g in params_grads]

    def _squares(self, pairs: Sequence[tuple[Any, Any]]) -> Tensor:
        """Return the sum of the squares of all gradients; what several processes have is counted once."""
        split, whole = to_tensor(0.0), to_tensor(0.0)
        for p, g in pairs:
            if p.need_clip and getattr(p, "is_firstly_shared", True):
                square = g.astype("float32").square().sum()
                is_split = getattr(p, "is_distributed", False)
                split, whole = (split + square, whole) if is_split else (split, whole + square)
        total = self._sum(split, "model") + whole
        for axis in ("pipe", "sharding"):
            total = self._sum(total, axis)
        return total

    def _sum(self, x: Tensor, axis: str) -> Tensor:
        return exchanged("all_reduce", x, getattr(self._hcg, f"get_{axis}_parallel_group")(), ReduceOp.SUM)


class HybridParallelOptimizer:
    """Optimizer for hybrid parallelism, with gradient clipping by the norm over all processes.

    Arguments:
        optimizer: the optimizer.
        hcg: the topology; None: the current one.
        strategy: no effect: the topology decides.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = HybridParallelOptimizer(paddle.optimizer.SGD(0.5, [paddle.create_parameter([1], "float32")]))
        >>> opt.get_lr()
        0.5
    """

    @no_effect(strategy=Immaterial("the topology says who shares what"))
    def __init__(self, optimizer: Any, hcg: Any = None, strategy: Any = None) -> None:
        self._inner_opt, self._hcg = optimizer, hcg or hybrid_group()
        clip = getattr(optimizer, "_grad_clip", None)
        if self._hcg.nranks > 1 and isinstance(clip, ClipGradByGlobalNorm):
            self._innermost()._grad_clip = HybridParallelClipGrad(clip, self._hcg)

    def _innermost(self) -> Any:
        found = self._inner_opt
        while isinstance(found, HybridParallelOptimizer):
            found = found._inner_opt
        return found

    def step(self) -> None:
        """Update the parameters of this process."""
        self._inner_opt.step()

    @no_effect(loss=_DONE, startup_program=_DONE, parameters=_DONE, no_grad_set=_DONE)
    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> Any:
        """step(), after the user's loss.backward()."""
        innermost = self._innermost()
        pairs = [(p, p.grad) for p in innermost._parameter_list if p.grad is not None]
        self.step()
        return [], pairs

    def __getattr__(self, name: str) -> Any:
        if name in ("_inner_opt", "_hcg"):  # not there yet, while it is copied
            raise AttributeError(name)
        return getattr(self._inner_opt, name)
