"""A model as a list of layers, of which each process holds some."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .... import nn
from ....core.interpreter import no_grad
from ....core.no_effect import KERNELS, no_effect
from ....framework.io import load, save
from ...collective import exchanged
from ...group import Group, ReduceOp, new_group
from ..current import hybrid_group
from ..recompute import recompute

__all__ = ["LayerDesc", "LocalSharedLayerDesc", "PipelineLayer", "SharedLayerDesc"]

_END = "-model_states.pdparams"  # of the files of layers


class LayerDesc:
    """A layer to be made by the process that holds it.

    Args:
        layer_func: its class.
        inputs, kwargs: what the class takes.
    """

    def __init__(self, layer_func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> None:
        self.layer_func, self.inputs, self.kwargs = layer_func, inputs, kwargs

    def build_layer(self) -> Any:
        """Return the layer."""
        return self.layer_func(*self.inputs, **self.kwargs)


class SharedLayerDesc(LayerDesc):
    """A layer that stands in several places, with one weight.

    Args:
        key: what is shared by those of the same key.
        layer_func: its class.
        forward_func: forward_func(layer, input), in the place of the layer's own forward.
        shared_weight_attr: the attribute that is shared.
        inputs, kwargs: what the class takes.
    """

    def __init__(
        self, key: str, layer_func: Callable[..., Any], forward_func: Callable[..., Any] | None = None,
        shared_weight_attr: str = "weight", *inputs: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name, self.forward_func, self.shared_weight_attr = key, forward_func, shared_weight_attr


class LocalSharedLayerDesc(SharedLayerDesc):
    """A layer that stands in several places of one process, and that others do not share; see SharedLayerDesc."""


class PipelineLayer(nn.Layer):
    """Layers one after the other, in stages, of which each process of a pipeline builds its own.

    Arguments:
        layers: layers, functions and descriptions of layers.
        num_stages: how many stages there are; as many as the topology has by default.
        loss_fn: the loss of what the last layer gives, or a list of losses.
        seg_method: where stages begin: "uniform", "layer:NAME" (as many layers of that class in each), or a list of
            the first layer of each.
        recompute_interval: every how many layers are computed again by backward; 0: none.
        num_virtual_pipeline_stages: how many stages each process has: every so many-th, which makes them wait less.
        topology, recompute_ctx, use_cudagraph, use_dualpipev: see docs/differences.md.

    Raises:
        ValueError: if there are fewer layers than stages, or other stages than processes of the pipeline.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> from paddle_lite_py.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer
        >>> model = PipelineLayer([LayerDesc(paddle.nn.Linear, 2, 3), paddle.tanh], num_stages=1)
        >>> model(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
    """

    @no_effect(
        topology="the topology of fleet.init() is that of all",
        recompute_ctx="random numbers are kept in any case",
        use_cudagraph=KERNELS,
        use_dualpipev="stages run in the 1F1B schedule, with the same gradients",
    )
    def __init__(
        self, layers: Sequence[Any], num_stages: int | None = None, topology: Any = None, loss_fn: Any = None,
        seg_method: Any = "uniform", recompute_interval: int = 0, recompute_ctx: Any = None,
        num_virtual_pipeline_stages: int | None = None, use_cudagraph: bool = False, use_dualpipev: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        hcg = hybrid_group()
        self._pipe: Group = hcg.get_pipe_parallel_group()
        stages = self._pipe.nranks
        if num_stages not in (None, stages):
            raise ValueError(f"PipelineLayer: num_stages is {num_stages}, but the pipeline has {stages} processes")
        self._num_virtual = int(num_virtual_pipeline_stages or 1) if stages > 1 else 1
        self._loss_fn = loss_fn if isinstance(loss_fn, list) else [loss_fn]
        self._recompute_interval = recompute_interval
        self.segment_parts = segments(layers, stages * self._num_virtual, seg_method)
        self.shared_layers = nn.LayerDict()
        self._sharing = _find_shared(layers, self.segment_parts, hcg)
        self._placed: dict[int, nn.Layer] = {}  # the layers of this process by their places in the list
        self._chunks = [
            [self._made(i, layers[i]) for i in range(self.segment_parts[at], self.segment_parts[at + 1])]
            for at in range(self._pipe.rank, stages * self._num_virtual, stages)
        ]
        self.run_function = [function for chunk in self._chunks for function in chunk]

    def _made(self, place: int, described: Any) -> Any:
        if isinstance(described, SharedLayerDesc):
            made = self._shared(described)
            self._placed[place] = self.shared_layers[described.layer_name]
            return made
        layer = described.build_layer() if isinstance(described, LayerDesc) else described
        if isinstance(layer, nn.Layer):
            self._placed[place] = layer
            self.add_sublayer(str(place), layer)
        return layer

    def _shared(self, described: SharedLayerDesc) -> Any:
        if described.layer_name not in self.shared_layers:
            self.shared_layers[described.layer_name] = described.build_layer()
        layer, forward = self.shared_layers[described.layer_name], described.forward_func
        return layer if forward is None else lambda *args: forward(layer, *args)

    def get_num_virtual_stages(self) -> int:
        """Return the number of stages that this process has."""
        return self._num_virtual

    def get_model_chunks(self) -> list[list[Any]] | None:
        """Return the layers of each stage of this process; None where it has one."""
        return self._chunks if self._num_virtual > 1 else None

    def get_num_items(self) -> int:
        """Return the number of layers that all stages have."""
        return self.segment_parts[-1]

    # -- files -----------------------------------------------------------------------------------------------------
    def save_state_dict(self, path: str) -> None:
        """Save each layer in a file of its own, which any number of stages reads. One of all data-parallel copies does.

        Arguments:
            path: a folder, made if it is not there.
        """
        hcg = hybrid_group()
        if hcg.get_data_parallel_rank() != 0:
            return
        Path(path).mkdir(parents=True, exist_ok=True)
        for place, layer in self._placed.items():
            save(
                layer.state_dict(),
                str(Path(path) / f"{self._file(place)}-tensor_{hcg.get_model_parallel_rank():02d}{_END}"),
            )

    def set_state_dir(self, path: str) -> None:
        """Load the layers of this process from a folder of save_state_dict().

        Arguments:
            path: the folder.

        Raises:
            FileNotFoundError: if it lacks one of them.
        """
        hcg = hybrid_group()
        for place, layer in self._placed.items():
            found = sorted(Path(path).glob(f"{self._file(place)}-tensor_*{_END}"))
            if not found:
                raise FileNotFoundError(f"set_state_dir: {path} has no file {self._file(place)}-tensor_*{_END}")
            at = hcg.get_model_parallel_rank() * len(found) // hcg.get_model_parallel_world_size()
            layer.set_state_dict(load(str(found[at])))
        self.sync_shared_weights()

    def _file(self, place: int) -> str:
        """Name the file of a layer, as the reference does."""
        if self._num_virtual == 1:
            return f"layer_{place:02d}"
        stage = sum(start <= place for start in self.segment_parts) - 1
        return f"layer_{place:02d}-virtual_pp_stage_{stage // self._pipe.nranks:02d}"

    # -- weights that several stages have --------------------------------------------------------------------------
    def _shared_weights(self) -> list[tuple[Any, Group]]:
        return [
            (getattr(self.shared_layers[key], attribute), group)
            for key, (attribute, group) in self._sharing.items()
            if key in self.shared_layers and group.nranks > 1
        ]

    def sync_shared_weights(self) -> None:
        """Give all stages that share a weight the first one's value of it."""
        with no_grad():
            for weight, group in self._shared_weights():
                weight.is_firstly_shared = group.rank == 0
                weight._set_payload(exchanged("broadcast", weight, group, 0)._payload)

    def add_shared_gradients(self) -> None:
        """Add the gradients that stages give to a weight that they share."""
        with no_grad():
            for weight, group in self._shared_weights():
                weight.grad = exchanged("all_reduce", weight.grad, group, ReduceOp.SUM)

    # -- running ---------------------------------------------------------------------------------------------------
    def forward(self, input: Any, chunk_id: int | None = None) -> Any:
        """Return the output of the last layer: of this process's stage, or of the whole net if it has only one.

        Arguments:
            input: what the first layer takes.
            chunk_id: which of its stages.
        """
        functions = self._chunks[chunk_id or 0]
        step = self._recompute_interval or len(functions) or 1
        for start in range(0, len(functions), step):
            run = functools.partial(_run, functions[start : start + step])
            input = recompute(run, input) if self._recompute_interval else run(input)
        return input


def _run(functions: Sequence[Any], x: Any) -> Any:
    for function in functions:
        x = function(x)  # a tuple as it is, as in the reference
    return x


def segments(layers: Sequence[Any], stages: int, method: Any = "uniform") -> list[int]:
    """Return the first layer of each stage, and the number of layers.

    Raises:
        ValueError: if there are too few layers, or the method says nothing.

    Examples:
        >>> segments(range(7), 3)
        [0, 2, 4, 7]
    """
    count = len(layers)
    if isinstance(method, list | tuple):
        return [*method, count] if len(method) == stages else list(method)
    weights = [1] * count
    if str(method).startswith("layer:"):
        wanted = str(method).removeprefix("layer:")
        weights = [int(_name(layer) == wanted) for layer in layers]
    elif method != "uniform":
        raise ValueError(f"PipelineLayer: seg_method is {method!r}; expected 'uniform', 'layer:NAME' or a list")
    total = sum(weights)
    if total < stages:
        raise ValueError(f"PipelineLayer: {total} layers to divide into {stages} stages (seg_method={method!r})")
    share, more = divmod(total, stages)
    parts, seen, wanted_at = [0], 0, share + (stages - 1 < more)
    for i, w in enumerate(weights):
        if w and seen == wanted_at and len(parts) < stages:
            parts.append(i)
            wanted_at += share + (stages - len(parts) < more)
        seen += w
    return [*parts, count]


def _name(described: Any) -> str:
    made = described.layer_func if isinstance(described, LayerDesc) else type(described)
    return getattr(made, "__name__", "")


def _find_shared(layers: Sequence[Any], parts: list[int], hcg: Any) -> dict[str, tuple[str, Group]]:
    """Weights that stand in several places: the attribute, and who has it; all processes make all groups."""
    found: dict[str, tuple[str, list[int]]] = {}
    count = hcg.get_num_stages()
    for part in range(len(parts) - 1):
        stage = part % count  # the process that has it
        for layer in layers[parts[part] : parts[part + 1]]:
            if isinstance(layer, SharedLayerDesc) and not isinstance(layer, LocalSharedLayerDesc):
                stages = found.setdefault(layer.layer_name, (layer.shared_weight_attr, []))[1]
                if stage not in stages:
                    stages.append(stage)
    made = {}
    for key, (attribute, stages) in found.items():
        groups = [Group.of([hcg.global_rank])]
        if len(stages) > 1:
            groups += [new_group([ranks[s] for s in stages]) for ranks in hcg.topology().get_comm_list("pipe")]
        made[key] = (attribute, next((g for g in groups[::-1] if g.is_member()), groups[0]))
    return made
