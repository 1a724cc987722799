"""Writing a checkpoint, of which each process has a part."""

from __future__ import annotations

import atexit
import re
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ....core.memo import once
from ....core.no_effect import Immaterial, no_effect
from ....core.processes import world
from ....eager.tensor import Tensor
from ....framework import save
from ....framework.io import replace_file
from ... import collective, objects
from ...exchange import exchanges
from ...group import Group, init_parallel_env
from .metadata import LocalTensorIndex, LocalTensorMetadata, Metadata, as_bytes
from .sharded_weight import ShardedWeight
from .utils import flatten_state_dict, parts

_METADATA = re.compile(r"(\d+)\.metadata")
_under_way: list[Future[None]] = []


@no_effect(
    safetensors="files are as the reference writes them by default",
    save_replicas=Immaterial("each part is written once"),
)
def save_state_dict(
    state_dict: dict[str, Any], path: str, process_group: Group | None = None, coordinator_rank: int = 0,
    unique_id: int | None = None, async_save: bool = False, safetensors: bool = False, save_replicas: bool = False,
) -> None:  # fmt: skip
    """Save distributed state to a folder: files of each process, and one that describes them.

    The descriptive file is written last, when all others are complete, so that an earlier checkpoint stays valid until
    then.

    Arguments:
        state_dict: tensors in nested dicts. Tensors without a mesh are saved by the first process, ShardedWeights by
            each process.
        path: the folder, which all processes can access.
        process_group: the group of processes; None: all.
        coordinator_rank: rank of the process that writes the descriptive file. Default: 0.
        unique_id: number of the checkpoint in the folder; None: one more than the last.
        async_save: copy the state and write it in the background; the next save waits for it. Default: False.
        safetensors: see docs/differences.md. Default: False.
        save_replicas: see docs/differences.md. Default: False.

    Raises:
        TypeError: if a value is no tensor or array.

    Examples:
        >>> import paddle_lite_py as paddle, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> paddle.distributed.save_state_dict({"w": paddle.ones([2])}, folder)
        >>> held = {"w": paddle.zeros([2])}
        >>> paddle.distributed.load_state_dict(held, folder); held["w"].tolist()
        [1.0, 1.0]
    """
    wait_for_saves()
    group = process_group or init_parallel_env()
    flat, paths = flatten_state_dict(state_dict)
    held: dict[str, np.ndarray] = {}
    metadata = Metadata(flat_mapping=paths)
    number = _number(Path(path), unique_id, group, coordinator_rank)
    file = f"{world().rank}_{number}.distcp"
    for key, value in flat.items():
        _note(metadata, held, key, value, file)
    everyone: list[Any] = []
    objects.all_gather_object(everyone, (metadata.state_dict_metadata, metadata.storage_metadata), group)
    whole = _join_metadata(everyone, paths)

    def write() -> None:
        Path(path).mkdir(parents=True, exist_ok=True)
        save(held, str(Path(path) / file))

    def finish() -> None:
        if world().rank == coordinator_rank:
            replace_file(Path(path) / f"{number}.metadata", as_bytes(whole))

    def write_alone() -> None:
        write()
        finish()

    if async_save:
        _under_way.append(_writer().submit(write_alone if group.nranks == 1 else write))
        if group.nranks > 1:
            _pending.append((group, finish))
        _finish_at_exit()
        return
    write()
    collective.barrier(group)
    finish()
    collective.barrier(group)


_pending: list[tuple[Group, Any]] = []


@once
def _finish_at_exit() -> None:
    atexit.register(_finish)


def _finish() -> None:
    if world().size == 1 or not exchanges().failed:
        wait_for_saves()


@once
def _writer() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "checkpoint")


def wait_for_saves() -> None:
    """Wait until checkpoints that are written in the background are whole; all processes call it.

    Raises:
        Exception: what kept one from being written; the checkpoint before it is the last one then.
    """
    try:
        while _under_way:
            _under_way.pop().result()
    except Exception:
        _pending.clear()  # an incomplete checkpoint is not marked as complete
        raise
    while _pending:
        group, finish = _pending.pop()
        collective.barrier(group)
        finish()
        collective.barrier(group)


def _note(metadata: Metadata, held: dict[str, np.ndarray], key: str, value: Any, file: str) -> None:
    if isinstance(value, ShardedWeight):
        array = np.asarray(value.local_tensor._payload).reshape(value.local_shape)
        held[key] = array.copy()
        place = LocalTensorMetadata(value.global_offset, value.local_shape, str(array.dtype), value.global_shape)
        metadata.state_dict_metadata[key] = [place]
        metadata.storage_metadata[LocalTensorIndex(key, value.global_offset, local_shape=value.local_shape)] = file
        return
    data = value._payload if isinstance(value, Tensor) else np.asarray(value)
    if getattr(data, "dtype", None) is None or np.dtype(data.dtype).kind == "O":
        raise TypeError(f"save_state_dict: {key!r} is a {type(value).__name__}; expected tensors and numbers")
    found: list[LocalTensorMetadata] = []
    for at, part in parts(data):
        name = f"{key}@{','.join(map(str, at))}" if found else key  # a process mostly has one part
        held[name] = np.array(part)  # a copy: training goes on
        shape = tuple(part.shape)
        found.append(LocalTensorMetadata(at, shape, str(np.dtype(data.dtype)), tuple(data.shape)))
        metadata.storage_metadata[LocalTensorIndex(key, at, local_shape=shape)] = file
    if found:
        metadata.state_dict_metadata[key] = found


def _join_metadata(everyone: list[Any], paths: dict[str, tuple[Any, ...]]) -> Metadata:
    whole = Metadata(flat_mapping=paths)
    for tensors, files in everyone:
        whole.storage_metadata = files | whole.storage_metadata  # of copies, the first one is read
        for key, found in tensors.items():
            known = whole.state_dict_metadata.setdefault(key, [])
            known.extend([part for part in found if part.global_offset not in [k.global_offset for k in known]])
    return whole


def last_number(folder: Path) -> int:
    """Return the number of the last checkpoint in a folder; -1 where there is none."""
    names = [_METADATA.fullmatch(p.name) for p in folder.glob("*.metadata")] if folder.is_dir() else []
    return max([int(m[1]) for m in names if m], default=-1)


def _number(folder: Path, wanted: int | None, group: Group, coordinator: int) -> int:
    told = [last_number(folder) + 1 if wanted is None else wanted]
    objects.broadcast_object_list(told, coordinator, group)
    return told[0]
