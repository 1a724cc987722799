"""python -m paddle_lite_py run program.py ...: run a program written for Paddle, with this package as `paddle`."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from .migrate.alias import install_as_paddle


def main(argv: list[str] | None = None) -> None:
    """Run the program that the command line names; `-m` runs a module."""
    parser = argparse.ArgumentParser(prog="python -m paddle_lite_py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a program written for Paddle")
    run.add_argument("-m", dest="module", action="store_true", help="the program is a module, as in python -m")
    run.add_argument("program")
    run.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(argv)
    install_as_paddle()
    sys.argv = [given.program, *given.arguments]
    if given.module:
        sys.path.insert(0, "")
        runpy.run_module(given.program, run_name="__main__", alter_sys=True)
    elif not Path(given.program).exists():
        parser.error(f"there is no file {given.program}")
    else:
        sys.path.insert(0, str(Path(given.program).resolve().parent))
        runpy.run_path(given.program, run_name="__main__")


if __name__ == "__main__":
    main()
