"""Traced programs for another machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.arrays import spec_of
from ..core.traced_number import ScalarInputs
from ..tracing.executor import Executable
from .compilation import compile_all
from .machines import target_of
from .portable import Portable, portable
from .report import Report


def compile_traced(
    executable: Executable, specs: Sequence[Any], target: Any, with_grad: bool = False, numbers: ScalarInputs = ()
) -> Report:
    """Compile a traced program for a machine that is not here.

    Arguments:
        specs: of its arguments, which tensors may stand for.
        target: see target_of().
        with_grad: with what its gradient needs of it.
        numbers: the numbers of a call that it takes as inputs.

    Raises:
        TargetError: if nobody knows the target, or its compiler is not installed.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x + 1)
        >>> f.compile_for("cpu", paddle.ones([2])).memory.arguments
        8
    """
    machine = target_of(target)
    machine.require_compiler()
    return compile_all([portable_of(executable, specs, machine.platform, with_grad, numbers)], machine)[0]


def portable_of(
    executable: Executable, specs: Sequence[Any], platform: str, with_grad: bool = False, numbers: ScalarInputs = ()
) -> Portable:
    """Return a traced program with its weights and state, written for a platform.

    Examples:
        >>> callable(portable_of)
        True
    """
    arrays = [spec_of(a) for a in executable.given(specs, numbers)]
    program = executable.traced.program
    names = [program.input_names[i] for i in executable.place]
    donated = tuple(range(len(executable.mutable))) if executable.keeps_no_state else ()
    fn = executable.function_for(arrays, with_grad)
    return portable(fn, arrays, platform, executable.name, names, donated, program)
