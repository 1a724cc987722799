"""Layer: the base of every model: a callable with parameters, buffers, sublayers, hooks and modes."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core import place as places
from ..core.arrays import is_array, put
from ..core.interpreter import state
from ..core.no_effect import only_known_settings
from ..core.param_attr import as_attr
from ..core.versioned import VersionedDict
from ..eager.execute import EAGER
from ..eager.tensor import RemoveHandle, Tensor, wrap
from ..ops.dynamic import is_eager
from . import hooks, unique_name
from .helper import LayerHelper
from .hooks import Hook
from .parameter import make_parameter
from .state_dict import StateDict
from .tree import Tree

HookRemoveHelper = RemoveHandle


class Layer(StateDict, Tree):
    """Base class of all layers and models.

    Assign parameters and sublayers as attributes in __init__, after `super().__init__()`, and define forward().

    Arguments:
        name_scope: prefix of the unique name of the layer; None: the class name.
        dtype: dtype of its parameters. Default: 'float32'.
        settings: the same, by keyword.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Net(paddle.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.fc = paddle.nn.Linear(2, 3)
        ...     def forward(self, x):
        ...         return self.fc(x).tanh()
        >>> net = Net()
        >>> net(paddle.ones([4, 2])).shape, [name for name, _ in net.named_parameters()]
        (paddle.Size([4, 3]), ['fc.weight', 'fc.bias'])
    """

    training: bool = True

    def __new__(cls, *_args: Any, **settings: Any) -> Any:
        if settings:
            only_known_settings(cls, settings)
        return super().__new__(cls)

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        super().__init__()
        self.training = True
        self._dtype = dtypes.as_dtype(dtype) if dtype is not None else dtypes.default_dtype()
        self._full_name = unique_name.generate(unique_name.snake_case(name_scope or type(self).__name__))
        self._forward_pre_hooks: dict[int, Any] = VersionedDict()
        self._forward_post_hooks: dict[int, Any] = VersionedDict()
        self._state_dict_hooks: dict[int, Any] = {}

    @property
    def _helper(self) -> LayerHelper:
        return LayerHelper(self._full_name)

    # -- calling ---------------------------------------------------------------------------------------------------
    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Compute the output of the layer; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward(); define one")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward_pre_hooks or self._forward_post_hooks:
            return self._call_with_hooks(args, kwargs)
        if state.interpreter is EAGER:
            return self.forward(*args, **kwargs)
        return self._call_traced(args, kwargs)

    def _call_traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        interpreter = state.interpreter
        interpreter.entered(self)
        return interpreter.callee(self.forward)(*args, **kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = hooks.before(hooks.listed(self._forward_pre_hooks), self, args, kwargs)
        post = hooks.listed(self._forward_post_hooks)
        try:
            out = self._call_traced(args, kwargs)
        except Exception:
            hooks.after([h for h in post if h.always], self, args, kwargs, None)
            raise
        return hooks.after(post, self, args, kwargs, out)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemoveHandle:
        """Register a hook that is called as `hook(layer, args)` before forward().

        A value that it returns, unless None, replaces the arguments.

        Arguments:
            hook: the function to call.
            prepend: call it before the hooks registered earlier. Default: False.
            with_kwargs: call it as `hook(layer, args, kwargs)`; it returns both or None. Default: False.

        Returns:
            A handle whose remove() removes the hook.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> net = paddle.nn.ReLU()
            >>> handle = net.register_forward_pre_hook(lambda layer, args: (args[0] + 1,))
            >>> net(paddle.to_tensor(1.0)).item(), handle.remove(), net(paddle.to_tensor(1.0)).item()
            (2.0, True, 1.0)
        """
        return hooks.add(self._forward_pre_hooks, Hook(hook, with_kwargs), prepend)

    def register_forward_post_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemoveHandle:
        """Register a hook that is called as `hook(layer, args, output)` after forward().

        A value that it returns, unless None, replaces the output.

        Arguments:
            hook: the function to call.
            prepend: call it before the hooks registered earlier. Default: False.
            with_kwargs: call it as `hook(layer, args, kwargs, output)`. Default: False.
            always_call: call it, with the output None, even if forward() raises. Default: False.

        Returns:
            A handle whose remove() removes the hook.
        """
        return hooks.add(self._forward_post_hooks, Hook(hook, with_kwargs, always_call), prepend)

    register_forward_hook = register_forward_post_hook

    def register_state_dict_hook(self, hook: Callable[[Any], Any]) -> RemoveHandle:
        """Register a hook that is called as `hook(state_dict)` in state_dict().

        A dict that it returns replaces the result.
        """
        return hooks.add(self._state_dict_hooks, Hook(hook), False)

    # -- modes -----------------------------------------------------------------------------------------------------
    def train(self, mode: bool = True) -> Layer:
        """Set this layer and all sublayers to training mode (with mode=False to evaluation mode); return the layer."""
        for layer in self.sublayers(include_self=True):
            layer.training = bool(mode)
        return self

    def eval(self) -> Layer:
        """Set this layer and all sublayers to evaluation mode: no dropout, running statistics; return the layer.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> paddle.nn.Sequential(paddle.nn.Dropout(0.5)).eval()[0].training
            False
        """
        return Layer.train(self, False)  # not an override of train(), which is for training

    def apply(self, fn: Callable[[Any], Any]) -> Layer:
        """Call `fn(layer)` on every sublayer, children before parents, and on this layer; return the layer."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all trainable parameters to zeros, or with set_to_zero=False to None."""
        for p in self.parameters():
            if not p.stop_gradient:
                p.clear_gradient(set_to_zero)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or with set_to_none=False to zeros."""
        self.clear_gradients(not set_to_none)

    def requires_grad_(self, requires_grad: bool = True) -> Layer:
        """Set whether all parameters require gradients; return the layer."""
        for p in self.parameters():
            p.stop_gradient = not requires_grad
        return self

    # -- parameters ------------------------------------------------------------------------------------------------
    def create_parameter(
        self,
        shape: Any,
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Any = None,
        device: Any = None,
    ) -> Any:
        """Create a parameter, to be assigned as an attribute.

        Arguments:
            shape: its shape, a list of integers.
            attr: a ParamAttr, or a name, initializer or regularizer; None: the defaults; False: no parameter.
            dtype: a floating dtype; None: that of the layer.
            is_bias: initialize with zeros, unless an initializer is given. Default: False.
            default_initializer: initializer to use if `attr` has none; None: Xavier uniform, or zeros for a bias.
            device: its device; None: the current device.

        Returns:
            A Parameter of the given shape, or None if attr is False.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> layer = paddle.nn.Layer()
            >>> layer.scale = layer.create_parameter([3], default_initializer=paddle.nn.initializer.Constant(2.0))
            >>> layer.scale.tolist()
            [2.0, 2.0, 2.0]
        """
        found = as_attr(attr)
        if found is None:
            return None
        return make_parameter(
            shape, found, dtype or dtypes.default_dtype(), is_bias, default_initializer, self._full_name, device
        )

    def create_variable(self, name: str | None = None, persistable: bool | None = None, dtype: Any = None) -> Tensor:
        """Create an empty tensor, to be assigned as an attribute.

        Arguments:
            name: its name; None: a unique name.
            persistable: whether state_dict() includes it.
            dtype: its dtype; None: that of the layer.
        """
        out = Tensor([], dtype=dtype or self._dtype)
        out._name = name or unique_name.generate(f"{self._full_name}._generated_var")
        out.persistable = bool(persistable)
        return out

    create_tensor = create_variable

    # -- dtype and place -------------------------------------------------------------------------------------------
    def to(self, device: Any = None, dtype: Any = None, blocking: Any = None, non_blocking: Any = None) -> Layer:
        """Move all parameters and buffers to a device, and cast all of them to a dtype, in place.

        Buffers of integers, booleans and complex numbers are cast as well. float(), float16() and bfloat16() cast the
        floating ones only.

        Arguments:
            device: a device such as "cpu" or "gpu:0", or a place; None: unchanged.
            dtype: a dtype; None: unchanged.
            blocking: wait until the copies are finished.
            non_blocking: the opposite of blocking.

        Returns:
            The layer.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> paddle.nn.Linear(2, 3).to(dtype="float64").weight.dtype
            paddle.float64
        """
        if isinstance(device, dtypes.DType):  # as PyTorch takes it, where integers stay what they are
            return self._to_impl(None, device, floating_only=True)
        return self._to_impl(device, dtype)

    # Packages call it by this name, to leave out sublayers or integers.
    def _to_impl(
        self, device: Any = None, dtype: Any = None, blocking: Any = None, non_blocking: Any = None,
        include_sublayers: bool = True, floating_only: bool = False,
    ) -> Layer:  # fmt: skip
        kind = None if dtype is None else dtypes.as_dtype(dtype)
        place = None if device is None else places.as_place(device)
        for layer in self.sublayers(include_self=True) if include_sublayers else [self]:
            layer._convert(kind, place, floating_only)
        return self

    def _convert(self, kind: dtypes.DType | None, place: places.Place | None, floating_only: bool) -> None:
        if kind is not None:
            self._dtype = kind
        for tensor in [*self._parameters.values(), *self._buffers.values()]:
            if tensor is not None:
                of_tensor = None if floating_only and not tensor.dtype.is_floating else kind
                _convert(tensor if tensor._dense else tensor.values(), of_tensor, place)

    def astype(self, dtype: Any = None) -> Layer:
        """Cast all parameters and buffers, as to() does."""
        return self.to(dtype=dtype)

    def type(self, dst_type: Any) -> Layer:
        """Cast all parameters and buffers, as to() does."""
        return self.to(dtype=dst_type)

    def _cast(self, dtype: str, excluded: Any) -> Layer:
        kinds = tuple(excluded) if isinstance(excluded, list | tuple) else (excluded,) if excluded else ()
        for layer in self.sublayers(include_self=True):
            if not isinstance(layer, kinds):
                layer._convert(dtypes.as_dtype(dtype), None, floating_only=True)
        return self

    def float(self, excluded_layers: Any = None) -> Layer:
        """Cast the floating parameters and buffers to float32, but for layers of the excluded types."""
        return self._cast("float32", excluded_layers)

    def float16(self, excluded_layers: Any = None) -> Layer:
        """Cast the floating parameters and buffers to float16, but for layers of the excluded types."""
        return self._cast("float16", excluded_layers)

    def bfloat16(self, excluded_layers: Any = None) -> Layer:
        """Cast the floating parameters and buffers to bfloat16, but for layers of the excluded types."""
        return self._cast("bfloat16", excluded_layers)

    def half(self) -> Layer:
        """Cast all parameters and buffers to float16, integers included; return the layer."""
        return self.to(dtype="float16")

    def double(self) -> Layer:
        """Cast all parameters and buffers to float64, integers included; return the layer."""
        return self.to(dtype="float64")

    def cpu(self) -> Layer:
        """Move all parameters and buffers to the CPU; return the layer."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Layer:
        """Move all parameters and buffers to a GPU; return the layer."""
        return self.to("gpu" if device is None else f"gpu:{device}" if isinstance(device, int) else device)

    def xpu(self, device: Any = None) -> Layer:
        """Move all parameters and buffers to a Kunlun XPU, which raises an error where there is none."""
        return self.to("xpu" if device is None else f"xpu:{device}" if isinstance(device, int) else device)

    def get_extra_state(self) -> Any:
        """Raise RuntimeError: a state_dict has the parameters and buffers of a layer only."""
        raise RuntimeError(f"{type(self).__name__} has no extra state; register what state_dict() saves as a buffer")

    # -- how it looks ----------------------------------------------------------------------------------------------
    def full_name(self) -> str:
        """Return the unique name of the layer, such as `linear_0`."""
        return self._full_name

    def extra_repr(self) -> str:
        """Return its settings, for repr()."""
        return ""

    def __repr__(self) -> str:
        extra = [line for line in self.extra_repr().split("\n") if line]
        inner = [f"({name}): {layer!r}" for name, layer in self._sub_layers.items()]
        head = f"{type(self).__name__}("
        if not inner:
            return head + "\n".join(extra) + ")"
        head += ", ".join(extra)
        return head + "\n" + textwrap.indent("\n".join(inner), "  ") + "\n)"


def _convert(tensor: Tensor, kind: dtypes.DType | None, place: places.Place | None) -> None:
    data = tensor._payload
    if kind is not None and tensor.dtype != kind:
        plain = is_array(data) and not tensor.dtype.is_complex  # NumPy warns where imaginary parts are dropped
        data = data.astype(kind.np) if plain else wrap(data).astype(kind)._payload
    if place is not None:
        data = put(data, place.device)
    if data is not tensor._payload:
        tensor._set_payload(data)
    if isinstance(tensor._grad, Tensor):  # no zeros that nobody has read yet
        _convert(tensor._grad, kind, place)


def in_declarative_mode() -> bool:
    """Whether calls of layers build a static program.

    Examples:
        >>> in_declarative_mode()
        False
    """
    return not is_eager()


# The signature that inspect shows of a layer without its own __init__.
Layer.__new__.__signature__ = inspect.signature(Layer.__init__)  # type: ignore[attr-defined]
