"""Processes that train by themselves, and meet every few steps (Lin et al., Don't Use Large Mini-Batches, 2018)."""

from __future__ import annotations

import math
from typing import Any

from ....core.interpreter import no_grad, state
from ....eager.tensor import Tensor
from ...group import Group, ReduceOp, init_parallel_env
from ...programs import exchanged

__all__ = ["AdaptiveLocalSGDOptimizer", "LocalSGDOptimizer"]


class LocalSGDOptimizer:
    """The optimizer, with all its methods: parameters become means over the processes every `k_steps` steps.

    The model is not wrapped in DataParallel: gradients are those of each process.

    Arguments:
        optimizer: an optimizer.
        k_steps: after how many steps processes meet.
        begin_step: until this one they meet after each.
        group: who meets; all processes by default.

    Raises:
        NotImplementedError: in a program.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = LocalSGDOptimizer(paddle.optimizer.SGD(0.5, [paddle.create_parameter([1], "float32")]), k_steps=4)
        >>> opt.get_lr()
        0.5
    """

    def __init__(self, optimizer: Any, k_steps: int = 1, begin_step: int = 1, group: Group | None = None) -> None:
        self._inner_opt, self.k_steps, self.begin_step = optimizer, k_steps, begin_step
        self._group = group or init_parallel_env()
        self._steps = self._since = 0

    def step(self) -> None:
        """Update the parameters of this process; meet where that is due."""
        if not state.interpreter.at_once:
            raise NotImplementedError(
                f"{type(self).__name__}: step() in a program; call it outside of static functions"
            )
        self._inner_opt.step()
        self._steps, self._since = self._steps + 1, self._since + 1
        if self._steps <= self.begin_step or self._since >= self.k_steps:
            self.meet()

    def meet(self) -> None:
        """Make parameters means over the processes."""
        self._since = 0
        held = [p for p in self._inner_opt._parameter_list if not p.stop_gradient]
        if self._group.nranks == 1:
            return
        with no_grad():
            for p, mean in zip(
                held, exchanged("all_reduce of gradients", held, self._group, ReduceOp.AVG, "all"), strict=True
            ):
                p._set_payload(mean._payload)

    def minimize(self, loss: Tensor, *more: Any) -> Any:
        """step(), after the user's loss.backward(); further arguments are those of other optimizers."""
        pairs = [(p, p.grad) for p in self._inner_opt._parameter_list if p.grad is not None]
        self.step()
        return [], pairs

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


class AdaptiveLocalSGDOptimizer(LocalSGDOptimizer):
    """LocalSGDOptimizer that synchronizes less often as the loss passed to minimize() falls (Wang and Joshi, 2019).

    Arguments:
        optimizer: an optimizer.
        init_k_steps: after how many steps processes meet at the beginning.
        begin_step, group: see LocalSGDOptimizer.
    """

    def __init__(self, optimizer: Any, init_k_steps: int = 1, begin_step: int = 1, group: Group | None = None) -> None:
        super().__init__(optimizer, init_k_steps, begin_step, group)
        self._first: tuple[float, float] | None = None
        self._init_k_steps = init_k_steps

    def minimize(self, loss: Tensor, *more: Any) -> Any:
        """step(), after the user's loss.backward(); the loss says when processes meet next."""
        if self._since == 0:
            mean = loss.detach().clone()
            if self._group.nranks > 1:
                mean = exchanged("all_reduce", [mean], self._group, ReduceOp.AVG)[0]
            value, rate = float(mean), float(self._inner_opt.get_lr())
            self._first = self._first or (value, rate)
            grown = math.sqrt(max(self._first[1] * value, 0.0) / max(rate * self._first[0], 1e-30))
            self.k_steps = max(1, min(16, math.ceil(grown * self._init_k_steps)))
        return super().minimize(loss, *more)
