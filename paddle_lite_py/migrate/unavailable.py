"""Names of PaddlePaddle for which nothing stands here: they can be imported, and say so when they are used."""

from __future__ import annotations

from typing import Any

REASONS = {
    "gpu": "it is a kernel that PaddlePaddle has for its own GPU runtime; write it with the functions of paddle, which "
    "XLA fuses, or as a kernel of your own with paddle.utils.custom_op",
    "ir": "programs here are none of PaddlePaddle's own representation; paddle.static and paddle_lite_py.passes "
    "have what reads and rewrites programs",
    "quant": "passes over PaddlePaddle's own programs are not there; use paddle.quantization.QAT or PTQ on the layer "
    "before it is made static, or paddle_lite_py.passes.quantize_weights on the program",
    "share": "tensors are not shared between processes through memory of their own; send arrays, or the file's name",
    "ps": "workers of parameter servers find each other by themselves; there is no gloo to begin",
    "mesh": "tensors lie over one mesh, which XLA divides; use shard_tensor(), reshard() and to_static()",
    "lod": "tensors have no nested offsets; pad the sequences, and pass their lengths (sequence_length, lengths=), or "
    "pack them (paddle.compat.nn.pack_padded_sequence)",
    "inner": "it belongs to the inside of PaddlePaddle's own runtime",
    "aoa": "names and shapes of a checkpoint are as they were saved; rename the entries of the state",
    "experts": "give MoELayer the group of processes that have experts",
    "shards": "use paddle.distributed.sharding.group_sharded_parallel(level='p_g_os') or ShardingStage3",
    "system": "the operating system places processes; use its own tools, such as taskset",
    "data": "the data set is not fetched from the network; make a paddle.io.Dataset of its files",
    "xpu": "there is no Kunlun XPU that XLA compiles for; paddle.device.cuda has the same functions for GPUs",
    "ipu": "there is no Graphcore IPU that XLA compiles for; use paddle.CPUPlace or paddle.CUDAPlace",
    "cuda": "the CUDA runtime and its streams belong to XLA; call paddle.device.synchronize() to wait for results",
    "rpc": "other processes run no functions that are sent to them; use the collectives of paddle.distributed, such as "
    "broadcast_object_list(), or a package for remote calls",
    "cost": "programs are not measured by operators; paddle_lite_py.targets.compile_for() gives flops and memory",
    "hops": "call paddle.geometric.sample_neighbors() for each hop, and reindex_graph() on what it gives",
    "wrapper": "there is no predictor around a function; decorate it with paddle.jit.to_static",
    "predictor": "a model is lowered again in the precision it is asked for: see passes.quantize_weights and jit.save",
}


class _Unavailable(type):
    """The metaclass of classes that can be named, inherited from and used in isinstance(), but not called."""

    def __call__(cls, *_args: Any, **_kwargs: Any) -> Any:
        first = next(base for base in reversed(cls.__mro__) if isinstance(base, _Unavailable))  # the user's may inherit
        raise NotImplementedError(first.__doc__)


def unavailable(path: str, why: str) -> type:
    """Return the stand-in for a name of the reference that has no counterpart.

    Args:
        path: the name with its module.
        why: one of the words of REASONS.

    Examples:
        >>> try:
        ...     unavailable("paddle.nn.functional.moe_permute", "gpu")()
        ... except NotImplementedError as e:
        ...     print(str(e)[:54])
        paddle.nn.functional.moe_permute is not available here
    """
    module, _, name = path.rpartition(".")
    doc = f"{path} is not available here: {REASONS[why]}"
    return _Unavailable(name, (), {"__doc__": doc, "__module__": module})
