"""paddle.save and paddle.load: nested containers of tensors and plain values, in Paddle's own file format.

A file is a pickle of containers and NumPy arrays. Reading admits only these, so no code of a file ever runs.
"""

from __future__ import annotations

import importlib
import io
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from safetensors.numpy import save as bytes_of

from ..core.arrays import as_array, from_host, stored_arrays
from ..core.no_effect import Immaterial, no_effect, only_known
from ..eager.tensor import Parameter, Tensor, wrap
from .records import SavedObject, read_records
from .unpickle import RECORDS, RefusedError, read

# The entry by which Paddle knows a state_dict; it maps the keys to the names of the tensors.
NAMES = "StructuredToParameterName@@"
EagerParamBase = Parameter
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
# Readers of static programs and model files: modules above this one. These files do not begin like a pickle.
_PROGRAMS = f"{__name__.partition('.')[0]}.static.serialized"
_MODEL_FILES = f"{__name__.partition('.')[0]}.model_files.reading"
_OF_PROGRAMS, _OF_WEIGHTS = (b"{", b"\n"), b"\0\0\0\0"


@no_effect(use_binary_format=Immaterial("a file holds one format, which PaddlePaddle reads too"))
def save(
    obj: Any,
    path: Any,
    protocol: int = 4,
    *,
    use_binary_format: bool = False,
    pickle_protocol: int | None = None,
    safetensors: bool = False,
    **configs: Any,
) -> None:
    """Save a state_dict, a tensor, nested containers of tensors and plain values, an object, or a static program.

    Arguments:
        obj: the object. Of a static program the operators are saved, without state; see static.save(). Objects of
            classes, such as settings, are pickled; load() reads them as records, since it runs no code.
        path: path of the file, or a file object; folders are created. The file is replaced atomically: if it cannot be
            written, the old one stays intact.
        protocol: pickle protocol, 2 to 5. Default: 4.
        pickle_protocol: the same.
        safetensors: write the safetensors format, for a dict of tensors. Default: False.

    Raises:
        TypeError: if a part of obj cannot be pickled, or has a state_dict(), which should be saved instead.
        ValueError: if path names no file.
        OSError: if the file cannot be written.

    Examples:
        >>> import tempfile, paddle_lite_py as paddle
        >>> path = tempfile.mkdtemp() + "/net.pdparams"
        >>> net = paddle.nn.Linear(2, 3)
        >>> paddle.save(net.state_dict(), path)
        >>> net.set_state_dict(paddle.load(path))
        ([], [])
    """
    only_known(save, configs)
    protocol = protocol if pickle_protocol is None else pickle_protocol
    if not isinstance(protocol, int) or not 2 <= protocol <= 5:
        raise ValueError(f"paddle.save: protocol is {protocol!r}; expected 2, 3, 4 or 5")
    if not isinstance(use_binary_format, bool):
        raise TypeError(f"paddle.save: use_binary_format is {use_binary_format!r}; expected True or False")
    data = _as_safetensors(obj) if safetensors else _as_pickle_or_text(obj, protocol)
    if hasattr(path, "write"):
        path.write(data)
        return
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise ValueError(f"paddle.save: path is {path!r}; expected the name of a file, or a file object")
    target = Path(path)
    if not target.name or str(path).endswith(("/", os.sep)) or target.is_dir():
        raise ValueError(f"paddle.save: '{path}' is a folder; expected the name of a file")
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, data)


def _as_pickle_or_text(obj: Any, protocol: int) -> bytes:
    if hasattr(obj, "serialize_to_string"):
        return obj.serialize_to_string()
    file = io.BytesIO()
    try:
        _Pickler(file, protocol).dump(packed(obj))
    except (pickle.PicklingError, TypeError, AttributeError) as e:
        if isinstance(e, UnsavableError):
            raise
        raise UnsavableError(f"paddle.save: obj holds something that a file cannot hold: {e}") from None
    return file.getvalue()


