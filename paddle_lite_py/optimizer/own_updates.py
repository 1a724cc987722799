"""Optimizers of users that replace or extend the update of one parameter, `_append_optimize_op`, as in PaddlePaddle.

Then parameters are updated one after another, each with its gradient already clipped and decayed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..core.interpreter import no_grad, state
from ..eager.tensor import Tensor
from ..regularizer import L2Decay
from .parameter_group import ParameterGroup
from .unchanged import Unchanged
from .update import Setting


class UpdateBlock:
    """What such an update gets as the block of a program: the guards that PaddlePaddle's updates open do nothing."""

    @property
    def program(self) -> UpdateBlock:
        """The program of the block."""
        return self

    def _optimized_guard(self, _param_and_grads: Any) -> AbstractContextManager[None]:
        return nullcontext()


BLOCK = UpdateBlock()


def pair(param_and_grad: Any) -> tuple[Any, Any]:
    """Return (parameter, gradient), which a parameter group has in a dict with its options."""
    param, grad = param_and_grad["params"] if isinstance(param_and_grad, dict) else param_and_grad
    return param, grad


def place_of(optimizer: Any, param: Any) -> tuple[ParameterGroup, int]:
    """Return the group of a parameter, and its position there."""
    for group in optimizer._groups:
        for i, p in enumerate(group.params):
            if p is param:
                return group, i
    raise ValueError(f"{type(optimizer).__name__}: parameter {param.name!r} is not one of those that it trains")


def replaces(kind: type, base: type) -> bool:
    """Whether a class of a user's takes part in the update of each parameter, or has no rule of its own."""
    names = ("_append_optimize_op", "_create_accumulators", "_finish_update")
    return not hasattr(kind, "_rule") or any(getattr(kind, n) is not getattr(base, n) for n in names)


def update_each(optimizer: Any, group: ParameterGroup, active: list[int], grads: list[Any]) -> None:
    """Call the user's `_append_optimize_op` for each of these parameters, between the steps around it."""
    key, settings = optimizer._settings(group, active)
    clip = optimizer._clip_of(group)
    found = optimizer._auxiliary_vars.get("found_inf")
    if not state.interpreter.is_eager:
        builder: Any = state.interpreter
        builder.assumes(Unchanged.of(optimizer, group, active, (key, settings), clip)._replace(own=(optimizer,)))
    elif found is not None and bool(found):
        return
    params = [group.params[i] for i in active]
    with no_grad():
        before = [] if found is None or state.interpreter.is_eager else [p.clone() for p in params]
        prepared = _prepared(optimizer, group, grads, settings, clip)
        run_each(optimizer, with_options(optimizer, group, [*zip(params, prepared, strict=True)]))
        for param, old in zip(params, before, strict=False):
            param.set_value(found.reshape([]).where(old, param))


def with_options(optimizer: Any, group: ParameterGroup, pairs: list[Any]) -> Any:
    """Return (parameter, gradient) pairs as updates of users get them: of a group in a dict with its options."""
    grouped = bool(optimizer._param_groups) and isinstance(optimizer._param_groups[0], dict)
    options = {"grad_clip": optimizer._grad_clip, **optimizer._default_dict, **group.options}
    return {**options, "params": pairs} if grouped else pairs


def run_each(optimizer: Any, given: Any) -> None:
    """Run the steps of an update of users on pairs as with_options() gives them."""
    grouped = isinstance(given, dict)
    pairs = given["params"] if grouped else given
    params = [p for p, _ in pairs]
    optimizer._create_accumulators(BLOCK, dict(given, params=params) if grouped else params)
    for made in pairs:
        optimizer._append_optimize_op(BLOCK, dict(given, params=made) if grouped else made)
    optimizer._finish_update(BLOCK, given)


def in_rule(optimizer: Any, setting: Setting) -> bool:
    """Whether the rule of this optimizer, and not what comes before the user's update, decays a parameter."""
    return optimizer._l2_in_rule and setting.decay == "l2"


def own_decays(
    optimizer: Any, group: ParameterGroup, grads: list[Any], settings: tuple[Setting, ...], clip: Any
) -> tuple[list[Any], tuple[Setting, ...]]:
    """Return gradients with what regularizers of users add, clipped before where `clip` is given, and what is left."""
    own = [s if s.decay == "own" else s._replace(decay="") for s in settings]
    left = [s._replace(decay="") if s.decay == "own" else s for s in settings]
    return _prepared(optimizer, group, grads, own, clip), tuple(left)


def _prepared(optimizer: Any, group: ParameterGroup, grads: list[Any], settings: Any, clip: Any) -> list[Any]:
    pairs = [(group.params[s.row], g) for s, g in zip(settings, grads, strict=True)]
    with no_grad():
        if clip is not None:
            pairs = clip(pairs)
        return [
            g if in_rule(optimizer, s) else _decayed(p, g, s, optimizer._added_to(p, group.options))
            for (p, g), s in zip(pairs, settings, strict=True)
        ]


def _decayed(param: Any, grad: Tensor, setting: Setting, regularizer: Any) -> Tensor:
    if not setting.decay:
        return grad
    return grad + (regularizer if hasattr(regularizer, "kind") else L2Decay(regularizer))(param, grad, BLOCK)
