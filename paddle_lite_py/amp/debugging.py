"""Numerical debugging: counts of ops by dtype, and checks for infinities and NaN."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..core.argument_docs import document as _document
from ..core.arrays import is_array
from ..core.flags import set_flags
from ..core.interpreter import state
from ..core.no_effect import no_effect
from ..eager.casting import choose_interpreter
from ..eager.tensor import Tensor, wrap
from ..registry.bound import BoundOp
from .names import ops_called

__all__ = [
    *("DebugMode", "TensorCheckerConfig", "check_layer_numerics", "check_numerics", "collect_operator_stats"),
    *("compare_accuracy", "disable_operator_stats_collection", "disable_tensor_checker"),
    *("enable_operator_stats_collection", "enable_tensor_checker", "set_checked_op_list", "set_skipped_op_list"),
]


class DebugMode(Enum):
    """Whether a check prints or raises when it finds NaN or infinity.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amp.debugging.DebugMode.CHECK_NAN_INF.name
        'CHECK_NAN_INF'
    """

    CHECK_NAN_INF_AND_ABORT = 0
    CHECK_NAN_INF = 1
    CHECK_ALL_FOR_OVERFLOW = 2
    CHECK_ALL = 3
    CHECK_ALL_AND_ABORT = 4
    DUMP_ALL = 5


def _observe(observer: Callable[..., None] | None, kind: type) -> None:
    """Put an observer in the place of those of its kind; None removes them."""
    others = tuple([o for o in state.observers if not isinstance(o, kind)])
    state.observers = others if observer is None else (*others, observer)
    choose_interpreter()


# -- counts --------------------------------------------------------------------------------------------------------
_COLUMNS = ("float16", "bfloat16", "float32", "other")


class _Stats:
    """Counts eager ops by the dtype of their first result."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()

    def __call__(self, bound: BoundOp, _args: tuple[Any, ...], out: Any) -> None:
        first = out[0] if isinstance(out, tuple) and out else out
        name = first.dtype.name if isinstance(first, Tensor) else "other"
        self.counts[bound.op.name, name if name in _COLUMNS else "other"] += 1

    def table(self) -> str:
        """Return the counts as text."""
        names = sorted({name for name, _ in self.counts})
        rows = [[name, *(str(self.counts[name, c]) for c in _COLUMNS)] for name in names]
        heads = ["op", *_COLUMNS]
        lines = [heads, *rows]
        return "\n".join("  ".join([line[0].ljust(32), *(cell.rjust(9) for cell in line[1:])]) for line in lines)


def enable_operator_stats_collection() -> None:
    """Start counting the eager ops of this thread by dtype.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amp.debugging.enable_operator_stats_collection()
        >>> y = paddle.ones([1]) + 1
        >>> paddle.amp.debugging.disable_operator_stats_collection()
        op                                  float16   bfloat16    float32      other
        add                                       0          0          1          0
        full                                      0          0          1          0
    """
    _observe(_Stats(), _Stats)


def disable_operator_stats_collection() -> None:
    """Stop counting ops, and print the counts.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amp.debugging.enable_operator_stats_collection()
        >>> paddle.amp.debugging.disable_operator_stats_collection()
        op                                  float16   bfloat16    float32      other
    """
    for stats in [o for o in state.observers if isinstance(o, _Stats)]:
        print(stats.table())
    _observe(None, _Stats)


@contextmanager
def collect_operator_stats() -> Iterator[None]:
    """Context manager that counts the eager ops in it by dtype and prints the counts.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.amp.debugging.collect_operator_stats():
        ...     y = paddle.ones([2]) + 1  # doctest: +ELLIPSIS
        op ...
        add ...
        full ...
    """
    enable_operator_stats_collection()
    try:
        yield
    finally:
        disable_operator_stats_collection()


