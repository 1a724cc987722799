"""The notebook from an eager model to a served artefact runs from top to bottom."""

from __future__ import annotations

import json
import linecache

import house

NOTEBOOK = house.ROOT / "tutorials" / "serving.ipynb"


def test_the_serving_notebook_runs(capsys):
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    names: dict = {"__name__": "notebook"}
    for cell in cells:
        if cell["cell_type"] == "code":
            text, name = "".join(cell["source"]), f"<{cell['id']}>"
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # as IPython does
            exec(compile(text, name, "exec"), names)
    first, _, last = capsys.readouterr().out.splitlines()[0].split()
    assert float(last) < 0.5 * float(first)


def test_the_notebook_is_what_its_script_writes(tmp_path):
    import runpy

    made = runpy.run_path(str(house.ROOT / "tutorials" / "make_notebook.py"))
    cells = [made["cell"](i, text) for i, text in enumerate(made["CELLS"])]
    assert json.loads(NOTEBOOK.read_text())["cells"] == cells
