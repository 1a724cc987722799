"""auto_cast() puts the rules of mixed precision in force; decorate() prepares models and optimizers for level O2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .. import nn
from ..core import dtypes
from ..core.interpreter import state
from ..core.no_effect import Immaterial, no_effect
from ..eager.casting import Casting, use
from ..eager.tensor import Tensor
from ..nn import norm
from ..registry.op import REGISTRY
from .names import ops_called

LEVELS = ("O0", "OD", "O1", "O2")
LOW = ("float16", "bfloat16")


def _low(who: str, dtype: Any) -> dtypes.DType:
    if not (isinstance(dtype, str | dtypes.DType) and any(dtype == name for name in LOW)):
        raise ValueError(f"{who}: dtype is {dtype!r}; expected 'float16' or 'bfloat16'")
    return dtypes.as_dtype(dtype)


def rules(enable: bool, white: Any, black: Any, level: str, dtype: Any, promote: bool) -> Casting | None:
    """The rules that auto_cast() puts in force for its settings; None: no casts."""
    if level not in LEVELS:
        raise ValueError(f"auto_cast: level is {level!r}; expected one of {', '.join(LEVELS)}")
    if both := set(white or ()) & set(black or ()):
        raise ValueError(f"auto_cast: custom_white_list and custom_black_list both name {', '.join(sorted(both))}")
    kind = _low("auto_cast", dtype)
    if not enable or level == "O0":
        return None
    return Casting(level, kind.np, ops_called(white), ops_called(black), bool(promote))


@contextmanager
def auto_cast(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: str = "float16",
    use_promote: bool = True,
) -> Iterator[None]:
    """Compute in low precision where it is safe, in eager code and in programs alike, on any device.

    Arguments:
        enable: False: no casts.
        custom_white_list, custom_black_list: names of ops to run in low precision, and in float32.
        level: "O1" runs products and convolutions in low precision and what needs range in float32; "O2" runs all but
            a few ops in low precision; "OD" only products and convolutions; "O0" changes nothing.
        dtype: "float16" or "bfloat16".
        use_promote: at level O2, an op with a float32 input runs in float32.

    Raises:
        ValueError: for another level or dtype, or an op in both lists.

    Source: Micikevicius et al., Mixed Precision Training, 2018.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([2, 2])
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     y = paddle.matmul(x, x); z = paddle.exp(y)
        >>> y.dtype, z.dtype
        (paddle.bfloat16, paddle.float32)
    """
    with use(rules(enable, custom_white_list, custom_black_list, level, dtype, use_promote)):
        yield


amp_guard = auto_cast


_SAME = Immaterial("mixed precision is the same on every device")


@no_effect(device_type=_SAME, cache_enabled=Immaterial("what is cast is not kept"))
def autocast(
    device_type: str | None, dtype: str = "float16", enabled: bool = True, cache_enabled: bool = True
) -> AbstractContextManager[None]:
    """auto_cast(enabled, dtype=dtype).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([2, 2])
        >>> with paddle.amp.autocast("cpu", "bfloat16"):
        ...     y = paddle.matmul(x, x)
        >>> y.dtype
        paddle.bfloat16
    """
    return auto_cast(enabled, dtype=dtype)


@no_effect(device_type=_SAME)
def is_autocast_enabled(device_type: Any = None) -> bool:
    """True inside auto_cast().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.amp.auto_cast():
        ...     print(paddle.amp.is_autocast_enabled())
        True
        >>> paddle.amp.is_autocast_enabled()
        False
    """
    return state.casting is not None


def amp_state() -> Any:
    """The rules in force; None outside auto_cast()."""
    return state.casting


@no_effect(device_type=_SAME)
def get_autocast_dtype(device_type: Any = None) -> str:
    """The low-precision dtype in force; outside auto_cast() the one that it takes by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     print(paddle.amp.get_autocast_dtype())
        bfloat16
    """
    return "float16" if state.casting is None else dtypes.as_dtype(state.casting.dtype).name


@no_effect(device_type=_SAME)
def get_autocast_cpu_dtype(device_type: Any = None) -> str:
    """get_autocast_dtype().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     print(paddle.amp.get_autocast_cpu_dtype())
        bfloat16
    """
    return get_autocast_dtype()


get_autocast_gpu_dtype = get_autocast_cpu_dtype


@no_effect(device=_SAME)
def is_float16_supported(device: Any = None) -> bool:
    """True: XLA computes in float16 on every device.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amp.is_float16_supported()
        True
    """
    return True


@no_effect(device=_SAME)
def is_bfloat16_supported(device: Any = None) -> bool:
    """True: XLA computes in bfloat16 on every device.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amp.is_bfloat16_supported()
        True
    """
    return True


def _listed(*rules: str) -> set[str]:
    return {name for name, op in REGISTRY.items() if op.amp in rules}


def white_list() -> dict[str, dict[str, set[str]]]:
    """By dtype and level, the ops that run in low precision whatever their inputs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "matmul" in paddle.amp.white_list()["float16"]["O1"]
        True
    """
    white = _listed("white")
    return {d: {"OD": white, "O1": white, "O2": white} for d in LOW}


def black_list() -> dict[str, dict[str, set[str]]]:
    """By dtype and level, the ops that run in float32.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "exp" in paddle.amp.black_list()["float16"]["O1"]
        True
    """
    always, black = _listed("float32"), _listed("float32", "black")
    return {d: {"OD": black, "O1": black, "O2": always} for d in LOW}


def decorate(
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """Prepare models for level O2: their parameters in low precision, but for normalization layers.

    Arguments:
        models: a Layer or a list of them.
        optimizers: an optimizer or a list of them, which are set to train float32 copies of the parameters.
        level: "O1" changes nothing.
        dtype: "float16" or "bfloat16".
        master_weight: False: train the low-precision parameters themselves.
        save_dtype: the dtype of what state_dict() gives.
        master_grad: keep the gradients in float32.
        excluded_layers: layers, or types of them, that stay in float32.

    Returns:
        The models, and the optimizers if given, in the form in which they came.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.amp.decorate(paddle.nn.Linear(2, 2), level="O2", dtype="bfloat16")
        >>> net.weight.dtype
        paddle.bfloat16
    """
    if level not in ("O1", "O2"):
        raise ValueError(f"decorate: level is {level!r}; expected 'O1' or 'O2'")
    kind = _low("decorate", dtype)
    if level == "O2":
        listed = models if isinstance(models, list) else [models]
        for model in listed:
            _lower(model, kind, excluded_layers, master_grad, save_dtype)
        for optimizer in optimizers if isinstance(optimizers, list) else [optimizers]:
            if optimizer is not None:
                optimizer._multi_precision = master_weight is not False
    return models if optimizers is None else (models, optimizers)


amp_decorate = decorate


def _lower(model: Any, kind: dtypes.DType, excluded: Any, master_grad: bool, save_dtype: Any) -> None:
    if not isinstance(model, nn.Layer):
        raise TypeError(f"decorate: models must be a Layer or a list of Layers, got {type(model).__name__}")
    left = excluded if isinstance(excluded, list | tuple) else [excluded]
    types = tuple([e for e in left if isinstance(e, type)])
    inside = {id(s) for e in left if isinstance(e, nn.Layer) for s in e.sublayers(include_self=True)}
    for layer in model.sublayers(include_self=True):
        if id(layer) not in inside and not isinstance(layer, types) and not _needs_float32(layer, kind):
            layer._convert(kind, None)
    if master_grad:
        for p in model.parameters():
            if not p.stop_gradient:
                p.register_hook(lambda grad: grad.astype("float32"))
    if save_dtype is not None:
        _save_as(model, dtypes.as_dtype(save_dtype))


_BATCH_NORMS = (nn.BatchNorm, nn.BatchNorm1D, nn.BatchNorm2D, nn.BatchNorm3D, nn.SyncBatchNorm)
_NORMS = (norm.LayerNorm, norm.InstanceNorm1D, norm.InstanceNorm2D, norm.InstanceNorm3D)


def _needs_float32(layer: nn.Layer, kind: dtypes.DType) -> bool:
    return isinstance(layer, _BATCH_NORMS) or (kind is dtypes.float16 and isinstance(layer, _NORMS))


def _save_as(model: nn.Layer, kind: dtypes.DType) -> None:
    def convert(found: dict[str, Tensor]) -> dict[str, Tensor]:
        for name, value in found.items():
            if value.dtype.is_floating and value.dtype != kind:
                found[name] = value.detach().astype(kind)
                found[name].name = value.name
        return found

    model.register_state_dict_hook(convert)
