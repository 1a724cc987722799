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
from ...nn.initializer import Assign, Initializer
from .layouts import xla_mesh
from .moving import place_over_mesh
from .process_mesh import Placement, ProcessMesh, Replicate, Shard

Arrays = Sequence[Any]


class _Stacked(Initializer):
    """The initial values of several parameters."""

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self._parameters = parameters

    def draw(self, _shape: tuple[int, ...], _dtype: dtypes.DType) -> Any:
        """Return them along a new first axis."""
        return jnp.stack([p._payload for p in self._parameters])


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
        >>> stacked = StackedLayers(layers)
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
        sizes = {} if self._mesh is None else dict(zip(self._mesh.dim_names, self._mesh.shape, strict=True))
        self._stages, self._copies = sizes.get("pp", 1), sizes.get("dp", 1)
        self._micro_batches, self._is_unrolled = micro_batches, unrolled
        kinds = {tuple((name, tuple(p.shape), p.dtype) for name, p in layer.named_parameters()) for layer in layers}
        if len(kinds) != 1:
            raise ValueError("StackedLayers: expected layers with parameters of the same names, shapes and dtypes")
        if len(layers) % self._stages:
            raise ValueError(f"StackedLayers: {len(layers)} layers do not divide into {self._stages} stages")
        self.count, self.layer = len(layers), copy.deepcopy(layers[0])
        each = [[table[name] for table, name in _places(layer)] for layer in layers]
        for (table, name), *column in zip(_places(self.layer), *each, strict=True):
            table[name] = self._stacked(column)

    def _stacked(self, each: Sequence[Any]) -> Any:
        """Return a parameter of all layers in place of those of each."""
        shape, first = [len(each), *each[0].shape], each[0]
        made = self.create_parameter(shape, dtype=first.dtype, default_initializer=_Stacked(each))
        made.stop_gradient, made.optimize_attr = first.stop_gradient, first.optimize_attr
        made.regularizer, made.need_clip = first.regularizer, first.need_clip
        if self._mesh is not None:
            cut: list[Placement] = [Shard(0) if axis == "pp" else Replicate() for axis in self._mesh.dim_names]
            made._set_payload(place_over_mesh(made._payload, self._mesh, cut))
        made.stacked_axes = 1
        return made

    def layers(self) -> list[Layer]:
        """Return the layers, each with its own parameters."""
        found = []
        for i in range(self.count):
            layer = copy.deepcopy(self.layer)
            for table, name in _places(layer):
                stacked = table[name]
                table[name] = self.create_parameter(
                    stacked.shape[1:], dtype=stacked.dtype, default_initializer=Assign(stacked[i])
                )
            found.append(layer)
        return found

    def forward(self, x: Tensor, *others: Any) -> Any:
        """Pass x through all layers."""
        leaves: list[Tensor] = []
        shape = structure.flatten(others, lambda v: isinstance(v, Tensor), leaves)
        is_split = [t.ndim > 0 and t.shape[0] == x.shape[0] for t in leaves]
        rows = [x, *[t for t, split in zip(leaves, is_split, strict=True) if split]]
        whole = [t for t, split in zip(leaves, is_split, strict=True) if not split]
        weights = [table[name] for table, name in _places(self.layer)]
        parts, n, end = self._micro_batches, len(rows), len(rows) + len(weights)
        if x.shape[0] % (parts * self._copies):
            copies = f" of {self._copies} equal parts (dp)" if self._copies > 1 else ""
            raise ValueError(f"StackedLayers: {x.shape[0]} rows do not divide into {parts} micro-batches{copies}")

        def call(*tensors: Tensor) -> Any:
            split, shared = iter(tensors[1:n]), iter(tensors[end:])
            own = [next(split if is_row else shared) for is_row in is_split]
            return _called(self.layer, tensors[n:end], tensors[0], *structure.unflatten(shape, iter(own)))

        shapes = [(t.shape[0] // parts, *t.shape[1:]) for t in rows] + [tuple(w.shape[1:]) for w in weights]
        shapes += [tuple(t.shape) for t in whole]
        given = [*rows, *weights, *whole]
        specs = [jax.ShapeDtypeStruct(size, t._payload.dtype) for size, t in zip(shapes, given, strict=True)]
        pure = pure_function("StackedLayers", call, given, specs)
        how = (self._stages, parts, self._is_unrolled, self._mesh and self._mesh.key)
        fn = _schedule(pure.call, n, end, *how[:3], self._mesh and xla_mesh(self._mesh))
        key = ("stacked layers", pure.key, n, end, self.count, how)
        return run_pure(key, fn, [*given, *pure.outside], pure.structure)


def _places(layer: Layer) -> list[tuple[dict[str, Any], str]]:
    """Return where each parameter is: the parameters of its layer, and its name among them."""
    tables = [owner._parameters for owner in layer.sublayers(include_self=True)]
    return [(table, name) for table in tables for name, p in table.items() if p is not None]


def _called(layer: Layer, weights: Sequence[Tensor], *args: Any) -> Any:
    """Call a layer with other parameters."""
    places = _places(layer)
    before = [table[name] for table, name in places]
    try:
        for (table, name), w in zip(places, weights, strict=True):
            table[name] = w
        return layer(*args)
    finally:
        for (table, name), p in zip(places, before, strict=True):
            table[name] = p


def _schedule(
    call: Callable[..., Any], n: int, end: int, stages: int, parts: int, unrolled: bool, mesh: Any
) -> Callable[..., Any]:
    """Return a function of rows (x first), stacked weights and what all layers read, from the function of one layer.

    Arguments:
        n, end: where the weights begin and end among the arguments.
    """

    def run(*arrays: Any) -> tuple[Any]:
        rows, weights, whole = arrays[:n], arrays[n:end], arrays[end:]

        def stage(rows: Arrays, weights: Arrays) -> Any:
            def step(x: Any, own: Arrays) -> tuple[Any, None]:
                return call(x, *rows[1:], *own, *whole)[0], None

            return jax.lax.scan(step, rows[0], weights, unroll=unrolled)[0]

        if stages == 1:
            return (stage(rows, weights),)
        return (_pipelined(stage, rows, weights, stages, parts, unrolled, mesh),)

    return run


def _pipelined(
    stage: Callable[..., Any], rows: Arrays, weights: Arrays, stages: int, parts: int, unrolled: bool, mesh: Any
) -> Any:
    """Run all stages at the same time, each on another micro-batch, which then moves on to the next stage."""
    rest = ["dp" if "dp" in mesh.axis_names else None, *[PartitionSpec.UNCONSTRAINED] * (rows[0].ndim - 1)]
    where = NamedSharding(mesh, PartitionSpec("pp", *rest))
    # Each micro-batch has rows of all copies ("dp"), so that none moves between them.
    split = [a.reshape(-1, parts, *a.shape[1:]).swapaxes(0, 1) for a in rows]
    own = [w.reshape(stages, -1, *w.shape[1:]) for w in weights]
    wide = jax.vmap(stage, spmd_axis_name="pp")

    def tick(x: Any, t: Any) -> tuple[Any, Any]:
        index = jnp.clip(t - jnp.arange(stages), 0, parts - 1)  # the micro-batch in each stage
        x = jax.lax.with_sharding_constraint(x.at[0].set(split[0][index[0]]), where)
        x = jax.lax.with_sharding_constraint(wide([x, *[a[index] for a in split[1:]]], own), where)
        return jax.lax.with_sharding_constraint(jnp.roll(x, 1, 0), where), x

    # Stages that wait compute the first rows, so that all values are finite.
    begin = jnp.broadcast_to(split[0][:1], (stages, *split[0].shape[1:]))
    found = jax.lax.scan(tick, begin, jnp.arange(parts + stages - 1), unroll=unrolled)[1][stages - 1 :, -1]
    return found.swapaxes(0, 1).reshape(rows[0].shape)
