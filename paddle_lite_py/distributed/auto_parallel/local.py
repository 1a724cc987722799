"""Layers and functions of the parts that processes have of tensors over a mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...autograd import PyLayer
from ...core.interpreter import state
from ...core.processes import world
from ...eager.pending import payload_of
from ...eager.tensor import Tensor, wrap
from ...nn import Layer
from .api import dtensor_from_local, reshard
from .layouts import mesh_of, placements_of
from .process_mesh import Placement, ProcessMesh, Replicate
from .reading import own_part

__all__ = ["LocalLayer", "local_map"]


class _ToLocal(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, grad_placements: Any) -> Tensor:
        ctx.mesh = mesh_of(payload_of(x))
        own = [
            Replicate() if p.is_partial() else p for p in placements_of(payload_of(x)) or ()
        ]  # each part gets all of it
        ctx.placements = grad_placements or own
        return wrap(own_part(x))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return dtensor_from_local(grad, ctx.mesh, ctx.placements)


class _FromLocal(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: ProcessMesh, placements: Any) -> Tensor:
        ctx.mesh = mesh
        ctx.placements = [p if not p.is_partial() else None for p in placements]
        return dtensor_from_local(x, mesh, placements)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        kept: list[Placement] = [p or Replicate() for p in ctx.placements]
        return wrap(own_part(reshard(grad, ctx.mesh, kept)))


def _check(name: str, mesh: ProcessMesh) -> None:
    if not state.interpreter.at_once:
        raise NotImplementedError(f"{name}: a program over a mesh has no parts; call it outside of to_static")
    if world().size == 1 and mesh.size > 1:
        raise NotImplementedError(
            f"{name}: this process has {mesh.size} parts, one on each device; start a process for each by "
            "python -m paddle_lite_py.distributed.launch"
        )


def local_part(x: Any, grad_placements: Sequence[Placement] | None = None) -> Any:
    """Return the part that this process has of a tensor; others as they are. Gradients flow back."""
    return _ToLocal.apply(x, grad_placements) if isinstance(x, Tensor) and mesh_of(payload_of(x)) is not None else x


class LocalLayer(Layer):
    """Layer whose forward() computes with the local parts of distributed tensors.

    Arguments:
        out_dist_attrs: mesh and placements of each result.
        grad_dist_attrs: mesh and placements of the gradient of each input; by default those of the input.

    Raises:
        NotImplementedError: if a process has several parts, or the layer is called in a static function.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], ["dp"])
        >>> class Doubled(dist.LocalLayer):
        ...     def forward(self, x):
        ...         return x * 2.0
        >>> layer = Doubled([(mesh, [dist.Shard(0)])])
        >>> layer(dist.shard_tensor(paddle.ones([2]), mesh, [dist.Shard(0)])).placements
        [Shard(dim=0)]
    """

    def __init__(
        self, out_dist_attrs: Sequence[tuple[ProcessMesh, Sequence[Placement]]],
        grad_dist_attrs: Sequence[tuple[ProcessMesh, Sequence[Placement]] | None] = (),
    ) -> None:  # fmt: skip
        super().__init__()
        self.out_dist_attrs, self.grad_dist_attrs = list(out_dist_attrs), list(grad_dist_attrs or ())

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the results, over the meshes."""
        _check(type(self).__name__, self.out_dist_attrs[0][0])
        how = [a[1] if a else None for a in self.grad_dist_attrs]
        how += [None] * (len(inputs) - len(how))
        local = [local_part(x, p) for x, p in zip(inputs, how, strict=False)]
        out = super().__call__(*local, **{k: local_part(v) for k, v in kwargs.items()})
        several = out if isinstance(out, tuple | list) else (out,)
        if len(several) != len(self.out_dist_attrs):
            raise ValueError(
                f"{type(self).__name__}: forward gave {len(several)} results for {len(self.out_dist_attrs)} entries of "
                "out_dist_attrs"
            )
        made = [_FromLocal.apply(t, *at) for t, at in zip(several, self.out_dist_attrs, strict=True)]
        return type(out)(made) if isinstance(out, tuple | list) else made[0]


def local_map(
    func: Callable[..., Any], out_placements: Sequence[Any], in_placements: Sequence[Any] | None = None,
    process_mesh: ProcessMesh | None = None, reshard_inputs: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Convert a function of local parts into a function of distributed tensors.

    Arguments:
        func: function of the parts of this process.
        out_placements: placements of each result.
        in_placements: placements of each argument; None for arguments that are not tensors.
        process_mesh: the mesh; None: that of the arguments.
        reshard_inputs: redistribute arguments with other placements instead of raising. Default: False.

    Returns:
        The converted function.

    Raises:
        ValueError: if an argument has other placements.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], ["dp"])
        >>> double = dist.local_map(lambda x: x * 2.0, [[dist.Shard(0)]], [[dist.Shard(0)]], mesh)
        >>> double(dist.shard_tensor(paddle.ones([2]), mesh, [dist.Shard(0)])).placements
        [Shard(dim=0)]
    """

    def call(*args: Any) -> Any:
        mesh = process_mesh or next(
            m for a in args if isinstance(a, Tensor) and (m := mesh_of(payload_of(a))) is not None
        )
        _check("local_map", mesh)
        asked = in_placements or [None] * len(args)
        given = [_as_asked(a, mesh, p, reshard_inputs) for a, p in zip(args, asked, strict=True)]
        out = func(*map(local_part, given))
        if not isinstance(out, tuple | list):
            only = out_placements[0] if isinstance(out_placements[0], list | tuple) else out_placements
            return _FromLocal.apply(out, mesh, only)
        laid = zip(out, out_placements, strict=True)
        return type(out)(t if p is None else _FromLocal.apply(t, mesh, p) for t, p in laid)

    return call


def _as_asked(x: Any, mesh: ProcessMesh, placements: Any, may_move: bool) -> Any:
    if not isinstance(x, Tensor) or placements is None or placements_of(payload_of(x)) == list(placements):
        return x
    if not may_move:
        raise ValueError(
            f"local_map: an argument has the placements {placements_of(payload_of(x))}; in_placements has {placements}"
        )
    return reshard(x, mesh, placements)
