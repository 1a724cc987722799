"""Tensors that lie over a mesh: made, moved, and taken back. Ops on them are one GSPMD program each."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...autograd import PyLayer
from ...core.arrays import from_host
from ...core.interpreter import state
from ...core.processes import world
from ...core.uninitialized import Uninitialized
from ...dispatch.define import add_methods, op
from ...eager.execute import EAGER
from ...eager.pending import hold
from ...eager.tensor import Parameter, Tensor, wrap
from ...nn import Layer
from ...ops.convert import to_tensor
from .process_mesh import (
    Partial,
    Placement,
    ProcessMesh,
    ReduceType,
    Replicate,
    Shard,
    mesh_of,
    placements_of,
    sharding,
)

_REDUCTIONS: dict[ReduceType, Callable[..., Any]] = {
    ReduceType.kRedSum: jnp.sum, ReduceType.kRedMax: jnp.max, ReduceType.kRedMin: jnp.min,
    ReduceType.kRedProd: jnp.prod, ReduceType.kRedAvg: jnp.mean, ReduceType.kRedAny: jnp.any,
    ReduceType.kRedAll: jnp.all,
}  # fmt: skip


def laid(data: Any, where: jax.sharding.NamedSharding) -> Any:
    """An array that each process has whole, or that lies over some devices already, laid over others."""
    if isinstance(data, Uninitialized):
        return data.laid(where)
    if isinstance(data, jax.ShapeDtypeStruct):  # computed from such
        return jax.ShapeDtypeStruct(data.shape, data.dtype, sharding=where)
    if isinstance(data, jax.Array) and (world().size == 1 or not data.is_fully_addressable):
        return jax.device_put(data, where)
    held = np.asarray(data)
    return jax.make_array_from_callback(held.shape, where, lambda index: held[index].copy())


def shard_tensor(
    data: Any, mesh: ProcessMesh, placements: Sequence[Placement], dtype: Any = None, place: Any = None,
    stop_gradient: bool | None = None,
) -> Tensor:  # fmt: skip
    """Distribute a tensor over a mesh; each process passes the whole tensor.

    Arguments:
        data: a tensor, or an argument of to_tensor().
        mesh: the mesh.
        placements: a placement for each axis of the mesh.
        dtype: dtype of the result; None: that of data.
        place: device of the result; None: the current device.
        stop_gradient: the result does not require gradients; None: as data.

    Returns:
        A distributed tensor.

    Raises:
        ValueError: if the tensor cannot be split in this way.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> x = dist.shard_tensor([[1.0, 2.0]], dist.ProcessMesh([0]), [dist.Shard(0)])
        >>> x.placements, x.is_dist()
        ([Shard(dim=0)], True)
    """
    given = data if isinstance(data, Tensor) and dtype is None and place is None else to_tensor(data, dtype, place)
    if isinstance(data, Tensor) and not data.is_leaf:
        return reshard(given, mesh, placements)
    where = sharding(mesh, placements, given.shape)
    made = copy.copy(data) if isinstance(data, Parameter) else wrap(None)
    hold(made, laid(given._data, where))
    made.__dict__.pop("_view", None), made.__dict__.pop("_views", None)
    if not isinstance(made, Parameter) or stop_gradient is not None:
        was = getattr(data, "stop_gradient", True)
        made.stop_gradient = was if stop_gradient is None else stop_gradient
    return made


def dtensor_from_local(local_tensor: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """A tensor of which each process gives its part; a process with several devices gives the same for each.

    Arguments:
        local_tensor: the part.
        mesh: the processes.
        placements: for each axis of the mesh; of Partial parts the reduction is taken at once.
    """
    local = local_tensor._data
    stacked = [i for i, p in enumerate(placements) if isinstance(p, Partial)]
    lead = [Shard(stacked.index(i)) if i in stacked else _later(p, len(stacked)) for i, p in enumerate(placements)]
    shape = [mesh.shape[i] for i in stacked] + list(local.shape)
    for i, p in enumerate(lead):
        if isinstance(p, Shard) and i not in stacked:
            shape[p.dim] *= mesh.shape[i]
    where = sharding(mesh, lead, shape)
    part = np.asarray(local).reshape((1,) * len(stacked) + local.shape)
    whole = jax.make_array_from_callback(tuple(shape), where, lambda _: part)
    for i in reversed(stacked):
        taken = functools.partial(_REDUCTIONS[placements[i].reduce_type()], axis=stacked.index(i))  # type: ignore[attr-defined]
        whole = jax.jit(taken)(whole)
    kept = [Replicate() if isinstance(p, Partial) else p for p in placements]
    out = wrap(jax.device_put(whole, sharding(mesh, kept, whole.shape)))
    out.stop_gradient = local_tensor.stop_gradient
    return out


def _later(placement: Placement, by: int) -> Placement:
    return Shard(placement.dim + by) if isinstance(placement, Shard) else placement


def dtensor_from_fn(
    fn: Callable[..., Tensor], mesh: ProcessMesh, placements: Sequence[Placement], *args: Any, **kwargs: Any
) -> Tensor:
    """Create a distributed tensor from the result of a function.

    Arguments:
        fn: function that creates a tensor, such as paddle.ones.
        mesh: the mesh.
        placements: a placement for each axis of the mesh.
        args: arguments of fn.
        kwargs: keyword arguments of fn.

    Returns:
        A distributed tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> x = dist.dtensor_from_fn(paddle.zeros, dist.ProcessMesh([0], ["dp"]), [dist.Shard(0)], [4, 2])
        >>> x.shape, x.placements
        (paddle.Size([4, 2]), [Shard(dim=0)])
    """
    return shard_tensor(fn(*args, **kwargs), mesh, placements)


@op(name="_laid")
def constrained(x: Any, /, where: Any) -> Any:
    """A tensor that lies in a given way, in a program."""
    return jax.lax.with_sharding_constraint(x, where)


class _Moved(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, where: Any) -> Tensor:
        ctx.before = x._data.sharding if isinstance(x._data, jax.Array) else None
        return wrap(laid(x._data, where))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        before = ctx.before
        if before is None or not isinstance(before, jax.sharding.NamedSharding):
            return wrap(from_host(_whole(grad._data)))
        return wrap(laid(grad._data, before))


def reshard(dist_tensor: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """Redistribute a tensor over a mesh; differentiable.

    Arguments:
        dist_tensor: a distributed tensor.
        mesh: the new mesh.
        placements: a placement for each axis of the new mesh.

    Returns:
        A distributed tensor with the same values.

    Raises:
        ValueError: if the tensor cannot be split in this way.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], ["dp"])
        >>> x = dist.shard_tensor(paddle.ones([4]), mesh, [dist.Shard(0)])
        >>> dist.reshard(x, mesh, [dist.Replicate()]).placements
        [Replicate()]
    """
    where = sharding(mesh, [Replicate() if p.is_partial() else p for p in placements], dist_tensor.shape)
    if state.interpreter is not EAGER:
        return constrained(dist_tensor, where)
    return _Moved.apply(dist_tensor, where)


def _whole(data: Any) -> np.ndarray:
    if isinstance(data, jax.Array) and not (data.is_fully_addressable or data.is_fully_replicated):
        mesh: Any = data.sharding.mesh  # type: ignore[attr-defined]
        everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        data = jax.jit(lambda x: x, out_shardings=everywhere)(data)
    return np.asarray(data)


def unshard_dtensor(dist_tensor: Tensor) -> Tensor:
    """Gather a distributed tensor: every process receives the whole tensor.

    Arguments:
        dist_tensor: a distributed tensor.

    Returns:
        A replicated tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> x = dist.shard_tensor(paddle.ones([4]), dist.ProcessMesh([0], ["dp"]), [dist.Shard(0)])
        >>> dist.unshard_dtensor(x).tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    out = wrap(from_host(_whole(dist_tensor._data)))
    out.stop_gradient = dist_tensor.stop_gradient
    return out


