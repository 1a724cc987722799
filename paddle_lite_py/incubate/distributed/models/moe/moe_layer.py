"""A layer of experts, of which each process has some; rows travel to those that they are meant for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....core.interpreter import no_grad, state
from .....core.no_effect import no_effect
from .....distributed.collective import exchanged
from .....distributed.experts import keep_apart
from .....distributed.fleet.layers.mpu.mp_ops import AllToAll, Gathered, Scattered
from .....distributed.fleet.recompute import recompute
from .....distributed.group import Group, ReduceOp, get_rank
from .....eager.tensor import Tensor
from .....nn import Layer, LayerList
from .....ops.creation import zeros
from .....ops.gather import gather
from .....ops.joining import concat
from .....ops.scatter import scatter
from .....ops.search import where
from .gate import BaseGate, GShardGate, NaiveGate, SwitchGate
from .utils import _number_count, places

__all__ = ["MoELayer"]

_GATES = {"naive": (NaiveGate, 2), "gshard": (GShardGate, 2), "switch": (SwitchGate, 1)}


class MoELayer(Layer):
    """The sum of what some experts make of a row, each with the weight that a gate gives it.

    Each process gives its rows to the experts of all, in places of a fixed number for each expert: outside of programs
    as many as are needed (a power of two), in a program as many as there are rows. Parameters of experts differ from
    process to process, which DataParallel and the hybrid optimizer know. All processes make such layers at once.

    Arguments:
        d_model: numbers in a row.
        experts: the experts of this process, as many as any other has.
        gate: a gate, or a dict with its "type" ("naive", "gshard" by default, "switch") and "top_k".
        moe_group: who has experts; this process alone by default.
        mp_group: who has the same rows, and shares the work on them.
        recompute_interval: above 0, backward computes the experts again.
        recompute_ctx: see docs/differences.md.

    Raises:
        ValueError: if there is no such gate.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> experts = [paddle.nn.Linear(4, 4) for _ in range(3)]
        >>> MoELayer(4, experts, {"type": "naive", "top_k": 2})(paddle.ones([2, 5, 4])).shape
        paddle.Size([2, 5, 4])
    """

    @no_effect(recompute_ctx="random numbers are kept in any case")
    def __init__(
        self, d_model: int, experts: Sequence[Layer], gate: Any = None, moe_group: Group | None = None,
        mp_group: Group | None = None, recompute_interval: int = 0, recompute_ctx: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.group, self.mp_group = moe_group or Group.of([get_rank()]), mp_group
        self.world_size, self.num_expert = self.group.nranks, len(experts)
        self.experts = experts if isinstance(experts, LayerList) else LayerList(experts)
        self.recompute_interval, self.d_model = recompute_interval, d_model
        self.gate = gate if isinstance(gate, BaseGate) else self._made(gate or {})
        self.top_k = getattr(self.gate, "top_k", 2)
        keep_apart(self.experts.parameters(), self.group)

    def _made(self, described: dict[str, Any]) -> BaseGate:
        kind = described.get("type", "gshard") or "naive"
        if kind not in _GATES:
            raise ValueError(f"MoELayer: the gate's type is {kind!r}; expected one of {', '.join(_GATES)}")
        made, topk = _GATES[kind]
        limited = {} if kind == "naive" else {"group": self.group}
        return made(self.d_model, self.num_expert, self.world_size, topk=described.get("top_k", topk), **limited)

    def forward(self, inp: Tensor) -> Tensor:
        """Return the sums, of the shape of the input."""
        rows = inp.reshape([-1, self.d_model])
        shared = self.mp_group is not None and self.mp_group.nranks > 1
        own = Scattered.apply(rows, self.mp_group, 0) if shared else rows
        value, index = self.gate(own)
        out = self._summed(own, value.reshape([-1, self.top_k]), index.reshape([-1, self.top_k]))
        return (Gathered.apply(out, self.mp_group, 0) if shared else out).reshape(inp.shape)

    def _summed(self, rows: Tensor, value: Tensor, index: Tensor) -> Tensor:
        total = self.num_expert * self.world_size
        room = self._room(index, total, rows.shape[0])
        with no_grad():
            at = index * room + places(index, total)
            at = where(index < 0, at * 0 + total * room, at).flatten()  # a last row for what goes nowhere
        each = rows.unsqueeze(1).expand([-1, self.top_k, -1]).reshape([-1, self.d_model])
        placed = scatter(zeros([total * room + 1, self.d_model], rows.dtype), at, each)
        made = self._of_experts(placed[: total * room], room)
        back = gather(concat([made, zeros([1, self.d_model], made.dtype)], 0), at)
        return (back.reshape([-1, self.top_k, self.d_model]) * value.unsqueeze(-1).astype(back.dtype)).sum(1)

    def _room(self, index: Tensor, total: int, most: int) -> int:
        """Places for the rows that a process has for an expert."""
        if not state.interpreter.at_once:
            return most
        with no_grad():
            needed = _number_count(index, total).max()
            if self.world_size > 1:
                needed = exchanged("all_reduce", needed, self.group, ReduceOp.MAX)
        return 1 << max(int(needed.item()) - 1, 0).bit_length()

    def _of_experts(self, placed: Tensor, room: int) -> Tensor:
        """Apply the experts of all processes to rows, which are ordered by expert."""
        apart = [self.world_size, self.num_expert, room, self.d_model]
        x = placed.reshape(apart)
        if self.world_size > 1:
            x = AllToAll.apply(x, self.group)
        made = []
        for i, expert in enumerate(self.experts):
            given = x[:, i].reshape([-1, self.d_model])
            made.append(recompute(expert, given) if self.recompute_interval else expert(given))
        out = concat([m.reshape([self.world_size, 1, room, self.d_model]) for m in made], 1)
        if self.world_size > 1:
            out = AllToAll.apply(out, self.group)
        return out.reshape(placed.shape)
