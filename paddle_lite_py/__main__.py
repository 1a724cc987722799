"""python -m paddle_lite_py run program.py ...: run a program written for Paddle, with this package as `paddle`.

python -m paddle_lite_py migrate SOURCE: rewrite programs of Paddle 1.x, Paddle 2.x and PyTorch to run here.
python -m paddle_lite_py inspect MODEL [--for v5e:2x2]: show a saved model, or compile it for another machine.

python -m paddle_lite_py serve MODEL ...: answer for saved models over HTTP and gRPC; `kubernetes` writes manifests.

python -m paddle_lite_py convert MODEL --to onnx|stablehlo|tflite|web: a saved program for other runtimes.

python -m paddle_lite_py alias install|remove|status: `import paddle` as this package for everything in an environment.
"""

from __future__ import annotations

import argparse
import os
import sys

from .core.config import DISPATCH_VARIABLE
from .core.extras import install_hint
from .migrate import installed_alias
from .migrate.running import run_program
from .version import summary


def main(argv: list[str] | None = None) -> None:
    """Run the program that the command line names; `-m` runs a module."""
    parser = argparse.ArgumentParser(prog="python -m paddle_lite_py", description=__doc__)
    parser.add_argument("--version", action="version", version=summary())
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a program written for Paddle")
    run.add_argument("-m", dest="module", action="store_true", help="the program is a module, as in python -m")
    run.add_argument("program")
    run.add_argument("arguments", nargs=argparse.REMAINDER)
    migrate = commands.add_parser("migrate", help="rewrite programs of Paddle 1.x, Paddle 2.x and PyTorch")
    migrate.add_argument("source", help="a file or folder")
    migrate.add_argument("-o", "--output", help="where the result goes; by default beside the source, as NAME_migrated")
    inspect = commands.add_parser("inspect", help="show a saved model, or compile it for a machine that is not here")
    inspect.add_argument("model", help="the prefix that was given to jit.save")
    inspect.add_argument(
        "--for", dest="target", metavar="TARGET",
        help="compile it for cpu, h200, a TPU such as v5e:2x2 or v5p:8x8x8, or a GPU that a file describes",
    )  # fmt: skip
    inspect.add_argument("--method", default="forward", help="which method; forward by default")
    inspect.add_argument("--size", type=int, default=1, help="of each unknown dimension; 1 by default")
    inspect.add_argument("--json", metavar="FILE", help="write the report there as well")
    inspect.add_argument("--picture", metavar="FILE", help="draw the report there as well")
    alias = commands.add_parser("alias", help="let `import paddle` give this package in this environment")
    alias.add_argument("action", choices=["install", "remove", "status"])
    for name, text in _TOOLS.items():
        commands.add_parser(name, help=text, add_help=False)
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in _TOOLS:
        return _tool(parser, words[0], words[1:], anew=argv is None)
    given = parser.parse_args(argv)
    if given.command == "migrate":
        return _migrate(parser, given.source, given.output)
    if given.command == "inspect":
        return _inspect(parser, given)
    if given.command == "alias":
        return _alias(parser, given.action)
    run_program(given.program, given.arguments, given.module)


def _alias(parser: argparse.ArgumentParser, action: str) -> None:
    try:
        print(getattr(installed_alias, action)())
    except installed_alias.AliasError as e:
        parser.error(f"alias {action}: {e}")


# Commands with packages, and options, of their own.
_TOOLS = {
    "serve": "answer for saved models over HTTP and gRPC",
    "kubernetes": "manifests that run the server in a cluster",
    "convert": "a saved program for other runtimes",
}


def _tool(parser: argparse.ArgumentParser, name: str, arguments: list[str], anew: bool) -> None:
    if name == "serve" and anew and DISPATCH_VARIABLE not in os.environ:  # JAX read it when the package was imported
        os.environ[DISPATCH_VARIABLE] = "0"
        os.execv(sys.executable, sys.orig_argv)
    try:
        if name == "serve":
            from .serving.command import main as run
        elif name == "kubernetes":
            from .serving.kubernetes import main as run
        else:
            from .convert.command import main as run
    except ModuleNotFoundError as e:
        parser.error(f"{name} needs the package {e.name}: {install_hint('serving')}")
    run(arguments)


def _migrate(parser: argparse.ArgumentParser, source: str, output: str | None) -> None:
    try:
        from .migrate.upgrade import upgrade_files
    except ModuleNotFoundError as e:
        parser.error(f"migrate needs the package {e.name}: {install_hint('migrate')}")
    try:
        upgrade_files(source, output)
    except FileNotFoundError as e:
        parser.error(str(e))


def _inspect(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    from .jit import load

    try:
        model = load(given.model.removesuffix(".json"))
        if given.target is None:
            print(model.text(given.method))
            return
        report = model.compile_for(given.target, method_name=given.method, size=given.size)
    except (AttributeError, ValueError) as e:
        parser.error(str(e))
    print(report)
    if given.json:
        report.to_json(given.json)
    if given.picture and report.compiles:
        report.picture(given.picture)
    if not report.fits:
        sys.exit(1)


if __name__ == "__main__":
    main()
