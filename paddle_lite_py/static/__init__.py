"""The static graph's front door: programs that are built once and run many times."""

from ..custom import py_func
from ..input_spec import InputSpec
from .backward import append_backward, gradients
from .executor import Executor
from .mode import (
    Variable,
    data,
    default_main_program,
    default_startup_program,
    device_guard,
    disable_static,
    enable_static,
    name_scope,
    program_guard,
)
from .program import Program
from .scope import Scope, global_scope, scope_guard
from .stored import UninitializedError
from .strategy import BuildStrategy, CompiledProgram, ExecutionStrategy
