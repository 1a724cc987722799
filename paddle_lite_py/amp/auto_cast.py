"""Mixed precision: auto_cast() for the ops in a block, decorate() for models and optimizers at level O2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .. import nn
from ..core import dtypes
from ..core.interpreter import state
from ..core.no_effect import Immaterial, no_effect
from ..core.place import as_place
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
    """Return the rules that auto_cast() puts in force for its settings; None: no casts."""
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
    """Context manager for automatic mixed precision: ops run in low precision where that is numerically safe.

    It applies to eager code and programs, on every device.

    Arguments:
        enable: False: no casts. Default: True.
        custom_white_list: names of further ops to run in low precision.
        custom_black_list: names of further ops to run in float32.
        level: "O1" runs matrix products and convolutions in low precision and numerically sensitive ops in float32;
            "O2" runs all but a few ops in low precision; "OD" runs only matrix products and convolutions in low
            precision; "O0" casts nothing. Default: 'O1'.
        dtype: the low-precision dtype, "float16" or "bfloat16". Default: 'float16'.
        use_promote: at level O2, run an op that has a float32 input in float32. Default: True.

    Raises:
        ValueError: for another level or dtype, or an op in both lists.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([2, 2])
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     y = paddle.matmul(x, x); z = paddle.exp(y)
        >>> y.dtype, z.dtype
        (paddle.bfloat16, paddle.float32)

    Source: Micikevicius et al., Mixed Precision Training, 2018.
    """
    with use(rules(enable, custom_white_list, custom_black_list, level, dtype, use_promote)):
        yield


amp_guard = auto_cast


_SAME = Immaterial("mixed precision is the same on every device")


@no_effect(device_type=_SAME, cache_enabled=Immaterial("what is cast is not kept"))
def autocast(
    device_type: str | None, dtype: str = "float16", enabled: bool = True, cache_enabled: bool = True
) -> AbstractContextManager[None]:
    """Context manager for automatic mixed precision: `auto_cast(enabled, dtype=dtype)`.

    Arguments:
        device_type: no effect: mixed precision is the same on every device.
        dtype: the low-precision dtype, "float16" or "bfloat16". Default: 'float16'.
        enabled: False: no casts. Default: True.
        cache_enabled: no effect: casts are not cached.

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
    """Return whether auto_cast() is active.

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
    """Return the active rules of auto_cast(), or None outside of it."""
    return state.casting


@no_effect(device_type=_SAME)
def get_autocast_dtype(device_type: Any = None) -> str:
    """Return the low-precision dtype of the active auto_cast(), or its default outside of one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     print(paddle.amp.get_autocast_dtype())
        bfloat16
    """
    return "float16" if state.casting is None else dtypes.as_dtype(state.casting.dtype).name


@no_effect(device_type=_SAME)
def get_autocast_cpu_dtype(device_type: Any = None) -> str:
    """Return the low-precision dtype of auto_cast(); see get_autocast_dtype().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     print(paddle.amp.get_autocast_cpu_dtype())
        bfloat16
    """
    return get_autocast_dtype()


get_autocast_gpu_dtype = get_autocast_cpu_dtype


def is_float16_supported(device: Any = None) -> bool:
    """Return whether a device supports float16: always True, since XLA computes in float16 on every device.

    Raises:
        ValueError: if there is no such device.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amp.is_float16_supported()
        True
    """
    return device is None or bool(as_place(device))


def is_bfloat16_supported(device: Any = None) -> bool:
    """Return whether a device supports bfloat16: always True, since XLA computes in bfloat16 on every device.

    Raises:
        ValueError: if there is no such device.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amp.is_bfloat16_supported()
        True
    """
    return is_float16_supported(device)


def _listed(*rules: str) -> set[str]:
    return {name for name, op in REGISTRY.items() if op.amp in rules}


def white_list() -> dict[str, dict[str, set[str]]]:
    """Return, by dtype and level, the names of the ops that run in low precision.

    Returns:
        A dict from dtype to a dict from level to a set of names.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "matmul" in paddle.amp.white_list()["float16"]["O1"]
        True
    """
    white = _listed("white")
    return {d: {"OD": white, "O1": white, "O2": white} for d in LOW}


def black_list() -> dict[str, dict[str, set[str]]]:
    """Return, by dtype and level, the names of the ops that run in float32.

    Returns:
        A dict from dtype to a dict from level to a set of names.

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
    """Prepare models and optimizers for mixed precision at level O2: cast the parameters to low precision.

    Normalization layers stay in float32.

    Arguments:
        models: a Layer or a list of Layers.
        optimizers: an optimizer or a list of them; they train float32 master copies of the parameters.
        level: "O2"; "O1" changes nothing. Default: 'O1'.
        dtype: the low-precision dtype, "float16" or "bfloat16". Default: 'float16'.
        master_weight: False: train the low-precision parameters directly, without master copies.
        save_dtype: floating dtype of the tensors in state_dict(); None: as they are.
        master_grad: keep the gradients in float32. Default: False.
        excluded_layers: layers, or layer types, that stay in float32.

    Returns:
        The models, and the optimizers if given, in the form in which they were passed.

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
            layer._convert(kind, None, floating_only=True)
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
