"""Every public name says what it is."""

from __future__ import annotations

import ast
import importlib
import inspect
import types

import pytest

import house

# What stands in the reference; its builder needs a tool that the tests do not.
BUILDER = ast.parse((house.ROOT / "docs" / "build.py").read_text())
PUBLIC = next(
    n.value.func.value.value for n in BUILDER.body if isinstance(n, ast.Assign) and n.targets[0].id == "PUBLIC"
)
# Names of modules in which each function must show an example that runs.
WITH_EXAMPLES = ("fft", "linalg", "signal", "utils")


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
    if name in WITH_EXAMPLES:
        assert not (lack := [n for n, doc in docs.items() if ">>>" not in doc]), f"show an example of: {lack}"
