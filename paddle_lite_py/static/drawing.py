"""A picture of a program."""

from __future__ import annotations

from typing import Any

from ..ir.drawing import render, to_dot
from ..ir.program import Program as IRProgram
from .program import Program

__all__ = ["draw"]


def draw(program: Any, path: str | None = None) -> str:
    """Draw a program as a graph of operators, with the shapes and dtypes between them.

    Arguments:
        program: a static program, that of a static function (main_program), or of a loaded model (program()).
        path: file to write: .dot, or with Graphviz installed .png, .svg or .pdf; None: do not write.

    Returns:
        The graph in Graphviz's DOT language.

    Raises:
        TypeError: if `program` is not a program.
        ValueError: if the path has no extension.
        RuntimeError: if the format needs Graphviz and it is not installed.

    Examples:
        >>> f = paddle.jit.to_static(lambda x: x.exp(), input_spec=[paddle.static.InputSpec([2])])
        >>> "label=\\"exp\\"" in draw(f.main_program)
        True
    """
    found = program.snapshot() if isinstance(program, Program) else program
    if not isinstance(found, IRProgram):
        raise TypeError(f"draw: program is a {type(program).__name__}; expected a Program")
    text = to_dot(found)
    if path is not None:
        render(text, str(path))
    return text
