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

TUTORIALS = house.ROOT / "tutorials"
NOTEBOOKS = sorted(p.name for p in TUTORIALS.glob("*.ipynb"))


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
    ("characters.ipynb", r"4\.\d+ -> [12]\.\d+; uniform guessing: 4\.\d+\n--- temperature 0\.4\nt"),
    ("eager_to_static.ipynb", r"14, 9\] 1 program\n.*15 rows were seen.*TracedValueError numpy\(\) at <cell-13>:3"),
    ("server.ipynb", r"(?:9\d|100)% of the test.*response: (\d) label: \1\n.*16 clients: +\d+ resp.*result=\"ok\""),
    ("coming_from.ipynb", r"line 7: optim\.Adam\(.*'functions, as in JAX': 0\.0"),
    ("shipping.ipynb", r"head\.bias is not found.*\nfine-tuned .*'9\d\.\d%'\].*off by \d\.?\d*e-0[67]"),
    ("own_ops.ipynb", r"15 15 \['weight', 'seen'\].*9\d\.\d% with weights that are one of \[-1\.0, -0\.5, 0\.0"),
    pytest.param(  # as long as all the others
        "architecture_search.ipynb", r"policy: best 0\.[89].*random: best 0\.[789].*weight 30\.0: accuracy 0\.8",
        marks=pytest.mark.repeat,
    ),
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


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_carries_its_outputs_and_shows_each_picture_once(name):
    notebook = json.loads((TUTORIALS / name).read_text())
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    outputs = [o for c in cells for o in c["outputs"]]
    assert all(c["execution_count"] for c in cells), "run tutorials/execute.py"
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]
    assert sum("image/png" in o.get("data", {}) for o in outputs) == 1
    assert not re.search(r"/(home|root|tmp|work)/", "".join("".join(o.get("text", "")) for o in outputs))


@pytest.mark.parametrize("name", [name for name in NOTEBOOKS if ".zh." in name])
def test_a_translation_has_the_code_of_the_original(name):
    code = [
        [c["source"] for c in json.loads((TUTORIALS / n).read_text())["cells"] if c["cell_type"] == "code"]
        for n in (name, name.replace(".zh.", "."))
    ]
    assert code[0] == code[1]


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
