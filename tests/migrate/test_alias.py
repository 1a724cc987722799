"""Programs that say `import paddle`, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import house

PROGRAM = """
import sys
import paddle
import paddle.nn.functional as F
from paddle.io import DataLoader
from paddle.nn import Linear
import PIL

net = Linear(4, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
loss = F.cross_entropy(net(paddle.ones([3, 4])), paddle.to_tensor([0, 1, 0]))
loss.backward()
opt.step()
assert paddle.__version__ >= "2.0.0"
assert sys.modules["paddle.nn"] is sys.modules["paddle_lite_py.nn"] is paddle.nn
assert isinstance(net, paddle.nn.layer.Layer)
assert PIL.Image.__name__ == "PIL.Image" and not hasattr(PIL, "no_such")
print("trained", sys.argv[1:], __name__)
"""


def run(*args: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([*sys.path, str(house.ROOT)])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, env=environment)


def test_a_program_runs_unchanged(tmp_path: Path):
    (tmp_path / "helper.py").write_text("VALUE = 3\n")
    (tmp_path / "train.py").write_text("import helper\n" + PROGRAM)
    done = run("-m", "paddle_lite_py", "run", str(tmp_path / "train.py"), "--epochs", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "trained ['--epochs', '2'] __main__\n"


def test_what_is_not_there_is_told(tmp_path: Path):
    (tmp_path / "train.py").write_text("import paddle.no_such_part\n")
    done = run("-m", "paddle_lite_py", "run", str(tmp_path / "train.py"))
    assert "No module named 'paddle.no_such_part'" in done.stderr
    assert "`paddle` is paddle_lite_py in this process" in done.stderr
    assert "there is no file nowhere.py" in run("-m", "paddle_lite_py", "run", "nowhere.py").stderr


def test_another_paddle_is_left_alone(tmp_path: Path):
    (tmp_path / "paddle.py").write_text("")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import paddle, paddle_lite_py as p; p.install_as_paddle()"
    done = run("-c", code, str(tmp_path))
    assert "another `paddle` was imported before" in done.stderr


PACKAGES = """
import paddle
import paddle.tensor.math
import paddle.tensor as tensor
from paddle.amp.auto_cast import amp_state
from paddle.base import core
from paddle.io.dataloader.dataloader_iter import _DataLoaderIterBase
from paddle.nn.layer import common
from paddle.nn.layer.layers import HookRemoveHelper, Layer, in_declarative_mode
from paddle.nn.layer.transformer import MultiHeadAttention, _convert_attention_mask
from paddle.tensor.search import argmax
from paddle.utils.cpp_extension.cpp_extension import CUDA_HOME

assert tensor.math.add is paddle.add and argmax is paddle.argmax
assert Layer is paddle.nn.Layer and common.Embedding is paddle.nn.layer.common.Embedding is paddle.nn.Embedding
assert isinstance(paddle.nn.ReLU().register_forward_post_hook(print), HookRemoveHelper)
assert not in_declarative_mode()
with paddle.amp.auto_cast():
    assert amp_state()
loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.ones([2, 1])]))
assert isinstance(iter(loader), _DataLoaderIterBase)
try:
    from paddle.tensor import no_such_function
except ImportError:
    print("told")
