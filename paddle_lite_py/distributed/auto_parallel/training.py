"""Optimizers, data and whole steps over a mesh."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from ...amp import auto_cast
from ...core.arrays import is_spread
from ...core.interpreter import use
from ...core.no_effect import Immaterial, no_effect
from ...core.processes import world
from ...eager.execute import EAGER
from ...eager.pending import payload_of
from ...eager.tensor import Tensor
from ...nn import ClipGradByGlobalNorm, Layer
from ...ops.convert import to_tensor
from ...ops.placement import lay
from ...ops.splitting import split
from ...tracing.builder import is_traced
from .api import dtensor_from_local, shard_tensor
from .clipping import ClipGradOverMeshes
from .layouts import mesh_of, placements_of
from .moving import place_over_mesh
from .process_mesh import Placement, ProcessMesh, Replicate, Shard


class _Stage:
    """Lays the state of an optimizer over an axis of a mesh, each array along the first axis that can be cut so.

    Arguments:
        sharding_mesh_dim: the axis of the mesh, by name or number.
        mesh: the mesh of parameters that lie over none.
    """

    def __init__(self, sharding_mesh_dim: int | str = 0, mesh: ProcessMesh | None = None) -> None:
        self.dim, self.mesh = sharding_mesh_dim, mesh

    @no_effect(key=Immaterial("all arrays of state are spread alike"))
    def __call__(self, key: str, param: Tensor, tensor: Tensor) -> Tensor:
        """Return an array of state, laid."""
        return self.spread(tensor, mesh_of(payload_of(param)) or self.mesh, stacked_axes(param))

    def spread(self, tensor: Tensor, mesh: ProcessMesh | None, first: int = 0) -> Tensor:
        """Return a tensor cut once more, along one of its axes from the first one on; as it is where it cannot be."""
        if mesh is None:
            return tensor
        at = mesh.dim_names.index(self.dim) if isinstance(self.dim, str) else self.dim
        placements: list[Placement] = placements_of(payload_of(tensor)) or [Replicate() for _ in mesh.dim_names]
        taken = {p.dim for p in placements if isinstance(p, Shard)}
        for axis, size in enumerate(tensor.shape):
            if (
                axis >= first
                and isinstance(placements[at], Replicate)
                and axis not in taken
                and size % mesh.shape[at] == 0
            ):
                placements[at] = Shard(axis)
                return shard_tensor(tensor, mesh, placements)
        return tensor


class ShardingStage1(_Stage):
    """ZeRO stage 1: split the optimizer state over processes (Rajbhandari et al., 2020).

    Arguments:
        sharding_mesh_dim: name or index of the mesh axis over which the state is split.
        mesh: the mesh; None: that of the parameters.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> net = dist.shard_layer(paddle.nn.Linear(2, 1), dist.ProcessMesh([0], ["dp"]))
        >>> adam = paddle.optimizer.Adam(0.1, parameters=net.parameters())
        >>> adam = dist.shard_optimizer(adam, dist.ShardingStage1("dp"))
        >>> net(paddle.ones([1, 2])).sum().backward()
        >>> adam.step()
    """


class ShardingStage2(_Stage):
    """ZeRO stage 2: split the optimizer state; XLA distributes the gradients as the update needs them.

    Arguments:
        sharding_mesh_dim: name or index of the mesh axis over which the state is split.
        mesh: the mesh; None: that of the parameters.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> net = dist.shard_layer(paddle.nn.Linear(2, 1), dist.ProcessMesh([0], ["dp"]))
        >>> adam = paddle.optimizer.Adam(0.1, parameters=net.parameters())
        >>> adam = dist.shard_optimizer(adam, dist.ShardingStage2("dp"))
        >>> net(paddle.ones([1, 2])).sum().backward()
        >>> adam.step()
    """


class ShardingStage3(_Stage):
    """ZeRO stage 3: split parameters and optimizer state; XLA gathers a parameter where it is used.

    Arguments:
        sharding_mesh_dim: name or index of the mesh axis over which parameters and state are split.
        mesh: the mesh; None: that of the parameters.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> net = dist.shard_layer(paddle.nn.Linear(2, 1), dist.ProcessMesh([0], ["dp"]))
        >>> adam = paddle.optimizer.Adam(0.1, parameters=net.parameters())
        >>> adam = dist.shard_optimizer(adam, dist.ShardingStage3("dp"))
        >>> net(paddle.ones([1, 2])).sum().backward()
        >>> adam.step()
    """


class ShardOptimizer:
    """Optimizer whose state is distributed over a mesh, with all methods of the optimizer.

    Arguments:
        optimizer: the optimizer.
        shard_fn: function (name, parameter, state) that returns the distributed state, or a ShardingStage; None:
            distributed like the parameter.
        gradient_accumulation_steps: number of calls of step() for each update. Default: 1.
    """

    def __init__(self, optimizer: Any, shard_fn: Any = None, gradient_accumulation_steps: int = 1) -> None:
        self._inner_opt, self._shard_fn, self._every, self._calls = optimizer, shard_fn, gradient_accumulation_steps, 0
        self._laid: dict[int, Any] = {}  # states with the right layout, by id
        self._where: dict[int, tuple[Any, Any]] = {}  # the layouts of parameters and states, which an update preserves
        if isinstance(shard_fn, ShardingStage3):
            for p in optimizer._parameter_list:
                where = mesh_of(payload_of(p)) or shard_fn.mesh
                p._set_payload(shard_fn.spread(p.detach(), where, stacked_axes(p))._payload)
        optimizer._groups = [part for group in optimizer._groups for part in _by_mesh(optimizer, group)]
        clips = [optimizer._clip_of(group) for group in optimizer._groups]
        self._clips = {id(c): c for c in clips if isinstance(c, ClipGradOverMeshes)}.values()

    def prepare(self) -> None:
        """Make the state of all parameters that have none, and lay it."""
        for group in self._inner_opt._groups:
            trained = [i for i, p in enumerate(group.params) if not p.stop_gradient]
            group.start(trained, self._inner_opt._multi_precision)
            columns = {**group.arrays, "master_weight": group.masters}
            for name, column in columns.items():
                for i in trained:
                    if column[i] is not None and id(column[i]) not in self._laid:
                        self._lay(name, group.params[i], column[i])
            # Numbers have the layout that an update gives them: the first update is the same program as all others.
            mesh = next((m for p in group.params if (m := mesh_of(payload_of(p))) is not None), None)
            if mesh is not None:
                self._lay_numbers(group, mesh)

    def _lay_numbers(self, group: Any, mesh: ProcessMesh) -> None:
        for number in group.scalars.values():
            if not is_spread(payload_of(number)):
                number._set_payload(place_over_mesh(number._payload, mesh, []))
            self._laid[id(number)] = number

    def _lay(self, name: str, param: Tensor, accumulator: Tensor) -> None:
        laid = (self._shard_fn or _as_parameter)(name, param, accumulator)
        if laid is not accumulator and laid is not None:
            accumulator._set_payload(laid._payload)
        self._laid[id(accumulator)] = accumulator

    def step(self) -> None:
        """Update the parameters, at every call that is due."""
        self._calls += 1
        if self._calls % self._every == 0:
            with use(EAGER):  # state is made while a program is traced, not by it
                self.prepare()
            for t in (*self._inner_opt._parameter_list, *self._laid.values()):
                if is_spread(payload_of(t)) and not is_traced(t):  # an array, or what stands for one
                    self._where[id(t)] = t, payload_of(t).sharding
            for clip in self._clips:
                clip.measure()
            self._inner_opt.step()
            for tensor, where in self._where.values():
                lay(tensor, where)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Forget the gradients, after a call of step() that was due."""
        if self._calls % self._every == 0:
            self._inner_opt.clear_grad(set_to_zero)

    clear_gradients = clear_grad

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":  # not there yet, while it is copied
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