# -- checks --------------------------------------------------------------------------------------------------------
def check_numerics(
    tensor: Tensor, op_type: str, var_name: str, debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT
) -> tuple[Tensor, Tensor]:
    """Count the NaN, infinite and zero elements of a tensor, and compute its maximum, minimum and mean.

    Arguments:
        tensor: a floating tensor.
        op_type: name of the op, for messages.
        var_name: name of the tensor, for messages.
        debug_mode: what to do if there is a NaN or infinity.

    Returns:
        The counts, int64 [3], and the maximum, minimum and mean, float32 [3].

    Raises:
        FloatingPointError: if there is a NaN or infinity and debug_mode aborts.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> counts, values = paddle.amp.debugging.check_numerics(paddle.to_tensor([0.0, 2.0]), "op", "x")
        >>> counts.tolist(), values.tolist()
        ([0, 0, 1], [2.0, 0.0, 1.0])
    """
    x = tensor.astype("float32") if tensor.dtype.itemsize < 4 else tensor
    data = x._array("check_numerics")
    counts = np.array([np.isnan(data).sum(), np.isinf(data).sum(), (data == 0).sum()], np.int64)
    values = np.array([data.max(), data.min(), data.mean()], np.float32) if data.size else np.zeros(3, np.float32)
    if counts[:2].any() and debug_mode is not DebugMode.CHECK_ALL:
        _report(f"{op_type} of {var_name}", counts, debug_mode)
    return wrap(jnp.asarray(counts)), wrap(jnp.asarray(values))


_ABORTING = (DebugMode.CHECK_NAN_INF_AND_ABORT, DebugMode.CHECK_ALL_AND_ABORT)


def _report(what: str, counts: Any, mode: DebugMode) -> None:
    text = f"{what}: {int(counts[0])} NaN and {int(counts[1])} infinities"
    if mode in _ABORTING:
        raise FloatingPointError(text)
    print(text)


class TensorCheckerConfig:
    """Settings of enable_tensor_checker().

    Arguments:
        enable: False: check nothing.
        debug_mode: whether to print or to raise when a NaN or infinity is found.
        output_dir: no effect: results are printed.
        checked_op_list: names of the ops to check; None: all.
        skipped_op_list: names of ops that are not checked.
        debug_step: first and last (exclusive) call of update_and_check_step_id() between which ops are checked.
        stack_height_limit: no effect: the traceback of the error shows the call of the op.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amp.debugging.TensorCheckerConfig(enable=True).enable
        True
    """

    @no_effect(
        output_dir="what is found is printed",
        stack_height_limit="the traceback of the error shows where the op was called",
    )
    def __init__(
        self,
        enable: bool,
        debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir: str | None = None,
        checked_op_list: Sequence[str] | None = None,
        skipped_op_list: Sequence[str] | None = None,
        debug_step: Sequence[int] | None = None,
        stack_height_limit: int = 1,
    ) -> None:
        self.enable, self.debug_mode, self.debug_step = enable, debug_mode, debug_step
        self.checked, self.skipped = ops_called(checked_op_list), ops_called(skipped_op_list)
        self.current_step_id = 0

    def update_and_check_step_id(self) -> bool:
        """Count a step, and return whether it is one to check."""
        self.current_step_id += 1
        return self.debug_step is None or self.debug_step[0] <= self.current_step_id - 1 < self.debug_step[1]


