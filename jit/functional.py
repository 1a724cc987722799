"""Branches and loops given as functions, as the static mode has them: staged, whatever the mode of the caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dy2static
from paddle_lite_py.core.errors import user_frame
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.eager.tensor import Tensor

from . import branches, loops
from .runtime import truth


class _Variable:
    """The state of a statement: one variable, with what structure of tensors it holds."""

    def __init__(self, name: str, value: Any = None) -> None:
        self.name, self.value = name, value

    def put(self, value: Any) -> None:
        """Set it."""
        self.value = value

    def state(self, *bodies: Any) -> Any:
        """It as the state of a statement with these bodies."""
        found = user_frame()
        where = dy2static.Location(found.filename, found.lineno, self.name)

        def put(values: tuple[Any, ...]) -> None:
            (self.value,) = values

        made = dy2static.State((self.name,), lambda: (self.value,), put, where)
        made.bodies = bodies
        return made, where


def cond(pred: Tensor, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Return the result of one of two functions, as a cond operator of the program under construction."""
    result = _Variable("the result of cond")
    state, where = result.state(true_fn, false_fn)
    yes, no = (lambda: result.put(true_fn())), (lambda: result.put(false_fn()))
    branches.if_(mode.interpreter, truth(pred, where), yes, no, state, where)  # type: ignore[arg-type]
    return result.value


def while_loop(test: Callable[..., Any], body: Callable[..., Any], values: list[Any]) -> list[Any]:
    """Return `values` once test(*values) is false, as a while operator of the program under construction."""
    variables = _Variable("loop_vars", list(values))
    state, where = variables.state(test, body)

    def step() -> None:
        new = body(*variables.value)
        variables.put(list(new) if isinstance(new, list | tuple) else [new])

    def going() -> Tensor:
        return truth(test(*variables.value), where)

    loops.while_(mode.interpreter, going, step, state, where)  # type: ignore[arg-type]
    found: list[Any] = variables.value
    return found
