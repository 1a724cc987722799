"""Builds the documentation: the reference from the docstrings, and the pages of docs/ beside it.

usage: python docs/build.py FOLDER
"""

from __future__ import annotations

import configparser
import re
import sys
import warnings
from pathlib import Path

import pdoc
import pdoc.render
from pdoc.render_helpers import to_html

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
STYLE = "body{max-width:52em;margin:2em auto;font:16px/1.5 sans-serif}pre{background:#f6f6f6;padding:.6em}"


def main(folder: Path) -> None:
    """Write the reference of every installed package, and a page for each Markdown file."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    pdoc.render.configure(docformat="google", include_undocumented=False, footer_text="paddle_lite_py")
    # pdoc walks into subpackages that the package lists openly; naming each finds them all, some twice.
    warnings.filterwarnings("ignore", "The module specification")
    pdoc.pdoc(*config["options"]["packages"].split(), output_directory=folder)
    for page in PAGES:
        (folder / f"{page.stem.lower()}.html").write_text(rendered(page))
    print(f"{folder}/readme.html")


def rendered(page: Path) -> str:
    """A Markdown file as HTML, its links to other pages turned towards their HTML."""
    text = re.sub(r"\]\((?:docs/)?(\w+)\.md\)", lambda m: f"]({m[1].lower()}.html)", page.read_text())
    menu = " · ".join(f'<a href="{p.stem.lower()}.html">{p.stem.lower()}</a>' for p in PAGES)
    reference = '<a href="paddle_lite_py.html">reference</a>'
    head = f'<!doctype html><meta charset="utf-8"><title>{page.stem}</title><style>{STYLE}</style>'
    return f"{head}<nav>{menu} · {reference}</nav>\n{to_html(text)}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
