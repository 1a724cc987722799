"""Exchanges after backward, for programs that call them by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.interpreter import no_grad
from ....core.no_effect import AT_ONCE, no_effect
from ....nn import Layer
from ...data_parallel import sync_params_buffers
from ...experts import add_up, is_apart
from ...gradients import gradient_of, set_gradient
from ...group import Group, ReduceOp
from ...programs import exchanged
from ..current import hybrid_group
from ..meta_optimizers.dygraph_optimizer import HybridParallelOptimizer

__all__ = [
    "broadcast_dp_parameters",
    "broadcast_mp_parameters",
    "broadcast_sharding_parameters",
    "fused_allreduce_gradients",
    "fused_allreduce_gradients_with_group",
    "obtain_optimizer_parameters_list",
    "unwrap_optimizer",
]


def fused_allreduce_gradients(parameter_list: Sequence[Any], hcg: Any = None) -> None:
    """Make gradients means over the processes that share weights, and sums over those with parts of sequences.

    Arguments:
        parameter_list: parameters; those without a gradient are left out.
        hcg: the topology; that in force by default.
    """
    parts = hcg or hybrid_group()
    scale = None if parts.sequence_parts == 1 else parts.sequence_parts / parts.gradient_group.nranks
    fused_allreduce_gradients_with_group(parameter_list, parts.gradient_group, scale=scale)


@no_effect(bucket_size=AT_ONCE)
def fused_allreduce_gradients_with_group(
    parameter_list: Sequence[Any], group: Group, bucket_size: int = 128 << 20, scale: float | None = None
) -> None:
    """Make gradients means over a group.

    Arguments:
        parameter_list: parameters; those without a gradient are left out.
        group: who has gradients of them.
        bucket_size: see docs/differences.md.
        scale: what the sum is multiplied by; None: 1 over the number of processes.
    """
    every = [p for p in parameter_list if gradient_of(p) is not None]
    held = [p for p in every if not is_apart(p)]
    if group.nranks == 1 or not every:
        return
    with no_grad():
        names = ", ".join([p.name for p in held]) if len(held) < 8 else f"{len(held)} parameters"
        op = ReduceOp.AVG if scale is None else ReduceOp.SUM
        found = exchanged("all_reduce of gradients", [gradient_of(p) for p in held], group, op, names)
        for p, grad in zip(held, found, strict=True):
            set_gradient(p, grad if scale is None else grad * scale)
    add_up([p for p in every if is_apart(p)], group.nranks if scale is None else 1 / scale)


@no_effect(fuse_params=AT_ONCE)
def broadcast_mp_parameters(model: Layer, hcg: Any, fuse_params: bool = True) -> None:
    """Give processes of model parallelism one value of what is not split."""
    sync_shared(model, hcg.get_model_parallel_group())


@no_effect(fuse_params=AT_ONCE)
def broadcast_dp_parameters(model: Layer, hcg: Any, fuse_params: bool = True) -> None:
    """Give processes of data parallelism one value of everything."""
    group = hcg.get_data_parallel_group()
    sync_params_buffers(model, group, group.ranks[0])


@no_effect(fuse_params=AT_ONCE)
def broadcast_sharding_parameters(model: Layer, hcg: Any, fuse_params: bool = True) -> None:
    """Give processes that share states one value of everything."""
    group = hcg.get_sharding_parallel_group()
    sync_params_buffers(model, group, group.ranks[0])


def unwrap_optimizer(optimizer: Any, optimizer_instances: Any = ()) -> Any:
    """Return the optimizer that others, of the given classes, were made of."""
    while isinstance(optimizer, optimizer_instances or HybridParallelOptimizer):
        optimizer = optimizer._inner_opt
    return optimizer


def obtain_optimizer_parameters_list(optimizer: Any) -> list[Any]:
    """Return the parameters that an optimizer trains."""
    return list(unwrap_optimizer(optimizer)._parameter_list)


def sync_shared(model: Layer, group: Group) -> None:
    """Give all processes of a group the first one's value of what is not split among them."""
    shared = [
        t for t in (*model.parameters(), *model.buffers()) if not (getattr(t, "is_distributed", False) or is_apart(t))
    ]
    if group.nranks == 1 or not shared:
        return
    with no_grad():
        for tensor, value in zip(shared, exchanged("broadcast of a model", shared, group, 0), strict=True):
            tensor._set_payload(value._payload)
