"""Equal layers with stacked parameters: one loop in a program, or the stages of a pipeline over a mesh axis."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

from ...autograd.transforms import pure_function, run_pure
from ...core import dtypes, structure
from ...eager.tensor import Tensor
from ...nn import Layer
from ...nn.initializer import Initializer
from .layouts import xla_mesh
from .moving import place_over_mesh
from .process_mesh import Placement, ProcessMesh, Replicate, Shard

Arrays = Sequence[Any]


class _Stacked(Initializer):
    """The initial values of several parameters."""

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self._parameters = parameters

    def draw(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Any:
        """Return them along a new first axis."""
        return jnp.stack([p._data for p in self._parameters])


class StackedLayers(Layer):
    """Equal layers one after another, each parameter of all of them in one, along a new first axis.

    A program has the layer once, in a loop: its compilation takes the same time for any number of layers. Over a mesh
    with an axis "pp", each place of it has a stage, as many of the layers as any other, and a batch passes the stages
    in micro-batches (GPipe).

    Arguments:
        layers: layers of one class and of equal sizes, called as `layer(x, *others)`, with a result like x. What they
            compute depends on their arguments and parameters only. Tensors in others (also in dataclasses, tuples,
            lists, dicts) whose first axis is as long as that of x are split with it.
        mesh: with an axis "pp"; None: there are no stages.
        micro_batches: number of parts of a batch; a stage waits for (pp - 1) / (micro_batches + pp - 1) of the time.
        unrolled: write the loops out: compilers report the work of loops once.

    Raises:
        ValueError: if layers differ, or do not divide into stages.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layers = [paddle.nn.Linear(4, 4) for _ in range(3)]
        >>> stacked = paddle.distributed.StackedLayers(layers)
        >>> x = paddle.ones([2, 4])
        >>> bool(paddle.allclose(stacked(x), layers[2](layers[1](layers[0](x)))))
        True
        >>> stacked.layer.weight.shape
        paddle.Size([3, 4, 4])

    Source: Huang et al., GPipe, 2018; Xu et al., GSPMD, 2021, section 3.3.
    """

    def __init__(
        self, layers: Sequence[Layer], mesh: ProcessMesh | None = None, micro_batches: int = 1, unrolled: bool = False
    ) -> None:
        super().__init__()
        self._mesh = mesh if mesh is not None and "pp" in mesh.dim_names else None
        self._stages = 1 if self._mesh is None else self._mesh.get_dim_size("pp")
        self._micro_batches, self._is_unrolled = micro_batches, unrolled
        kinds = {tuple((name, tuple(p.shape), p.dtype) for name, p in layer.named_parameters()) for layer in layers}
        if len(kinds) != 1:
            raise ValueError("StackedLayers: expected layers with parameters of the same names, shapes and dtypes")
        if len(layers) % self._stages:
            raise ValueError(f"StackedLayers: {len(layers)} layers do not divide into {self._stages} stages")
        self.count, self.layer = len(layers), copy.deepcopy(layers[0])
        columns = [_owned(layer) for layer in layers]
        for i, (owner, name) in enumerate(_owned(self.layer)):
            self._stack(owner, name, [column[i][0]._parameters[column[i][1]] for column in columns])

    def _stack(self, owner: Layer, name: str, each: Sequence[Any]) -> None:
        """Replace a parameter of the layer by those of all layers."""
        shape, first = [len(each), *each[0].shape], each[0]
        made = self.create_parameter(shape, dtype=first.dtype, default_initializer=_Stacked(each))
        made.stop_gradient, made.optimize_attr = first.stop_gradient, first.optimize_attr
        made.regularizer, made.need_clip = first.regularizer, first.need_clip
        if self._mesh is not None:
            cut: list[Placement] = [Shard(0) if axis == "pp" else Replicate() for axis in self._mesh.dim_names]
            made._set_payload(place_over_mesh(made._data, self._mesh, cut))
        made.stacked_axes = 1
        owner._parameters[name] = made

    def layers(self) -> list[Layer]:
        """Return the layers, each with its own parameters."""
        found = []
        for i in range(self.count):
            layer = copy.deepcopy(self.layer)
            for owner, name in _owned(layer):
                stacked = owner._parameters[name]
                owner._parameters[name] = self.create_parameter(
                    stacked.shape[1:], dtype=stacked.dtype, default_initializer=_Stacked([stacked[i]])
                )
            found.append(layer)
        return found

    def forward(self, x: Tensor, *others: Any) -> Any:
        """Pass x through all layers."""
        leaves: list[Tensor] = []
        shape = structure.flatten(others, lambda v: isinstance(v, Tensor), leaves)
        is_split = [t.ndim > 0 and t.shape[0] == x.shape[0] for t in leaves]
        rows = [x, *[t for t, split in zip(leaves, is_split, strict=True) if split]]
        weights = [owner._parameters[name] for owner, name in _owned(self.layer)]
        parts, n = self._micro_batches, len(rows)
        if x.shape[0] % parts:
            raise ValueError(f"StackedLayers: {x.shape[0]} rows do not divide into {parts} micro-batches")

        def call(*tensors: Tensor) -> Any:
            given = iter(tensors[1:n])
            own = [next(given) if split else t for t, split in zip(leaves, is_split, strict=True)]
            return _called(self.layer, tensors[n:], tensors[0], *structure.unflatten(shape, iter(own)))

        specs = [jax.ShapeDtypeStruct((t.shape[0] // parts, *t.shape[1:]), t._data.dtype) for t in rows]
        specs += [jax.ShapeDtypeStruct(tuple(w.shape[1:]), w._data.dtype) for w in weights]
        pure = pure_function("StackedLayers", call, [*rows, *weights], specs)
        how = (self._stages, parts, self._is_unrolled, self._mesh and self._mesh.key)
        fn = _schedule(pure.call, n, len(weights), *how[:3], self._mesh and xla_mesh(self._mesh))
        return run_pure(("stacked layers", pure.key, n, self.count, how), fn, [*rows, *weights, *pure.outside], pure.structure)


def _owned(layer: Layer) -> list[tuple[Layer, str]]:
    """Return the owner and the name of each parameter."""
    return [
        (owner, name)
        for owner in layer.sublayers(include_self=True)
        for name, p in owner._parameters.items()
        if p is not None
    ]


def _called(layer: Layer, weights: Sequence[Tensor], *args: Any) -> Any:
    """Call a layer with other parameters."""
    places = _owned(layer)
    before = [owner._parameters[name] for owner, name in places]
    try:
        for (owner, name), w in zip(places, weights, strict=True):
            owner._parameters[name] = w
        return layer(*args)
    finally:
        for (owner, name), p in zip(places, before, strict=True):
            owner._parameters[name] = p


def _schedule(
    call: Callable[..., Any], n_rows: int, n_weights: int, stages: int, parts: int, unrolled: bool, mesh: Any
) -> Callable[..., Any]:
    """Return a function of rows (x first), stacked weights and what all layers read, from the function of one layer."""

    def run(*arrays: Any) -> tuple[Any]:
        rows, weights = arrays[:n_rows], arrays[n_rows : n_rows + n_weights]
        outside = arrays[n_rows + n_weights :]

        def stage(rows: Arrays, weights: Arrays) -> Any:
            def step(x: Any, own: Arrays) -> tuple[Any, None]:
                return call(x, *rows[1:], *own, *outside)[0], None

            return jax.lax.scan(step, rows[0], weights, unroll=unrolled)[0]

        if stages == 1:
            return (stage(rows, weights),)
        return (_pipelined(stage, rows, weights, stages, parts, unrolled, mesh),)

    return run


def _pipelined(
    stage: Callable[..., Any], rows: Arrays, weights: Arrays, stages: int, parts: int, unrolled: bool, mesh: Any
) -> Any:
    """Run all stages at the same time, each on another micro-batch, which then moves on to the next stage."""
    free = PartitionSpec.UNCONSTRAINED
    where = NamedSharding(mesh, PartitionSpec("pp", *[free] * rows[0].ndim))
    # Each micro-batch has rows of all copies ("dp"), so that none moves between them.
    split = [a.reshape(-1, parts, *a.shape[1:]).swapaxes(0, 1) for a in rows]
    own = [w.reshape(stages, -1, *w.shape[1:]) for w in weights]
    wide = jax.vmap(stage, spmd_axis_name="pp")

    def tick(x: Any, t: Any) -> tuple[Any, Any]:
        index = jnp.clip(t - jnp.arange(stages), 0, parts - 1)  # the micro-batch in each stage
        x = jax.lax.with_sharding_constraint(x.at[0].set(split[0][index[0]]), where)
        x = wide([x, *[a[index] for a in split[1:]]], own)
        return jax.lax.with_sharding_constraint(jnp.roll(x, 1, 0), where), x[-1]

    # Stages that wait compute the first rows, so that all values are finite.
    begin = jnp.broadcast_to(split[0][:1], (stages, *split[0].shape[1:]))
    found = jax.lax.scan(tick, begin, jnp.arange(parts + stages - 1), unroll=unrolled)[1][stages - 1 :]
    return found.swapaxes(0, 1).reshape(rows[0].shape)
