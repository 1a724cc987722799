"""Checks of what the user gives an optimizer."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.arrays import is_array
from ..core.interpreter import state
from ..core.traced_number import TracedNumber
from ..eager.tensor import Parameter, Tensor
from ..nn.clip import ClipGradBase
from .lr import LRScheduler


def learning_rate(who: str, value: Any) -> Any:
    """Return a number or scheduler."""
    if isinstance(value, Tensor) and (is_array(value._payload) or not value.shape):
        value = value.item()
    if isinstance(value, LRScheduler | Tensor) or type(value) is TracedNumber:  # the last two are known to a run
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(v, Tensor | dict) for v in value):
        raise TypeError(
            f"{who}: learning_rate is a list of parameters; were the arguments swapped? Write {who}(0.1, "
            "parameters=...)"
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{who}: learning_rate is {value!r:.60}; expected a number or an LRScheduler")
    return float(value)


def grad_clip(who: str, value: Any) -> Any:
    """Return a way to clip, or None."""
    if value is not None and not isinstance(value, ClipGradBase):
        raise TypeError(f"{who}: grad_clip is a {type(value).__name__}; expected one of paddle.nn.ClipGradBy...")
    return value


def parameters(who: str, given: Any) -> list[Any]:
    """Return a list of parameters, or of groups."""
    if given is None and not state.interpreter.is_eager:
        return []
    if given is None:
        raise ValueError(f"{who}: parameters is missing; pass model.parameters()")
    if isinstance(given, Tensor | dict) or not isinstance(given, Iterable):
        raise TypeError(f"{who}: parameters must be a list, got one {type(given).__name__}; write parameters=[...]")
    out = list(given)
    for i, entry in enumerate(out):
        if isinstance(entry, dict) != isinstance(out[0], dict):
            raise TypeError(
                f"{who}: parameters[{i}] is a {type(entry).__name__}, but parameters[0] a {type(out[0]).__name__}"
            )
        if isinstance(entry, dict) and "params" not in entry:
            raise ValueError(f"{who}: the group parameters[{i}] has no 'params'; it has {', '.join(map(repr, entry))}")
        if not isinstance(entry, dict | Tensor):
            raise TypeError(f"{who}: parameters[{i}] is a {type(entry).__name__}; expected a Parameter")
    return out


def group(who: str, given: dict[str, Any], known: Sequence[str]) -> None:
    """Raise for a setting of a group that is nearly one that is known; the user may keep others there."""
    for key in given.keys() - set(known):
        if near := difflib.get_close_matches(key, known, 1, 0.85):
            raise ValueError(f"{who}: a group of parameters has {key!r}; did you mean {near[0]!r}?")


def unique_parameters(who: str, params: list[Any], others: list[Parameter]) -> list[Parameter]:
    """Return the parameters, each once: none may be trained twice in a step."""
    taken = {id(p): p for p in others}
    out: dict[int, Parameter] = {}
    for p in params:
        if not (isinstance(p, Tensor) and p._dense):
            raise TypeError(f"{who}: a group holds a {type(p).__name__}; expected a Parameter")
        if id(p) in taken:
            raise ValueError(f"{who}: parameter '{p.name}' is in two groups")
        if id(p) in out:
            warnings.warn(f"{who}: parameter '{p.name}' is given twice; it is trained once", stacklevel=5)
        out[id(p)] = p  # type: ignore[assignment]
    return list(out.values())


def in_unit(who: str, **values: float) -> None:
    """Numbers in [0, 1)."""
    for name, value in values.items():
        if not isinstance(value, Tensor) and not 0 <= value < 1:
            raise ValueError(f"{who}: {name} is {value}; expected a number in [0, 1)")


def not_negative(who: str, **values: float) -> None:
    """Numbers of at least 0."""
    for name, value in values.items():
        if isinstance(value, int | float) and value < 0:
            raise ValueError(f"{who}: {name} is {value}; expected a number of at least 0")


def not_none(who: str, **values: Any) -> None:
    """Values that must be given."""
    for name, value in values.items():
        if value is None:
            raise ValueError(f"{who}: {name} is None; expected a number")


def loaded(who: str, given: Any, steps: list[Any], params: list[Parameter]) -> None:
    """Warn if nothing of a saved state belongs to these parameters."""
    extra = {"LR_Scheduler", "master_weights"}
    if not steps and set(given) - extra and params:
        warnings.warn(
            f"{who}.set_state_dict: none of the {len(given)} entries (such as '{next(iter(given))}') belongs to these "
            f"parameters (such as '{params[0].name}'); the names must be those of the model that was saved",
            stacklevel=4,
        )
