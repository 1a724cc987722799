"""parallelize(): a model laid over a mesh by plans that name its layers."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence
from typing import Any

from jax.sharding import NamedSharding, PartitionSpec

from ...core.interpreter import state
from ...core.no_effect import Immaterial, no_effect
from ...eager.pending import payload_of
from ...eager.tensor import Tensor
from ...nn import Layer
from ...ops.placement import constrain
from .api import get_mesh, reshard, shard_layer
from .layouts import mesh_of, placements_of, xla_mesh
from .moving import place_over_mesh
from .process_mesh import Placement, ProcessMesh, Replicate, Shard
from .training import ShardingStage1, ShardingStage2, ShardingStage3, shard_optimizer

__all__ = [
    *("ColWiseParallel", "ContextParallel", "PlanBase", "PrepareContextParallel", "PrepareLayerInput"),
    *("PrepareLayerOutput", "RowWiseParallel", "SequenceParallelBegin", "SequenceParallelDisable"),
    *("SequenceParallelEnable", "SequenceParallelEnd", "has_parallelized_model", "parallelize", "parallelize_model"),
    *("SplitPoint", "parallelize_optimizer"),
]


class SplitPoint(enum.Enum):
    """Whether a stage of a pipeline begins or ends at a layer."""

    BEGINNING, END = 0, 1


_STAGES: dict[int, Any] = {1: ShardingStage1, 2: ShardingStage2, 3: ShardingStage3}


def _shard(tensor: Tensor, mesh: ProcessMesh, axis: str, dim: int | None) -> Tensor:
    """A tensor cut along one of its dimensions over an axis of the mesh, or whole there; as it was over others."""
    if not state.interpreter.at_once:  # XLA chooses its layout over other axes, and whether to gather it
        spec = [axis if i == dim else PartitionSpec.UNCONSTRAINED for i in range(tensor.ndim)]
        return tensor if dim is None else constrain(tensor, NamedSharding(xla_mesh(mesh), PartitionSpec(*spec)))
    placements = placements_of(payload_of(tensor)) or [Replicate() for _ in mesh.dim_names]
    placements[mesh.dim_names.index(axis)] = Replicate() if dim is None else Shard(dim)
    return reshard(tensor, mesh, placements)


def _each(tensors: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(tensors, tuple | list):
        return type(tensors)(_each(t, change) for t in tensors)
    return change(tensors) if isinstance(tensors, Tensor) and tensors.ndim > 1 else tensors


class PlanBase:
    """The change that a plan makes to a layer."""

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """Lay parameters of a layer, and what goes in and out.

        Arguments:
            layer: changed in place.
            process_mesh: with an axis "mp".
            shard_param_list: the parameters that are laid; weight and bias where it is empty.
        """
        raise NotImplementedError("a plan has a method apply(layer, process_mesh, shard_param_list)")

    def _lay(self, layer: Layer, mesh: ProcessMesh, named: Sequence[str], dims: dict[str, int | None]) -> None:
        for name in named or ("weight", "bias"):
            p = getattr(layer, name, None)
            if isinstance(p, Tensor):
                dim = dims.get(name, dims["weight"] if p.ndim > 1 else dims["bias"])
                data = payload_of(p)  # it may be cut over other axes: see StackedLayers
                known = placements_of(data) if mesh_of(data) == mesh else None
                placements: list[Placement] = known or [Replicate() for _ in mesh.dim_names]
                placements[mesh.dim_names.index("mp")] = Replicate() if dim is None else Shard(dim % p.ndim)
                p._set_payload(place_over_mesh(p._payload, mesh, placements))  # its optimizer has it too


class ColWiseParallel(PlanBase):
    """Plan: split the columns of a weight, and the bias, along the mesh axis "mp".

    Arguments:
        gather_output: gather the output. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> plan = {"mp_config": {"parallelize_plan": {"0": dist.ColWiseParallel()}}}
        >>> net, mesh = paddle.nn.Sequential(paddle.nn.Linear(2, 4)), dist.ProcessMesh([0], ["mp"])
        >>> net, _ = dist.parallelize(net, mesh=mesh, config=plan)
        >>> net[0].weight.placements, net[0].bias.placements
        ([Shard(dim=1)], [Shard(dim=0)])
    """

    def __init__(self, gather_output: bool = False) -> None:
        self.gather_output = gather_output

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        self._lay(layer, process_mesh, shard_param_list, {"weight": -1, "bias": -1})
        if self.gather_output:
            layer.register_forward_post_hook(
                lambda _, inputs, out: _each(out, lambda t: _shard(t, process_mesh, "mp", None))
            )


class RowWiseParallel(PlanBase):
    """Plan: split the rows of a weight along the mesh axis "mp".

    Arguments:
        is_input_parallel: the input is split already; False: split it along its last dimension. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> plan = {"mp_config": {"parallelize_plan": {"0": dist.RowWiseParallel()}}}
        >>> net, mesh = paddle.nn.Sequential(paddle.nn.Linear(2, 4)), dist.ProcessMesh([0], ["mp"])
        >>> net, _ = dist.parallelize(net, mesh=mesh, config=plan)
        >>> net[0].weight.placements, net[0].bias.placements
        ([Shard(dim=0)], [Replicate()])
    """

    def __init__(self, is_input_parallel: bool = True) -> None:
        self.is_input_parallel = is_input_parallel

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        self._lay(layer, process_mesh, shard_param_list, {"weight": -2, "bias": None})
        if not self.is_input_parallel:
            layer.register_forward_pre_hook(
                lambda _, inputs: _each(inputs, lambda t: _shard(t, process_mesh, "mp", t.ndim - 1))
            )


class _OfInput(PlanBase):
    """A hook before a layer.

    Arguments:
        fn: (process_mesh=...) -> (layer, inputs) -> inputs.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        if not callable(fn):
            raise TypeError(f"{type(self).__name__}: fn is a {type(fn).__name__}; expected a function of a mesh")
        self.fn = fn

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        layer.register_forward_pre_hook(self.fn(process_mesh=process_mesh))


