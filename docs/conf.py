"""Settings of Sphinx for the site, whose sources docs/build.py puts together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reference import escape

project = "paddle_lite_py"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "sphinx_copybutton"]
html_theme = "furo"
html_title = "paddle_lite_py"
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).with_name("_static") / "scorer.js")
exclude_patterns = ["_build"]
suppress_warnings = ["ref.python"]  # a built-in type is named as attributes are, too
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks carry their outputs, by tutorials/execute.py
nb_merge_streams = True
default_role = "code"  # docstrings name things in single backticks
autodoc_typehints = "none"  # the signatures show them
autodoc_class_signature = "mixed"
autodoc_member_order = "alphabetical"
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_custom_sections = [("Shape", "params_style")]
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True


def plain(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text but for `code`: nothing else in them is markup."""
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            lines[i] = escape(line)


def setup(app: Any) -> None:
    """Told of docstrings before their sections are read."""
    app.connect("autodoc-process-docstring", plain, priority=400)
