"""Every public name says what it is, and the pages' code runs."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import runpy
import types
import warnings

import pytest

import house
import paddle_lite_py as paddle

# What stands in the reference; its builder needs a tool that the tests do not.
BUILDER = ast.parse((house.ROOT / "docs" / "build.py").read_text())
PUBLIC = next(
    n.value.func.value.value for n in BUILDER.body if isinstance(n, ast.Assign) and n.targets[0].id == "PUBLIC"
)
# These build a network of millions of weights, too large to show; the classes behind them have examples.
BUILDERS = "vision.models"


def names(module: types.ModuleType) -> list[str]:
    """Functions and classes of the project that a module gives."""
    found = [n for n in getattr(module, "__all__", dir(module)) if not n.startswith("_")]
    values = {n: getattr(module, n) for n in found}
    return [n for n, v in values.items() if callable(v) and (v.__module__ or "").startswith("paddle_lite_py")]


@pytest.mark.parametrize("name", ["", *PUBLIC.split()])
def test_every_name_is_documented(name: str):
    module = importlib.import_module(f"paddle_lite_py.{name}".rstrip("."))
    assert inspect.getdoc(module)
    docs = {n: (inspect.getdoc(getattr(module, n)) or "").strip() for n in names(module)}
    assert not (bare := [n for n, doc in docs.items() if len(doc) < 8]), f"say what these do: {bare}"
    shown = {n for n in docs if name != BUILDERS or inspect.isclass(getattr(module, n))}
    assert not (lack := [n for n in shown if ">>>" not in docs[n]]), f"show an example of: {lack}"


# -- pages -------------------------------------------------------------------------------------------------------------
DOCS = house.ROOT / "docs"
# Their code has tests of its own: a page of passes needs a compiler, one of errors is full of programs that fail.
ELSEWHERE = {"passes.md", "errors.md", "dy2static.md", "design.md"}
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = [p for p in sorted(DOCS.rglob("*.md")) if p.name not in ELSEWHERE and BLOCK.search(p.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=[str(p.relative_to(DOCS)) for p in PAGES])
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / f"{page.stem}_page.py"
    script.write_text("\n\n".join(BLOCK.findall(page.read_text())))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            runpy.run_path(str(script), run_name="__main__")
    finally:
        paddle.disable_static()


def test_links_between_pages_lead_somewhere():
    pages = [house.ROOT / "README.md", house.ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    lost = []
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text()):
            # The site puts the notebooks and their list beside the pages.
            place = page.parent / target
            if "tutorials/" in target and page.is_relative_to(DOCS):
                place = house.ROOT / target[target.index("tutorials/") :]
            if not place.exists() and place.name != "index.md":
                lost.append(f"{page.relative_to(house.ROOT)}: {target}")
    assert not lost, "\n".join(lost)
