"""The optimizer that a strategy asks for, made of the one that is given."""

from __future__ import annotations

from typing import Any

from ....optimizer import Adam, Lamb, Momentum
from ...group import Group
from .dgc_optimizer import DGCMomentumOptimizer
from .localsgd_optimizer import AdaptiveLocalSGDOptimizer, LocalSGDOptimizer

__all__ = ["as_asked"]


def as_asked(optimizer: Any, strategy: Any, group: Group) -> Any:
    """Return the optimizer with what `dgc`, `localsgd`, `adaptive_localsgd` and `lamb` of a strategy say.

    Raises:
        ValueError: if one of them does not fit the optimizer.
    """
    if strategy.lamb:
        optimizer = _lamb(optimizer, strategy.lamb_configs)
    if strategy.dgc:
        return _dgc(optimizer, strategy.dgc_configs, group)
    if strategy.localsgd:
        return LocalSGDOptimizer(optimizer, **{"k_steps": 1, "begin_step": 1, **strategy.localsgd_configs}, group=group)
    if strategy.adaptive_localsgd:
        given = {"init_k_steps": 1, "begin_step": 1, **strategy.adaptive_localsgd_configs}
        return AdaptiveLocalSGDOptimizer(optimizer, **given, group=group)
    return optimizer


def _lamb(optimizer: Any, configs: dict[str, Any]) -> Any:
    if not isinstance(optimizer, Adam):
        raise ValueError(f"DistributedStrategy: lamb is on, but the optimizer is {type(optimizer).__name__}; give Adam")
    excluded = list(configs.get("exclude_from_weight_decay", []))
    return Lamb(
        optimizer._learning_rate, configs.get("lamb_weight_decay", 0.01), parameters=optimizer._parameter_list,
        grad_clip=optimizer._grad_clip, exclude_from_weight_decay_fn=lambda p: any(word in p.name for word in excluded),
    )  # fmt: skip


def _dgc(optimizer: Any, configs: dict[str, Any], group: Group) -> Any:
    if type(optimizer) is not Momentum:
        raise ValueError(
            f"DistributedStrategy: dgc is on, but the optimizer is {type(optimizer).__name__}; give Momentum"
        )
    return DGCMomentumOptimizer(
        optimizer._learning_rate, optimizer._momentum,
        configs.get("rampup_begin_step", 0), configs.get("rampup_step", 1),
        configs.get("sparsity", [0.999]), optimizer._parameter_list, optimizer._use_nesterov,
        regularization=optimizer.regularization, grad_clip=optimizer._grad_clip, group=group,
    )  # fmt: skip