def shard_layer(
    layer: Layer, process_mesh: ProcessMesh,
    shard_fn: Callable[[str, Layer, ProcessMesh], None] | None = None,
    input_fn: Callable[[Any, ProcessMesh], Any] | None = None,
    output_fn: Callable[[Any, ProcessMesh], Any] | None = None,
) -> Layer:  # fmt: skip
    """Distribute the parameters and buffers of a layer over a mesh, in place.

    Arguments:
        layer: the layer.
        process_mesh: the mesh.
        shard_fn: function (name, sublayer, mesh) that distributes the parameters of a sublayer; parameters it leaves
            are replicated.
        input_fn: function (inputs, mesh) that distributes the inputs.
        output_fn: function (outputs, mesh) that distributes the outputs.

    Returns:
        The layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> net = dist.shard_layer(paddle.nn.Linear(2, 4), dist.ProcessMesh([0], ["dp"]))
        >>> net.weight.placements
        [Replicate()]
    """
    for name, sublayer in layer.named_sublayers(include_self=True):
        if shard_fn is not None:
            shard_fn(name, sublayer, process_mesh)
        for held in (*sublayer.parameters(include_sublayers=False), *sublayer.buffers(include_sublayers=False)):
            if mesh_of(held._data) is None:
                held._set_payload(laid(held._data, sharding(process_mesh, [], held.shape)))
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, inputs: input_fn(inputs, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, inputs, outputs: output_fn(outputs, process_mesh))
    return layer


# -- what tensors say of themselves ----------------------------------------------------------------------------------
def _local_value(self: Tensor) -> Tensor:
    """The part of a tensor that this process has, on its first device."""
    data = self._data
    out = wrap(data.addressable_data(0) if mesh_of(data) is not None else data)
    out.stop_gradient = self.stop_gradient
    return out


def _is_dist(self: Tensor) -> bool:
    """Whether a tensor lies over a mesh."""
    return mesh_of(self._data) is not None


add_methods([
    ("is_dist", _is_dist),
    ("placements", property(lambda self: placements_of(self._data))),
    ("process_mesh", property(lambda self: mesh_of(self._data))),
    ("_local_value", _local_value),
    ("_local_shape", property(lambda self: list(_local_value(self)._data.shape))),
])  # fmt: skip

_mesh: list[ProcessMesh] = []


def set_mesh(mesh: ProcessMesh) -> None:
    """Set the global mesh.

    Arguments:
        mesh: a ProcessMesh.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> dist.set_mesh(dist.ProcessMesh([0], ["mp"]))
        >>> dist.get_mesh().shape
        [1]
    """
    _mesh[:] = [mesh]


def create_mesh(mesh_dims: Sequence[tuple[str, int]]) -> ProcessMesh:
    """A mesh of all processes with axes of some names and lengths, made that of all programs of this process.

    Examples:
        >>> create_mesh([("dp", 1), ("mp", 1)]).dim_names
        ['dp', 'mp']
    """
    lengths = [n for _, n in mesh_dims]
    made = ProcessMesh(np.arange(int(np.prod(lengths))).reshape(lengths), [name for name, _ in mesh_dims])
    set_mesh(made)
    return made


def in_auto_parallel_align_mode() -> bool:
    """False: numbers are as they are in any case."""
    return False


def get_mesh() -> ProcessMesh | None:
    """Return the mesh set by set_mesh(), or None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> dist.set_mesh(dist.ProcessMesh([0], ["dp"]))
        >>> dist.get_mesh().dim_names
        ['dp']
    """
    return _mesh[0] if _mesh else None
