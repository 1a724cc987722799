"""Runs the examples of every docstring, found in the source text so that no decorator can hide one."""

from __future__ import annotations

import ast
import doctest
import importlib
from collections.abc import Iterator

import numpy
import pytest

import house

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def examples() -> Iterator[tuple[str, str, int, str]]:
    """(module, name, line, docstring) of each docstring that holds an example."""
    for module, path in house.modules().items():
        for node in ast.walk(ast.parse(path.read_text())):
            doc = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            if doc and ">>>" in doc:
                yield module, getattr(node, "name", "module"), node.body[0].lineno - 1, doc


CASES = list(examples())


@pytest.mark.parametrize(("module", "name", "line", "doc"), CASES, ids=[f"{m}:{n}" for m, n, _, _ in CASES])
def test_example(module: str, name: str, line: int, doc: str, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # examples may write files
    source = importlib.import_module(module)
    names = {"paddle": importlib.import_module("paddle_lite_py"), "np": numpy, **vars(source)}
    case = doctest.DocTestParser().get_doctest(doc, names, f"{module}.{name}", source.__file__, line)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(case, out=report.append)
    assert not report, "".join(report)


def test_there_are_examples():
    assert CASES
