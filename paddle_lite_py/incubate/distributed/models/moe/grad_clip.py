"""Clipping by the norm of gradients of which each process has others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .....core.interpreter import no_grad
from .....core.no_effect import Immaterial, no_effect
from .....distributed.collective import exchanged
from .....distributed.group import Group, ReduceOp
from .....eager.tensor import Tensor
from .....nn.clip import ClipGradBase
from .....ops.convert import to_tensor

__all__ = ["ClipGradForMOEByGlobalNorm"]


class ClipGradForMOEByGlobalNorm(ClipGradBase):
    """Gradients scaled so that their norm, over the experts of all processes, is at most `clip_norm`.

    Arguments:
        clip_norm: the bound.
        is_expert_param_func: of a parameter: whether it belongs to an expert.
        moe_group: who has experts; this process alone by default.
        group_name: accepted for compatibility.

    Raises:
        ValueError: if several processes have experts, and nothing says which parameters those are.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> clip = ClipGradForMOEByGlobalNorm(1.0)
        >>> w = paddle.create_parameter([1], "float32")
        >>> clip([(w, paddle.to_tensor([4.0]))])[0][1].tolist()
        [1.0]
    """

    @no_effect(group_name=Immaterial("the norm is that of the gradients given"))
    def __init__(
        self, clip_norm: float, is_expert_param_func: Callable[[Any], bool] | None = None,
        moe_group: Group | None = None, group_name: str = "default_moe_group",
    ) -> None:  # fmt: skip
        if moe_group is not None and moe_group.nranks > 1 and is_expert_param_func is None:
            raise ValueError(
                f"ClipGradForMOEByGlobalNorm: {moe_group.nranks} processes have experts; give is_expert_param_func, "
                "which says whether a parameter belongs to one"
            )
        self.clip_norm, self.is_expert_param_func, self.moe_group = float(clip_norm), is_expert_param_func, moe_group

    def key(self) -> None:
        """None: it is not a function of one process's gradients."""

    def __call__(self, params_grads: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Return the pairs, scaled."""
        with no_grad():
            limit = to_tensor(self.clip_norm)
            norm = self._squares([(p, g) for p, g in params_grads if g is not None and p.need_clip]).sqrt()
            scale = limit / norm.maximum(limit)
            return [(p, (g * scale).astype(g.dtype) if g is not None and p.need_clip else g) for p, g in params_grads]

    def _squares(self, pairs: Sequence[tuple[Any, Any]]) -> Tensor:
        group, is_expert = self.moe_group, self.is_expert_param_func
        if group is None or group.nranks == 1 or is_expert is None:
            return _sum_of_squares([g for _, g in pairs])
        experts = _sum_of_squares([g for p, g in pairs if is_expert(p)])
        shared = _sum_of_squares([g for p, g in pairs if not is_expert(p)])
        return shared + exchanged("all_reduce", experts, group, ReduceOp.SUM)


def _sum_of_squares(grads: Sequence[Tensor]) -> Tensor:
    total = to_tensor(0.0)
    for g in grads:
        total = total + g.astype("float32").square().sum()
    return total
