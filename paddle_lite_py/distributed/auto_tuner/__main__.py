"""Rank the meshes for a model of a program.

python -m paddle_lite_py.distributed.auto_tuner PROGRAM.py --for v5p:4x4x4 --depth 40

PROGRAM.py has a function make(plan, depth) that gives a static training step and the specs of its arguments, for a
model of so many layers that is made under paddle.targets.abstract() and laid over plan.mesh().
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import sys
from pathlib import Path

from ...core.jax_compat.xla import on_devices
from ...targets import TargetError, target_of
from .plan import plans
from .ranking import rank, table


def main() -> None:
    """Read the arguments, compile, print."""
    parser = argparse.ArgumentParser(
        prog="python -m paddle_lite_py.distributed.auto_tuner",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("program", metavar="PROGRAM.py")
    parser.add_argument("--for", dest="target", required=True, help="a machine, such as v5p:4x4x4 or cpu:8")
    parser.add_argument("--depth", type=int, required=True, help="the layers of the model")
    parser.add_argument("--depths", type=int, nargs=2, default=(3, 6), help="those it is compiled with (default 3 6)")
    parser.add_argument("--mp", type=int, nargs="+", default=(1, 2, 4, 8), help="parts of each layer (default 1 2 4 8)")
    parser.add_argument("--sep", type=int, nargs="+", default=(1,), help="parts of each sequence (default 1)")
    parser.add_argument("--pp", type=int, nargs="+", default=(1,), help="stages of a pipeline (default 1)")
    parser.add_argument("--sharding", type=int, nargs="+", default=(1, 3), help="stages to try (default 1 3)")
    parser.add_argument(
        "--recompute", type=int, nargs="+", default=(0, 1), choices=(0, 1), help="without, with, or both"
    )
    parser.add_argument("--every", action="store_true", help="each plan, not only up to the first that fits of a mesh")
    parser.add_argument("--json", metavar="FILE", help="write what is found")
    args = parser.parse_args()
    try:
        chips = target_of(args.target).devices or 1
        _with_devices(chips)
        make = runpy.run_path(args.program)["make"]
        among = plans(chips, args.mp, args.sharding, [bool(r) for r in args.recompute], args.sep, args.pp)
        found = rank(
            make, args.target, args.depth, tuple(args.depths), among, args.every, lambda c: print(c, flush=True)
        )
    except (TargetError, ValueError, FileNotFoundError) as e:
        sys.exit(f"{parser.prog}: {e}")
    except KeyError:
        sys.exit(f"{parser.prog}: {args.program} has no function make(plan, depth)")
    print(table(found))
    if args.json:
        Path(args.json).write_text(json.dumps([c._asdict() | {"plan": c.plan._asdict()} for c in found], indent=1))
    if not any(c.fits for c in found):
        sys.exit(f"{parser.prog}: none of {len(found)} plans fits {args.target}")


def _with_devices(count: int) -> None:
    """Begin again where there are too few devices: JAX has looked for them when this package was imported."""
    flag = on_devices(count)
    flags = os.environ.get("XLA_FLAGS", "")
    if flag not in flags:
        named = {"XLA_FLAGS": f"{flags} {flag}", "JAX_PLATFORMS": "cpu"}
        os.execve(sys.executable, [sys.executable, "-m", __package__, *sys.argv[1:]], os.environ | named)  # noqa: S606


if __name__ == "__main__":
    main()