class _Pickler(pickle.Pickler):
    """Pickles objects as well; tensors in their attributes are data: (name, array)."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, np.ndarray) and obj.dtype == ml_dtypes.bfloat16:
            return _words(obj).__reduce__()
        return (tuple, ((obj.name, _array(obj)),)) if isinstance(obj, Tensor) else NotImplemented


def _as_safetensors(obj: Any) -> bytes:
    if not isinstance(obj, dict) or not all(isinstance(v, Tensor) for v in obj.values()):
        raise TypeError("paddle.save: obj is no dict of tensors, the one thing that safetensors=True writes")
    return bytes_of({k: np.asarray(t._payload) for k, t in obj.items()})


class UnsavableError(TypeError, ValueError):
    """Error: the object cannot be saved."""


class MissingFileError(FileNotFoundError, ValueError):
    """Error: there is no such file."""


def replace_file(target: Path, data: bytes) -> None:
    """Write a file atomically: completely, or not at all."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        mode = target.stat().st_mode if target.exists() else 0o666 & ~_umask()
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)  # an interrupt may come when it has its new name already
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def packed(obj: Any) -> Any:
    """Return the object to pickle: for dicts of tensors, dicts of arrays and names; for others (name, array)."""
    if isinstance(obj, dict) and any(isinstance(v, Tensor) for v in obj.values()):
        names = {k: v.name for k, v in obj.items() if isinstance(v, Tensor)}
        flat = {k: _array(v) if isinstance(v, Tensor) else _plain(v, f"[{k!r}]") for k, v in obj.items()}
        return {**flat, NAMES: names}
    return _plain(obj, "")


def _array(tensor: Tensor) -> np.ndarray:
    if not tensor._dense:
        parts = "indices()" if tensor.is_sparse_coo() else "crows(), cols()"
        raise UnsavableError(f"paddle.save: obj has a sparse tensor; save its {parts} and values(), or its to_dense()")
    return _words(tensor.numpy())


def _words(array: np.ndarray) -> np.ndarray:
    # Paddle keeps bfloat16 as the 16-bit words that it consists of.
    return array.view(np.uint16) if array.dtype == ml_dtypes.bfloat16 else array


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, Tensor):
        return (value.name, _array(value))
    if isinstance(value, dict):
        return {_key(k, where): _plain(v, f"{where}[{k!r}]") for k, v in value.items()}
    if isinstance(value, list | tuple):
        items = [_plain(v, f"{where}[{i}]") for i, v in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, set | frozenset):
        return {_plain(v, f"{where}{{}}") for v in value}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcSU":
        return value
    if isinstance(value, np.bool_ | np.number) or type(value) in _PLAIN:
        return value
    if hasattr(value, "_get_dims"):  # a variable of a scope
        return np.array(value)
    if hasattr(value, "state_dict"):
        raise UnsavableError(
            f"paddle.save: obj{where} is a {type(value).__name__}, which a file cannot hold; "
            "save layer.state_dict() instead"
        )
    return value


def _key(key: Any, where: str) -> Any:
    if not isinstance(key, str | int | float | bool | tuple | type(None)):
        raise TypeError(f"paddle.save: a key of obj{where} is a {type(key).__name__}; expected a string or number")
    return key


_ONE_FILE = "the file is named by path"


@no_effect(model_filename=_ONE_FILE, params_filename=_ONE_FILE)
def load(
    path: Any,
    return_numpy: bool = False,
    *,
    keep_name_table: bool = False,
    safetensors: bool = False,
    as_records: bool = False,
    model_filename: str | None = None,
    params_filename: str | None = None,
    **configs: Any,
) -> Any:
    """Load an object that paddle.save() wrote, here or in PaddlePaddle; no code of the file is run.

    Arguments:
        path: path of the file, or a file object. Of a model file of PaddlePaddle (its prefix, or path.pdiparams) the
            weights are loaded by name. A static program is loaded as a Program.
        return_numpy: return NumPy arrays instead of tensors. Default: False.
        keep_name_table: keep the table of parameter names of a state_dict. Default: False.
        safetensors: read the safetensors format. Default: False.
        as_records: read objects of classes as records of their attributes (SavedObject). Default: False.
        model_filename: no effect: path names the file.
        params_filename: no effect: path names the file.

    Returns:
        The saved object.

    Raises:
        MissingFileError: if there is no such file.
        ValueError: if the file is damaged, not a file of paddle.save(), or contains anything but data.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/w.pdparams"
        >>> paddle.save({"w": paddle.ones([2])}, file)
        >>> paddle.load(file)["w"].tolist()
        [1.0, 1.0]
    """
    only_known(load, configs)
    if hasattr(path, "read"):
        return _loaded(
            path, getattr(path, "name", "the file object"), return_numpy, keep_name_table, safetensors, as_records
        )
    if not os.path.isfile(path) and _is_model(path):
        return _of_model(path, return_numpy)
    if not os.path.isfile(path):
        similar = " (it is a folder)" if os.path.isdir(path) else ""
        raise MissingFileError(f"paddle.load: there is no file '{path}'{similar}")
    with open(path, "rb") as f:
        return _loaded(f, path, return_numpy, keep_name_table, safetensors, as_records)


