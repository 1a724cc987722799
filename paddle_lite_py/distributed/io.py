"""State of static programs in files, under the names that `paddle.distributed.io` has."""

from __future__ import annotations

import importlib
from typing import Any

from ..core.no_effect import AT_HAND, no_effect

# Programs lie above this package.
_STATIC = f"{__name__.partition('.')[0]}.static"


def is_persistable(var: Any) -> bool:
    """Tell whether a variable of a program keeps its value between runs: a parameter or other state.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     w = paddle.static.create_parameter([2], "float32")
        ...     is_persistable(w), is_persistable(w * 2)
        (True, False)
        >>> paddle.disable_static()
    """
    return bool(getattr(var, "persistable", False))


@no_effect(executor=AT_HAND)
def save_persistables(executor: Any, dirname: str, main_program: Any = None, filename: str | None = None) -> None:
    """Save all state of a program from the current scope, for load_persistables() here or in PaddlePaddle.

    Arguments:
        executor: no effect: the state is read from the current scope.
        dirname: folder that gets one file for each variable.
        main_program: the program; None: the default main program.
        filename: name of a single file in the folder for all variables.

    Examples:
        >>> import os, tempfile, paddle_lite_py as paddle
        >>> folder = tempfile.mkdtemp()
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     y = paddle.static.create_parameter([2], "float32", name="w") * 2
        ...     exe = paddle.static.Executor(); _ = exe.run(paddle.static.default_startup_program())
        ...     save_persistables(exe, folder); load_persistables(exe, folder)
        >>> paddle.disable_static()
        >>> os.listdir(folder)
        ['w']
    """
    importlib.import_module(_STATIC).save_vars(executor, dirname, main_program, filename=filename)


@no_effect(executor=AT_HAND)
def load_persistables(executor: Any, dirname: str, main_program: Any = None, filename: str | None = None) -> None:
    """Load all state of a program, into the current scope, from the files of save_persistables().

    Arguments:
        executor: no effect: the state is set in the current scope.
        dirname: folder with one file for each variable.
        main_program: the program; None: the default main program.
        filename: name of a single file in the folder with all variables.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if a file is damaged, or has another number of variables or other shapes.

    Examples:
        >>> import tempfile, paddle_lite_py as paddle
        >>> folder = tempfile.mkdtemp()
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     y = paddle.static.create_parameter([2], "float32") * 2
        ...     exe = paddle.static.Executor(); _ = exe.run(paddle.static.default_startup_program())
        ...     save_persistables(exe, folder, filename="all"); load_persistables(exe, folder, filename="all")
        >>> paddle.disable_static()
    """
    importlib.import_module(_STATIC).load_vars(executor, dirname, main_program, filename=filename)
