"""Builds the site: the pages of docs/, the tutorials with what they print, and the reference from the docstrings.

usage: python docs/build.py FOLDER
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import reference
from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NOTEBOOKS = "Notebooks with their outputs. Read them in this order, or run them: most take seconds."
MODULES = "What each public module gives. The search knows every name."
_TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
TUTORIALS = """
    ten_minutes eager_to_static digits characters own_ops fast coming_from shipping server fine_tuning
    architecture_search
    ten_minutes.zh eager_to_static.zh digits.zh
""".split()


def main(folder: Path) -> int:
    """Write the site; what Sphinx complains of is an error."""
    sources = folder.with_name(folder.name + "-sources")
    gather(sources)
    complaints = folder.with_name(folder.name + "-warnings.txt")
    folder.parent.mkdir(parents=True, exist_ok=True)
    kept = str(folder.with_name(folder.name + "-doctrees"))  # what the next build starts from
    options = ["-q", "-b", "html", "-c", str(HERE), "-w", str(complaints), "-d", kept]
    failed = sphinx([*options, str(sources), str(folder)])
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
    pages |= {p: (ROOT / p).read_text().replace("](../docs/", "](../") for p in notebooks}
    pages[Path("tutorials/index.md")] = listing("Tutorials", TUTORIALS, NOTEBOOKS)
    pages |= {Path("api") / f"{name}.rst": text for name, text in reference.pages().items()}
    pages[Path("api/index.md")] = listing("Reference", sorted(reference.modules()), MODULES)
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


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
