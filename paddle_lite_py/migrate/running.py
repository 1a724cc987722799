"""Running a program written for Paddle as Python runs one, with this package as `paddle`."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from .alias import ALIAS, OWN, install_as_paddle, install_for_children


def run_program(program: str, arguments: Sequence[str] = (), is_module: bool = False) -> None:
    """Run a file, or a module as `python -m` does, with its arguments.

    Raises:
        SystemExit: there is no such file.
    """
    if not is_module and not Path(program).exists():
        sys.exit(f"python -m {OWN} run: there is no file {program}")
    install_as_paddle()
    install_for_children()
    sys.excepthook = _show_from_user_code
    sys.argv = [program, *arguments]
    try:
        if is_module:
            sys.path.insert(0, "")
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(program).resolve().parent))
            runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if end.code:  # as Python does for other errors: the processes of a job end otherwise after one that has failed
            sys.last_value = end
        raise


def _show_from_user_code(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback that begins at the program, without the frames that lead to it."""
    if isinstance(error, ModuleNotFoundError) and str(error.name).startswith(f"{ALIAS}."):
        error.add_note(f"`{ALIAS}` is {OWN} in this process, which has no module of that name")
    start = trace
    while start is not None and _leads_to_program(start):
        start = start.tb_next
    sys.__excepthook__(kind, error.with_traceback(start or trace), start or trace)


def _leads_to_program(trace: TracebackType) -> bool:
    file = trace.tb_frame.f_code.co_filename
    return (
        file == __file__ or file.startswith("<frozen runpy") or file == str(Path(__file__).parents[1] / "__main__.py")
    )
