"""A picture of a program."""

from __future__ import annotations

from typing import Any

from ..ir.drawing import render, to_dot
from ..ir.program import Program as IRProgram
from .program import Program

__all__ = ["draw"]


def draw(program: Any, path: str | None = None) -> str:
    """A program as a graph: operators, with shapes and types between them, branches and loops as boxes.

    Arguments:
        program: one of the static mode, of a static function (main_program), or of a loaded model (program()).
        path: a file to write: .dot, or, where Graphviz is installed, .png, .svg or .pdf.

    Returns:
        The text in Graphviz's language.

    Raises:
        TypeError: if it is no program.
        ValueError: if the name of the file has no ending.
        RuntimeError: if a picture is asked for and Graphviz is not installed.

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
