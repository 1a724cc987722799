"""Programs of Paddle 1.x that mix static and imperative parts."""

import subprocess
import sys

import pytest

pytest.importorskip("libcst")
from paddle_lite_py.migrate.upgrade import upgrade  # noqa: E402

MIXED = """
import numpy as np
import paddle.fluid as fluid
import paddle.fluid.layers as layers
x = fluid.data(name='x', shape=[None, 2], dtype='float32')
y = layers.unsqueeze(layers.sums([x, x]), axes=[1])
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
feeder = fluid.DataFeeder(feed_list=[x], place=fluid.CPUPlace())
print(exe.run(feed=feeder.feed([([1., 2.],)]), fetch_list=[y])[0].tolist())
with fluid.scope_guard(fluid.core.Scope()), fluid.dygraph.guard():
    print(layers.expand(fluid.dygraph.to_variable(np.ones([1])), [3]).numpy().tolist())
"""
FOLLOWS = [
    ("fluid.layers.cos_sim(a, b)", "(paddle.nn.functional.cosine_similarity(a, b).unsqueeze(1))"),
    ("fluid.save_dygraph(a, 'm')", "paddle.base.older.save_dygraph(a, 'm')"),
    ("fluid.dygraph.load_dygraph('m')", "paddle.base.older.load_dygraph('m')"),
    ("fluid.clip.GradientClipByGlobalNorm(1.0)", "paddle.nn.ClipGradByGlobalNorm(1.0)"),
    ("fluid.io.batch(fluid.io.shuffle(r, 9), 4)", "paddle.batch(paddle.reader.shuffle(r, 9), 4)"),
]


def test_a_program_with_static_and_imperative_parts_runs():
    made = upgrade(MIXED)
    assert not [note for note in made.notes if note.todo]
    ran = subprocess.run([sys.executable, "-c", made.text], capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines() == ["[[[2.0, 4.0]]]", "[1.0, 1.0, 1.0]"], ran.stderr


@pytest.mark.parametrize(("old", "new"), FOLLOWS)
def test_calls_become(old, new):
    made = upgrade(f"import paddle.fluid as fluid\nx = {old}\n")
    assert made.text.splitlines()[-1] == f"x = {new}" and not [note for note in made.notes if note.todo]
