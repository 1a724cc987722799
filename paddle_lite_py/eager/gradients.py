"""backward() and grad() in eager mode, on the tape; with create_graph the gradient is itself recorded."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp

from ..core import place as places
from ..core.arrays import full_on_host, is_array, is_spread, laid_over, meshes
from ..core.errors import warn_no_gradient
from ..core.interpreter import layer_version, no_grad, state
from ..core.lazy_vjp import differentiated_twice
from ..core.memo import Memo
from ..registry.bound import BoundOp
from ..registry.op import Op
from . import tape
from .partial_sweep import PartialSweep
from .pending import payload_of
from .residuals import AgainAsOp
from .tape import Node, Output
from .tensor import RemoveHandle, Tensor, wrap

_new: Any = object.__new__


def backward(tensors: list[Tensor], grads: list[Tensor | None], retain_graph: bool) -> None:
    """Accumulate gradients in the leaves that the tensors depend on."""
    root = plain_root(tensors, grads)
    if root is not None:
        if root.queue is not None:
            root.queue.flush()
        found = tape.backward_plain(root, retain_graph)
        if found is not None:
            give(found[0], [None if g is None else leaf_gradient(g) for g in found[1]])
            return
    _compute_waiting(tensors)
    sweep = tape.Sweep()
    for tensor, grad in zip(tensors, grads, strict=True):
        if tensor.stop_gradient:
            warn_no_gradient(tensor)
        else:
            sweep.add(_source(tensor), _seed(tensor, grad))
    sweep.run(retain_graph)
    give([leaf for leaf, _ in sweep.leaves.values()], [leaf_gradient(a) for _, a in sweep.leaves.values()])


def plain_root(tensors: list[Tensor], grads: list[Tensor | None]) -> Node | None:
    """Return the node that backward begins at with ones, if it is one node."""
    root = tensors[0]._source if len(tensors) == 1 and grads[0] is None else None
    return root if root.__class__ is Node and not tensors[0].stop_gradient else None


def give(leaves: Iterable[Any], grads: Iterable[Tensor | None]) -> None:
    """Accumulate gradients in leaves."""
    for leaf, grad in zip(leaves, grads, strict=True):
        if grad is not None:
            if meshes or places.pinned:
                _lay_like(grad, leaf)
            if leaf._hooks is None and leaf._grad.__class__ is not Tensor:
                leaf._grad = grad  # the first gradient: nothing to add, no hook to call
            else:
                leaf._accumulate(grad)


def _lay_like(grad: Tensor, leaf: Tensor) -> None:
    """Let a gradient lie where its leaf was put, over a mesh or on a device, and not where XLA has left it."""
    data, own = payload_of(leaf), payload_of(grad)
    put = is_spread(data) or getattr(data, "committed", False)
    if put and is_array(own) and getattr(own, "sharding", None) != data.sharding:
        grad._payload = laid_over(own, data.sharding)


def _compute_waiting(tensors: list[Tensor]) -> None:
    """Compute what waits, so that the nodes of the graph have their arrays."""
    for t in tensors:
        source = t._source
        node = source.node if source.__class__ is Output else source
        if node.__class__ is Node and node.queue is not None:
            node.queue.flush()


def grad(
    outputs: list[Tensor],
    inputs: list[Tensor],
    grads: list[Tensor | None],
    create_graph: bool,
) -> list[Tensor | None]:
    """Gradients of the outputs with respect to the inputs; None where none depends on one."""
    _compute_waiting(outputs)
    wanted = [t if t._source is None else t._source for t in inputs]
    sweep = RecordedSweep(wanted) if create_graph else PartialSweep(wanted)
    for tensor, g in zip(outputs, grads, strict=True):
        sweep.add(_source(tensor), _seed_tensor(tensor, g) if create_graph else _seed(tensor, g))
    sweep.run(retain_graph=True)  # backward() may still come, as in the reference
    found = [sweep.found(source) for source in wanted]
    return [g if g is None else _recorded(g) if create_graph else wrap(g) for g in found]


def _recorded(gradient: Any) -> Any:
    """A gradient that requires one itself: that of a tensor by itself is the ones, or what the caller gave."""
    if gradient.stop_gradient:
        gradient = gradient.detach()
        gradient.stop_gradient = False
    return gradient


def leaf_gradient(array: Any) -> Tensor:
    """Return a gradient as hooks and `.grad` show it: a leaf that can itself be differentiated."""
    out = wrap(array)
    out.stop_gradient = False
    return out


def _source(tensor: Tensor) -> Any:
    if tensor.stop_gradient:
        raise RuntimeError(
            f"grad() of a {tensor.dtype.name}{[*tensor.shape]} tensor with stop_gradient=True: no floating-point "
            "tensor it was made from requires gradient (or it was made under paddle.no_grad(), or detached)"
        )
    return tensor if tensor._source is None else tensor._source


# Key: shape and dtype.
_ones: Memo[Any, jax.Array] = Memo("ones that backward begins with", 64)


def _seed(tensor: Tensor, grad: Tensor | None) -> Any:
    if grad is None:
        key = (tensor._payload.shape, tensor._payload.dtype)
        found = _ones.get(key)
        return _ones.put(key, full_on_host(1, *key)) if found is None else found
    return _shaped(tensor, grad)._payload.astype(tensor._payload.dtype)


def _seed_tensor(tensor: Tensor, grad: Tensor | None) -> Tensor:
    if grad is None:
        return wrap(_seed(tensor, grad))
    grad = _shaped(tensor, grad)
    return grad if grad.dtype == tensor.dtype else grad.astype(tensor.dtype)


def _shaped(tensor: Tensor, grad: Any) -> Tensor:
    """A gradient in the shape of its tensor; of one number, any shape will do."""
    if list(grad.shape) == tensor.shape:
        return grad
    if grad.size != 1 or tensor.size != 1:
        raise ValueError(f"grad_tensor has shape {[*grad.shape]}, but the tensor has shape {[*tensor.shape]}")
    return grad.reshape(tensor.shape)


# -- hooks ---------------------------------------------------------------------------------------------------------
def register_hook(tensor: Tensor, hook: Callable[[Tensor], Any]) -> RemoveHandle:
    """Call `hook` with the gradient of a tensor."""
    key = tape.producer(tensor._source)
    if key is None:
        if tensor._hooks is None:
            tensor._hooks = {}
        layer_version.number += 1
        number = max(tensor._hooks, default=-1) + 1
        tensor._hooks[number] = hook
        return RemoveHandle(tensor._hooks, number)
    node, index = key
    if node.hooks is None:
        node.hooks = {}

    def on_array(array: Any) -> Any:
        out = hook(leaf_gradient(array))
        return array if out is None else from_hook(out)._payload

    hooks = node.hooks.setdefault(index, {})
    hooks[id(on_array)] = on_array
    return RemoveHandle(hooks, id(on_array))


def from_hook(out: Any) -> Tensor:
    """Return the gradient that a hook has returned."""
    if not isinstance(out, Tensor):
        raise TypeError(f"a hook of a gradient returned {out!r}; expected a tensor, or None to leave the gradient")
    return out


# -- the user's own gradient ----------------------------------------------------------------------------------------
class _PyBackward:
    """The backward of one call of a PyLayer, in the place of a bound op."""

    compiled = False

    def __init__(self, layer: Any, ctx: Any, outputs: list[Tensor], needed: list[bool]) -> None:
        self.op = layer
        self.layer, self.ctx, self.needed = layer, ctx, needed
        self.specs = [(payload_of(t).shape, payload_of(t).dtype) for t in outputs]

    def backward(self, _data: Any, cotangents: dict[int, Any]) -> list[Any]:
        """Gradients of the tensor arguments, from arrays to arrays."""
        with no_grad():
            found = self.backward_tensors({i: leaf_gradient(c) for i, c in cotangents.items()})
        return [None if g is None else g._payload for g in found]

    def backward_tensors(self, cotangents: dict[int, Tensor]) -> list[Tensor | None]:
        """Return the same on tensors, recorded if gradients are on."""
        grads = [cotangents.get(i, self._missing(i)) for i in range(len(self.specs))]
        out = self.layer.backward(self.ctx, *grads)
        return given_by_backward(self.layer, out, self.needed)

    def _missing(self, index: int) -> Tensor | None:
        return wrap(full_on_host(0, *self.specs[index])) if self.ctx._materialize else None


def given_by_backward(layer: Any, out: Any, needed: list[bool]) -> list[Tensor | None]:
    """Return the gradients that backward() of a PyLayer has returned, one for each tensor that forward() took.

    Those of the last tensors may be left out if these require no gradient (`needed`), as in the reference.
    """
    found, n_inputs = list(out) if isinstance(out, tuple | list) else [out], len(needed)
    if not any(needed[len(found) :]):
        found += [None] * (n_inputs - len(found))
    if len(found) != n_inputs:
        raise ValueError(f"{layer.name}.backward gave {len(found)} gradients, but forward took {n_inputs} tensors")
    for i, g in enumerate(found):
        if g is not None and not isinstance(g, Tensor):
            raise ValueError(
                f"{layer.name}.backward gave {g!r} as the gradient of tensor {i} of {n_inputs}; "
                "expected a tensor or None"
            )
    return found


def custom_gradient(layer: Any, ctx: Any, inputs: list[Tensor], out: Any) -> Any:
    """Put a call of a PyLayer on the tape (eager mode)."""
    results = list(out) if isinstance(out, tuple | list) else [out]
    outs = [t for t in results if isinstance(t, Tensor)]
    sources = tuple([None if t.stop_gradient else t if t._source is None else t._source for t in inputs])
    node = Node(_PyBackward(layer, ctx, outs, [not t.stop_gradient for t in inputs]), (), sources)
    made, places = [], itertools.count()
    for t in results:
        i = next(places) if isinstance(t, Tensor) else 0
        if isinstance(t, Tensor) and t.dtype.is_differentiable and id(t) not in ctx._blocked:
            t = wrap(t._payload)
            t.stop_gradient = False
            t._source = Output(node, i)
        made.append(t)
    return type(out)(made) if isinstance(out, tuple | list) else made[0]


# -- the gradient as a graph ---------------------------------------------------------------------------------------
class _Pullback(BoundOp):
    """The gradient of an op, as an op: arguments are the forward's inputs, then the cotangents that are there."""

    __slots__ = ("of",)

    def __init__(self, bound: BoundOp, mask: tuple[bool, ...], has: tuple[bool, ...], fn: Callable[..., Any]) -> None:
        super().__init__(Op(fn, f"{bound.op.name}_grad"), fn)
        self.of = bound, mask, has

    def said(self) -> tuple[Any, ...]:
        """Return what its function follows from."""
        return self.of


