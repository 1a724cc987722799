"""Models from a folder with a hubconf.py; nothing is fetched from the network."""

from __future__ import annotations

import builtins
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from .framework import load as load_file
from .utils.download import get_weights_path_from_url

__all__ = ["help", "list", "load", "load_state_dict_from_url"]


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


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str | None:
    """The docstring of a model.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / 'hubconf.py').write_text('def one():\\n    "Gives 1."\\n    return 1\\n')
        >>> paddle.hub.help(str(folder), 'one', source='local')
        'Gives 1.'
    """
    return _entry(repo_dir, model, source).__doc__


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

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> paddle.save({"w": paddle.ones([1])}, str(folder / "w.pdparams"))
        >>> url = (folder / "w.pdparams").as_uri()
        >>> paddle.hub.load_state_dict_from_url(url, str(folder / "cache"))["w"].tolist()
        [1.0]
    """
    return load_file(get_weights_path_from_url(url))
