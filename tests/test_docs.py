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
