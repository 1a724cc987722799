"""Which experts a row goes to, and with what weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .....distributed.group import Group
from .....eager.tensor import Tensor
from .....nn import Layer
from .....nn import functional as F
from .....nn.common import Linear
from .....ops.random import rand
from .....ops.search import topk as largest
from .utils import _number_count, _random_routing, limit_by_capacity

__all__ = ["BaseGate", "GShardGate", "NaiveGate", "SwitchGate"]


class BaseGate(Layer):
    """The base of gates: a layer whose forward gives weights and numbers of experts, -1 for none.

    Arguments:
        num_expert: how many experts a process has.
        world_size: how many processes have some.
    """

    def __init__(self, num_expert: int, world_size: int) -> None:
        super().__init__()
        self.world_size, self.num_expert, self.tot_expert = world_size, num_expert, world_size * num_expert
        self.loss: Tensor | None = None

    def forward(self, x: Tensor) -> Any:
        """Weights and numbers of experts; to be overridden."""
        raise NotImplementedError("a gate needs a method forward(x)")

    def set_loss(self, loss: Tensor) -> None:
        """Keep what a choice costs that burdens some experts more than others."""
        self.__dict__["loss"] = loss

    def get_loss(self, clear: bool = True) -> Tensor | None:
        """That cost, which is forgotten then."""
        loss = self.__dict__["loss"]
        if clear:
            self.__dict__["loss"] = None
        return loss


class NaiveGate(BaseGate):
    """The experts with the largest scores, and the scores.

    Arguments:
        d_model: numbers in a row.
        num_expert, world_size: see BaseGate.
        topk: how many experts a row goes to.
    """

    def __init__(self, d_model: int, num_expert: int, world_size: int, topk: int = 2) -> None:
        super().__init__(num_expert, world_size)
        self.gate, self.top_k = Linear(d_model, self.tot_expert), topk
        for p in self.gate.parameters():
            p.name = f"gate_{p.name}"

    def forward(self, inp: Tensor, return_all_scores: bool = False) -> Any:
        """Weights and numbers of experts; with `return_all_scores` the scores of all experts too."""
        scores = self.gate(inp)
        value, index = largest(scores, self.top_k, -1)
        return (value, index, scores) if return_all_scores else (value, index)


class _LimitedGate(NaiveGate):
    """A gate of experts that take no more rows than they have room for.

    Arguments:
        capacity: how many rows an expert takes while training and otherwise, by the rows of a process.
        group: who has experts; all processes by default.
    """

    _only = 0

    def __init__(
        self, d_model: int, num_expert: int, world_size: int, topk: int, capacity: Sequence[float], group: Any
    ) -> None:
        if topk != self._only:
            raise ValueError(f"{type(self).__name__}: topk is {topk}; expected {self._only}")
        super().__init__(d_model, num_expert, world_size, topk)
        self.capacity, self.group = capacity, group

    def _limit(self, index: Tensor, rows: int) -> Tensor:
        room = math.ceil(self.capacity[0 if self.training else 1] * rows)
        return limit_by_capacity(index, self.num_expert, self.world_size, room, self.group)[2]


class GShardGate(_LimitedGate):
    """Two experts, the second at random the more often the larger its score is (Lepikhin et al., 2020).

    Arguments:
        d_model, num_expert, world_size, topk: see NaiveGate; topk is 2.
        capacity: rows that an expert takes while training and otherwise, by the rows of a process.
        random_routing: leave out second experts at random.
        group: who has experts; all processes by default.

    Raises:
        ValueError: if topk is not 2.
    """

    _only = 2

    def __init__(
        self, d_model: int, num_expert: int, world_size: int, topk: int = 2, capacity: Sequence[float] = (1.2, 2.4),
        random_routing: bool = True, group: Group | None = None,
    ) -> None:  # fmt: skip
        super().__init__(d_model, num_expert, world_size, topk, capacity, group)
        self.random_routing = random_routing

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """Weights and numbers of experts."""
        value, index, scores = super().forward(x, return_all_scores=True)
        chosen = _number_count(index, self.tot_expert).astype("float32") / scores.shape[0]
        self.set_loss((chosen * F.softmax(scores, 1).mean(0)).mean() * self.num_expert**2)
        index = self._limit(index, x.shape[0])
        if self.random_routing:
            index = _random_routing(index, value, rand([x.shape[0]]))
        return value, index


class SwitchGate(_LimitedGate):
    """One expert, by scores with some noise while training (Fedus et al., 2021).

    Arguments:
        d_model, num_expert, world_size, topk: see NaiveGate; topk is 1.
        switch_eps: the noise.
        capacity: rows that an expert takes while training and otherwise, by the rows of a process.
        group: who has experts; all processes by default.

    Raises:
        ValueError: if topk is not 1.
    """

    _only = 1

    def __init__(
        self, d_model: int, num_expert: int, world_size: int, topk: int = 1, switch_eps: float = 0.1,
        capacity: Sequence[float] = (1.2, 2.4), group: Group | None = None,
    ) -> None:  # fmt: skip
        super().__init__(d_model, num_expert, world_size, topk, capacity, group)
        self.switch_eps = switch_eps

    def forward(self, inp: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """Weights and numbers of experts."""
        scores = self.gate(inp)
        if self.training:
            scores = scores + rand(scores.shape) * (2 * self.switch_eps) + (1.0 - self.switch_eps)
        scores = F.softmax(scores, -1)
        value, index = largest(scores, 1, -1)
        index = self._limit(index, inp.shape[0])
        valid = (index > -1).astype("float32").sum()
        chosen = _number_count(index, self.tot_expert).astype("float32") / valid
        self.set_loss((chosen * (scores.sum(0) / valid)).sum() * self.tot_expert)
        return value, index
