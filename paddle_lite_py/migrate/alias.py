"""`import paddle` as this package, in this process: the same module objects under both names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

OWN = __name__.partition(".")[0]
ALIAS = "paddle"


class _Loader:
    """Gives a module that is there already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the alias there


# Packages of PaddlePaddle that are one module here: their modules, and the module that has what those have.
_GATHERED = {
    "paddle.tensor": (
        "array attribute creation einsum linalg logic manipulation math ops random search stat",
        "tensor",
    ),
    "paddle.nn.layer": ("activation common container conv loss norm pooling rnn transformer vision", "nn"),
    "paddle.io.dataloader": ("batch_sampler collate dataloader_iter dataset sampler worker", "io.dataloader"),
    "paddle.utils.cpp_extension": ("cpp_extension extension_utils", "utils.cpp_extension"),
}


def _own_name(name: str) -> str:
    """The module here that has what a module of PaddlePaddle has."""
    if name == f"{ALIAS}.nn.layer.layers":
        return f"{OWN}.nn.base"
    package, _, module = name.rpartition(".")
    modules, gathered = _GATHERED.get(package, ("", ""))
    return f"{OWN}.{gathered}" if module in modules.split() else OWN + name.removeprefix(ALIAS)


def _name_parts(own: str) -> None:
    """Give the modules that a package has imported their other names.

    Import would bind each to its package when it is asked for by name, in the place of a function that is called as its
    module is (`amp.auto_cast`).
    """
    for key in [key for key in sys.modules if key.startswith(f"{own}.")]:
        if (name := ALIAS + key.removeprefix(OWN)) not in _GATHERED:
            sys.modules.setdefault(name, sys.modules[key])


class _Finder:
    """Finds `paddle.x.y` in this package."""

    @staticmethod
    def find_spec(name: str, _path: Sequence[str] | None = None, _target: Any = None) -> ModuleSpec | None:
        if name != ALIAS and not name.startswith(f"{ALIAS}."):
            return None
        own = _own_name(name)
        try:
            module = importlib.import_module(own)
        except ModuleNotFoundError as e:
            if e.name is None or not own.startswith(e.name):
                raise  # something that the module itself needs
            raise ModuleNotFoundError(
                f"{name} is not available: `paddle` is {OWN} in this process, which has no {own}", name=name
            ) from None
        _name_parts(own)
        if name in _GATHERED:
            module.__path__ = []  # the mark of a package
        return ModuleSpec(name, _Loader(module), is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]


def install_as_paddle() -> None:
    """Let `import paddle`, and of every `paddle.x.y`, give this package, in this process only.

    `paddle.__version__` becomes the version of the Paddle API that is spoken here, as programs ask for it.

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
    own.__version__ = importlib.import_module(f"{OWN}.version").full_version
    if not any(isinstance(f, type) and f.__name__ == "_Finder" and f.__module__ == __name__ for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder)
