"""Text with traced tensors in it: what f-strings, str() and format() give while a program is traced."""

from __future__ import annotations

import dataclasses
import string
from typing import Any

import numpy as np

from dy2static.runtime import formatted
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.interpreter import use
from paddle_lite_py.core.traced_number import TracedNumber
from paddle_lite_py.eager.execute import EAGER
from paddle_lite_py.eager.tensor import Tensor, wrap
from paddle_lite_py.tracing.builder import Builder, is_traced
from paddle_lite_py.tracing.differentiate import identity
from paddle_lite_py.tracing.traced_scalars import NUMBER, NUMBER_TEXT, OfThisCall, is_number, number_text

from .errors import StagingError

Part = str | tuple[Any, int, str]
PLAIN, _STR = -1, ord("s")  # no conversion, which shows a tensor of no dimensions as its number, and that of `!s`


@dataclasses.dataclass(eq=False, repr=False)
class StagedText(OfThisCall):
    """Text whose tensors are filled in when the program runs: it can be printed, returned, joined and formatted.

    Arguments:
        parts: texts, and values with their conversion and format as an f-string has them.
    """

    parts: list[Part]
    _text = None  # in the call under way, once the program depends on it

    def settled(self) -> Any:
        """The text itself, once its tensors have values; see structure.unflatten."""
        known = not any(isinstance(p, tuple) and isinstance(p[0], Tensor) and is_traced(p[0]) for p in self.parts)
        return "".join(map(_resolve_part, self.parts)) if known and not mode.interpreter.is_tracing else self

    def __add__(self, other: Any) -> StagedText:
        return StagedText([*self.parts, *parts_of(other)])

    def __radd__(self, other: Any) -> StagedText:
        return StagedText([*parts_of(other), *self.parts])

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __str__(self) -> str:
        return "".join(part if isinstance(part, str) else f"<{_describe(part[0])}>" for part in self.parts)

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(str, name):
            raise AttributeError(name)
        return getattr(self.known(f"str.{name}()"), name)

    def known(self, what: str = "a key") -> str:
        """Return the text in the call under way, where what it shows of tensors are integers and booleans.

        Raises:
            StagingError: it shows other numbers, or stands in a branch or loop.
        """
        if self._text is None:
            error = StagingError(
                f"{what} needs the text `{self}`, which is known only when the program runs, because it shows a "
                "tensor; such a text can be printed and joined with `+`"
            )
            parts = [p if isinstance(p, str) else (_in_this_call(p[0], error), *p[1:]) for p in self.parts]
            with use(EAGER):
                self._text = "".join(map(_resolve_part, parts))
        return self._text

    def __hash__(self) -> int:
        return hash(self.known())


def _known_first(name: str) -> Any:
    """Return a method of str that Python calls by itself."""

    def method(self: StagedText, *args: Any) -> Any:
        what = f"str.{name}()"
        return getattr(self.known(what), name)(*[a.known(what) if isinstance(a, StagedText) else a for a in args])

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "len", "contains", "getitem", "iter", "mul", "rmul", "mod"):
    setattr(StagedText, f"__{_name}__", _known_first(f"__{_name}__"))


def _in_this_call(value: Any, error: StagingError) -> Any:
    """Return a tensor as it is in the call under way."""
    if not isinstance(value, Tensor) or not is_traced(value):
        return value
    if not isinstance(mode.interpreter, Builder):
        raise error
    found = np.asarray(mode.interpreter.assume(value, error), value._payload.dtype)
    return wrap(found.reshape(value._payload.shape))


def _resolve_part(part: Part) -> str:
    if isinstance(part, str):
        return part
    return number_text(*part) if part[1] <= NUMBER else formatted(*part)


def _part(value: Any, conversion: int, spec: str) -> Part:
    if is_number(value):
        conversion = NUMBER if conversion == PLAIN else NUMBER_TEXT
    return value, conversion, spec


def _describe(value: Any) -> str:
    return f"{value.dtype.name}{[*value.shape]} tensor" if isinstance(value, Tensor) else str(value)


def shown_value(value: Any) -> Any:
    """Return the value that text shows: of a learning rate that each run computes, that of the run."""
    builder = mode.interpreter
    if type(value) is not TracedNumber or not isinstance(builder, Builder) or value.seen is not builder.seen:
        return value
    return builder.item(builder.run(identity(), (value,)), ())


def parts_of(value: Any) -> list[Part]:
    """Return a printed value as parts."""
    value = shown_value(value)
    if isinstance(value, StagedText):
        return value.parts
    return [_part(value, _STR, "")] if isinstance(value, Tensor) else [str(value)]


def text(parts: list[Part]) -> str | StagedText:
    """Return an f-string: plain where nothing in it is traced."""
    shown: list[Part] = []
    for part in [p if isinstance(p, str) else (shown_value(p[0]), *p[1:]) for p in parts]:
        if isinstance(part, tuple) and isinstance(part[0], Tensor | StagedText):
            shown += [_part(*part)] if isinstance(part[0], Tensor) else part[0].parts
        else:
            shown.append(part if isinstance(part, str) else formatted(*part))
    return "".join(shown) if all(isinstance(part, str) for part in shown) else StagedText(shown)  # type: ignore[arg-type]


def format_method(template: str, *args: Any, **kwargs: Any) -> str | StagedText:
    """`template.format(...)`."""
    args, kwargs = tuple(map(shown_value, args)), {k: shown_value(v) for k, v in kwargs.items()}
    if not any(isinstance(v, Tensor | StagedText) for v in (*args, *kwargs.values())):
        return template.format(*args, **kwargs)
    parts: list[Part] = []
    formatter, number = string.Formatter(), 0
    for before, name, spec, conversion in formatter.parse(template):
        parts.append(before)
        if name is not None:
            key = str(number) if name == "" or name[0] in ".[" else ""
            number += bool(key)
            value, _ = formatter.get_field(key + name, args, kwargs)
            parts.append((value, ord(conversion) if conversion else PLAIN, (spec or "").format(*args, **kwargs)))
    return text(parts)


def str_(value: Any = "", *rest: Any) -> Any:
    """str()."""
    value = shown_value(value)
    return StagedText(parts_of(value)) if isinstance(value, Tensor) else str(value, *rest)


def print_(*args: Any, sep: str | None = " ", end: str | None = "\n") -> None:
    """print() to the standard output, when the program runs."""
    from paddle_lite_py.ops.effects import print_ as op

    pieces = [parts_of(a) for a in args]
    tensors = [p[0] for piece in pieces for p in piece if not isinstance(p, str)]
    texts = tuple(
        [tuple([p if isinstance(p, str) else (p[0].stop_gradient, *p[1:]) for p in piece]) for piece in pieces]
    )
    op(tensors, texts, " " if sep is None else sep, "\n" if end is None else end)
