"""The alias `paddle` in this process: the same module objects under both names."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Protocol

from .module_paths import OWN, FileLoader, own_name

ALIAS = "paddle"


class _Importlib(Protocol):
    """What importlib and other finders call, by these names of the arguments."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None: ...

    def create_module(self, spec: ModuleSpec) -> ModuleType | None: ...

    def is_package(self, fullname: str) -> bool: ...

    def get_code(self, fullname: str) -> CodeType | None: ...

    def get_source(self, fullname: str) -> str | None: ...


class _Loader:
    """Gives the module of this package under its other name; to runpy, pkgutil and inspect its code and its text."""

    def __init__(self, own: ModuleSpec) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._own.name)
        self._spec = module.__spec__
        _name_parts(self._own.name)
        return module

    def exec_module(self, module: ModuleType) -> None:
        own = importlib.import_module(self._own.name)
        if module is own:
            module.__spec__ = self._spec  # the import system has put the alias there
        else:  # a loader of another package around this one has made a module: the import ends with what bears the name
            sys.modules[module.__name__] = own
            _name_parts(self._own.name)

    def is_package(self, fullname: str) -> bool:
        return self._own.submodule_search_locations is not None

    def get_code(self, fullname: str) -> CodeType | None:
        return self._file(fullname).get_code(fullname)

    def get_source(self, fullname: str) -> str | None:
        return self._file(fullname).get_source(fullname)

    def get_filename(self, fullname: str) -> str:
        return self._file(fullname).get_filename(fullname)

    def _file(self, name: str) -> FileLoader:
        if self._own.origin is None:
            raise ImportError(f"{name} has no file of its own in {OWN}", name=name)
        return FileLoader(self._own.name, self._own.origin)


def _find_own(own: str) -> ModuleSpec | None:
    """Return the spec of a module of this package, which need not be imported for it."""
    if own in sys.modules:
        module = sys.modules[own]
        return module.__spec__ or ModuleSpec(own, None, is_package=hasattr(module, "__path__"))
    try:
        return importlib.util.find_spec(own)
    except ModuleNotFoundError as e:
        if e.name is None or not own.startswith(e.name):
            raise  # something that a parent of it needs
        return None


def _name_parts(own: str) -> None:
    """Give the modules that a package has imported their other names.

    Import would bind each to its package on first use, in place of a function that is called by its
    module is (`amp.auto_cast`).
    """
    for key in [key for key in sys.modules if key == own or key.startswith(f"{own}.")]:
        module = sys.modules[key]
        if module.__spec__ is not None and type(module.__spec__.loader) is SourceFileLoader:
            module.__spec__.loader = FileLoader(key, module.__spec__.loader.path)
        if key != own:  # the import system is about to do so
            sys.modules.setdefault(ALIAS + key.removeprefix(OWN), module)


class _Finder:
    """Finds `paddle.x.y` in this package."""

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if fullname == "pip":  # the reference has imported setuptools by now; after pip, Python 3.11 cannot
            with suppress(ImportError):
                importlib.import_module("setuptools")
        if fullname != ALIAS and not fullname.startswith(f"{ALIAS}."):
            return None
        own = _find_own(own_name(fullname))
        if own is None:
            return None
        loader: Any = _Loader(own)
        return ModuleSpec(fullname, loader, origin=own.origin, is_package=loader.is_package(fullname))


def _submodule(package: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"module {package!r} has no attribute {name!r}") from None


def _import_on_demand(package: str) -> None:
    """Have attributes of a package import its modules, which the reference has imported by now."""
    with suppress(ImportError):
        vars(importlib.import_module(package)).setdefault("__getattr__", partial(_submodule, package))


def install_as_paddle() -> None:
    """Let `import paddle`, and of every `paddle.x.y`, give this package, in this process only.

    Raises:
        RuntimeError: if another `paddle` was imported before.

    Examples:
        >>> import paddle_lite_py
        >>> paddle_lite_py.install_as_paddle()
        >>> import paddle.nn.functional as F
        >>> F is paddle_lite_py.nn.functional
        True
    """
    own: Any = importlib.import_module(OWN)
    if sys.modules.get(ALIAS, own) is not own:
        raise RuntimeError("install_as_paddle: another `paddle` was imported before; call this first")
    sys.modules[ALIAS] = own
    if not any(isinstance(f, type) and f.__name__ == "_Finder" and f.__module__ == __name__ for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder)
        _import_on_demand("PIL")


def take_over() -> None:
    """Give this package the name of the `paddle` that is being imported: the import ends with what bears the name."""
    sys.modules.pop(ALIAS, None)
    install_as_paddle()


def install_for_children() -> None:
    """Let `import paddle` give this package in the Python processes that this one starts, such as a `pipe_command`.

    There and here `paddlepaddle` is an installed distribution then, of the version that this package speaks.

    Examples:
        >>> import subprocess, sys
        >>> install_for_children()
        >>> program = "import paddle.nn.functional as F; print(F.relu.__module__.split('.')[0])"
        >>> subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
        'paddle_lite_py\\n'
    """
    folder, path = str(Path(__file__).with_name("site")), os.environ.get("PYTHONPATH", "")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if folder not in path.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, path)))
