"""Gradients and states that are spread over processes; one process holds them all."""

from __future__ import annotations

import os
from typing import Any

from ..core.no_effect import no_effect
from ..framework import save
from .data_parallel import DataParallel
from .fleet.meta_optimizers.dygraph_optimizer import DygraphShardingOptimizer
from .fleet.meta_parallel.sharding.group_sharded_optimizer_stage2 import GroupShardedOptimizerStage2, StatesGroup
from .fleet.meta_parallel.sharding.group_sharded_stage3 import GroupShardedStage3
from .group import Group, get_rank, init_parallel_env
from .scaling import agreed

__all__ = ["group_sharded_parallel", "save_group_sharded_model"]

LEVELS = ("os", "os_g", "p_g_os")
_TOGETHER = "all gradients travel together, after backward()"


@no_effect(
    buffer_max_size=_TOGETHER, segment_size=_TOGETHER, sync_comm=_TOGETHER, sync_buffers="buffers begin the same",
    offload="states stay on the device", dp_group="give all processes that share the data as `group`",
    exclude_layer="parameters stay whole in any case",
)  # fmt: skip
def group_sharded_parallel(
    model: Any, optimizer: Any, level: str, scaler: Any = None, group: Group | None = None, offload: bool = False,
    sync_buffers: bool = False, buffer_max_size: int = 2**23, segment_size: int = 2**20, sync_comm: bool = False,
    dp_group: Any = None, exclude_layer: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Prepare a model, optimizer and scaler for sharded data parallelism (ZeRO).

    Arguments:
        model: the model.
        optimizer: the optimizer.
        level: what is split over the processes: "os" (optimizer state), "os_g" (gradients too) or "p_g_os" (parameters
            too).
        scaler: a GradScaler; None: none.
        group: the group of processes; None: all.
        offload: see docs/differences.md. Default: False.
        sync_buffers: see docs/differences.md. Default: False.
        buffer_max_size: see docs/differences.md.
        segment_size: see docs/differences.md.
        sync_comm: see docs/differences.md. Default: False.
        dp_group: see docs/differences.md.
        exclude_layer: see docs/differences.md.

    Returns:
        The model, the optimizer and the scaler.

    Raises:
        ValueError: if there is no such level.
        NotImplementedError: for "p_g_os" and an optimizer that looks at whole parameters.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> model = paddle.nn.Linear(1, 1)
        >>> opt = paddle.optimizer.AdamW(parameters=model.parameters())
        >>> group_sharded_parallel(model, opt, "os_g")[0] is model
        True
    """
    if level not in LEVELS:
        raise ValueError(f"group_sharded_parallel: level is {level!r}; expected one of {', '.join(LEVELS)}")
    among = group or init_parallel_env()
    if among.nranks == 1:
        return model, optimizer, scaler
    if scaler is not None:
        agreed(scaler, among)
    if level == "p_g_os":
        return GroupShardedStage3(model, optimizer, among), optimizer, scaler
    if level == "os_g":
        sharded: Any = GroupShardedOptimizerStage2(model.parameters(), optimizer, among)
    else:
        sharded = DygraphShardingOptimizer(optimizer, StatesGroup(among), among)
    return DataParallel(model, group=among), sharded, scaler


def save_group_sharded_model(model: Any, output: str, optimizer: Any = None) -> None:
    """Save a sharded model as model.pdmodel, and its optimizer as model.pdopt, from the first process.

    Arguments:
        model: the model.
        output: the folder.
        optimizer: its optimizer; None: do not save it.
    """
    state = model.state_dict()  # of shares, all processes make the whole together
    if get_rank():
        return
    os.makedirs(output, exist_ok=True)
    save(state, os.path.join(output, "model.pdmodel"))
    if optimizer is not None:
        save(optimizer.state_dict(), os.path.join(output, "model.pdopt"))
