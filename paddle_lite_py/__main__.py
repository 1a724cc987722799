"""python -m paddle_lite_py run program.py ...: run a program written for Paddle, with this package as `paddle`.

python -m paddle_lite_py migrate SOURCE: rewrite programs of Paddle 1.x, Paddle 2.x and PyTorch to run here.
"""

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
    migrate = commands.add_parser("migrate", help="rewrite programs of Paddle 1.x, Paddle 2.x and PyTorch")
    migrate.add_argument("source", help="a file or folder")
    migrate.add_argument("-o", "--output", help="where the result goes; by default beside the source, as NAME_migrated")
    given = parser.parse_args(argv)
    if given.command == "migrate":
        return _migrate(parser, given.source, given.output)
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


def _migrate(parser: argparse.ArgumentParser, source: str, output: str | None) -> None:
    try:
        from .migrate.upgrade import upgrade_files
    except ModuleNotFoundError as e:
        parser.error(f"migrate needs the package {e.name}: pip install {e.name}")
    try:
        upgrade_files(source, output)
    except FileNotFoundError as e:
        parser.error(str(e))


if __name__ == "__main__":
    main()
