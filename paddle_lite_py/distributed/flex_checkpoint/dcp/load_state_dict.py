"""Reading a checkpoint into state that may lie another way than it did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np

from ....core.arrays import from_host
from ....core.no_effect import Immaterial, Refused, no_effect
from ....eager.tensor import Tensor
from ....framework import load
from ....ops.convert import to_tensor
from ...group import Group
from .metadata import LocalTensorMetadata, Metadata, from_bytes
from .save_state_dict import last_number, wait_for_saves
from .sharded_weight import ShardedWeight
from .utils import flatten_state_dict

_FILES = Immaterial("each process reads the parts that it needs, from the files")


@no_effect(
    process_group=_FILES,
    coordinator_rank=_FILES,
    comm_method=_FILES,
    worker_groups=_FILES,
    offload=Immaterial("files are read on the host"),
    mw_name_compatibility=Immaterial("names are as they were saved"),
    safetensors="files are as the reference writes them by default",
    aoa_config="names and shapes are as they were saved",
)
def load_state_dict(
    state_dict: dict[str, Any], path: str, process_group: Group | None = None, coordinator_rank: int = 0,
    unique_id: int | None = None, offload: bool = False, mw_name_compatibility: bool = True,
    aoa_config: Any = None, safetensors: bool = False, worker_groups: Any = None, comm_method: str = "broadcast",
) -> None:  # fmt: skip
    """Load a checkpoint into tensors, in place; they may be distributed over another mesh than when they were saved.

    Arguments:
        state_dict: tensors in nested dicts; either all of them are changed or none.
        path: the folder.
        unique_id: number of the checkpoint in the folder; None: the last.

    Raises:
        FileNotFoundError: if there is no such checkpoint, or a file of it is missing.
        ValueError: if it is damaged, lacks tensors (all are named), or has them in other shapes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> folder, net = tempfile.mkdtemp(), paddle.nn.Linear(2, 1)
        >>> paddle.distributed.save_state_dict(net.state_dict(), folder)
        >>> other = paddle.nn.Linear(2, 1)
        >>> paddle.distributed.load_state_dict(other.state_dict(), folder)
        >>> bool((other.weight == net.weight).all())
        True
    """
    reader = _reader(path, unique_id)
    metadata = reader.metadata
    flat, _ = flatten_state_dict(state_dict)
    targets = {k: t for k, t in flat.items() if isinstance(t, Tensor | ShardedWeight)}
    _check(targets, metadata, path)
    new = {key: reader.filled(key, t) for key, t in targets.items()}
    for key, data in new.items():
        target = targets[key]
        (target.local_tensor if isinstance(target, ShardedWeight) else target)._set_payload(data)


@no_effect(
    offload=Immaterial("files are read on the host"),
    aoa_config="names and shapes are as they were saved",
    safetensors=Refused("checkpoints are read as save_state_dict() writes them"),
)
def load_merged_state_dict(
    path: str, prefix: str | None = None, unique_id: int | None = None, offload: bool = False, aoa_config: Any = None,
    safetensors: bool = False,
) -> dict[str, Tensor]:  # fmt: skip
    """Load a checkpoint as whole tensors by name.

    Arguments:
        path: the folder.
        prefix: load only names with this prefix; None: all.
        unique_id: number of the checkpoint in the folder; None: the last.
        offload: see docs/differences.md. Default: False.
        aoa_config, safetensors: see docs/differences.md.

    Returns:
        A dict from names to tensors.

    Raises:
        FileNotFoundError: if there is no such checkpoint.

    Examples:
        >>> import paddle_lite_py as paddle, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> paddle.distributed.save_state_dict({"w": paddle.ones([2])}, folder)
        >>> load_merged_state_dict(folder)["w"].tolist()
        [1.0, 1.0]
    """
    reader = _reader(path, unique_id)
    wanted = [k for k in reader.metadata.state_dict_metadata if k.startswith(prefix or "")]
    shapes = {k: _shape(reader.metadata.state_dict_metadata[k]) for k in wanted}
    return {k: to_tensor(reader._slice(k, s, tuple([slice(0, n) for n in s]))) for k, s in shapes.items()}


def _reader(path: str, unique_id: int | None) -> _CheckpointReader:
    wait_for_saves()
    folder = Path(path)
    number = last_number(folder) if unique_id is None else unique_id
    file = folder / f"{number}.metadata"
    if not file.exists():
        raise FileNotFoundError(f"load_state_dict: there is no checkpoint {'' if number < 0 else number} in {path}")
    return _CheckpointReader(folder, from_bytes(file.read_bytes()))


def _global_shape(target: Tensor | ShardedWeight) -> tuple[int, ...]:
    return target.global_shape if isinstance(target, ShardedWeight) else tuple(target.shape)


def _check(targets: dict[str, Tensor | ShardedWeight], metadata: Metadata, path: str) -> None:
    known = metadata.state_dict_metadata
    if missing := sorted(targets.keys() - known.keys()):
        raise ValueError(f"load_state_dict: the checkpoint in {path} lacks {', '.join(missing)}")
    wrong = [
        f"{key} is {list(shape)} there and {list(_global_shape(t))} here"
        for key, t in targets.items()
        if (shape := _shape(known[key])) != _global_shape(t)
    ]
    if wrong:
        raise ValueError(f"load_state_dict: {'; '.join(wrong)}")


def _shape(found: list[LocalTensorMetadata]) -> tuple[int, ...]:
    if found[0].global_shape is not None:
        return tuple(found[0].global_shape)
    ends = [np.add(p.global_offset, p.local_shape) for p in found]
    return tuple(np.max(ends, axis=0).astype(int).tolist())


class _CheckpointReader:
    """The files of a checkpoint, each read once."""

    def __init__(self, folder: Path, metadata: Metadata) -> None:
        self.folder, self.metadata = folder, metadata
        self.read: dict[str, dict[str, Any]] = {}

    def filled(self, key: str, target: Tensor | ShardedWeight) -> Any:
        """Return the data of a tensor, laid as it lies, or of a part of one."""
        if isinstance(target, ShardedWeight):
            at = tuple([slice(o, o + n) for o, n in zip(target.global_offset, target.local_shape, strict=True)])
            found = self._slice(key, target.global_shape, at).astype(target.local_tensor._payload.dtype)
            return from_host(found.reshape(tuple(target.local_tensor.shape)))
        data = target._payload
        held = getattr(data, "sharding", None)
        if isinstance(held, jax.sharding.NamedSharding):
            kind = data.dtype
            return jax.make_array_from_callback(
                data.shape, held, lambda index: self._slice(key, data.shape, index).astype(kind)
            )
        return from_host(self._slice(key, data.shape, tuple([slice(0, n) for n in data.shape])).astype(data.dtype))

    def _slice(self, key: str, shape: tuple[int, ...], index: Any) -> np.ndarray:
        starts = [s.start or 0 for s in index]
        stops = [n if s.stop is None else s.stop for s, n in zip(index, shape, strict=True)]
        out, seen = None, 0
        for part in self.metadata.state_dict_metadata[key]:
            low = np.maximum(starts, part.global_offset).astype(int)
            high = np.minimum(stops, np.add(part.global_offset, part.local_shape)).astype(int)
            if (low < high).all():
                array = self._part(key, part)
                if out is None:
                    out = np.empty(np.subtract(stops, starts).astype(int), array.dtype)
                taken = tuple([slice(a - o, b - o) for a, b, o in zip(low, high, part.global_offset, strict=True)])
                out[tuple([slice(a - s, b - s) for a, b, s in zip(low, high, starts, strict=True)])] = array[taken]
                seen += int(np.prod(high - low))
        if out is None or seen < out.size:
            raise ValueError(f"load_state_dict: {key} is not whole in {self.folder}")
        return out

    def _part(self, key: str, part: LocalTensorMetadata) -> np.ndarray:
        at = tuple(part.global_offset)
        files = self.metadata.storage_metadata.items()
        name = next(f for i, f in files if i.tensor_key == key and tuple(i.global_offset) == at)
        if not isinstance(name, str) or Path(name).name != name:
            raise ValueError(f"load_state_dict: the metadata in {self.folder} name a file outside of it: {name!r:.80}")
        if name not in self.read:
            if not (self.folder / name).exists():
                raise FileNotFoundError(f"load_state_dict: {name} of the checkpoint in {self.folder} is missing")
            self.read[name] = load(str(self.folder / name), return_numpy=True)
        found = self.read[name]
        if not isinstance(found, dict):
            raise ValueError(f"load_state_dict: {name} of the checkpoint in {self.folder} holds no tensors by name")
        array = found.get(f"{key}@{','.join(map(str, at))}", found.get(key))
        if array is None or tuple(array.shape) != tuple(part.local_shape):
            raise ValueError(f"load_state_dict: {name} does not have the part of {key} at {at}")
        return array