class PrepareLayerInput(_OfInput):
    """Plan: a hook of your own before a layer.

    Arguments:
        fn: function (process_mesh) that returns the hook.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> doubled = dist.PrepareLayerInput(lambda process_mesh: lambda layer, inputs: tuple(t * 2.0 for t in inputs))
        >>> net = paddle.nn.Sequential(paddle.nn.ReLU())
        >>> plan = {"mp_config": {"parallelize_plan": {"0": doubled}}}
        >>> net, _ = dist.parallelize(net, mesh=dist.ProcessMesh([0], ["mp"]), config=plan)
        >>> net(paddle.ones([2])).tolist()
        [2.0, 2.0]
    """


class PrepareLayerOutput(_OfInput):
    """Plan: a hook of your own after a layer.

    Arguments:
        fn: function (process_mesh) that returns the hook.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> halved = dist.PrepareLayerOutput(lambda process_mesh: lambda layer, inputs, out: out / 2.0)
        >>> net = paddle.nn.Sequential(paddle.nn.ReLU())
        >>> plan = {"mp_config": {"parallelize_plan": {"0": halved}}}
        >>> net, _ = dist.parallelize(net, mesh=dist.ProcessMesh([0], ["mp"]), config=plan)
        >>> net(paddle.ones([2])).tolist()
        [0.5, 0.5]
    """

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        layer.register_forward_post_hook(self.fn(process_mesh=process_mesh))


class _Sequences(PlanBase):
    """Sequences are cut along the axis "mp" of the mesh, first dimension first where they are turned.

    Arguments:
        need_transpose: [batch, length, size] becomes [length, batch, size] there, and back.
    """

    def __init__(self, need_transpose: bool = True) -> None:
        self.need_transpose = need_transpose

    def begin(self, mesh: ProcessMesh, tensors: Any) -> Any:
        """Cut."""
        return _each(tensors, lambda t: _shard(self._turned(t), mesh, "mp", 0))

    def end(self, mesh: ProcessMesh, tensors: Any) -> Any:
        """Make whole."""
        return _each(tensors, lambda t: self._turned(_shard(t, mesh, "mp", None)))

    def _turned(self, t: Tensor) -> Tensor:
        return t.transpose([1, 0, *range(2, t.ndim)]) if self.need_transpose else t


class SequenceParallelBegin(_Sequences):
    """Plan: split sequences from the output of the layer on.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> plan = {"mp_config": {"parallelize_plan": {"0": dist.SequenceParallelBegin()}}}
        >>> net, mesh = paddle.nn.Sequential(paddle.nn.Linear(2, 4)), dist.ProcessMesh([0], ["mp"])
        >>> net, _ = dist.parallelize(net, mesh=mesh, config=plan)
        >>> net(paddle.ones([3, 5, 2])).shape
        paddle.Size([5, 3, 4])
    """

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        layer.register_forward_post_hook(lambda _, inputs, out: self.begin(process_mesh, out))


