"""Every public name says what it is, and the pages' code runs."""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
import types
import warnings

import pytest

import house
import paddle_lite_py as paddle
from paddle_lite_py.core import argument_docs
from paddle_lite_py.migrate import module_paths

REFERENCE = runpy.run_path(str(house.ROOT / "docs" / "reference.py"))
PUBLIC = REFERENCE["PUBLIC"]


def names(module: types.ModuleType) -> list[str]:
    """Functions and classes of the project that a module gives, not what it lends others once they ask for it."""
    lent = module_paths.places(module_paths.table().get(f"{module.__name__}+", ""))
    found = [n for n in getattr(module, "__all__", dir(module)) if not n.startswith("_") and n not in lent]
    values = {n: getattr(module, n) for n in found}
    return [n for n, v in values.items() if callable(v) and (v.__module__ or "").startswith("paddle_lite_py")]


@pytest.mark.parametrize("name", ["", *PUBLIC])
def test_every_name_is_documented(name: str):
    module = importlib.import_module(f"paddle_lite_py.{name}".rstrip("."))
    assert inspect.getdoc(module)
    docs = {n: (inspect.getdoc(getattr(module, n)) or "").strip() for n in names(module)}
    assert not (bare := [n for n, doc in docs.items() if len(doc) < 8]), f"say what these do: {bare}"
    assert not (lack := [n for n in docs if ">>>" not in docs[n]]), f"show an example of: {lack}"


def undescribed(name: str) -> list[str]:
    """Arguments of the functions and classes of a module that their docstrings say nothing of."""
    module = importlib.import_module(f"paddle_lite_py.{name}".rstrip("."))
    found = []
    for n in names(module):
        value = getattr(module, n)
        section = argument_docs._OWN.search(value.__doc__ or "")
        told = argument_docs.told_of(section[0]) if section else set()
        found += [f"{n}({p.name})" for p in argument_docs.parameters(value) if p.name not in told]
    return found


# A class of dtypes, and a module that can be called, whose docstrings are of their own kinds.
REST = {".dtype(np_dtype)", ".tensor(args)", ".tensor(kwargs)"}


def test_every_argument_is_described():
    lacking = {f"{name}.{what}" for name in ["", *PUBLIC] for what in undescribed(name)}
    assert not lacking - REST, "say what these are, there or in core/arguments.txt"


def test_each_function_and_class_has_one_page_which_tells_its_other_names():
    pages = REFERENCE["pages"]()
    assert ":doc:`Conv2D <paddle_lite_py.nn.Conv2D>`\n     - 2-D convolution" in pages["paddle_lite_py.nn"]
    assert "Pooling layers\n---" in pages["paddle_lite_py.nn"] and "In place\n---" in pages["paddle_lite_py"]
    assert "Also exported as `paddle_lite_py.nn.Conv2d`" in pages["paddle_lite_py.nn.Conv2D"]
    assert "paddle_lite_py.io.DataLoader" in pages and "paddle_lite_py.linalg.norm" not in pages
    linked = {m for text in pages.values() for m in re.findall(r"^   \* - :doc:`\w+ <(.+?)>`", text, re.MULTILINE)}
    assert linked == pages.keys() - set(REFERENCE["modules"]())


def test_a_section_is_completed_and_not_replaced():
    def scaled(x, axis=-1, own=1):
        """Something.

        Arguments:
            own: what it says
                over two lines.

        Returns:
            A tensor.
        """

    def bare(x, *, keepdim=False):
        """Something."""

    for f in (scaled, bare):
        f.__module__ = "paddle_lite_py.ops.made_here"
        argument_docs.complete(f)
    text = inspect.getdoc(scaled)
    own = text.index("own: what it says\n        over two lines.\n\nReturns:")
    assert text.index("x: input tensor.\n    axis: ") < own  # in the order of the signature
    assert "count from the last. Default: -1." in text and text.count("own:") == 1
    assert inspect.getdoc(bare).startswith("Something.\n\nArguments:\n    x: input tensor.\n    keepdim: ")
    before = scaled.__doc__
    argument_docs.complete(scaled)
    assert scaled.__doc__ == before


# -- pages -------------------------------------------------------------------------------------------------------------
DOCS = house.ROOT / "docs"
# Their code has tests of its own: a page of passes needs a compiler, one of errors is full of programs that fail.
ELSEWHERE = {"passes.md", "errors.md", "dy2static.md"}
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


def test_a_page_of_the_design_is_short_has_a_picture_and_is_listed():
    index = (DOCS / "design.md").read_text()
    for page in (DOCS / "design").glob("*.md"):
        lines = page.read_text().splitlines()
        assert len(lines) <= 150, page.name
        assert [line for line in lines if line.startswith("    ")], page.name
        assert f"(design/{page.name})" in index and f"\ndesign/{page.stem}\n" in index, page.name


def test_links_between_pages_lead_somewhere():
    pages = [*house.ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    lost = []
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text()):
            # The site puts the notebooks and their list beside the pages.
            place = page.parent / target
            if "tutorials/" in target and page.is_relative_to(DOCS):
                place = house.ROOT / target[target.index("tutorials/") :]
            # Lists of tutorials and modules are written when the site is built.
            if not place.exists() and target not in ("tutorials/index.md", "api/index.md"):
                lost.append(f"{page.relative_to(house.ROOT)}: {target}")
    assert not lost, "\n".join(lost)
