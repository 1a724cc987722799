"""Programs, parameters and modes."""

from __future__ import annotations

from typing import TypeVar

from ..core.flags import get_flags, set_flags
from ..framework import EagerParamBase, Parameter, Variable, _current_expected_place, in_dynamic_mode
from ..static import Program, default_main_program, default_startup_program, program_guard

F = TypeVar("F")


def non_static_only(func: F) -> F:
    """The function, which is meant to run eagerly."""
    return func


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
