"""Trees printed and read again are the same: a sample of the standard library here, all of it as a script."""

from __future__ import annotations

import ast
import sysconfig
import warnings
from pathlib import Path

import gast
import pytest

import dy2static
from dy2static import printer
from dy2static.printer import source_of
from dy2static.trees import room_for_trees

LIBRARY = Path(sysconfig.get_path("stdlib"))
SAMPLE = [*sorted(LIBRARY.glob("*.py"))[::9], *sorted((LIBRARY / "test").glob("test_*.py"))[::60]]


def files() -> list[Path]:
    """Every file of the standard library."""
    return [path for path in sorted(LIBRARY.rglob("*.py")) if "site-packages" not in path.parts]


def round_trip(path: Path) -> bool | None:
    """Whether the file's tree survives printing; None for a file that is no Python on purpose."""
    with warnings.catch_warnings(), room_for_trees():
        warnings.simplefilter("ignore")  # invalid escapes in the library's own tests
        try:
            text = path.read_text(encoding="utf-8")
            tree = ast.dump(ast.parse(text))
        except (SyntaxError, ValueError):
            return None
        return ast.dump(ast.parse(source_of(gast.ast_to_gast(ast.parse(text))))) == tree


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
def test_round_trip(path):
    assert round_trip(path) is not False


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, /, b, c, d=3, *g, e=4, **h):\n    pass",
        "match p:\n    case {'k': [1, *_], **rest} if rest:\n        pass\n    case C(x=0) | None as n:\n        pass",
        "try:\n    pass\nexcept* (A, B) as e:\n    pass",
        'x = f"{a!r:>{width}} {{}} {b=}"',
    ],
)
def test_what_astor_lacks(text):
    assert ast.dump(ast.parse(source_of(gast.parse(text)))) == ast.dump(ast.parse(text))


if __name__ == "__main__":
    answers = [round_trip(path) for path in files()]
    print(f"{answers.count(True)} files survive, {answers.count(False)} do not, {answers.count(None)} are no Python")


@pytest.mark.parametrize("broken", [None, lambda *_, **__: 1 / 0])
def test_without_astor_python_prints(monkeypatch, broken):
    """It is not maintained: nothing ends with it."""
    text = "def f(a, /, *b):\n    return a if b else [x async for x in a]"
    monkeypatch.setattr(printer, "to_source", broken)
    tree = gast.ast_to_gast(ast.parse(text))
    assert ast.dump(ast.parse(source_of(tree))) == ast.dump(ast.parse(text))
    assert dy2static.convert(add)(1, 2) == 3


def add(a, b):
    return a + b
