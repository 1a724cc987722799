"""Builds the documentation: the reference from the docstrings, and the pages of docs/ beside it.

usage: python docs/build.py FOLDER
"""

from __future__ import annotations

import functools
import importlib
import re
import sys
import types
import warnings
from pathlib import Path

import pdoc
import pdoc.render
from pdoc.render_helpers import to_html

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
STYLE = (
    "body{max-width:60em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif}"
    "pre{background:#f6f6f6;padding:.6em;overflow:auto}table{border-collapse:collapse;display:block;overflow:auto}"
    "td,th{border:1px solid #ddd;padding:.2em .6em;text-align:left}"
)
# What users name. A page of the reference shows what these give, and not the files that it lies in.
PUBLIC = """
    amp amp.debugging audio audio.features audio.functional autograd callbacks compat compat.nn compat.nn.functional
    device device.cuda distribution fft framework geometric
    hapi hub incubate incubate.autograd incubate.nn incubate.nn.functional incubate.optimizer
    inference io jit linalg metric nn nn.functional nn.initializer nn.utils onnx optimizer optimizer.lr passes
    profiler quantization reader regularizer signal sparse sparse.nn sparse.nn.functional special static static.nn
    sysconfig text utils version vision vision.datasets vision.models vision.ops vision.transforms
""".split()


def main(folder: Path) -> None:
    """Write the reference of every installed package, and a page for each Markdown file."""
    pdoc.render.configure(docformat="google", include_undocumented=False, footer_text="paddle_lite_py")
    # pdoc walks into subpackages that the package lists openly; naming each finds them all, some twice.
    warnings.filterwarnings("ignore", "The module specification")
    pdoc.pdoc(*opened(), "dy2static", output_directory=folder)
    for page in PAGES:
        (folder / f"{page.stem.lower()}.html").write_text(rendered(page))
    print(f"{folder}/readme.html")


def opened() -> list[str]:
    """The public modules, each told to show all that it gives: its names, and the public modules in it."""
    names = ["paddle_lite_py", *(f"paddle_lite_py.{name}" for name in PUBLIC)]
    for name in names:
        module = importlib.import_module(name)
        inner = [n.rpartition(".")[2] for n in names if n.rpartition(".")[0] == name]
        module.__all__ = [*inner, *filter(functools.partial(shown, module), getattr(module, "__all__", dir(module)))]
    return names


def shown(module: types.ModuleType, name: str) -> bool:
    """True for a function or class of the project that a module gives, for dtypes, and for other plain values."""
    value = getattr(module, name, None)
    if name.startswith("_") or isinstance(value, types.ModuleType) or name in ("Any", "TYPE_CHECKING", "annotations"):
        return False
    return not callable(value) or (getattr(value, "__module__", None) or "").startswith("paddle_lite_py")


def rendered(page: Path) -> str:
    """A Markdown file as HTML, its links to other pages turned towards their HTML."""
    text = re.sub(r"\]\((?:docs/)?(\w+)\.md\)", lambda m: f"]({m[1].lower()}.html)", page.read_text())
    menu = " · ".join(f'<a href="{p.stem.lower()}.html">{p.stem.lower()}</a>' for p in PAGES)
    reference = '<a href="paddle_lite_py.html">reference</a>'
    head = f'<!doctype html><meta charset="utf-8"><title>{page.stem}</title><style>{STYLE}</style>'
    return f"{head}<nav>{menu} · {reference}</nav>\n{to_html(text)}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
