"""`import paddle` as this package, in this process: the same module objects under both names."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from .module_paths import OWN, own_name

ALIAS = "paddle"


class _Loader:
    """Gives a module that is there already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the alias there


def _name_parts(own: str) -> None:
    """Give the modules that a package has imported their other names.

    Import would bind each to its package when it is asked for by name, in the place of a function that is called as its
    module is (`amp.auto_cast`).
    """
    for key in [key for key in sys.modules if key.startswith(f"{own}.")]:
        sys.modules.setdefault(ALIAS + key.removeprefix(OWN), sys.modules[key])


class _Finder:
    """Finds `paddle.x.y` in this package."""

    @staticmethod
    def find_spec(name: str, _path: Sequence[str] | None = None, _target: Any = None) -> ModuleSpec | None:
        if name == "pip":  # the reference has imported setuptools by now; after pip it cannot be, before Python 3.12
            with suppress(ImportError):
                importlib.import_module("setuptools")
        if name != ALIAS and not name.startswith(f"{ALIAS}."):
            return None
        own = own_name(name)
        try:
            module = importlib.import_module(own)
        except ModuleNotFoundError as e:
            if e.name is None or not own.startswith(e.name):
                raise  # something that the module itself needs
            raise ModuleNotFoundError(
                f"{name} is not available: `paddle` is {OWN} in this process, which has no {own}", name=name
            ) from None
        _name_parts(own)
        return ModuleSpec(name, _Loader(module), is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]


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


def take_over() -> None:
    """Give this package the name of the `paddle` that is being imported: the import ends with what bears the name."""
    sys.modules.pop(ALIAS, None)
    install_as_paddle()


def install_for_children() -> None:
    """Let `import paddle` give this package in the Python processes that this one starts, such as a `pipe_command`.

    Examples:
        >>> import subprocess, sys
        >>> install_for_children()
        >>> program = "import paddle.nn.functional as F; print(F.relu.__module__.split('.')[0])"
        >>> subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
        'paddle_lite_py\\n'
    """
    folder, path = str(Path(__file__).with_name("children")), os.environ.get("PYTHONPATH", "")
    if folder not in path.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, path)))
