"""The one template of an eager call: what the code of public functions and eager mode itself are generated from.

Each step of it shows in the time of an op, so it is written out for the number of tensors at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .tensor import Tensor, wrap

# The names that generated code uses.
NAMES: dict[str, Any] = {"_T": Tensor, "_new": object.__new__, "_wrap": wrap}


def at_once(
    condition: str, call: str, run: str, several: str = "_array.__class__ is tuple", kind: str = "tuple"
) -> list[str]:
    """Lines that set `_made` to the result of a bound op on tensors that take no gradient.

    Arguments:
        condition: that eager mode is on and no tensor takes a gradient.
        call: of XLA, on arrays.
        run: of the interpreter, on tensors: otherwise, and where the call of XLA fails, to say what is wrong.
        several: that there are several results; `kind` is what they come in then.
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
        "            _made._data = _array",
        "else:",
        f"    _made = {run}",
    ]


def still(names: Sequence[str]) -> str:
    """The condition that these are tensors, none of which takes a gradient."""
    return "".join([f" and {n}.__class__ is _T and {n}.stop_gradient" for n in names])


def taking(n: int) -> Callable[..., Any]:
    """What gives, of n arguments, their arrays and where those came from (None if no gradient flows to any).

    It gives None where an argument is no tensor.
    """
    names = [f"x{i}" for i in range(n)]
    tensors = " and ".join([f"isinstance({x}, _T)" for x in names])
    stopped = " and ".join([f"{x}.stop_gradient" for x in names])
    data = "".join([f"{x}._data, " for x in names])
    sources = "".join([f"None if {x}.stop_gradient else {x}._source or {x}, " for x in names])
    text = f"lambda {', '.join(names)}: (({data}), None if {stopped} else ({sources})) if {tensors} else None"
    return eval(text, dict(NAMES))
