"""The table of forms: how each operator of the reference is written with ONNX's operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...model_files.writing.pir_text import FileValue, TensorType
from ..writer import OnnxWriter

Form = Callable[..., Any]

# By name of an operator of the reference: a function of a writer, the types of the results and the operands, with the
# attributes as keywords. It gives a value, or a list of them.
FORMS: dict[str, Form] = {}


def form(*names: str) -> Callable[[Form], Form]:
    """Enter a function in the table; of the attributes it gets those that it names."""

    def enter(function: Form) -> Form:
        parameters = inspect.signature(function).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())

        def write(w: OnnxWriter, to: list[TensorType], *operands: FileValue, **attrs: Any) -> Any:
            return function(w, to, *operands, **{n: v for n, v in attrs.items() if takes_all or n in parameters})

        FORMS.update(dict.fromkeys(names, write))
        return function

    return enter


def direct(**names: str) -> None:
    """Enter operators without attributes that are one of ONNX's."""
    for name, of in names.items():
        form(name)(lambda w, to, *operands, of=of: w.node(of, *operands, to=to[0]))