class SequenceParallelEnd(_Sequences):
    """Plan: gather sequences from the input of the layer on.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> plan = {"mp_config": {"parallelize_plan": {"0": dist.SequenceParallelEnd()}}}
        >>> net, mesh = paddle.nn.Sequential(paddle.nn.Linear(2, 4)), dist.ProcessMesh([0], ["mp"])
        >>> net, _ = dist.parallelize(net, mesh=mesh, config=plan)
        >>> net(paddle.ones([5, 3, 2])).shape
        paddle.Size([3, 5, 4])
    """

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        layer.register_forward_pre_hook(lambda _, inputs: self.end(process_mesh, inputs))


class SequenceParallelEnable(_Sequences):
    """Plan: split sequences within the layer only.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> plan = {"mp_config": {"parallelize_plan": {"0": dist.SequenceParallelEnable()}}}
        >>> net, mesh = paddle.nn.Sequential(paddle.nn.Linear(2, 4)), dist.ProcessMesh([0], ["mp"])
        >>> net, _ = dist.parallelize(net, mesh=mesh, config=plan)
        >>> net(paddle.ones([3, 5, 2])).shape
        paddle.Size([3, 5, 4])
    """

    def __init__(self) -> None:
        super().__init__(True)

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        layer.register_forward_pre_hook(lambda _, inputs: self.begin(process_mesh, inputs))
        layer.register_forward_post_hook(lambda _, inputs, out: self.end(process_mesh, out))


class SequenceParallelDisable(_Sequences):
    """Plan: gather sequences within the layer only.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> plan = {"mp_config": {"parallelize_plan": {"0": dist.SequenceParallelDisable()}}}
        >>> net, mesh = paddle.nn.Sequential(paddle.nn.Linear(2, 4)), dist.ProcessMesh([0], ["mp"])
        >>> net, _ = dist.parallelize(net, mesh=mesh, config=plan)
        >>> net(paddle.ones([5, 3, 2])).shape
        paddle.Size([5, 3, 4])
    """

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        layer.register_forward_pre_hook(lambda _, inputs: self.end(process_mesh, inputs))
        layer.register_forward_post_hook(lambda _, inputs, out: self.begin(process_mesh, out))


class PrepareContextParallel(PlanBase):
    """Plan: split the inputs [batch, length] of a layer along the mesh axis "sep".

    Arguments:
        backend: "p2p" or "all2all"; no effect: XLA chooses the communication. Default: 'p2p'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> plan = {"cp_config": {"parallelize_plan": {"0": dist.PrepareContextParallel()}}}
        >>> net = paddle.nn.Sequential(paddle.nn.ReLU())
        >>> net, _ = dist.parallelize(net, mesh=dist.ProcessMesh([0], ["sep"]), config=plan)
        >>> net(paddle.ones([3, 4, 2])).shape
        paddle.Size([3, 4, 2])
    """

    _dims = 1, 1

    @no_effect(backend=Immaterial("XLA chooses how values travel"))
    def __init__(self, backend: str = "p2p") -> None:
        if backend not in ("p2p", "all2all"):
            raise ValueError(f"{type(self).__name__}: backend is {backend!r}; expected 'p2p' or 'all2all'")

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        layer.register_forward_pre_hook(lambda _, args: _each(args, lambda t: _shard(t, process_mesh, "sep", 1)))


class ContextParallel(PrepareContextParallel):
    """Plan for an attention layer: split queries, keys and values by heads along "sep", and the result by length.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> plan = {"cp_config": {"parallelize_plan": {"0": dist.ContextParallel()}}}
        >>> net = paddle.nn.Sequential(paddle.nn.ReLU())
        >>> net, _ = dist.parallelize(net, mesh=dist.ProcessMesh([0], ["sep"]), config=plan)
        >>> net(paddle.ones([3, 4, 2])).shape
        paddle.Size([3, 4, 2])
    """

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: Sequence[str]) -> None:
        """See PlanBase."""
        layer.register_forward_pre_hook(lambda _, args: _each(args, lambda t: _shard(t, process_mesh, "sep", 2)))
        layer.register_forward_post_hook(lambda _, args, out: _each(out, lambda t: _shard(t, process_mesh, "sep", 1)))


# -- a whole model ---------------------------------------------------------------------------------------------------
_laid_models: list[int] = []


