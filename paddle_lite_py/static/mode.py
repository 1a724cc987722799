"""Static mode, and the program under construction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core import dtypes
from ..core.arrays import is_array
from ..core.interpreter import state
from ..core.no_effect import no_effect
from ..core.place import set_device
from ..eager.execute import EAGER
from ..eager.tensor import Tensor
from .builder import StaticBuilder
from .current import current
from .program import Program

__all__ = [
    *("Variable", "data", "default_main_program", "default_startup_program", "device_guard", "disable_static"),
    *("enable_static", "name_scope", "program_guard"),
]

current.main, current.startup = Program(), Program()
# Devices that an XLA program may be placed on; its executor decides where it runs.
_DEVICE = re.compile(r"cpu|(gpu|tpu|xpu|npu)(:(\d+|all))?")


def enable_static() -> None:
    """Switch this thread to static mode: ops are appended to the default main program instead of being run.

    Raises:
        RuntimeError: while a function is traced.

    Examples:
        >>> paddle.enable_static()
        >>> x = paddle.static.data("features", [None, 3])
        >>> (x * 2).shape[1], paddle.in_dynamic_mode()
        (3, False)
        >>> paddle.disable_static()
    """
    if isinstance(state.interpreter, StaticBuilder):
        return
    if not state.interpreter.is_eager:
        raise RuntimeError("enable_static: a static function is being traced here; call it outside static functions")
    current.main.recorder.enter()
    state.interpreter = current.main.recorder


def disable_static(place: Any = None) -> None:
    """Switch to dynamic (eager) mode, the default: ops run at once.

    Arguments:
        place: device of new tensors from now on; None: unchanged.

    Raises:
        RuntimeError: while a function is traced.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static(); paddle.disable_static()
        >>> paddle.in_dynamic_mode()
        True
    """
    if place is not None:
        set_device(place)
    if state.interpreter.is_eager:
        return
    if not isinstance(state.interpreter, StaticBuilder):
        raise RuntimeError("disable_static: a static function is being traced here; call it outside static functions")
    current.main.recorder.leave()
    state.interpreter = EAGER


def default_main_program() -> Program:
    """Return the default main program, the one under construction.

    Returns:
        A Program.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     print(paddle.static.default_main_program() is main)
        True
    """
    return current.main


def default_startup_program() -> Program:
    """Return the default startup program, which initializes parameters.

    Returns:
        A Program.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     print(paddle.static.default_startup_program() is startup)
        True
    """
    return current.startup


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Context manager that makes programs the ones under construction.

    Arguments:
        main_program: the main program.
        startup_program: the startup program; None: the default one.

    Raises:
        TypeError: if an argument is not a Program.

    Examples:
        >>> main = Program()
        >>> with program_guard(main):
        ...     default_main_program() is main
        True
    """
    for name, given in (("main_program", main_program), ("startup_program", startup_program)):
        if not isinstance(given, Program) and not (given is None and name == "startup_program"):
            raise TypeError(f"program_guard: {name} is a {type(given).__name__}; expected a paddle.static.Program")
    before = _switch(main_program, startup_program or current.startup)
    try:
        yield
    finally:
        _switch(*before)


def _switch(main: Program, startup: Program) -> tuple[Program, Program]:
    """Make these the default programs, and return those before."""
    before = current.main, current.startup
    if isinstance(state.interpreter, StaticBuilder) and main is not current.main:
        current.main.recorder.leave()
        main.recorder.enter()
        state.interpreter = main.recorder
    current.main, current.startup = main, startup
    return before


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Context manager that adds a prefix to the names of operators and variables.

    Arguments:
        prefix: the prefix.

    Examples:
        >>> enable_static()
        >>> with program_guard(Program()), name_scope("first"):
        ...     y = data("x", [2]) + 1
        >>> disable_static()
        >>> y.name.split("/")[0]
        'first'
    """
    if prefix is not None and not isinstance(prefix, str):
        raise TypeError(f"name_scope: prefix is {prefix!r}; expected a string")
    before, current.prefix = current.prefix, f"{current.prefix}{prefix}/" if prefix else current.prefix
    try:
        yield
    finally:
        current.prefix = before


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Context manager that assigns operators to a stage of a pipeline: "gpu:1" is the second stage.

    It takes effect when fleet trains with `strategy.pipeline`; otherwise a program is compiled as a whole for the
    device of its executor.

    Arguments:
        device: a device such as "gpu:1"; None: unset.

    Raises:
        ValueError: if there is no such kind of device.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.static.device_guard("cpu"):
        ...     y = paddle.ones([1])
        >>> y.item()
        1.0
    """
    if device is not None and not _DEVICE.fullmatch(device):
        raise ValueError(f"device_guard: device is {device!r}; expected 'cpu', 'gpu', 'gpu:0', 'tpu' or 'gpu:all'")
    builder = state.interpreter
    if device is None or not isinstance(builder, StaticBuilder):
        yield
        return
    first = len(builder.root.block.ops)
    yield
    for op in builder.root.block.ops[first:]:
        builder.devices.setdefault(op, device)


@no_effect(lod_level="sequences of unlike lengths are fed padded, with their lengths")
def data(name: str, shape: Any, dtype: Any = None, lod_level: int = 0) -> Tensor:
    """Declare an input of the program under construction, which Executor.run() feeds by its name.

    Arguments:
        name: its name.
        shape: its shape, a list of integers; None or -1 for a dimension of unknown size.
        dtype: its dtype; None: the default dtype.

    Returns:
        A tensor of the program, without data.

    Raises:
        RuntimeError: in dynamic mode.

    Examples:
        >>> enable_static()
        >>> with program_guard(Program()):
        ...     x = data("x", [None, 784], "float32")
        >>> disable_static()
        >>> x.name, x.shape[1], x.dtype
        ('x', 784, paddle.float32)
    """
    if isinstance(shape, str) or not hasattr(shape, "__iter__"):
        raise TypeError(f"data '{name}': shape is {shape!r}; expected a list such as [None, 3]")
    if state.interpreter.is_eager:
        raise RuntimeError(
            f"data '{name}': ops run at once here; call paddle.enable_static() before building a program"
        )
    kind = dtypes.as_dtype(dtype) if dtype is not None else dtypes.default_dtype()
    return current.main.feed(name, list(shape), kind)


class _Kind(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        # In dynamic mode every tensor, as in PaddlePaddle: packages tell tensors from other arguments by it.
        return isinstance(instance, Tensor) and (state.interpreter.is_eager or not is_array(instance._payload))


class Variable(Tensor, metaclass=_Kind):
    """Type for isinstance() checks of tensors of static programs; in dynamic mode, of all tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     x = paddle.static.data("x", [2])
        >>> isinstance(x, paddle.static.Variable)
        True
        >>> paddle.disable_static()
    """