class _Checker:
    """Looks at the results of eager ops."""

    def __init__(self, config: TensorCheckerConfig) -> None:
        self.config = config

    def __call__(self, bound: BoundOp, _args: tuple[Any, ...], out: Any) -> None:
        name, config = bound.op.name, self.config
        if name in config.skipped or (config.checked and name not in config.checked):
            return
        for t in out if isinstance(out, tuple) else (out,):
            if is_array(t._payload) and dtypes.is_inexact(t._payload.dtype):
                nan, inf = int(jnp.isnan(t._payload).sum()), int(jnp.isinf(t._payload).sum())
                if nan or inf:
                    _report(f"the result of {name}", (nan, inf), config.debug_mode)


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Check the results of all ops for NaN and infinity; this is slow.

    It sets FLAGS_check_nan_inf. Where only some ops are checked, or the mode prints, it looks at eager ops of this
    thread.

    Arguments:
        checker_config: a TensorCheckerConfig.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> config = paddle.amp.debugging.TensorCheckerConfig(enable=True)
        >>> paddle.amp.debugging.enable_tensor_checker(config)
        >>> try:
        ...     paddle.log(paddle.zeros([1]))
        ... except FloatingPointError as error:
        ...     print("found")
        found
        >>> paddle.amp.debugging.disable_tensor_checker()
    """
    if checker_config.enable and checker_config.update_and_check_step_id():
        _in_force[:] = [checker_config]
        _check(checker_config)


def disable_tensor_checker() -> None:
    """Stop the checks of enable_tensor_checker().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> config = paddle.amp.debugging.TensorCheckerConfig(enable=True)
        >>> paddle.amp.debugging.enable_tensor_checker(config)
        >>> paddle.amp.debugging.disable_tensor_checker()
        >>> paddle.log(paddle.zeros([1])).tolist()
        [-inf]
    """
    if _in_force:
        _in_force.clear()
        set_flags({_FLAG: False})
    _observe(None, _Checker)


_FLAG = "FLAGS_check_nan_inf"
_in_force: list[TensorCheckerConfig] = []  # at most one


def _check(config: TensorCheckerConfig) -> None:
    """Check as the settings say: by the flag, or where that says too little, by an observer of this thread's ops."""
    of_all = config.debug_mode in _ABORTING and not (config.checked or config.skipped)
    set_flags({_FLAG: of_all})
    _observe(None if of_all else _Checker(config), _Checker)


def set_checked_op_list(checked_op_list: Sequence[str] | None) -> None:
    """Set the names of the ops to check.

    Arguments:
        checked_op_list: the names; None: all ops.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> config = paddle.amp.debugging.TensorCheckerConfig(enable=True)
        >>> paddle.amp.debugging.enable_tensor_checker(config)
        >>> paddle.amp.debugging.set_checked_op_list(["matmul"])
        >>> paddle.log(paddle.zeros([1])).tolist()
        [-inf]
        >>> paddle.amp.debugging.disable_tensor_checker()
    """
    for config in _in_force:
        config.checked = ops_called(checked_op_list)
        _check(config)


def set_skipped_op_list(skipped_op_list: Sequence[str] | None) -> None:
    """Set the names of ops that are not checked.

    Arguments:
        skipped_op_list: the names; None: none.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> config = paddle.amp.debugging.TensorCheckerConfig(enable=True)
        >>> paddle.amp.debugging.enable_tensor_checker(config)
        >>> paddle.amp.debugging.set_skipped_op_list(["log"])
        >>> paddle.log(paddle.zeros([1])).tolist()
        [-inf]
        >>> paddle.amp.debugging.disable_tensor_checker()
    """
    for config in _in_force:
        config.skipped = ops_called(skipped_op_list)
        _check(config)


def check_layer_numerics(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate the forward() of a layer to check its tensor arguments and results for NaN and infinity.

    Arguments:
        func: the forward method.

    Returns:
        The decorated method.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Double(paddle.nn.Layer):
        ...     @paddle.amp.debugging.check_layer_numerics
        ...     def forward(self, x):
        ...         return x * 2
        >>> Double()(paddle.ones([1])).tolist()
        [2.0]
    """

    @functools.wraps(func)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        name = type(self).__name__
        out = func(self, *args, **kwargs)
        results = out if isinstance(out, list | tuple) else (out,)
        for what, tensors in (("input", args), ("output", results)):
            for i, t in enumerate(tensors):
                if isinstance(t, Tensor) and t.dtype.is_floating:
                    check_numerics(t.detach(), name, f"{what} {i}")
        return out

    return wrapper


def compare_accuracy(
    dump_path: str, another_dump_path: str, output_filename: str, loss_scale: float = 1, dump_all_tensors: bool = False
) -> None:
    """Not available: tensor statistics are not written to files.

    Raises:
        NotImplementedError: always; the message names alternatives.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.amp.debugging.compare_accuracy("a", "b", "c.csv")
        ... except NotImplementedError:
        ...     print("not available")
        not available
    """
    raise NotImplementedError(
        "compare_accuracy compares dumps of tensor statistics, which are not written here; run both precisions with "
        "amp.debugging.check_layer_numerics on the layers in question instead"
    )


_document(globals())
