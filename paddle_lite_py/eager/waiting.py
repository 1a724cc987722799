"""When ops begin to wait: a queue is made for the first one; see deferred.py."""

from __future__ import annotations

from typing import Any

import jax

from ..core.interpreter import state
from ..core.memo import Memo
from ..core.switches import deferral, nan_checks
from ..registry.bound import BoundOp
from .casting import eager_interpreter, is_watched
from .deferred import Deferred
from .execute import begin

# Key: none: flags empty it, and the devices stay for a process.
_served: Memo[None, bool] = Memo("whether ops may wait", 1, tiered=True)


def _is_supported() -> bool:
    """Whether ops may wait here: on CPUs, where XLA's programs are made into what pays there."""
    return not nan_checks.on and jax.default_backend() == "cpu" and jax.local_device_count() == 1 == jax.process_count()


def begun(bound: BoundOp, args: tuple[Any, ...]) -> tuple[Deferred, Any] | None:
    """Return a queue that begins with an op, and the results of that; None if the op is to run at once."""
    if not deferral.on or is_watched():
        return None
    serves = _served.get(None)
    if not (_served.put(None, _is_supported()) if serves is None else serves):
        return None
    queue = Deferred()
    made = queue.defer(bound, args)
    return None if made is None else (queue, made)


def defer_op(bound: BoundOp, args: tuple[Any, ...]) -> Any:
    """Return the results of an op that waits from now on; None if it is to run at once."""
    queue = state.interpreter
    made = queue.waiting(bound, args) if isinstance(queue, Deferred) else None
    return _begin(bound, args) if made is None and state.interpreter is eager_interpreter() else made


def _begin(bound: BoundOp, args: tuple[Any, ...]) -> Any:
    found = begun(bound, args)
    if found is None:
        return None
    state.interpreter = found[0]
    return found[1]


begin[0] = _begin