# Key: the bound op, which arguments take gradients and which cotangents are there.
_pullbacks: Memo[Any, _Pullback] = Memo("gradients of ops as ops", 1024)


def _pullback(bound: BoundOp, mask: tuple[bool, ...], has: tuple[bool, ...]) -> _Pullback:
    key = (bound, mask, has)
    found = _pullbacks.get(key)
    if found is None:

        def fn(*args: Any) -> Any:
            data, cts = args[: len(mask)], iter(args[len(mask) :])
            with differentiated_twice():
                grads = bound.vjp(data, tuple([next(cts) if h else None for h in has]), mask)
            return tuple([jnp.zeros(()) if g.dtype == jax.dtypes.float0 else g for g in grads])

        found = _pullbacks.put(key, _Pullback(bound, mask, has, fn))
    return found


class RecordedSweep(PartialSweep):
    """A backward pass on tensors, each step of it recorded, so that its results have gradients themselves."""

    sum = staticmethod(lambda a, b: a + b)

    def _hooked(self, hook: Callable[[Any], Any], cotangent: Tensor) -> Tensor:
        return wrap(hook(cotangent._payload))

    def _python_backward(self, node: Node, cotangents: dict[int, Tensor]) -> list[Tensor | None]:
        return node.bound.backward_tensors(cotangents)

    def _segment(self, nodes: list[Node]) -> list[Any]:
        for node in nodes:
            self._add_all(self._recorded(node))
        return []

    def _recorded(self, node: Node) -> Iterable[tuple[Any, Tensor]]:
        cts = self.pop_cotangents(node)
        if not cts:
            return ()
        forward, data, sources = _recomputed(node)
        if node.bound.reaches is not None:  # what no gradient comes to has no part in this one
            gets = node.bound.reaches(frozenset(cts))
            sources = tuple([s if g else None for s, g in zip(sources, gets, strict=True)])
        has = tuple([i in cts for i in range(max(cts) + 1)])
        bound = _pullback(forward, tuple([s is not None for s in sources]), has)
        args = [_input(d, s) for d, s in zip(data, sources, strict=True)]
        out = state.interpreter.run(bound, (*args, *[cts[i] for i, h in enumerate(has) if h]))
        return zip([s for s in sources if s is not None], out, strict=True)


def _recomputed(node: Node) -> tuple[Any, Any, Any]:
    """Return the forward of a node as an op, what it was called with, and where that came from."""
    data = tape.saved(node)
    again = getattr(data, "again", None)
    if again is None:
        return node.bound, data, node.sources
    function, arrays = again
    bound = _forwards.get(function) or _forwards.put(function, AgainAsOp(function, node.bound.op.name))
    return bound, arrays, node.sources


# Key: the function, which is one of bound ops; jax.jit tells shapes and dtypes apart.
_forwards: Memo[Any, BoundOp] = Memo("forwards that are differentiated twice", 1024)


def _input(data: Any, source: Any) -> Any:
    """The tensor an argument was, with its place in the graph."""
    if source is None or not is_array(data):
        return wrap(data) if is_array(data) else data
    if isinstance(source, Tensor):
        return source if source._payload is data else _as_leaf(data, source)
    out = wrap(data)
    out._source, out.stop_gradient = source, False
    return out


def _as_leaf(data: Any, source: Tensor) -> Tensor:
    raise RuntimeError(
        f"tensor '{source.name}' was changed in place after it was used, so its second gradient is not that of the "
        "value then; compute the gradient before the change"
    )
