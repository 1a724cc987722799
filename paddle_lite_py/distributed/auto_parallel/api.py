"""Tensors that lie over a mesh: made, moved, and taken back. Ops on them are one GSPMD program each."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ...autograd import PyLayer
from ...core.arrays import from_host
from ...core.interpreter import state
from ...core.processes import world
from ...dispatch.define import add_methods
from ...eager.pending import payload_of, set_payload
from ...eager.tensor import Parameter, Tensor, wrap
from ...nn import Layer
from ...ops.convert import to_tensor
from ...ops.placement import constrain
from .layouts import Planned, complete, describe_missing, mesh_of, partial_axes, parts_of, placements_of, sharding
from .moving import as_parts, laid, place_over_mesh, reshard_payload, stacked_sharding
from .process_mesh import Placement, ProcessMesh, Replicate
from .reading import agree, whole


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
    if isinstance(data, Tensor) and not (data.is_leaf and state.interpreter.is_eager):
        return reshard(given, mesh, placements)
    agree("shard_tensor", given, mesh, placements)
    made = copy.copy(data) if isinstance(data, Parameter) else wrap(None)
    set_payload(made, place_over_mesh(given._payload, mesh, placements))
    made.__dict__.pop("_view", None), made.__dict__.pop("_views", None)
    if not isinstance(made, Parameter) or stop_gradient is not None:
        was = getattr(data, "stop_gradient", True)
        made.stop_gradient = was if stop_gradient is None else stop_gradient
    return made


def dtensor_from_local(local_tensor: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """Return a tensor of which each process gives its part; a process with several devices gives the same for each.

    Arguments:
        local_tensor: the part.
        mesh: the processes.
        placements: for each axis of the mesh; of Partial parts the reduction is taken at once.
    """
    agree("dtensor_from_local", local_tensor, mesh, placements)
    local = np.asarray(local_tensor._payload)
    each = complete(mesh, placements, local.ndim)
    shape = [
        n * math.prod(mesh.shape[i] for i, p in enumerate(each) if p.is_shard(d)) for d, n in enumerate(local.shape)
    ]
    if describe_missing(mesh):
        return wrap(Planned(mesh, each, shape, local.dtype))
    where, whole = stacked_sharding(mesh, each, shape)
    part = local.reshape((1,) * (len(whole) - local.ndim) + local.shape)
    stacked = jax.make_array_from_callback(whole, where, lambda _: part, dtype=local.dtype)
    out = wrap(None)
    set_payload(out, as_parts(stacked, mesh, each))
    out.stop_gradient = local_tensor.stop_gradient
    return out


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


def _moves_now(tensor: Tensor, placements: Sequence[Placement]) -> bool:
    """Whether a tensor moves at once; otherwise XLA moves it, in a program or among ops that wait for others."""
    if not state.interpreter.is_eager:
        return False
    waits = not state.interpreter.at_once and world().size == 1
    return not waits or parts_of(payload_of(tensor)) is not None or bool(partial_axes(placements))


class _Moved(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: ProcessMesh, placements: Any) -> Tensor:
        source = payload_of(x)
        ctx.mesh, old = mesh_of(source), placements_of(source)
        ctx.placements = old and [Replicate() if p.is_partial() else p for p in old]
        out = wrap(None)
        if ctx.mesh is None or isinstance(source, Planned):
            set_payload(
                out, place_over_mesh(source.data if isinstance(source, Planned) else x._payload, mesh, placements)
            )
        else:
            set_payload(out, reshard_payload(parts_of(source) or source, mesh, complete(mesh, placements, x.ndim)))
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        if ctx.mesh is None:
            return wrap(from_host(np.asarray(whole(grad._payload))))
        return wrap(laid(grad._payload, sharding(ctx.mesh, ctx.placements, grad.shape)))


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
    if not _moves_now(dist_tensor, placements):
        kept = [Replicate() if p.is_partial() else p for p in placements]  # in a program XLA reduces partial values
        return constrain(dist_tensor, sharding(mesh, kept, dist_tensor.shape))
    agree("reshard", dist_tensor, mesh, placements)
    return _Moved.apply(dist_tensor, mesh, placements)


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
    out = copy.copy(dist_tensor) if isinstance(dist_tensor, Parameter) else wrap(None)
    set_payload(out, from_host(np.array(whole(dist_tensor._payload))))
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
        for own in (*sublayer.parameters(include_sublayers=False), *sublayer.buffers(include_sublayers=False)):
            if mesh_of(payload_of(own)) is None:
                own._set_payload(place_over_mesh(own._payload, process_mesh, []))
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, inputs: input_fn(inputs, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, inputs, outputs: output_fn(outputs, process_mesh))
    return layer


def _to_dist_(self: Tensor, placements: Sequence[Placement], mesh: ProcessMesh) -> Tensor:
    """Make the values of this process its part of a tensor over a mesh, in place."""
    set_payload(self, payload_of(dtensor_from_local(self.detach(), mesh, placements)))
    return self


add_methods({"_to_dist_": _to_dist_})
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
    """Return a mesh of all processes with axes of some names and lengths, made that of all programs of this process.

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
