"""State and settings of static programs: parameters, global variables, places, printing."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..core import dtypes
from ..core import place as places
from ..core.interpreter import state
from ..core.no_effect import Immaterial, no_effect
from ..core.param_attr import ParamAttr
from ..dispatch.define import add_methods
from ..eager.tensor import Parameter, Tensor, wrap
from ..nn import unique_name
from ..ops.effects import print_
from .scope import Scope, global_scope

__all__ = [
    *("Print", "WeightNormParamAttr", "cpu_places", "create_global_var", "cuda_places"),
    "xpu_places",
]


@no_effect(persistable=Immaterial("all state is kept"), force_cpu="state is on the device that the program runs on")
def create_global_var(
    shape: Any, value: Any, dtype: Any, persistable: bool = False, force_cpu: bool = False, name: str | None = None
) -> Tensor:
    """Create a variable that is initialized with one value and keeps its value between runs.

    Change it with paddle.assign(x, output=var).

    Arguments:
        shape: its shape, a list of integers.
        value: the initial value.
        dtype: its dtype.
        persistable: no effect: all state is saved with the program.
        name: its name; None: a unique name.

    Returns:
        The variable, a tensor of the given shape and dtype.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     count = create_global_var([1], 0, "int64", name="count")
        ...     paddle.assign(count + 1, output=count)
        Tensor(...)
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup), exe.run(main)
        >>> exe.run(main, fetch_list=[count])[0].tolist()
        [2]
        >>> paddle.disable_static()
    """
    kind, sizes = dtypes.as_dtype(dtype), tuple([int(n) for n in shape])
    named = name or unique_name.generate("_generated_var")

    def draw() -> Any:
        return jax.device_put(np.full(sizes, value, kind.np))

    out = wrap(state.interpreter.stored(named, sizes, kind.np, draw))
    out.name, out.persistable = named, True
    return out


class WeightNormParamAttr(ParamAttr):
    """Not available; use paddle.nn.utils.weight_norm(layer) for weight normalization.

    Raises:
        NotImplementedError: always.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.static.WeightNormParamAttr(dim=0)
        ... except NotImplementedError:
        ...     print("use paddle.nn.utils.weight_norm")
        use paddle.nn.utils.weight_norm
    """

    def __init__(self, dim: int | None = None, name: str | None = None, **settings: Any) -> None:
        raise NotImplementedError(
            "WeightNormParamAttr: make the layer in dynamic mode, call paddle.nn.utils.weight_norm(layer, dim=...), "
            "and use it in the program"
        )


_FORWARD = "each run prints the forward value"


@no_effect(
    first_n=_FORWARD,
    print_phase=_FORWARD,
    summarize="long values are shortened as paddle.set_printoptions() says",
    print_tensor_layout=Immaterial("there is one layout, which is not printed"),
    print_tensor_lod=Immaterial("sequences are padded"),
)
def Print(  # noqa: N802  (the reference's name)
    input: Tensor, first_n: int = -1, message: str | None = None, summarize: int = 20, print_tensor_name: bool = True,
    print_tensor_type: bool = True, print_tensor_shape: bool = True, print_tensor_layout: bool = True,
    print_tensor_lod: bool = True, print_phase: str = "both",
) -> Tensor:  # fmt: skip
    """Print a tensor whenever the program runs, and return it.

    Arguments:
        input: the tensor.
        message: text to print before it.
        print_tensor_name: print the name. Default: True.
        print_tensor_type: print the dtype. Default: True.
        print_tensor_shape: print the shape. Default: True.

    Returns:
        The tensor, unchanged.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y = paddle.static.Print(paddle.ones([1]), message="here", print_tensor_name=False)
            - message: here
            - shape: paddle.Size([1])
            - dtype: float32
            - data: Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=True,
                 [1.])
    """
    lines = [
        f"Variable: {input.name}" if print_tensor_name else "",
        f"  - message: {message}" if message else "",
        f"  - shape: {input.shape}" if print_tensor_shape else "",
        f"  - dtype: {input.dtype.name}" if print_tensor_type else "",
        "  - data: ",
    ]
    fn: Any = print_
    fn([input], texts=(("\n".join(filter(None, lines)), (input.stop_gradient, -1, "")),))
    return input


def cpu_places(device_count: int | None = None) -> list[places.Place]:
    """Return a list of CPU places.

    Arguments:
        device_count: number of places; None: 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> len(paddle.static.cpu_places(2))
        2
    """
    return [places.CPUPlace()] * (device_count or 1)


def cuda_places(device_ids: Any = None) -> list[places.Place]:
    """Return a list of GPU places.

    Arguments:
        device_ids: indices of the GPUs; None: all.

    Returns:
        A list of places; empty if there is no GPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> len(paddle.static.cuda_places([0]))
        1
    """
    if device_ids is None:
        device_ids = range(sum(d.platform in ("gpu", "cuda", "rocm") for d in jax.local_devices()))
    return [places.CUDAPlace(i) for i in ([device_ids] if isinstance(device_ids, int) else device_ids)]


@no_effect(device_ids=Immaterial("there are no XPUs"))
def xpu_places(device_ids: Any = None) -> list[places.Place]:
    """Return an empty list: there are no XPUs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.static.xpu_places()
        []
    """
    return []


# -- queries on a variable of a program ------------------------------------------------------------------------------
def setitem(x: Tensor, index: Any, value: Any) -> Tensor:
    """Return a copy of x in which the elements at an index are replaced, as by `x[index] = value`.

    Arguments:
        x: the tensor.
        index: the index, as in x[index].
        value: the new value, which is broadcast.

    Returns:
        A tensor of the shape and dtype of x.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.static.setitem(paddle.zeros([3]), 1, 2.0).tolist()
        [0.0, 2.0, 0.0]
    """
    out = x.clone()
    out[index] = value
    return out


def _get_value(self: Tensor, scope: Scope | None = None) -> Any:
    """Return the value of state of a program in a scope, by its name; the one in force by default.

    Raises:
        ValueError: if the scope has none.
    """
    found = (scope or global_scope()).find_var(self.name)
    if found is None:
        raise ValueError(f"get_value(): the scope has no variable '{self.name}'; run the startup program in it first")
    return found.get_tensor()


def _to_string(self: Tensor, throw_on_error: bool = True, with_details: bool = False) -> str:
    """Return the tensor as text; with_details says whether it is kept and takes a gradient as well."""
    kept = f", persistable={self.persistable}, stop_gradient={self.stop_gradient}" if with_details else ""
    return f"var {self.name} : shape={list(self.shape)}, dtype={self.dtype.name}{kept}"


def _grad_name(self: Tensor) -> str:
    """Return the name of its gradient."""
    return f"{self.name}@GRAD"


add_methods([("get_value", _get_value), ("to_string", _to_string)])
_PROPERTIES = {
    "grad_name": property(_grad_name),
    "lod_level": property(lambda self: 0, doc="0: sequences are padded."),
    "is_parameter": property(lambda self: isinstance(self, Parameter), doc="True for what is trained."),
}
add_methods(_PROPERTIES.items())