def stacked_axes(param: Tensor) -> int:
    """Return the number of axes of a parameter that count layers; the loop over them reads one at a time."""
    return getattr(param, "stacked_axes", 0)


def _as_parameter(name: str, param: Tensor, accumulator: Tensor) -> Tensor:
    """Return a state that lies as its parameter does."""
    mesh = mesh_of(payload_of(param))
    if mesh is None or list(accumulator.shape) != list(param.shape):
        return accumulator
    return shard_tensor(accumulator, mesh, placements_of(payload_of(param)) or [])


def _by_mesh(optimizer: Any, group: Any) -> list[Any]:
    """Return the parameters of a group, those of each mesh together: one program updates what lies over one mesh."""
    parts: dict[Any, list[Any]] = {}
    for p in group.params:
        mesh = mesh_of(payload_of(p))
        parts.setdefault(mesh and tuple(mesh.process_ids), []).append(p)
    if len([key for key in parts if key is not None]) < 2:
        return [group]
    options = dict(group.options)
    if isinstance(clip := optimizer._clip_of(group), ClipGradByGlobalNorm):
        options["grad_clip"] = ClipGradOverMeshes(clip, group.params)
    return [type(group)(params, dict(options), group.slots) for params in parts.values()]


def shard_optimizer(optimizer: Any, shard_fn: Any = None, gradient_accumulation_steps: int = 1) -> ShardOptimizer:
    """Distribute the state of an optimizer over a mesh.

    Arguments:
        optimizer: the optimizer.
        shard_fn: function (name, parameter, state) that returns the distributed state, or a ShardingStage; None:
            distributed like the parameter.
        gradient_accumulation_steps: number of calls of step() for each update. Default: 1.

    Returns:
        A ShardOptimizer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> net = dist.shard_layer(paddle.nn.Linear(2, 1), dist.ProcessMesh([0], ["dp"]))
        >>> sgd = dist.shard_optimizer(paddle.optimizer.SGD(0.1, parameters=net.parameters()))
        >>> net(paddle.ones([1, 2])).sum().backward()
        >>> sgd.step()
    """
    return ShardOptimizer(optimizer, shard_fn, gradient_accumulation_steps)