"""


def test_packages_that_are_one_module_here(tmp_path: Path):
    (tmp_path / "train.py").write_text(PACKAGES)
    done = run("-m", "paddle_lite_py", "run", str(tmp_path / "train.py"))
    assert (done.returncode, done.stdout) == (0, "told\n"), done.stderr


def test_children_of_a_program_import_it_as_well(tmp_path: Path):
    (tmp_path / "reader.py").write_text("import paddle.distributed.fleet as fleet; print(fleet.__name__)\n")
    (tmp_path / "train.py").write_text(
        "import subprocess, sys\nsubprocess.run([sys.executable, sys.argv[1]], check=True)\n"
    )
    done = run("-m", "paddle_lite_py", "run", str(tmp_path / "train.py"), str(tmp_path / "reader.py"))
    assert done.stdout.strip() == "paddle_lite_py.distributed.fleet", done.stderr


def test_a_child_of_another_environment_has_its_own(tmp_path: Path):
    (tmp_path / "paddle.py").write_text("mark = 'its own'\n")
    site = house.ROOT / "paddle_lite_py" / "migrate" / "site"
    code = "import sys; sys.modules['paddle_lite_py'] = None; import paddle; print(paddle.mark)"
    for folders, expected in (([site, tmp_path], "its own"), ([site], "pip uninstall paddlepaddle")):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        assert expected in done.stdout + done.stderr


TOOLS = """
import importlib.metadata, importlib.util, inspect, pkgutil
assert importlib.util.find_spec("paddle.nn.functional") and importlib.util.find_spec("paddle.fluid") is None
assert importlib.metadata.version("paddlepaddle") == "3.3.1"
import paddle
assert paddle.__version__ == importlib.metadata.version("paddlepaddle")
assert "paddle.optimizer" in {m.name for m in pkgutil.iter_modules(paddle.__path__, "paddle.")}
assert "class Linear" in pkgutil.get_data("paddle.nn", "common.py").decode()
loader = importlib.util.find_spec("paddle.nn.common").loader
assert "class Linear" in inspect.getsource(paddle.nn.Linear) and "class Linear" in loader.get_source("paddle.nn.common")
assert loader.get_code("paddle.nn.common") and not loader.is_package("paddle.nn.common")
import runpy
try:
    runpy.run_module("paddle.distributed.launch", run_name="__main__", alter_sys=True)
except SystemExit as e:
    print("launched")
"""


def test_tools_of_python_read_it_as_any_package(tmp_path: Path):
    (tmp_path / "tools.py").write_text(TOOLS)
    done = run("-m", "paddle_lite_py", "run", str(tmp_path / "tools.py"))
    assert done.stdout.endswith("launched\n"), done.stderr


def test_a_traceback_begins_at_the_program(tmp_path: Path):
    (tmp_path / "train.py").write_text("import paddle\n\ndef main():\n    raise KeyError('mine')\n\nmain()\n")
    lines = run("-m", "paddle_lite_py", "run", str(tmp_path / "train.py")).stderr.splitlines()
    assert lines[0].startswith("Traceback") and lines[1].strip().startswith(f'File "{tmp_path / "train.py"}", line 6')
    assert lines[-1] == "KeyError: 'mine'" and not any("runpy" in line for line in lines)


def test_setuptools_can_be_imported_after_pip(tmp_path: Path):
    for name in ("pip", "setuptools"):  # of the user's, each of which says that it was imported
        (tmp_path / f"{name}.py").write_text(f"print({name!r})\n")
    (tmp_path / "train.py").write_text("import paddle, pip\nprint('then')\nimport setuptools\n")
    done = run("-m", "paddle_lite_py", "run", str(tmp_path / "train.py"))
    assert done.stdout.split() == ["setuptools", "pip", "then"], done.stderr


# As finders of other packages do, which stand before those that were there and pass questions on.
KEYWORDS = """
import importlib.util
import sys
import paddle

ours = [f for f in sys.meta_path if type(f).__module__.startswith("paddle_lite_py") or "paddle_lite_py" in str(f)]
assert len(ours) > 1, ours
for name in ("paddle.nn.functional", "paddle_lite_py.distributed.fleet", "json"):
    found = [f.find_spec(fullname=name, path=None, target=None) for f in ours]
    for spec in filter(None, found):
        assert spec.loader.is_package(fullname=name) == (spec.submodule_search_locations is not None)
        assert spec.loader.get_source(fullname=name) and spec.loader.get_code(fullname=name)
print("found")
"""


def test_finders_take_the_names_of_the_protocol(tmp_path: Path):
    (tmp_path / "finders.py").write_text(KEYWORDS)
    done = run("-m", "paddle_lite_py", "run", str(tmp_path / "finders.py"))
    assert done.stdout == "found\n", done.stderr
