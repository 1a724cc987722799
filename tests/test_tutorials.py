"""The notebooks and scripts that teach run from top to bottom."""

from __future__ import annotations

import json
import linecache
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import house
import paddle_lite_py as paddle

TUTORIALS = house.ROOT / "tutorials"
SCRIPTS = {
    "serving.ipynb": "make_notebook.py",
    "programs.ipynb": "make_program_notebook.py",
    "ten_minutes.ipynb": "make_first_notebook.py",
    "ten_minutes.zh.ipynb": "make_first_zh_notebook.py",
    "digits.ipynb": "make_digits_notebook.py",
    "characters.ipynb": "make_characters_notebook.py",
    "eager_to_static.ipynb": "make_static_notebook.py",
    "coming_from.ipynb": "make_coming_notebook.py",
    "server.ipynb": "make_server_notebook.py",
    "transformer.ipynb": "make_transformer_notebook.py",
    "shipping.ipynb": "make_shipping_notebook.py",
    "own_ops.ipynb": "make_own_notebook.py",
    "fast.ipynb": "make_fast_notebook.py",
    "recommender.ipynb": "make_recommender_notebook.py",
}


def run_notebook(name: str) -> dict:
    """Run the cells of a notebook in order; what its variables are at the end."""
    cells = json.loads((TUTORIALS / name).read_text())["cells"]
    names: dict = {"__name__": "notebook"}
    for cell in cells:
        if cell["cell_type"] == "code":
            text, name = "".join(cell["source"]), f"<{cell['id']}>"
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # as IPython does
            exec(compile(text, name, "exec"), names)
    return names


@pytest.mark.parametrize(("name", "said"), [
    ("ten_minutes.ipynb", r"eager \d+ us, compiled \d+ us a step\n9\d\.\d% of the points"),
    ("digits.ipynb", r"Epoch 4/4\n.*\n.*'acc': 0\.9\d+.*\n6 evaluations, the best 0\.9"),
    ("characters.ipynb", r"4\.\d+ -> [12]\.\d+; guessing blindly would give 4\.\d+\n--- warmth 0\.4\nt"),
    ("eager_to_static.ipynb", r"14, 9\] 1 program\n.*15 rows were seen.*TracedValueError numpy\(\) at <cell-13>:3"),
    ("server.ipynb", r"(?:9\d|100)% right on.*curl says (\d) and it is \1\n.*16 clients: +\d+ answers.*result=\"ok\""),
    ("coming_from.ipynb", r"line 7: optim\.Adam\(.*'functions, as in JAX': 0\.0"),
    ("transformer.ipynb", r"-> 0\.0\d+\n.*'best of four': '9\d\.\d%', 'among the four': '(9\d|100)\.\d%'"),
    ("shipping.ipynb", r"head\.bias is not found.*\ntuned .*'9\d\.\d%'\].*off by \d\.?\d*e-0[67]"),
    ("own_ops.ipynb", r"15 15 \['weight', 'seen'\].*9\d\.\d% with weights that are one of \[-1\.0, -0\.5, 0\.0"),
    ("recommender.ipynb", r"^1 [01] 1 1\d+ .*alone \[0\.\d+, .*geo \[.*'serverlog\.0', 'workerlog\.0'"),
    ("fast.ipynb", r"<cell-3>:23  loss\.backward\(\).*1 traces, 1 programs.*the same: True.*'bfloat16, compiled'"),
])  # fmt: skip
def test_a_notebook_runs_and_ends_in_a_picture(name, said, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    fig = run_notebook(name)["fig"]
    assert re.search(said, capsys.readouterr().out, re.DOTALL)
    fig.canvas.draw()
    shown = np.asarray(fig.canvas.buffer_rgba())
    assert len(np.unique(shown.reshape(-1, 4), axis=0)) > 100 and all(ax.has_data() for ax in fig.axes)
    matplotlib.pyplot.close(fig)


def test_the_serving_notebook_runs(capsys):
    run_notebook("serving.ipynb")
    first, _, last = capsys.readouterr().out.splitlines()[0].split()
    assert float(last) < 0.5 * float(first)


def test_the_notebook_on_static_programs_runs(capsys):
    try:
        run_notebook("programs.ipynb")
    finally:
        paddle.disable_static()
    out = capsys.readouterr().out
    first, last = re.search(r"([\d.]+) -> ([\d.]+)", out).groups()
    assert float(last) < 0.5 * float(first)
    assert "['conv2d', 'relu', 'max_pool', 'flatten', 'matmul', 'add']" in out
    assert "'label' is missing" in out and "is declared as float32[-1, 1, 8, 8]" in out
    assert all(float(n) < 1e-4 for n in re.findall(r"off by ([\d.e+-]+)", out))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_notebook_is_what_its_script_writes(name, monkeypatch):
    import runpy

    monkeypatch.syspath_prepend(str(TUTORIALS))
    cell = runpy.run_path(str(TUTORIALS / "make_notebook.py"))["cell"]
    made = runpy.run_path(str(TUTORIALS / SCRIPTS[name]))
    cells = [cell(i, text) for i, text in enumerate(made["CELLS"])]
    assert json.loads((TUTORIALS / name).read_text())["cells"] == cells


def test_the_tutorial_of_passes_runs(tmp_path):
    command = [sys.executable, str(house.ROOT / "tutorials" / "passes.py"), str(tmp_path)]
    done = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "['transpose', 'conv2d', 'relu', 'conv2d', 'relu', 'transpose', 'adaptive_avg_pool'" in done.stdout
    off = [float(n) for n in re.findall(r"off by ([\d.e+-]+)", done.stdout)]
    assert len(off) == 5 and max(off) < 0.05 and max(off[0], off[3], off[4]) < 1e-5
    assert (tmp_path / "net.json").exists() and "conv2d" in (tmp_path / "before.dot").read_text()


def test_the_page_on_passes_runs(tmp_path, monkeypatch):
    text = (house.ROOT / "docs" / "passes.md").read_text()
    (kernel,) = re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)
    (tmp_path / "cube.cc").write_text(kernel)
    monkeypatch.setenv("PADDLE_EXTENSION_DIR", str(tmp_path))
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    if shutil.which("g++") is None:
        blocks = [b for b in blocks if "cpp_extension" not in b]
    (tmp_path / "page.py").write_text("\n".join(blocks))
    done = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "fold_batch_norm: 5 ->" in done.stdout and "+  %" in done.stdout