def parallelize(
    model: Layer, optimizer: Any = None, mesh: ProcessMesh | None = None, config: dict[str, Any] | None = None
) -> tuple[Layer, Any]:
    """Distribute a model and the state of its optimizer over a mesh by a plan.

    Arguments:
        model: the model, changed in place.
        optimizer: its optimizer; None: none.
        mesh: mesh with axes "dp", "mp", "sep"; None: that of set_mesh().
        config: "mp_config": {"parallelize_plan": {name or regular expression of layers: plans}}; "dp_config":
            {"sharding_level": 0 to 3}; "cp_config", like "mp_config".

    Returns:
        The model and the optimizer.

    Raises:
        ValueError: if there is no mesh, or a plan matches no layer.
        NotImplementedError: for "pp_config"; use fleet's PipelineLayer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> plan = {"mp_config": {"parallelize_plan": {"0": dist.ColWiseParallel()}}}
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 4))
        >>> net, _ = dist.parallelize(net, mesh=dist.ProcessMesh([0], ["mp"]), config=plan)
        >>> net[0].weight.placements
        [Shard(dim=1)]
    """
    laid = parallelize_model(model, mesh, config)
    return laid, None if optimizer is None else parallelize_optimizer(optimizer, mesh, config)


def parallelize_model(model: Layer, mesh: ProcessMesh | None = None, config: dict[str, Any] | None = None) -> Layer:
    """Return the first half of parallelize()."""
    where, given = _mesh_for("parallelize_model", mesh), config or {}
    if (given.get("pp_config") or {}).get("split_spec"):
        raise NotImplementedError(
            "parallelize: pp_config divides the model into stages, which one program over a mesh does not have; use "
            "fleet's PipelineLayer, or leave pp_config out"
        )
    for part in ("mp_config", "cp_config"):
        for name, plans in ((given.get(part) or {}).get("parallelize_plan") or {}).items():
            _apply(model, where, name, plans if isinstance(plans, list | tuple) else [plans])
    shard_layer(model, where)
    if _level(given) == 3 and "dp" in where.dim_names:
        _keep_rows_apart(model, where)
    _laid_models.append(id(model))
    return model


def _keep_rows_apart(model: Layer, mesh: ProcessMesh) -> None:
    """Have parameters gathered where they are used: XLA may gather the rows of a batch instead, which are cut too."""

    def cut(t: Tensor) -> Tensor:
        rows = t.shape[0]
        return _shard(t, mesh, "dp", 0) if isinstance(rows, int) and rows % mesh.get_dim_size("dp") == 0 else t

    for layer in model.sublayers(include_self=True):
        if layer.parameters(include_sublayers=False):
            layer.register_forward_post_hook(lambda _, args, out: out if state.interpreter.at_once else _each(out, cut))


def _mesh_for(name: str, mesh: ProcessMesh | None) -> ProcessMesh:
    where = mesh or get_mesh()
    if where is None:
        raise ValueError(f"{name}: mesh is None, and set_mesh() was not called; give a ProcessMesh")
    return where


def _apply(model: Layer, mesh: ProcessMesh, pattern: str, plans: Sequence[PlanBase]) -> None:
    head, _, last = pattern.rpartition(".")
    layers = dict(model.named_sublayers())
    found: list[tuple[Layer, list[str]]] = [(layer, []) for name, layer in layers.items() if _names(pattern, name)]
    if not found:  # a parameter of a layer
        owners = [layer for name, layer in layers.items() if _names(head, name)]
        found = [(layer, [last]) for layer in owners if isinstance(getattr(layer, last, None), Tensor)]
    if not found:
        raise ValueError(f"parallelize: no layer of the model is called {pattern!r}; there are {', '.join(layers)}")
    for layer, named in found:
        for plan in plans:
            plan.apply(layer, mesh, named)


def _names(pattern: str, name: str) -> bool:
    return pattern == name or re.fullmatch(pattern, name) is not None


def parallelize_optimizer(optimizer: Any, mesh: ProcessMesh | None = None, config: dict[str, Any] | None = None) -> Any:
    """Return the second half of parallelize().

    Raises:
        ValueError: if there is no such sharding level.
    """
    where = _mesh_for("parallelize_optimizer", mesh)
    level = _level(config or {})
    return shard_optimizer(optimizer, _STAGES[level]("dp", where) if level else None)


def _level(config: dict[str, Any]) -> int:
    level = int((config.get("dp_config") or {}).get("sharding_level") or 0)
    if level not in (0, *_STAGES):
        raise ValueError(f"parallelize: sharding_level is {level}; expected 0 to 3")
    return level


def has_parallelized_model(model: Layer | None = None) -> bool:
    """Whether a model, or any, was laid by parallelize_model()."""
    return bool(_laid_models) if model is None else id(model) in _laid_models
