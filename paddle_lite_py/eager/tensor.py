"""Tensor: a handle on an immutable payload, a `jax.Array` (eager) or a Program's `Value` (while tracing).

In-place methods, ``x[i] = v`` and buffer updates rebind the handle to a new payload. The methods of the ops are
installed from the registry.
"""

from __future__ import annotations

import copy
import math
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..core import dtypes
from ..core import place as places
from ..core.arrays import as_array, from_host, full_on_host, is_array, is_spread, laid_over, meshes
from ..core.errors import LeafChangeError
from ..core.interpreter import layer_version, run_backward, state
from ..core.no_effect import NOT_DRAWN, no_effect
from ..core.size import Size, TensorSize
from ..core.unknown_size import Shape
from ..core.versioned import VersionedDict
from . import constructor, views
from .contents import TensorContents
from .pending import DataOnDemand, payload_of
from .remove_handle import RemoveHandle
from .sharding import with_sharding_of
from .tensor_data import TensorData

# Value of `_grad` after clear_grad(): zeros that have not been read yet.
ZEROS = "zeros"
# Attributes that link a tensor to others on the same storage; copies drop them.
TIES = ("_view", "_views")
# Attributes that programs read before each run; all other public attributes are settings.
PAYLOADS = frozenset({"data", "grad"})