def shard_scaler(scaler: Any) -> Any:
    """Prepare a GradScaler for distributed gradients, whose overflow check covers all processes.

    Arguments:
        scaler: a GradScaler.

    Returns:
        The scaler.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> scaler = paddle.distributed.shard_scaler(paddle.amp.GradScaler())
        >>> scaler.is_enable()
        True
    """
    return scaler


class ShardDataloader:
    """Data loader whose batches are distributed over meshes.

    Arguments:
        dataloader: loader of whole batches, the same in each process.
        meshes: the mesh of all entries of a batch, alone or in a list; or a list with one for each.
        input_keys: keys of the entries, for batches that are dicts.
        shard_dims: mesh axis along which rows are split, for all entries or a list with one for each.
        is_dataset_splitted: each process loads its own part of a batch. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.ones([4, 2])]), batch_size=2)
        >>> laid = dist.ShardDataloader(loader, dist.ProcessMesh([0], ["dp"]), shard_dims="dp")
        >>> [batch[0].placements for batch in laid]
        [[Shard(dim=0)], [Shard(dim=0)]]
    """

    def __init__(
        self, dataloader: Any, meshes: Any, input_keys: Any = None, shard_dims: Any = None,
        is_dataset_splitted: bool = False,
    ) -> None:  # fmt: skip
        self._in_parts = is_dataset_splitted and world().size > 1
        self._batches: Iterator[Any] | None = None  # of next()
        self.dataloader, self._meshes, self._keys, self._dims = dataloader, meshes, input_keys, shard_dims

    def __len__(self) -> int:
        return len(self.dataloader)

    def __iter__(self) -> Iterator[Any]:
        for batch in self.dataloader:
            if isinstance(batch, dict):
                keys = list(self._keys or batch)
                yield {k: self._laid(batch[k], keys.index(k)) for k in keys}
            else:
                yield [self._laid(entry, i) for i, entry in enumerate(batch)]

    def __call__(self) -> Iterator[Any]:
        """Return the batches, from the first one on."""
        return iter(self)

    def __next__(self) -> Any:
        """Return the next batch; after the last one StopIteration, and then the first one again."""
        self._batches = self._batches or iter(self)
        try:
            return next(self._batches)
        except StopIteration:
            self._batches = None
            raise

    def _laid(self, entry: Any, i: int) -> Any:
        if isinstance(entry, list | tuple):
            return [self._laid(e, i) for e in entry]
        mesh: ProcessMesh = _of_entry(self._meshes, i)
        dim = _of_entry(self._dims, i)
        placements: list[Placement] = [Replicate() for _ in mesh.dim_names]
        if dim is not None:
            placements[mesh.dim_names.index(dim) if isinstance(dim, str) else dim] = Shard(0)
        return (dtensor_from_local if self._in_parts else shard_tensor)(to_tensor(entry), mesh, placements)


def _of_entry(each: Any, i: int) -> Any:
    """What is said of an entry of a batch: a list of one is for all entries, as one that is no list."""
    return each if not isinstance(each, list | tuple) else each[i if len(each) > 1 else 0]


