"""The entry points of functions of two tiers, written out for each number of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import small
from ..core.arrays import array_class
from ..core.errors import PACKAGE_DIR
from ..core.memo import memo
from .generate import WARNINGS_RAISE

# Lines that apply the ufunc to two arrays of its dtype if they, and so the result, are small, however they broadcast.
# What it raises, or warns of, is left to the lines after these.
_DIRECT = """
            if a0.dtype is _dtype and a1.dtype is _dtype:
                if (_size := a0.size) * a1.size <= _limit.most or a0.shape == a1.shape and _size <= _limit.most:
                    try:
                        _made = _ufunc(a0, a1)
                        return _made if _made.__class__ is _ndarray else _asarray(_made)
                    except Exception:
                        pass"""


# Key: the number of arguments, which are donated, and whether it broadcasts.
@memo(256, context=False)
def written_entry(n: int, donated: frozenset[int], broadcasts: bool) -> Callable[..., tuple[Callable[..., Any], ...]]:
    """Return what makes the entry of functions of n arrays, changes its way to XLA, and gives it a ufunc for a dtype.

    It is written out because each step of it shows in the time of an op.
    """
    names = [f"a{i}" for i in range(n)]
    given = ", ".join(names)
    arrays = " and ".join([f"{a}.__class__ is _ndarray" for a in names]) or "True"
    key = "".join([f"{a}.shape, {a}.dtype, " for a in names])
    mixed = "".join([f"({a}.shape, {a}.dtype) if {a}.__class__ is _ndarray else {a}.__class__, " for a in names])
    others = " or ".join([f"{a}.__class__ is _jax_array" for a in names]) or "False"
    taken = [a if i in donated else f"{a} if {a}.__class__ is _jax_array else _given({a})" for i, a in enumerate(names)]
    direct = _DIRECT if broadcasts and n == 2 else ""
    text = f"""def make(_known, _xla, _other, _for_xla):
    def call({given}):
        if {arrays}:{direct}
            try:
                _run = _known[({key})]
            except KeyError:
                return _other({given})
            return _run({given})
        if {others}:
            return _xla({", ".join(taken)})
        try:
            _run = _known[({mixed})]
        except KeyError:
            return _other({given})
        return _run({given})
    def compile_by(xla, given):
        nonlocal _xla, _given
        _xla, _given = xla, given
    def apply(ufunc, dtype):
        nonlocal _ufunc, _dtype
        _ufunc, _dtype = ufunc, dtype
    _given, _ufunc, _dtype = _for_xla, None, None
    return call, compile_by, apply
"""
    env: dict[str, Any] = {"_ndarray": np.ndarray, "_jax_array": array_class()}
    env |= {"_limit": small.limit, "_asarray": np.asarray, **WARNINGS_RAISE}
    exec(compile(text, f"{PACKAGE_DIR}<entry of tiers>", "exec"), env)
    return env["make"]


# Key: the number of arguments.
@memo(256, context=False)
def written_handing(n: int) -> Callable[..., tuple[Callable[..., Any], ...]]:
    """Return what makes a function that gives n arrays to XLA, and changes what runs them there."""
    given = ", ".join([f"a{i}" for i in range(n)])
    one = "_held[1] if (_held := _get(id({0}), _none))[1] is not None else _for_xla({0})"
    taken = ", ".join([one.format(f"a{i}") for i in range(n)])
    text = f"""def make(_xla, _get, _for_xla):
    def call({given}):
        return _xla({taken})
    def compile_by(xla):
        nonlocal _xla
        _xla = xla
    return call, compile_by
"""
    env: dict[str, Any] = {"_none": (None, None)}
    exec(compile(text, f"{PACKAGE_DIR}<to XLA>", "exec"), env)
    return env["make"]