def _loaded(
    file: Any, name: Any, return_numpy: bool, keep_name_table: bool, safetensors: bool, as_records: bool
) -> Any:
    start = b"" if safetensors else _start(file)
    if start.startswith(_OF_PROGRAMS):
        try:
            return importlib.import_module(_PROGRAMS).deserialize_program(file.read())
        except ValueError as e:  # of the same class
            raise type(e)(f"{name}: {e}") from None
    if start == _OF_WEIGHTS and os.path.isfile(name):
        return _of_model(name, return_numpy)
    if not safetensors:
        reader = read_records if as_records else lambda f: read(f, more=RECORDS)
        return _unpack(_read(file, name, reader), return_numpy, keep_name_table)
    found = _read(file, name, lambda f: stored_arrays(f.read()))
    return {k: a if return_numpy else wrap(as_array(a)) for k, a in found.items()}


def _start(file: Any) -> bytes:
    if not file.seekable():
        return b""
    at = file.tell()
    start = file.read(len(_OF_WEIGHTS))
    file.seek(at)
    return start


def _is_model(prefix: Any) -> bool:
    return any(os.path.isfile(f"{prefix}{end}") for end in (".pdmodel", "/__model__")) or (
        os.path.isfile(f"{prefix}.json") and os.path.isfile(f"{prefix}.pdiparams")
    )


def _of_model(path: Any, return_numpy: bool) -> Any:
    """Return the weights of a model file by name."""
    found = importlib.import_module(_MODEL_FILES).read_state(str(path))
    if isinstance(found, np.ndarray):
        return found if return_numpy else wrap(from_host(found))
    return {k: a if return_numpy else wrap(from_host(a)) for k, a in found.items()}


def _read(file: Any, name: Any, reader: Callable[[Any], Any]) -> Any:
    try:
        return reader(file)
    except RefusedError as e:
        raise ValueError(
            f"paddle.load: '{name}' holds {e}; only containers, numbers, strings and arrays are read "
            "(objects of classes with as_records=True, as their attributes)"
        ) from None
    except (MemoryError, RecursionError):
        raise ValueError(f"paddle.load: '{name}' is damaged: it asks for more memory than there is") from None
    except Exception as e:  # a pickle that was cut off or altered fails in any way
        raise ValueError(
            f"paddle.load: '{name}' is damaged or was not written by paddle.save ({type(e).__name__}: {e})"
        ) from None


def _unpack(data: Any, return_numpy: bool, keep_name_table: bool) -> Any:
    restore = _Restored(return_numpy)
    if isinstance(data, dict) and NAMES in data:
        names = data.pop(NAMES)
        out = {
            k: _with_name(restore.array(v), names, k) if isinstance(v, np.ndarray) else restore(v)
            for k, v in data.items()
        }
        return out | ({NAMES: names} if keep_name_table else {})
    return restore(data)


def _with_name(value: Any, names: Any, key: Any) -> Any:
    if isinstance(value, Tensor) and isinstance(names, dict) and isinstance(names.get(key), str):
        value.name = names[key]
    return value


class _Restored:
    """The original of a packed() object; containers and data that are shared in the file stay shared."""

    def __init__(self, return_numpy: bool) -> None:
        self.return_numpy = return_numpy
        self.made: dict[int, Any] = {}  # by the id of what was read, which lives as long

    def array(self, array: np.ndarray) -> Any:
        """Return an array, or a tensor of its own."""
        if self.return_numpy:
            return array
        if id(array) not in self.made:
            self.made[id(array)] = as_array(array.view(ml_dtypes.bfloat16) if array.dtype == np.uint16 else array)
        return wrap(self.made[id(array)])

    def __call__(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.array(value)
        if not isinstance(value, dict | list | tuple | SavedObject):
            return value
        if id(value) not in self.made and isinstance(value, SavedObject):
            self.made[id(value)] = value  # which may hold itself
            value.__dict__.update(self._container(dict(vars(value))))
        elif id(value) not in self.made:
            self.made[id(value)] = self._container(value)
        return self.made[id(value)]

    def _container(self, value: Any) -> Any:
        if type(value) is tuple and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], np.ndarray):
            return _with_name(self.array(value[1]), {"": value[0]}, "")
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        return type(value)([v if type(v) in _PLAIN else self(v) for v in value])
