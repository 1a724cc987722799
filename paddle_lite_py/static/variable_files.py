"""Variables of programs in files of their own, or all in one, as PaddlePaddle writes them: `save_vars`, `load_vars`."""

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
    """Set state of a program to what save_vars() wrote, here or in PaddlePaddle, in the scope in force.

    Arguments:
        dirname: the folder, with a file for each variable.
        main_program: the default main program if None.
        vars: the variables, or their names.
        predicate: tells which variables, where vars is None; all that are state if both are.
        filename: the file in that folder which has them all.

    Raises:
        FileNotFoundError: if a file is not there.
        ValueError: if a file is damaged, or has another number of variables, or one of another shape.

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
    """Write state of a program, as it is in the scope in force, for load_vars() here or in PaddlePaddle.

    Arguments:
        dirname: the folder, which gets a file for each variable.
        main_program: the default main program if None.
        vars: the variables, or their names.
        predicate: tells which variables, where vars is None; all that are state if both are.
        filename: the file in that folder which gets them all.

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


def _chosen(program: Program, vars: Sequence[Any] | None, predicate: Callable[[Any], bool] | None) -> list[str]:
    """The names of the variables that are given, or told by a predicate.

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
