"""Hooks on saved tensors: to move it elsewhere, or keep it smaller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ..core.arrays import is_array
from ..core.interpreter import no_grad, state, use
from ..eager.execute import EAGER, Eager
from ..eager.tape import Node, Output
from ..eager.tensor import Tensor, wrap
from ..ops.dynamic import is_eager
from ..registry.bound import BoundOp

Hook = Callable[[Any], Any]


class saved_tensors_hooks:
    """Context manager that packs the tensors saved for backward, for example to move or compress them.

    pack_hook is called with each saved tensor, and its result is stored; backward calls unpack_hook with the stored
    value. Gradients of gradients do not pass through the hooks. Compiled programs do not use them, since XLA decides
    what is stored.

    Arguments:
        pack_hook: function from a tensor to any object.
        unpack_hook: function from that object to a tensor of the same shape and dtype.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), paddle.to_tensor):
        ...     y = x * x
        >>> y.sum().backward(); x.grad.tolist()
        [2.0, 4.0]
    """

    def __init__(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        self._inside = _Packing(pack_hook, unpack_hook)
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        block = use(self._inside if is_eager() else state.interpreter)
        self._entered.append(block)
        block.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)


class _Packing(Eager):
    """Eager mode in which nodes of the tape keep what a hook makes of their arrays."""

    def __init__(self, pack: Hook, unpack: Hook) -> None:
        self.pack, self.unpack = pack, unpack

    def _packed(self, tensor: Tensor) -> Any:
        with use(EAGER), no_grad():
            return self.pack(tensor)

    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Apply a bound op; see interpreter.Interpreter."""
        made = EAGER.run(bound, args)
        for t in made if isinstance(made, tuple) else (made,):
            node = t._source.node if t._source.__class__ is Output else t._source
            if node.__class__ is Node and node.bound.compiled:
                self._pack(node)
                break
        return made

    def _pack(self, node: Node) -> None:
        arrays = node.data or ()
        first = node.bound.op.random  # the state of the generator is no tensor of the user's
        held = [is_array(a) and i >= first for i, a in enumerate(arrays)]
        node.data = [self._packed(wrap(a)) if h else a for a, h in zip(arrays, held, strict=True)]
        node.bound = _Unpacking(node.bound, held, self.unpack, node.sources)

    def custom_gradient(self, layer: Any, ctx: Any, inputs: list[Tensor], out: Any) -> Any:
        """Put a call of a PyLayer on the tape."""
        packed = [self._packed(t) if isinstance(t, Tensor) else t for t in ctx._saved]
        ctx._unpack = [self.unpack if isinstance(t, Tensor) else None for t in ctx._saved]
        ctx._saved = tuple(packed)
        return super().custom_gradient(layer, ctx, inputs, out)


class _Unpacking:
    """The backward of a node whose arrays are packed, in the place of its bound op."""

    compiled = False

    def __init__(self, bound: Any, held: list[bool], unpack: Hook, sources: tuple[Any, ...]) -> None:
        self.op, self.bound, self.held, self.unpack = bound.op, bound, held, unpack
        self.mask = tuple([s is not None for s in sources])

    def backward(self, data: Any, cotangents: dict[int, Any]) -> list[Any]:
        """Gradients of the arguments, from arrays to arrays."""
        with use(EAGER), no_grad():
            arrays = [self.unpack(d)._payload if h else d for d, h in zip(data, self.held, strict=True)]
        full = tuple([cotangents.get(i) for i in range(max(cotangents) + 1)])
        found = iter(self.bound.gradients(arrays, full, self.mask))
        grads = [next(found) if m else None for m in self.mask]
        return [None if g is None or g.dtype == jax.dtypes.float0 else g for g in grads]

    def backward_tensors(self, cotangents: dict[int, Tensor]) -> Any:
        """Return the same on tensors, recorded; what the hooks saw leads no further back."""
        raise NotImplementedError(
            f"the gradient of a gradient through `{self.op.name}` within saved_tensors_hooks is not available; "
            "compute it outside of the block"
        )
