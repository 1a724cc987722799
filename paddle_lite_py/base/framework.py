"""Programs, parameters and modes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ..core.flags import get_flags, set_flags
from ..framework import EagerParamBase, Parameter, Variable, _current_expected_place, in_dynamic_mode
from ..ops.creation import empty
from ..static import (
    Program,
    default_main_program,
    default_startup_program,
    disable_static,
    enable_static,
    program_guard,
)

F = TypeVar("F")


def non_static_only(func: F) -> F:
    """Return the function, which is meant to run eagerly."""
    return func


@contextmanager
def IrGuard() -> Iterator[None]:  # noqa: N802  (the reference's name)
    """Static mode in the block: there is one kind of program."""
    before = in_dynamic_mode()
    enable_static()
    try:
        yield
    finally:
        if before:
            disable_static()


def _create_tensor(type: Any = None, name: str | None = None, shape: Any = None, dtype: Any = None, **more: Any) -> Any:
    """Return a tensor of a shape, whose values do not matter."""
    made = empty(shape or [0], dtype or "float32")
    made.name = name or made.name
    return made


dygraph_only = non_static_only
in_dygraph_mode = in_dynamic_or_pir_mode = in_dynamic_mode
__all__ = [
    "EagerParamBase",
    "Parameter",
    "Program",
    "Variable",
    "_current_expected_place",
    "default_main_program",
    "default_startup_program",
    "dygraph_only",
    "get_flags",
    "in_dygraph_mode",
    "in_dynamic_mode",
    "in_dynamic_or_pir_mode",
    "non_static_only",
    "program_guard",
    "set_flags",
]
