"""Weights that only some processes have, such as experts, next to those that all share; and which have copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.interpreter import no_grad
from .gradients import gradient_of, set_gradient
from .group import Group, ReduceOp, init_parallel_env, new_group
from .objects import all_gather_object
from .programs import exchanged

_replicas: dict[tuple[int, ...], Group] = {}


def replicas(group: Group) -> Group:
    """Who has this process's place in the groups of others; all processes ask at once, each for its own group."""
    key = tuple(group.ranks)
    if key not in _replicas:
        everyone: list[list[int]] = []
        all_gather_object(everyone, group.ranks, init_parallel_env())
        groups = sorted({tuple(ranks) for ranks in everyone})
        made = [new_group([ranks[place] for ranks in groups]) for place in range(group.nranks)]
        _replicas[key] = made[group.rank]
    return _replicas[key]


def keep_apart(parameters: Sequence[Any], group: Group) -> None:
    """Note that each process of a group has another value of some parameters."""
    if group.nranks == 1:
        return
    copies = replicas(group)
    for p in parameters:
        p.no_sync, p.replicas = True, copies


def is_apart(parameter: Any) -> bool:
    """Whether others have another value of a parameter."""
    return bool(getattr(parameter, "no_sync", False))


def add_up(parameters: Sequence[Any], count: float) -> None:
    """Make the gradients of parameters kept apart means over so many processes, all of which have used them."""
    with no_grad():
        held = [p for p in parameters if gradient_of(p) is not None]
        for p in held:
            set_gradient(p, gradient_of(p) / count)
        for copies in {id(p.replicas): p.replicas for p in held if hasattr(p, "replicas")}.values():
            mine = [p for p in held if getattr(p, "replicas", None) is copies]
            if copies.nranks > 1:
                found = exchanged(
                    "all_reduce of gradients", [gradient_of(p) for p in mine], copies, ReduceOp.SUM, "experts"
                )
                for p, grad in zip(mine, found, strict=True):
                    set_gradient(p, grad)
