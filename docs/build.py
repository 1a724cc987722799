"""Builds the site: the pages of docs/, the tutorials with what they print, and the reference from the docstrings.

usage: python docs/build.py FOLDER
"""

from __future__ import annotations

import functools
import importlib
import re
import sys
import types
from pathlib import Path

from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# What users name. A page of the reference shows what these give, and not the files that it lies in.
PUBLIC = """
    amp amp.debugging audio audio.features audio.functional autograd callbacks compat compat.nn compat.nn.functional
    device device.cuda distributed distributed.ps distribution fft framework geometric
    hapi hub incubate incubate.autograd incubate.nn incubate.nn.functional incubate.optimizer
    inference io jit linalg metric nn nn.functional nn.initializer nn.utils onnx optimizer optimizer.lr passes
    profiler quantization reader regularizer serving signal sparse sparse.nn sparse.nn.functional special static
    static.nn sysconfig targets text utils version vision vision.datasets vision.models vision.ops vision.transforms
""".split()
TENSOR = "paddle_lite_py.Tensor"  # has a page of its own
NOTEBOOKS = "Notebooks, to be read here with what they print and draw, or run: each takes seconds."
MODULES = "What each public module gives. The search knows every name."
# By module the classes that it gives too, and where they are described.
ELSEWHERE: dict[str, dict[str, str]] = {}
_TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
TUTORIALS = """
    ten_minutes ten_minutes.zh eager_to_static digits characters transformer shipping own_ops fast coming_from
    serving server programs recommender
""".split()


def main(folder: Path) -> int:
    """Write the site; what Sphinx complains of is an error."""
    opened()
    sources = folder.with_name(folder.name + "-sources")
    gather(sources)
    complaints = folder.with_name(folder.name + "-warnings.txt")
    folder.parent.mkdir(parents=True, exist_ok=True)
    failed = sphinx(["-q", "-b", "html", "-c", str(HERE), "-w", str(complaints), str(sources), str(folder)])
    if failed or complaints.read_text().strip():
        print(f"the site has mistakes, see {complaints}")
        return 1
    print(f"{folder}/index.html")
    return 0


def gather(sources: Path) -> None:
    """Put the sources of the site into one folder: only those that have changed are built again."""
    pages = {p.relative_to(HERE): p.read_text() for p in HERE.rglob("*.md")}
    pages[Path("contributing.md")] = (ROOT / "CONTRIBUTING.md").read_text().replace("](docs/", "](")
    named = {name for text in pages.values() for toc in _TOCTREE.findall(text) for name in toc.split()}
    rest = [name for p in sorted(pages) if (name := str(p.with_suffix(""))) != "index" and name not in named]
    pages[Path("index.md")] += toctree(rest, "More") if rest else ""
    notebooks = [Path("tutorials") / f"{name}.ipynb" for name in TUTORIALS]
    pages |= {p: (ROOT / p).read_text() for p in notebooks}
    pages[Path("tutorials/index.md")] = listing("Tutorials", TUTORIALS, NOTEBOOKS)
    pages |= {Path("api") / f"{name}.md": reference(name) for name in modules()}
    pages[Path("api") / f"{TENSOR}.md"] = page(TENSOR, f".. autoclass:: {TENSOR}\n   :members:\n")
    pages[Path("api/index.md")] = listing("Reference", sorted([*modules(), TENSOR]), MODULES)
    for name, text in pages.items():
        place = sources / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists() or place.read_text() != text:
            place.write_text(text)
    for place in sources.rglob("*.*"):
        if place.relative_to(sources) not in pages and place.is_file():
            place.unlink()


def listing(title: str, pages: list[str], said: str) -> str:
    """A page that leads to others."""
    return f"# {title}\n\n{said}\n" + toctree(pages)


def toctree(pages: list[str], caption: str = "") -> str:
    """The list that the menu is made of; with a caption it shows in the menu alone."""
    options = [":maxdepth: 1", *([":hidden:", f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *pages, "```", ""])


def modules() -> list[str]:
    """The public modules by full name."""
    return ["paddle_lite_py", *(f"paddle_lite_py.{name}" for name in PUBLIC), "dy2static"]


def reference(name: str) -> str:
    """The page of a public module."""
    directive = f".. automodule:: {name}\n   :members:\n   :imported-members:\n   :exclude-members: Tensor\n"
    also = [f":py:obj:`{home}.{n}`" for n, home in sorted(ELSEWHERE.get(name, {}).items())]
    return page(name, directive + (f"\nAlso here: {', '.join(also)}.\n" if also else ""))


def page(name: str, directive: str) -> str:
    """A page made of docstrings."""
    return f"# {name}\n\n```{{eval-rst}}\n{directive}```\n"


def opened() -> list[str]:
    """The public modules, each told to show all that it gives: its names, and the public modules in it."""
    names = modules()[:-1]
    for name in names:
        module = importlib.import_module(name)
        inner = [n.rpartition(".")[2] for n in names if n.rpartition(".")[0] == name]
        given = list(filter(functools.partial(shown, module), getattr(module, "__all__", dir(module))))
        module.__all__ = [*inner, *(n for n in given if at_home(module, n))]
    return names


@functools.cache
def homes() -> dict[type, str]:
    """Where each class is described."""
    return {}


def at_home(module: types.ModuleType, name: str) -> bool:
    """False for a class that a module before gives too; others are known by the name that users find them by."""
    value = getattr(module, name)
    if not isinstance(value, type):
        return True
    home = homes().setdefault(value, module.__name__)
    if home != module.__name__:
        ELSEWHERE.setdefault(module.__name__, {})[name] = home
        return False
    if value.__module__.startswith("paddle_lite_py"):
        value.__module__ = home
    return True


def shown(module: types.ModuleType, name: str) -> bool:
    """True for a function or class of the project that a module gives, for dtypes, and for other plain values."""
    value = getattr(module, name, None)
    if name.startswith("_") or isinstance(value, types.ModuleType) or name in ("Any", "TYPE_CHECKING", "annotations"):
        return False
    return not callable(value) or (getattr(value, "__module__", None) or "").startswith("paddle_lite_py")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
