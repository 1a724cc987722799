"""`import paddle` as paddle_lite_py, where this folder is on the path: that module takes the place of this one."""

import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path

try:
    from paddle_lite_py.migrate.alias import take_over
except ModuleNotFoundError as e:  # an interpreter of another environment, which may have its own Paddle
    if not (e.name or "").startswith("paddle_lite_py"):  # what it depends on
        raise
    site = Path(__file__).resolve().parent.parent
    spec = PathFinder.find_spec("paddle", [p for p in sys.path if Path(p).resolve() != site])
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(
            f"{site / 'paddle'} is an alias of paddle_lite_py, which is not installed here; remove the alias with "
            "`pip uninstall paddlepaddle`",
            name="paddle_lite_py",
        ) from None
    sys.modules["paddle"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["paddle"])
else:
    take_over()

    def __getattr__(name):  # for a loader around the one of this file, which goes on with this module
        return getattr(sys.modules["paddle"], name)