class Tensor(TensorData):
    """A multi-dimensional array with the operators, methods and automatic differentiation of Paddle's Tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0]])
        >>> isinstance(x, paddle.Tensor), x.shape, x.dtype
        (True, paddle.Size([1, 2]), paddle.float32)
    """

    _dense = True  # False for sparse tensors, which have no `_payload`
    # Not `_data`, which subclasses of users define as a property.
    _payload: Any = DataOnDemand()
    _pending: Any = None  # placeholder of the data while its op is deferred (pending.Pending)
    # Class attributes are the defaults, so that making a Tensor sets one attribute only.
    stop_gradient = True
    persistable = False
    trainable = True
    _source: Any = None
    _grad: Any = None
    _hooks: dict[int, Callable[[Any], Any]] | None = None
    _retains = False  # its gradient although it is no leaf
    _changes = 0  # number of in-place changes
    _name: str | None = None
    _view: Any = None  # of a view: its root, and how it was taken (views.View)
    _views: Any = None  # of a root: its views (views.Viewers)
    # Attributes read by optimizers.
    regularizer: Any = None
    need_clip = True
    optimize_attr = cached_property(lambda _: VersionedDict(learning_rate=1.0))

    if TYPE_CHECKING:
        # Methods and operators of ops, installed by dispatch.define.add_methods().
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = cast(Any, None)
        __floordiv__ = __mod__ = __pow__ = __rpow__ = __matmul__ = __neg__ = __abs__ = __invert__ = cast(Any, None)
        __and__ = __or__ = __xor__ = __lt__ = __le__ = __gt__ = __ge__ = cast(Any, None)
        __getitem__ = __setitem__ = cast(Any, None)

    def __init__(self, *given: Any, **settings: Any) -> None:
        self.__dict__.update(constructor.of_arguments(*given, **settings))

    def __getattr__(self, name: str) -> Any:  # only what is not there: a trace looks at the caller's tensor
        return state.interpreter.attribute_of(self, name)

    # -- properties ------------------------------------------------------------------------------------------------
    @property
    def shape(self) -> Size:
        """The shape: the size of each dimension."""
        shape = payload_of(self).shape
        return Size(shape.listed() if shape.__class__ is Shape else shape)

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        return dtypes.from_numpy(payload_of(self).dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(payload_of(self).shape)

    @property
    def size(self) -> Any:
        """The number of elements; called as `x.size()`, the shape."""
        shape = self.shape
        out = math.prod(shape)
        return TensorSize(shape) if out.__class__ is int else out

    @property
    def place(self) -> places.Place:
        """The device of the data."""
        return places.of_array(self._payload) if self._pending is None and is_array(self._payload) else places.current()

    @property
    def name(self) -> str:
        """The name, generated if it was not set."""
        if self._name is None:
            if (given := getattr(payload_of(self), "name", None)) is not None:
                return state.interpreter.name_of(self) or str(given)
            Tensor._counter += 1
            self._name = f"generated_tensor_{Tensor._counter - 1}"
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = value

    _counter = 0
    _copies = 0

    @property
    def is_leaf(self) -> bool:
        """True unless the tensor was computed by an op recorded on the tape."""
        return state.interpreter.is_leaf(self)

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self.ndim

    ndimension = dim

    def is_contiguous(self) -> bool:
        """Return True if the elements are contiguous, in row-major order, in the storage shared with views."""
        return views.is_contiguous(self)

    def contiguous(self) -> Tensor:
        """Return the tensor itself if it is contiguous, else a copy."""
        return self if self.is_contiguous() else self.clone()

    __hash__ = object.__hash__

    # -- rebinding -------------------------------------------------------------------------------------------------
    def _set_payload(self, data: Any) -> None:
        """Rebind to a new immutable payload without recording (buffers, parameters under an optimizer)."""
        state.interpreter.overwrite(self, data)
        if self._views is not None or self._view is not None:
            views.replaced(self)

    def _rebind(self, new: Tensor, reshapes: bool = False, assigned: bool = False) -> Tensor:
        """Take over value and graph position of `new`; `reshapes`: of any shape; `assigned`: even for a leaf."""
        before, after = payload_of(self), payload_of(new)
        same = after.shape == before.shape and after.dtype == before.dtype
        if not reshapes and not same:
            raise ValueError(
                f"an in-place operation on {self.dtype.name}{[*self.shape]} gave {new.dtype.name}{[*new.shape]}; "
                "shape and dtype must stay: use the out-of-place form"
            )
        if not assigned and not self.stop_gradient and state.grad_enabled and self.is_leaf:
            raise LeafChangeError(
                f"tensor '{self.name}' is a leaf that requires gradient, so it cannot be changed in place while "
                "gradients are recorded: wrap the change in paddle.no_grad(), or use the out-of-place form"
            )
        self._changes += 1
        if same and meshes:
            new = with_sharding_of(new, self)
        if self._views is None and self._view is None:
            self._become(new)
        elif same:
            views.write(self, new)
        else:
            views.reshaped(self, new, self._twin())
        return self

    def _become(self, new: Tensor) -> None:
        """Take over the value and graph position of `new`; without gradient recording, the value only."""
        if not state.grad_enabled:
            state.interpreter.overwrite(self, payload_of(new))
            return
        state.interpreter.rebind(self, payload_of(new))
        if not new.stop_gradient or self._source is not None:
            self._source = new._source
            self.stop_gradient = new.stop_gradient

    def _twin(self) -> Tensor:
        """Return another handle with the same value and graph position."""
        return state.interpreter.twin(self)

    def set_value(self, value: Any) -> None:
        """Replace the data by `value` (a tensor or an array of the same shape), converted to this dtype.

        Raises:
            ValueError: if the shapes differ; nothing is changed then.
        """
        if isinstance(value, Tensor):
            data = (value if value._payload.dtype == self._payload.dtype else value.astype(self.dtype))._payload
        else:
            data = as_array(value, self.dtype)
        if tuple(data.shape) != tuple(payload_of(self).shape):
            raise ValueError(f"set_value on '{self.name}': shape {[*self.shape]} expected, got {list(data.shape)}")
        self._changes += 1
        self._set_payload(laid_over(data, self._payload.sharding) if is_spread(self._payload) else data)

    def copy_(self, other: Any, blocking: bool = True, non_blocking: bool = False) -> Tensor:
        """Copy the data of `other` (a tensor or an array of the same shape) into this tensor."""
        self.set_value(other)
        return self

    def get_tensor(self) -> TensorContents:
        """Return what the tensor holds, to read and to replace."""
        return TensorContents(self)

    def value(self) -> Tensor:
        """Return the tensor itself."""
        return self

    # -- gradient --------------------------------------------------------------------------------------------------
    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated by `backward()`; None if there is none."""
        state.interpreter.gradient_state(self)
        if self._grad is ZEROS:
            return state.interpreter.as_gradient(wrap(full_on_host(0, payload_of(self).shape, payload_of(self).dtype)))
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and list(value.shape) != self.shape:
            raise ValueError(f"gradient of '{self.name}': shape {[*self.shape]} expected, got {list(value.shape)}")
        state.interpreter.gradient_state(self)
        if isinstance(self._grad, Tensor) and value is not None and value is not self._grad and self._in_place():
            self._grad._set_payload(value._payload)
        else:
            self._set_grad(value)

    def _in_place(self) -> bool:
        """Return whether the existing gradient is updated in place, visible to all references to it."""
        return self._grad.is_leaf

    def _set_grad(self, value: Any) -> None:
        state.interpreter.rebound(self, "_grad")
        self._grad = value

    def _accumulate(self, grad: Tensor) -> None:
        """Add to the gradient, after running the hooks."""
        for hook in list((self._hooks or {}).values()):
            changed = hook(grad)
            grad = grad if changed is None else state.interpreter.as_gradient(changed)  # the user's tensor is unchanged
        self._accumulate_plain(grad)

    @no_effect(dump_backward_graph_path=NOT_DRAWN)
    def backward(
        self,
        grad_tensor: Tensor | None = None,
        retain_graph: bool = False,
        *,
        dump_backward_graph_path: str | None = None,
    ) -> None:
        """Compute the gradients of this tensor and accumulate them in the `.grad` of the leaves of its graph.

        Arguments:
            grad_tensor: gradient of the final result with respect to this tensor. Default: ones.
            retain_graph: keep the recorded graph, so that `backward()` can run again. Default: False.

        Raises:
            RuntimeError: if its graph has been freed. Of a tensor that requires no gradient it does nothing, and warns.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> x = paddle.to_tensor(3.0, stop_gradient=False)
            >>> (x * x).backward(); float(x.grad)
            6.0
        """
        run_backward([self], [grad_tensor], retain_graph)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemoveHandle:
        """Call `hook(grad)` with this tensor's gradient in each `backward()`; a returned tensor replaces it."""
        if self.stop_gradient:
            raise RuntimeError(f"register_hook on '{self.name}', which has stop_gradient=True: no gradient reaches it")
        return state.interpreter.register_hook(self, hook)

    def retain_grads(self) -> None:
        """Keep the gradient of this tensor in `.grad` although it is not a leaf.

        It is that of the last backward(), changed by the hooks that were registered before.
        """
        if self._source is None or self._retains:
            return
        if not state.interpreter.is_tracing:  # what a trace does to a tensor of its caller is gone afterwards
            self.__dict__["_retains"] = True
        me = weakref.ref(self)

        def keep(grad: Tensor) -> None:
            if (tensor := me()) is not None:
                state.interpreter.gradient_state(tensor)
                tensor._set_grad(grad)

        self.register_hook(keep)

    def _accumulate_plain(self, grad: Tensor) -> None:
        state.interpreter.gradient_state(self, True)
        before = self._grad
        if not isinstance(before, Tensor):
            self._set_grad(grad)
        elif self._in_place() and (grad.stop_gradient or grad._pending is not None or is_array(grad._payload)):
            before._set_payload(payload_of(before + grad))
        else:
            self._set_grad(before + grad)

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set the gradient to zeros (`set_to_zero=True`, the default) or to None."""
        self._set_grad(state.interpreter.cleared(self) if set_to_zero else None)

    clear_grad = clear_gradient

    def detach(self) -> Tensor:
        """Return a tensor that shares the data but is detached from the graph: in-place changes show in both."""
        return views.alias(self, state.interpreter.twin(self, detached=True))

    def detach_(self) -> Tensor:
        """Detach the tensor from the graph in place."""
        self._source, self.stop_gradient = None, True
        return self

    # -- copies ----------------------------------------------------------------------------------------------------
    def __copy__(self) -> Tensor:
        out = type(self).__new__(type(self))
        out.__dict__.update({k: v for k, v in self.__dict__.items() if k not in ("_retains", *TIES)})
        return out

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        out = type(self).__new__(type(self))
        memo[id(self)] = out
        skipped = ("_payload", "_pending", "_source", "_grad", "_hooks", "_retains", "_name", *TIES)
        out.__dict__.update(copy.deepcopy({k: v for k, v in self.__dict__.items() if k not in skipped}, memo))
        # Data are immutable, so shared; a traced value would pass the gradient on.
        out._payload = self._payload if is_array(self._payload) else self.detach()._payload
        if self._name is not None:  # programs tell weights from biases by names, those of copies as well
            Tensor._copies += 1
            out._name = f"{self._name}_deepcopy_{Tensor._copies - 1}"
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        left = ("_payload", "_pending", "_source", "_grad", "_hooks", "_retains", *TIES)
        kept = {k: v for k, v in self.__dict__.items() if k not in left}
        return _restore, (type(self), self.numpy(), kept)


class Parameter(Tensor):
    """A trainable tensor: a Tensor with `stop_gradient=False` that layers register and optimizers update.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.nn.Linear(1, 1).weight, paddle.nn.Parameter)
        True
    """

    stop_gradient = False
    persistable, _HEADING = True, "Parameter containing:\n"
    is_distributed = False
    is_table = False  # an embedding table: optimizers may treat its gradient as that of some rows
    block: Any = None  # `initializer(p, p.block)`, as programs call it to draw again

    def __init__(
        self,
        data: Any = None,
        dtype: Any = None,
        name: str | None = None,
        trainable: bool = True,
        requires_grad: bool | None = None,
    ) -> None:
        by_position = isinstance(dtype, bool)  # PyTorch's second argument
        super().__init__(data, None if by_position else dtype)
        trainable = dtype if by_position else trainable if requires_grad is None else requires_grad
        self._name, self.stop_gradient = name, not trainable

    @classmethod
    def of_payload(cls, data: Any, name: str, trainable: bool) -> Parameter:
        """Create a parameter on an existing payload."""
        out = cls.__new__(cls)
        out._payload, out._name = data, name
        out.stop_gradient = not trainable
        return out

    @classmethod
    def from_tensor(cls, tensor: Tensor, **kwargs: Any) -> Parameter:
        """Create a parameter from a tensor; keyword arguments set attributes (name, trainable, ...)."""
        out = cls(tensor, None, kwargs.pop("name", None), kwargs.pop("trainable", True))
        for name, value in kwargs.items():
            setattr(out, name, value)
        return out

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name[0] != "_" and name not in PAYLOADS:
            layer_version.number += 1

    @property
    def trainable(self) -> bool:
        """True if gradients are recorded for the parameter."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value


_new: Any = object.__new__


def wrap(data: Any) -> Tensor:
    """Return a new handle on a payload."""
    out = _new(Tensor)
    out._payload = data
    return out


def _restore(cls: type, data: np.ndarray, attributes: dict[str, Any]) -> Tensor:
    out = cls.__new__(cls)  # type: ignore[call-overload]
    out.__dict__.update(attributes)
    out._payload = from_host(data)
    return out
