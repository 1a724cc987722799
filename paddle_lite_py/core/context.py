"""The settings of the thread and process that a computation depends on, besides its arguments."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from . import small
from .dtypes import DType, default_dtype
from .interpreter import state

# The platforms that a program is lowered for, if not this machine's; see config.exporting().
lowered_for: ContextVar[tuple[str, ...]] = ContextVar("lowered_for", default=())


class Context(NamedTuple):
    """The settings in force; equal ones give equal results."""

    grad_enabled: bool
    casting: Any  # the rules of mixed precision (casting.Casting)
    default_dtype: DType
    most: int  # elements of an array that NumPy computes; it follows the device and flags
    platforms: tuple[str, ...]  # that a program is lowered for

    def __str__(self) -> str:
        precision = "" if self.casting is None else f", mixed precision {self.casting.level} in {self.casting.dtype}"
        tier = "" if self.most == small.MOST else ", all arrays XLA's"
        return f"gradients {'on' if self.grad_enabled else 'off'}{precision}, {self.default_dtype.name}{tier}"


def context() -> Context:
    """Return the context of this thread. It is read and not kept, so that no setting can change unseen.

    Examples:
        >>> from paddle_lite_py import no_grad
        >>> before = context()
        >>> with no_grad():
        ...     within = context()
        >>> before.grad_enabled, within == before, context() == before
        (True, False, True)
    """
    return Context(state.grad_enabled, state.casting, default_dtype(), small.most(), lowered_for.get())
