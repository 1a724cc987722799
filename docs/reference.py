"""The pages of the reference, from the docstrings: one for each public module, function and class."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import types
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

PACKAGE = "paddle_lite_py"
# The modules that users import from, in the order in which they claim what several of them export.
PUBLIC = """
    nn nn.functional nn.initializer nn.utils optimizer optimizer.lr io jit amp amp.debugging autograd metric regularizer
    linalg fft signal special distribution geometric device device.cuda distributed distributed.ps
    vision vision.datasets vision.models vision.ops vision.transforms audio audio.features audio.functional
    text text.generation text.models text.training
    static static.nn inference onnx quantization sparse sparse.nn sparse.nn.functional
    framework hapi callbacks hub profiler passes serving targets utils sysconfig version reader
    incubate incubate.autodl incubate.autograd incubate.nn incubate.nn.functional incubate.optimizer
    compat compat.nn compat.nn.functional
""".split()
IN_PLACE = "In place"  # the heading of functions such as `add_`, which write into their first argument
VALUES = "Values"
OTHERS = "Others"  # families of one
_SPECIAL = re.compile(r"(`[^`]*`)|([*|\\]|_(?=\W|$))")
MANUAL = "https://www.paddlepaddle.org.cn/documentation/docs/en/api"


@dataclass(frozen=True)
class Entry:
    """A name that a public module exports."""

    module: str
    name: str
    value: Any
    home: str  # full name of the entry that has the page; "" for plain values, which have none

    @property
    def full_name(self) -> str:
        """Its module and name."""
        return f"{self.module}.{self.name}"

    @property
    def summary(self) -> str:
        """The first line of its docstring, or the value itself."""
        text = (inspect.getdoc(self.value) or "").split("\n\n")[0] if self.home else f"`{self.value!r}`"
        return escape(" ".join(text.split()))

    @property
    def family(self) -> str:
        """The heading that it is listed under: what its source file is about."""
        if not self.home:
            return VALUES
        if self.name.endswith("_") and not self.name.startswith("_"):
            return IN_PLACE
        source = sys.modules.get(self.value.__module__)
        heading = (inspect.getdoc(source) or "").partition("\n")[0].rstrip(".") if source else ""
        return heading.partition(". ")[0].partition(":")[0] or OTHERS


def modules() -> list[str]:
    """The public modules by full name."""
    return [PACKAGE, *(f"{PACKAGE}.{name}" for name in PUBLIC), "dy2static"]


def is_public(module: types.ModuleType, name: str) -> bool:
    """True for functions and classes of the project that a module exports, for dtypes, and for other plain values."""
    value = getattr(module, name, None)
    if name.startswith("_") or isinstance(value, types.ModuleType) or name in ("Any", "TYPE_CHECKING", "annotations"):
        return False
    return not callable(value) or (getattr(value, "__module__", None) or "").startswith((PACKAGE, "dy2static"))


def exports() -> dict[str, list[Entry]]:
    """What each public module exports; what several export has its page where the first of them exports it."""
    homes: dict[int, str] = {}
    found = {}
    for module in modules():
        space = importlib.import_module(module)
        names = [n for n in getattr(space, "__all__", dir(space)) if is_public(space, n)]
        # A function's own name claims the page before its aliases.
        names.sort(key=lambda n: getattr(getattr(space, n), "__name__", n) != n)
        for name in names:
            if callable(value := getattr(space, name)):
                homes.setdefault(id(value), f"{module}.{name}")
        values = [(n, getattr(space, n)) for n in sorted(names, key=str.lower)]
        found[module] = [Entry(module, n, v, homes.get(id(v), "")) for n, v in values]
    return found


def pages() -> dict[str, str]:
    """The text of each page by its name."""
    found = exports()
    made = {module: module_page(module, entries) for module, entries in found.items()}
    aliases = defaultdict(list)
    for entry in (e for entries in found.values() for e in entries if e.home):
        aliases[entry.home].append(entry)
    return made | {home: entry_page(home, entries) for home, entries in aliases.items()}


def module_page(module: str, entries: list[Entry]) -> str:
    """What a module is for, and tables of what it exports, a family each."""
    families = defaultdict(list)
    for entry in entries:
        families[entry.family].append(entry)
    for family in [f for f, members in families.items() if len(members) == 1 and f != VALUES]:
        families[OTHERS] += families.pop(family)
    last = [OTHERS, IN_PLACE, VALUES]
    order = sorted(families, key=lambda f: (last.index(f) + 1 if f in last else 0, f.lower()))
    tables = [f"{heading(escape(family), '-')}\n{table(families[family])}" for family in order]
    return "\n".join([heading(module), f".. automodule:: {module}\n", *tables])


def table(entries: list[Entry]) -> str:
    """A line for each entry: its name, which leads to its page, and what it is."""
    names = [f":doc:`{e.name} <{e.home}>`" if e.home else f"`{e.name}`" for e in entries]
    rows = [f"   * - {name}\n     - {e.summary}" for name, e in zip(names, entries, strict=True)]
    return "\n".join([".. list-table::\n   :widths: 1 4\n", *rows, ""])


def entry_page(home: str, entries: list[Entry]) -> str:
    """The page of a function or class, with the other names that it has. It is in no menu: there are thousands."""
    module, _, name = home.rpartition(".")
    is_class = isinstance(entries[0].value, type)
    directive = f".. autoclass:: {home}\n   :members:\n" if is_class else f".. autofunction:: {home}\n"
    others = [f"`{e.full_name}`" for e in entries if e.full_name != home]
    also = [f"Also exported as {', '.join(others)}."] if others else []
    place = home.removeprefix(PACKAGE + ".").replace(".", "/")
    manual = f"`PaddlePaddle's page <{MANUAL}/paddle/{place}_en.html>`__" if is_of_paddle(home) else ""
    links = " · ".join(filter(None, [f":doc:`{module}`", manual]))
    return "\n".join([":orphan:\n", heading(escape(name)), links, "", directive, *also, ""])


def is_of_paddle(home: str) -> bool:
    """True for what PaddlePaddle has under the same name, as far as modules tell."""
    return not home.startswith((f"{PACKAGE}.passes", f"{PACKAGE}.serving", f"{PACKAGE}.targets", "dy2static"))


def heading(text: str, line: str = "=") -> str:
    """A heading in reStructuredText."""
    return f"{text}\n{line * len(text)}\n"


def escape(text: str) -> str:
    """Plain text, in which only `code` is markup, in reStructuredText."""
    return _SPECIAL.sub(lambda m: m[1] or "\\" + m[2], text)
