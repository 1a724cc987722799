"""The module paths of PaddlePaddle: modules that are no files here, and names that lie elsewhere here.

One table says where the names of each module are (`tests/golden/module_paths.py` writes it), another one has names that
programs use though they are not public. A module that is no file is made together with its package, and finds its names
on first use. One that is a file looks up names that it lacks as a last resort.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from .unavailable import unavailable

OWN = __name__.partition(".")[0]
TABLES = ("module_paths.txt", "private_names.txt")


_dict_of: Any = vars(ModuleType)["__dict__"].__get__


def _module_contents(module: ModuleType) -> dict[str, Any]:
    """Return the names that a module has so far."""
    return _dict_of(module)


class ComputedModule(ModuleType):
    """A module that has what others have. Who looks at all that it holds (`module.__dict__`) has it filled."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        held = _module_contents(self)
        for name in places(table().get(self.__name__, "")):
            if name not in held and name != "*":
                with suppress(ImportError, AttributeError):
                    getattr(self, name)
        return held


def own_name(module: str) -> str:
    """Return the name here of a module of the reference."""
    return OWN + module.removeprefix("paddle")


@cache
def table() -> dict[str, str]:
    """Return the lines of the tables by module; as text, since most are never needed."""
    found: dict[str, str] = {}
    for file in TABLES:
        for line in Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines():
            module, colon, places = line.partition(":")
            if colon and not line.startswith("#"):
                found[own_name(module)] = "; ".join(filter(None, (found.get(own_name(module)), places)))
    return found


@cache
def _children() -> dict[str, list[str]]:
    """Return the modules that are no files, by the modules that they belong to."""
    found: dict[str, list[str]] = {}
    for module in table():
        if not module.endswith("+"):
            found.setdefault(module.rpartition(".")[0], []).append(module)
    return found


def places(line: str) -> dict[str, tuple[str, str]]:
    """Return the module that has each name of a line, and its name there.

    "@" has modules, "!" and a word what is not available, for the reason of that word; "*" stands for all other names.
    """
    found = {}
    for part in filter(str.strip, line.split(";")):
        home, *given = part.split()
        for name, _, other in (item.partition("=") for item in given):
            found[name] = (home, other or name)
    return found


def _get(module: str, home: str, name: str) -> Any:
    if home == "@":
        return importlib.import_module(own_name(name))
    if home.startswith("!"):
        return unavailable(f"{module.replace(OWN, 'paddle', 1)}.{name}", home[1:])
    return getattr(importlib.import_module(own_name(home)), name)


def _look_up(module: ModuleType, line: str) -> Callable[[str], Any]:
    """Return the module's __getattr__, which Python calls for missing names."""
    before = _module_contents(module).get("__getattr__")
    known: dict[str, tuple[str, str]] = {}

    def __getattr__(name: str) -> Any:  # noqa: N807
        if not known:
            known.update(places(line))
        if name in known:
            value = _get(module.__name__, *known[name])
            setattr(module, name, value)
            return value
        if before is not None:
            return before(name)
        if name == "__all__" and isinstance(module, ComputedModule):
            return [n for n in known if not n.startswith(("_", "*"))]
        if "*" in known and not name.startswith("__"):
            return getattr(importlib.import_module(own_name(known["*"][0])), name)
        raise AttributeError(
            f"module {module.__name__.replace(OWN, 'paddle', 1)!r} has no attribute {name!r} here",
            name=name,
            obj=module,
        )

    return __getattr__


def complete(module: ModuleType) -> None:
    """Give a module the modules that belong to it and are no files, and the names that it lacks."""
    own = module.__name__
    line = table().get(own, "") or table().get(f"{own}+", "")
    children = _children().get(own, ())
    known = _module_contents(module) if isinstance(module, ComputedModule) else dir(module)
    taken = {*known, *places(line)} if children else ()  # `paddle.batch` is a function, and a module
    for name in children:
        child = sys.modules[name] = ComputedModule(name, f"What PaddlePaddle has in {name.replace(OWN, 'paddle', 1)}.")
        child.__path__ = []  # it may have submodules
        if (last := name.rpartition(".")[2]) not in taken:
            setattr(module, last, child)
        complete(child)
    if line:
        _module_contents(module)["__getattr__"] = _look_up(module, line)


class FileLoader(SourceFileLoader):
    """The loader of a module with two names; it returns code and text under either."""

    def get_code(self, fullname: str) -> CodeType | None:
        return super().get_code(self.name)

    def get_source(self, fullname: str) -> str | None:
        return super().get_source(self.name)

    def get_filename(self, name: str | None = None) -> str:
        return super().get_filename(self.name)

    def is_package(self, fullname: str) -> bool:
        return super().is_package(self.name)


class _CompletingLoader(FileLoader):
    """Completes a module when it has been loaded."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        complete(module)


class _CompletingFinder:
    """Finds modules of the table that are files."""

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith(OWN) or f"{fullname}+" not in table():
            return None
        others = (f for f in sys.meta_path if f is not _CompletingFinder and hasattr(f, "find_spec"))
        spec = next(filter(None, (f.find_spec(fullname, path, target) for f in others)), None)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _CompletingLoader(spec.loader.name, spec.loader.path)
        return spec


def install() -> None:
    """Complete each module of this package from now on when it is loaded."""
    sys.meta_path.insert(0, _CompletingFinder)
