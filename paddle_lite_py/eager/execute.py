"""Eager execution: one cached `jax.jit` call an op, and a node on the tape where a gradient may flow."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.arrays import as_array, full_on_host, is_array
from ..core.donation import donatable
from ..core.dtypes import INEXACT, is_inexact
from ..core.errors import SparseError
from ..core.interpreter import Interpreter, UpdateRule, begin_with, layer_version, state
from ..core.references import is_shared
from ..registry.bound import BoundOp, check_memory
from . import gradients
from .op_errors import explain
from .pending import payload_of, set_payload
from .random import default_generator
from .residuals import Forward
from .tape import Node, Output, next_number
from .template import make_unpacker
from .tensor import ZEROS, Tensor, wrap
from .views import link, replaced

_new: Any = object.__new__
# Defers an op that records a gradient, on an XLA array (deferred.begin); returns None for one that
# is to run at once.
begin: list[Callable[[BoundOp, tuple[Any, ...]], Any]] = [lambda bound, args: None]
# What ops are for tensors that are not arrays, such as sparse ones, which are defined above this module:
# functions that return NotImplemented for all other arguments.
of_others: list[Callable[[BoundOp, tuple[Any, ...]], Any]] = []
NUMBERS = frozenset((float, int, bool, complex))
HOSTED = NUMBERS | {np.ndarray}
_DRAWN = np.array([0, 1], np.uint32)  # what a draw adds to the generator's state


# By the number of arguments: most calls have a few tensors.
_TAKING = {n: make_unpacker(n) for n in (1, 2, 3)}


class Eager(Interpreter):
    """The interpreter that runs each op at once."""

    is_eager = at_once = True

    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Apply a bound op; see interpreter.Interpreter."""
        take = _TAKING.get(len(args))
        try:
            data, sources = (take and take(*args)) or _unpack_args(bound, args)
        except SparseError:
            if (found := run_on_others(bound, args)) is not NotImplemented:
                return found
            data, sources = _unpack_args(bound, args)  # raises with the names of the arguments
        records = sources is not None and state.grad_enabled
        if records:
            xla = bound.plain
            for d in data:
                if d.__class__ not in HOSTED:
                    xla = True
            if xla and state.interpreter is self:
                begun = begin[0](bound, args)
                if begun is not None:
                    return begun
            if bound.keeps:
                return _run_saving_residuals(bound, args, data, sources)
        try:
            out = bound.jitted(*data)
        except Exception as e:
            raise failure(bound, args, e) from None
        if out.__class__ is tuple:
            made = _record_all(bound, data, sources, out) if records else tuple(map(wrap, out))
            if bound.views is not None:
                link(args[0], made, bound, args[1:])
            return made
        t = _new(Tensor)
        t._payload = out
        if records and bound.differentiable and out.dtype in INEXACT:
            t.stop_gradient = False
            # Node.__init__, inlined.
            t._source = node = _new(Node)
            node.bound, node.data, node.sources, node.number = bound, data, sources, next_number()
        if bound.views is not None:
            link(args[0], t, bound, args[1:])
        return t

    def run_random(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Apply a random op and keep the generator's next state."""
        word = default_generator.state
        before = payload_of(word)
        out, following = self.run(bound, (word, *args))
        # Host arrays stay on the host, and wait for no array.
        set_payload(word, before + _DRAWN if before.__class__ is np.ndarray else payload_of(following))
        return out

    def update(self, rule: UpdateRule, rate: Any, grads: list[Any], changed: list[Any], flags: tuple[Any, ...]) -> None:
        """Change parameters and the state of their optimizer at once; see interpreter.Interpreter."""
        mutable = donatable([t._payload for t in changed])
        arrays = (rate, *[g._payload for g in grads], *mutable, *[f._payload for f in flags])
        run = rule.compiled(len(mutable))
        new = run(*arrays) if state.timer is None else state.timer(rule.name, "update", run, *arrays)
        for tensor, array in zip(changed, new, strict=True):
            tensor.__dict__["_payload"] = array  # not through Parameter.__setattr__: the hot path
            if tensor._views is not None or tensor._view is not None:
                replaced(tensor)

    def rebind(self, tensor: Tensor, data: Any) -> None:
        """Give a tensor another payload."""
        before = payload_of(tensor)
        if before.shape != data.shape or before.dtype != data.dtype:
            layer_version.number += 1  # programs that read the tensor were traced for its old state
        set_payload(tensor, data)

    overwrite = rebind  # its place in the graph is no part of the payload

    def twin(self, tensor: Tensor, detached: bool = False) -> Tensor:
        """Another handle on the value of a tensor."""
        out = wrap(tensor._payload)
        if not detached and not tensor.stop_gradient:
            out.stop_gradient, out._source = False, tensor._source
        return out

    def sees(self, tensor: Tensor) -> bool:
        """Whether a tensor can be given a new payload: not one that a trace has left behind."""
        return is_array(tensor._payload)

    def cleared(self, tensor: Tensor) -> Any:
        """Zeros where there was a gradient, and in it, if somebody else holds it."""
        if has_shared_gradient(tensor):
            tensor._grad._set_payload(full_on_host(0, payload_of(tensor._grad).shape, payload_of(tensor._grad).dtype))
        return None if tensor._grad is None else ZEROS

    def is_leaf(self, tensor: Tensor) -> bool:
        """True unless a node of the tape made the tensor."""
        return tensor._source is None

    def as_gradient(self, tensor: Tensor) -> Tensor:
        """Return the value of a tensor as a gradient."""
        return gradients.leaf_gradient(gradients.from_hook(tensor)._payload)

    # Accumulates gradients in the leaves that tensors depend on.
    backward = staticmethod(gradients.backward)

    def grad(
        self,
        outputs: list[Tensor],
        inputs: list[Tensor],
        grads: list[Tensor | None],
        create_graph: bool,
    ) -> list[Tensor | None]:
        """Gradients of the outputs with respect to the inputs; None where none depends on one."""
        return gradients.grad(outputs, inputs, grads, create_graph)

    def register_hook(self, tensor: Tensor, hook: Any) -> Any:
        """Call `hook` with the gradient of a tensor."""
        return gradients.register_hook(tensor, hook)

    def custom_gradient(self, layer: Any, ctx: Any, inputs: list[Tensor], out: Any) -> Any:
        """Put a call of a PyLayer on the tape."""
        return gradients.custom_gradient(layer, ctx, inputs, out)

    def static_value(self, tensor: Tensor, what: str) -> Any:
        """Return the Python value of a tensor used as an attribute."""
        array = tensor._array(what)
        return array.item() if array.size == 1 else array.tolist()

    def item(self, tensor: Tensor, index: tuple[int, ...]) -> Any:
        """Return one number of a tensor."""
        return tensor._array("item()").item(*index)


def _unpack_args(bound: BoundOp, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """Arrays of the arguments, and where they came from; None if no gradient flows to any."""
    data: list[Any] = []
    sources: list[Any] = []
    flows = False
    try:
        for a in args:
            if not isinstance(a, Tensor):
                data.append(payload(a))
                sources.append(None)
                continue
            data.append(a._payload)
            if a.stop_gradient:
                sources.append(None)
            else:
                flows = True
                sources.append(a._source or a)
    except (TypeError, ValueError) as e:
        raise explain(bound, args, e) from None
    return tuple(data), tuple(sources) if flows else None


def _record_all(bound: BoundOp, data: tuple[Any, ...], sources: Any, outs: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Wrap several outputs and put the call on the tape."""
    flows = _flows(bound, outs)
    node = Node(bound, data, sources)
    made = []
    for i, o in enumerate(outs):
        t = wrap(o)
        if flows[i]:
            t.stop_gradient = False
            t._source = Output(node, i)
        made.append(t)
    return tuple(made)


def _run_saving_residuals(bound: BoundOp, args: tuple[Any, ...], data: tuple[Any, ...], sources: Any) -> Any:
    """Apply an op whose gradient would be slow to begin with the op itself, and keep what it needs."""
    forward = forward_of(bound)
    check = bound.keeping[1]
    try:
        if check is not None:
            check(*data)
        outs, pull, saved = forward(tuple([s is not None for s in sources]), data)
    except Exception as e:
        raise failure(bound, args, e) from None
    node = Node(pull, saved, sources)
    made = tuple(map(wrap, outs))
    flowing = [t for t in made if is_inexact(t._payload.dtype)]
    for i, t in enumerate(flowing):
        t.stop_gradient = False
        t._source = node if len(flowing) == 1 else Output(node, i)
    return made if isinstance(outs, tuple) else made[0]


def forward_of(bound: BoundOp) -> Forward:
    """Return the function of an op with what its gradient needs."""
    if bound.keeping is None:
        found = functools.partial(_with_differentiable_outputs, check_memory(bound.fn))
        forward = Forward(bound.op.name, found, bound.windows, plain=bound.plain, source=weakref.ref(bound))
        bound.keeping = forward, bound.evaluate_rule(bound.op.input_check)
    return bound.keeping[0]


def flows_of(bound: BoundOp, specs: Sequence[Any]) -> Sequence[bool]:
    """For each result of a recorded op, given its shape and dtype, whether a gradient may flow from it."""
    return [is_inexact(s.dtype) for s in specs] if bound.keeps else _flows(bound, specs)


def _with_differentiable_outputs(fn: Callable[..., Any], arrays: list[Any]) -> tuple[list[Any], Any]:
    outs = fn(*arrays)
    several = outs if isinstance(outs, tuple) else [outs]
    return [o for o in several if is_inexact(o.dtype)], outs if isinstance(outs, tuple) else several


def _flows(bound: BoundOp, outs: Sequence[Any]) -> list[bool]:
    """For each output of an op whether a gradient may flow from it."""
    may = bound.differentiable
    each = [may] * len(outs) if may.__class__ is bool else may
    return [m and o.dtype in INEXACT for m, o in zip(each, outs, strict=True)]  # type: ignore[arg-type]


def has_shared_gradient(tensor: Tensor) -> bool:
    """True if somebody else holds the gradient of a tensor, or a view of it; the caller must not."""
    held = tensor._grad
    return isinstance(held, Tensor) and (is_shared(held, 1) or held._views is not None)


def payload(arg: Any) -> Any:
    """Return a Python scalar as it is (a weak scalar to the op), anything else as an array."""
    kind = arg.__class__
    if kind is float or kind is int or kind is bool or kind is complex:
        return arg
    if isinstance(arg, np.generic):
        return arg.item()
    if isinstance(arg, int | float):  # of a subclass: an enumeration, a size
        return int(arg) if isinstance(arg, int) else float(arg)
    return as_array(arg)


def run_on_others(bound: BoundOp, args: tuple[Any, ...]) -> Any:
    """Return what an op gives for tensors that are not arrays; NotImplemented where there is no such rule."""
    for function in of_others:
        if (found := function(bound, args)) is not NotImplemented:
            return found
    return NotImplemented


def failure(bound: BoundOp, args: tuple[Any, ...], error: Exception) -> Exception:
    """Return the error of an op that failed to run."""
    for a in args:
        if isinstance(a, Tensor) and a._pending is None and not is_array(a._payload):
            try:
                a._payload.concrete(f"{bound.op.name}()")
            except Exception as escaped:
                return escaped
    return explain(bound, args, error)


EAGER = Eager()
begin_with(EAGER)
