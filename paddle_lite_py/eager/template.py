"""The one template of an eager call: what the code of public functions and eager mode itself are generated from.

Each step of it shows in the time of an op, so it is written out for the number of tensors at hand.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from . import views
from .tensor import Tensor, wrap

# The names that generated code uses.
NAMES: dict[str, Any] = {
    **{"_T": Tensor, "_new": object.__new__, "_wrap": wrap},
    **{"_ref": weakref.ref, "_note": views.note, "_link": views.link},
}


def at_once(
    condition: str,
    call: str,
    run: str,
    several: str = "_array.__class__ is tuple",
    kind: str = "tuple",
    viewed: Sequence[str] = (),
) -> list[str]:
    """Lines that set `_made` to the result of a bound op on tensors that take no gradient.

    Arguments:
        condition: that eager mode is on and no tensor takes a gradient.
        call: of XLA, on arrays.
        run: of the interpreter, on tensors: otherwise, and where the call of XLA fails, to say what is wrong.
        several: that there are several results; `kind` is what they come in then.
        viewed: lines that note the result as a view.
    """
    return [
        f"if {condition}:",
        "    try:",
        f"        _array = {call}",
        "    except Exception:",
        f"        _made = {run}",
        "    else:",
        f"        if {several}:",
        f"            _made = {kind}([_wrap(_a) for _a in _array])",
        "        else:",
        "            _made = _new(_T)",
        "            _made._payload = _array",
        *["    " + line for line in viewed],
        "else:",
        f"    _made = {run}",
    ]


def view_lines(x: str) -> list[str]:
    """Lines that note `_made` as a view of x; views.note() written out, where x is a root whose list has room."""
    return [
        f"    _made._view = ({x}, _bound, (), None)",
        f"    if (_v := {x}._views) is None or len(_v) >= _v.limit:",
        f"        _note({x}, _made)",
        "    else:",
        "        _v.append(_ref(_made))",
    ]


def still(names: Sequence[str]) -> str:
    """Return the condition that these are tensors, none of which takes a gradient."""
    return "".join([f" and {n}.__class__ is _T and {n}.stop_gradient" for n in names])


def make_unpacker(n: int) -> Callable[..., Any]:
    """Return a function that gives, for n arguments, their arrays and their sources (None without a gradient).

    It gives None where an argument is no tensor.
    """
    names = [f"x{i}" for i in range(n)]
    tensors = " and ".join([f"isinstance({x}, _T)" for x in names])
    stopped = " and ".join([f"{x}.stop_gradient" for x in names])
    data = "".join([f"{x}._payload, " for x in names])
    sources = "".join([f"None if {x}.stop_gradient else {x}._source or {x}, " for x in names])
    text = f"lambda {', '.join(names)}: (({data}), None if {stopped} else ({sources})) if {tensors} else None"
    return eval(text, dict(NAMES))
