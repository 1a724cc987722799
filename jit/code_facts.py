"""Facts about code and classes that need no run: where they are defined, and which names they use."""

from __future__ import annotations

import dataclasses
import dis
import itertools
import sys
import types
from collections.abc import Iterator
from typing import Any

from paddle_lite_py.core.memo import memo
from paddle_lite_py.nn.base import Layer

_FOREIGN = frozenset({*sys.stdlib_module_names, "paddle_lite_py", "jax", "jaxlib", "numpy", "dy2static"} - {"__main__"})
_GROWING = ("append", "extend", "add", "update")


# Key: the code.
@memo(4096, context=False)
def uses(code: types.CodeType) -> list[tuple[Any, bool]]:
    """Return each variable or attribute that the code loads, and whether it puts something into it."""
    return [
        (used.argval, following.argval in _GROWING)
        for used, following in itertools.pairwise(dis.get_instructions(code))
        if used.opname.startswith("LOAD_") and isinstance(used.argval, str)
    ]


# Key: the module's name; the place of a package does not change in a process.
@memo(4096, context=False)
def is_foreign(module: str) -> bool:
    """True for modules that are no code of the user: Python's, this framework's, and installed packages."""
    root = module.partition(".")[0]
    path = getattr(sys.modules.get(root), "__file__", None) or ""
    return root in _FOREIGN or (root != "__main__" and ("site-packages" in path or "dist-packages" in path))


def is_of_python(module: str) -> bool:
    """True for modules of the standard library."""
    return module.partition(".")[0] in sys.stdlib_module_names


def is_called_by_others(cls: type, name: str) -> bool:
    """Whether Python, the framework or a library that a class is derived from calls a method of it by this name."""
    if name.startswith("__") or name == "forward":
        return True
    library = [c for c in cls.__mro__ if c is not object and is_foreign(c.__module__)]
    return bool(library) and not issubclass(cls, Layer)


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code, and that of the functions and classes in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes_in(const)


def slots_of(obj: Any) -> Iterator[str]:
    """Yield the attributes that an object may hold in no dict."""
    for c in type(obj).__mro__:
        slots = vars(c).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots
    if dataclasses.is_dataclass(obj) and not hasattr(obj, "__dict__"):
        yield from (f.name for f in dataclasses.fields(obj))
