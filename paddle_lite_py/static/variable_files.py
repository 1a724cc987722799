"""Variables of programs in files of their own, or all in one, as PaddlePaddle writes them.

`paddle.static` has `save_vars` and `load_vars`, `paddle.distributed.io` the functions of persistables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.no_effect import AT_HAND, no_effect
from ..jit import artifact
from .current import current
from .program import Program
from .saving import set_program_state, state_by_name

__all__ = ["load_vars", "save_vars"]


@no_effect(executor=AT_HAND)
def load_vars(
    executor: Any,
    dirname: str,
    main_program: Program | None = None,
    vars: Sequence[Any] | None = None,
    predicate: Callable[[Any], bool] | None = None,
    filename: str | None = None,
) -> None:
    """Load variables of a program, into the current scope, from the files of save_vars(), also of PaddlePaddle.

    Arguments:
        executor: no effect: the state is read from the current scope.
        dirname: folder with one file for each variable.
        main_program: the program; None: the default main program.
        vars: variables or their names; None: by predicate.
        predicate: function from a variable to whether to load it; None: all persistable variables.
        filename: name of a single file in the folder with all variables.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if a file is damaged, or has another number of variables or other shapes.

    Examples:
        >>> import tempfile, paddle_lite_py as paddle
        >>> folder = tempfile.mkdtemp()
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        ...     exe = paddle.static.Executor(); _ = exe.run(paddle.static.default_startup_program())
        ...     save_vars(exe, folder); load_vars(exe, folder)
        >>> paddle.disable_static()
    """
    program = main_program or current.main
    names = _chosen(program, vars, predicate)
    if names:
        set_program_state(program, artifact.foreign_files().read_variables(dirname, names, filename))


@no_effect(executor=AT_HAND)
def save_vars(
    executor: Any,
    dirname: str,
    main_program: Program | None = None,
    vars: Sequence[Any] | None = None,
    predicate: Callable[[Any], bool] | None = None,
    filename: str | None = None,
) -> None:
    """Save variables of a program from the current scope, for load_vars() here or in PaddlePaddle.

    Arguments:
        executor: no effect: the state is read from the current scope.
        dirname: folder that gets one file for each variable.
        main_program: the program; None: the default main program.
        vars: variables or their names; None: by predicate.
        predicate: function from a variable to whether to save it; None: all persistable variables.
        filename: name of a single file in the folder for all variables.

    Examples:
        >>> import os, tempfile, paddle_lite_py as paddle
        >>> folder = tempfile.mkdtemp()
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     w = paddle.static.create_parameter([2], "float32", name="kept")
        ...     y = w * 2
        ...     exe = paddle.static.Executor(); _ = exe.run(paddle.static.default_startup_program())
        ...     save_vars(exe, folder)
        >>> paddle.disable_static()
        >>> os.listdir(folder)
        ['kept']
    """
    program = main_program or current.main
    values = state_by_name(program)
    chosen = {n: np.asarray(values[n]) for n in _chosen(program, vars, predicate)}
    artifact.foreign_files().write_variables(dirname, chosen, filename)


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
    save_vars(executor, dirname, main_program, filename=filename)


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
    load_vars(executor, dirname, main_program, filename=filename)


def _chosen(program: Program, vars: Sequence[Any] | None, predicate: Callable[[Any], bool] | None) -> list[str]:
    """Return the names of the given variables, or of those selected by a predicate.

    Raises:
        ValueError: if one is no state of the program.
    """
    known = state_by_name(program)
    if vars is None:
        listed = {v.name: v for v in program.list_vars()}
        return [n for n, value in known.items() if predicate is None or predicate(listed.get(n, value))]
    names = [v if isinstance(v, str) else v.name for v in vars]
    if absent := [n for n in names if n not in known]:
        raise ValueError(f"'{absent[0]}' is no state of the program, which has {', '.join(known) or 'none'}")
    return names
