"""Models from a folder with a hubconf.py; nothing is fetched from the network."""

from __future__ import annotations

import builtins
import hashlib
import importlib.util
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

from .core.argument_docs import document as _document
from .core.no_effect import Immaterial, no_effect
from .device import device_guard
from .framework import load as load_file
from .utils.download import fetched, home, opened
from .utils.download import file_name as url_name

__all__ = ["help", "list", "load", "load_state_dict_from_url"]


_LOCAL = Immaterial("a folder is read anew each time")


def _config(repo_dir: str, source: str) -> ModuleType:
    if source != "local":
        raise NotImplementedError(f"hub: source is {source!r}; clone the repository and use source='local'")
    path = Path(repo_dir) / "hubconf.py"
    if not path.is_file():
        raise FileNotFoundError(f"hub: there is no {path}")
    spec: Any = importlib.util.spec_from_file_location("hubconf", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(repo_dir))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(repo_dir))
    return module


def _entry(repo_dir: str, model: str, source: str) -> Any:
    found = getattr(_config(repo_dir, source), model, None)
    if not callable(found):
        raise RuntimeError(
            f"hub: {repo_dir}/hubconf.py defines no model {model!r}; it has {', '.join(list(repo_dir, source))}"
        )
    return found


@no_effect(force_reload=_LOCAL)
def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> builtins.list[str]:
    """Names of the models that a folder's hubconf.py defines.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / 'hubconf.py').write_text('def one():\\n    "Gives 1."\\n    return 1\\n')
        >>> paddle.hub.list(str(folder), source='local')
        ['one']
    """
    module = _config(repo_dir, source)
    return sorted(n for n, v in vars(module).items() if callable(v) and not n.startswith("_"))


@no_effect(force_reload=_LOCAL)
def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str | None:
    """Return the docstring of a model.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / 'hubconf.py').write_text('def one():\\n    "Gives 1."\\n    return 1\\n')
        >>> paddle.hub.help(str(folder), 'one', source='local')
        'Gives 1.'
    """
    return _entry(repo_dir, model, source).__doc__


@no_effect(force_reload=_LOCAL)
def load(repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any) -> Any:
    """Make a model that a folder's hubconf.py defines.

    Arguments:
        source: "local"; for others, clone the repository first.
        kwargs: arguments of the model.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / 'hubconf.py').write_text('def one():\\n    "Gives 1."\\n    return 1\\n')
        >>> paddle.hub.load(str(folder), 'one', source='local')
        1
    """
    return _entry(repo_dir, model, source)(**kwargs)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    check_hash: bool = False,
    file_name: str | None = None,
    map_location: Any = None,
) -> Any:
    """paddle.load() of published weights, fetched when they are not there yet.

    Arguments:
        model_dir: where they are kept; a folder in the user's cache by default.
        check_hash: compare the file with the digits in its name: `net-0a1b2c3d.pdparams` begins so in SHA-256.
        file_name: what to call it; the last part of the url by default.
        map_location: the device of the tensors, such as "cpu" and "gpu", or "numpy" for arrays.

    Raises:
        RuntimeError: if it cannot be fetched, or its hash differs.
        ValueError: if check_hash is True and there is no hash in the name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> paddle.save({"w": paddle.ones([1])}, str(folder / "w.pdparams"))
        >>> url = (folder / "w.pdparams").as_uri()
        >>> paddle.hub.load_state_dict_from_url(url, str(folder / "cache"))["w"].tolist()
        [1.0]
    """
    folder = Path(model_dir) if model_dir else home().parent / "hub" / "checkpoints"
    digits = _digits(url_name(url)) if check_hash else ""
    target = folder / (file_name or url_name(url))
    found = opened(fetched(url, target, lambda path: not digits or _sha256(path).startswith(digits)))
    if map_location in ("numpy", "np"):
        return load_file(found, return_numpy=True)
    with nullcontext() if map_location is None else device_guard(map_location):
        return load_file(found)


def _digits(name: str) -> str:
    found = re.search(r"-([0-9a-f]{8,})\.", name)
    if found is None:
        raise ValueError(f"load_state_dict_from_url: check_hash=True, but {name!r} has no hash, as net-0a1b2c3d.pt has")
    return found[1]


def _sha256(path: Path) -> str:
    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


_document(globals())