@no_effect(dense_tensor_idx=Immaterial("all tensors are dense"))
def shard_dataloader(
    dataloader: Any, meshes: Any, input_keys: Sequence[str] | None = None, shard_dims: Any = None,
    is_dataset_splitted: bool = False, dense_tensor_idx: Any = None,
) -> ShardDataloader:  # fmt: skip
    """Create a ShardDataloader, whose batches are distributed over meshes.

    Arguments:
        dataloader: loader of whole batches, the same in each process.
        meshes: the mesh of all entries of a batch, alone or in a list; or a list with one for each.
        input_keys: keys of the entries, for batches that are dicts.
        shard_dims: mesh axis along which rows are split, for all entries or a list with one for each.
        is_dataset_splitted: each process loads its own part of a batch. Default: False.

    Returns:
        A ShardDataloader.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.ones([4, 2])]), batch_size=2)
        >>> laid = dist.shard_dataloader(loader, dist.ProcessMesh([0], ["dp"]), shard_dims="dp")
        >>> len(laid)
        2
    """
    return ShardDataloader(dataloader, meshes, input_keys, shard_dims, is_dataset_splitted)


_GIVEN = Immaterial("batches are given to the call")


class DistModel:
    """Layer with an optimizer and a loss, whose training steps over a mesh are one compiled program each.

    Layers over several meshes are the stages of a pipeline. Their steps run eagerly: all micro-batches forward, then
    all backward.

    Arguments:
        layer: the layer, with distributed parameters.
        loader: see docs/differences.md.
        loss: function of outputs and labels.
        optimizer: the optimizer, for training.
        strategy: a Strategy, of which amp, sharding, gradient_merge and pipeline.accumulate_steps are used; XLA decides
            what to keep for the backward pass.
        metrics, input_spec: see docs/differences.md.

    Raises:
        ValueError: in training mode without a loss or an optimizer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Linear(2, 1)
        >>> sgd = paddle.optimizer.SGD(0.1, net.parameters())
        >>> step = paddle.distributed.to_static(net, loss=paddle.nn.MSELoss(), optimizer=sgd)
        >>> step.train()
        >>> first, second = (float(step(paddle.ones([4, 2]), paddle.zeros([4, 1]))) for _ in range(2))
        >>> second < first
        True
    """

    @no_effect(loader=_GIVEN, metrics="a step returns the loss alone", input_spec=_GIVEN)
    def __init__(
        self, layer: Layer, loader: Any = None, loss: Any = None, optimizer: Any = None, strategy: Any = None,
        metrics: Any = None, input_spec: Any = None,
    ) -> None:  # fmt: skip
        from ...jit import to_static as compiled

        self._amp = strategy.amp if strategy is not None and strategy.amp.enable else None
        merge = getattr(strategy, "gradient_merge", None)
        self._every = merge.k_steps if merge is not None and merge.enable else 1
        self._scale = 1 / self._every if merge is not None and merge.avg else 1.0
        self._calls = 0
        pipeline = getattr(strategy, "pipeline", None)
        self._micro_batches = pipeline.accumulate_steps if pipeline is not None and pipeline.enable else 1
        in_stages = len({tuple(m.process_ids) for p in layer.parameters() if (m := mesh_of(payload_of(p)))}) > 1
        if in_stages and optimizer is not None and not isinstance(optimizer, ShardOptimizer):
            optimizer = ShardOptimizer(optimizer)
        if strategy is not None and strategy.sharding.enable and not isinstance(optimizer, ShardOptimizer):
            stages = (ShardingStage1, ShardingStage2, ShardingStage3)
            optimizer = ShardOptimizer(optimizer, stages[strategy.sharding.stage - 1](0))
        self.network, self._loss, self._optimizer = layer, loss, optimizer
        steps = {mode: getattr(self, f"_{mode}_step") for mode in ("train", "merge", "eval", "predict")}
        # A program lies over one mesh.
        self._programs: dict[str, Callable[..., Any]] = (
            steps if in_stages else {m: compiled(f) for m, f in steps.items()}
        )
        mode = "predict" if loss is None else "eval" if optimizer is None else "train"
        getattr(self, mode)()

    def train(self) -> None:
        """Each call makes a step of the optimizer, and gives the loss."""
        self._needs("train", self._loss, self._optimizer)
        self._mode = "train"
        self.network.train()
        if isinstance(self._optimizer, ShardOptimizer):
            self._optimizer.prepare()

    def eval(self) -> None:
        """Each call gives the loss."""
        self._needs("eval", self._loss)
        self._mode = "eval"
        self.network.eval()

    def predict(self) -> None:
        """Each call gives what the layer gives."""
        self._mode = "predict"
        self.network.eval()

    def _needs(self, mode: str, *parts: Any) -> None:
        if any(p is None for p in parts):
            raise ValueError(f"DistModel.{mode}(): the model has no loss or no optimizer; give them to to_static()")

    def __call__(self, *args: Any) -> Any:
        """Return a step on a batch: inputs, and labels last but in the mode of prediction."""
        if self._mode != "train":
            return self._programs[self._mode](*args)
        self._calls += 1
        return self._programs["merge" if self._calls % self._every else "train"](*args)

    def _cast(self) -> Any:
        if self._amp is None:
            return nullcontext()
        lists = self._amp.custom_white_list, self._amp.custom_black_list
        return auto_cast(True, *lists, level=self._amp.level, dtype=self._amp.dtype)

    def _merge_step(self, *args: Any) -> Any:
        """Return a step whose gradients are added to those of the next ones.

        All micro-batches go forward before the first goes backward: a process whose stage is done takes the next one.
        """
        count, losses = self._micro_batches, []
        for batch in _split_batch(args, count):
            with self._cast():
                losses.append(self._loss(self.network(*batch[:-1]), batch[-1]))
        scale = self._scale / count
        for loss in losses:
            (loss if scale == 1 else loss * scale).backward()
        return losses[0] if count == 1 else sum(loss.detach() for loss in losses) / count

    def _train_step(self, *args: Any) -> Any:
        loss = self._merge_step(*args)
        self._optimizer.step()
        self._optimizer.clear_grad()
        return loss

    def _eval_step(self, *args: Any) -> Any:
        with self._cast():
            return self._loss(self.network(*args[:-1]), args[-1])

    def _predict_step(self, *args: Any) -> Any:
        with self._cast():
            return self.network(*args)

    @no_effect(split_fusion=Immaterial("no parameters are fused"))
    def state_dict(self, mode: str = "all", split_fusion: bool = True) -> dict[str, Any]:
        """Parameters ("param"), the optimizer's state ("opt"), or both."""
        held = dict(self.network.state_dict()) if mode in ("all", "param") else {}
        return held | (self._optimizer.state_dict() if mode in ("all", "opt") and self._optimizer is not None else {})

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load parameters, laid as those that are there."""
        own = self.network.state_dict()
        for name, value in state_dict.items():
            if name in own:
                own[name].set_value(value)


def _split_batch(args: tuple[Any, ...], count: int) -> list[tuple[Any, ...]]:
    """Return micro-batches of inputs and labels, split along their first dimension.

    Raises:
        ValueError: if it cannot be split so.
    """
    if count == 1:
        return [args]
    for i, a in enumerate(args):
        if not isinstance(a, Tensor) or not a.ndim or a.shape[0] % count:
            shown = [*a.shape] if isinstance(a, Tensor) else type(a).__name__
            raise ValueError(
                f"to_static: strategy.pipeline.accumulate_steps is {count}, and argument {i} of the step is {shown}; "
                "expected tensors whose first dimension is a multiple of it"
            )
    return list(zip(*[split(a, count) for a in args], strict=True))


@no_effect(loader=_GIVEN, input_spec=_GIVEN)
def to_static(
    layer: Layer, loader: Any = None, loss: Any = None, optimizer: Any = None, strategy: Any = None,
    input_spec: Any = None,
) -> DistModel:  # fmt: skip
    """Create a DistModel, whose training steps over a mesh are one compiled program each.

    Arguments:
        layer: the layer, with distributed parameters.
        loader: see docs/differences.md.
        loss: function of outputs and labels.
        optimizer: the optimizer, for training.
        strategy: a Strategy.
        input_spec: see docs/differences.md.

    Returns:
        A DistModel.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Linear(2, 1)
        >>> step = paddle.distributed.to_static(net, loss=paddle.nn.MSELoss())
        >>> step.eval()
        >>> step(paddle.ones([4, 2]), paddle.zeros([4, 1])).shape
        paddle.Size([])
    """
    return DistModel(layer, loader, loss, optimizer, strategy)
