"""Facts about code and classes that need no run: where they are defined, and which names they use."""

from __future__ import annotations

import dataclasses
import dis
import itertools
import sys
import types
from collections.abc import Iterable, Iterator
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


class Codebase:
    """The code that a function can call.

    Attributes:
        names: names of attributes and variables in it, and texts that may be such.
        texts: those among them that stand as text.
    """

    def __init__(self) -> None:
        self.names, self.texts, self.codes = set[str](), set[str](), set[types.CodeType]()
        self._using: dict[str, list[types.CodeType]] = {}  # by name, the code in which it stands

    def __len__(self) -> int:
        """How much is known of it."""
        return len(self.names) + len(self.texts) + len(self.codes)

    def note(self, codes: Iterable[types.CodeType]) -> None:
        """Note code that it calls."""
        for code in codes:
            if code not in self.codes:
                self.codes.add(code)
                self.texts.update(s for s in code.co_consts if isinstance(s, str) and s.isidentifier())
                self.names.update(self.texts, code.co_names)
                for name in {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}:
                    self._using.setdefault(name, []).append(code)

    def grows(self, name: Any) -> bool:
        """Whether all that the code does with a variable or attribute is to put things into it."""
        found = [grows for code in self._using.get(name, ()) for used, grows in uses(code) if used == name]
        return bool(found) and all(found)


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
