"""What `import paddle` finds in the child processes of a program that runs here: it gives its name to this package."""

import importlib
import sys
from pathlib import Path

try:
    from paddle_lite_py.migrate.alias import take_over
except ModuleNotFoundError:  # an interpreter of another environment, which may have a Paddle of its own
    sys.path[:] = [p for p in sys.path if Path(p).resolve() != Path(__file__).resolve().parent]
    del sys.modules["paddle"]
    importlib.import_module("paddle")
else:
    take_over()
