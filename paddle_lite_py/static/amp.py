"""Mixed precision of static programs: casts are put into the program when an optimizer minimizes a loss of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.interpreter import no_grad, state
from ..core.no_effect import Immaterial, no_effect, only_known
from ..eager.tensor import Tensor, wrap
from ..ir.block import Block, Value
from ..ir.program import Program as IRProgram
from ..ops.loss_scaling import unscale_gradients, update_loss_scaling
from ..tracing.clone_map import CloneMap
from .builder import StaticBuilder
from .variables import create_global_var

if TYPE_CHECKING:
    from ..passes.precision import AutoCast

__all__ = ["AutoMixedPrecisionLists", "CustomOpLists", "bf16_guard", "decorate", "fp16_guard"]


class AutoMixedPrecisionLists:
    """Lists of ops to run in low precision (white) and in float32 (black), in addition to the default ones.

    Arguments:
        custom_white_list: names of ops to run in low precision.
        custom_black_list: names of ops to run in float32.
        dtype: no effect: decorate() sets the dtype.
    """

    @no_effect(
        custom_black_varnames="operators are cast by their kinds, whatever they take",
        dtype=Immaterial("decorate() says the dtype"),
    )
    def __init__(
        self, custom_white_list: Iterable[str] | None = None, custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Any = None, dtype: str = "float16",
    ) -> None:  # fmt: skip
        self.white, self.black, self.dtype = custom_white_list, custom_black_list, dtype


CustomOpLists = AutoMixedPrecisionLists


@contextlib.contextmanager
def fp16_guard() -> Iterator[None]:
    """Nothing: casts are chosen for the program as a whole."""
    yield


bf16_guard = fp16_guard


_FLOAT32 = Immaterial("parameters and their gradients stay float32")


@no_effect(
    master_weight=_FLOAT32,
    master_grad=_FLOAT32,
    use_master_grad=_FLOAT32,
    use_amp_guard="casts are chosen for the program as a whole",
)
def decorate(
    optimizer: Any, amp_lists: AutoMixedPrecisionLists | None = None, level: str = "O1", dtype: str = "float16",
    master_weight: Any = None, master_grad: bool = False, init_loss_scaling: float = 2.0**15,
    incr_every_n_steps: int = 1000, decr_every_n_nan_or_inf: int = 2, incr_ratio: float = 2.0, decr_ratio: float = 0.8,
    use_dynamic_loss_scaling: bool | None = None, use_amp_guard: bool = False, use_master_grad: bool = False,
    use_promote: bool = False, **kwargs: Any,
) -> OptimizerWithMixedPrecision:  # fmt: skip
    """Wrap an optimizer so that minimize() casts the program to mixed precision and, for float16, scales the loss.

    Parameters stay float32 at each level, in the role of master weights.

    Arguments:
        optimizer: the optimizer.
        amp_lists: an AutoMixedPrecisionLists; None: the default lists.
        level: "O1", "O2" or "OD"; see paddle.amp.auto_cast(). Default: 'O1'.
        dtype: "float16" or "bfloat16". Default: 'float16'.
        init_loss_scaling: initial scale of the loss.
        incr_every_n_steps: number of consecutive finite steps after which the scale grows. Default: 1000.
        decr_every_n_nan_or_inf: number of consecutive skipped steps after which the scale shrinks. Default: 2.
        incr_ratio: factor by which the scale grows. Default: 2.0.
        decr_ratio: factor by which the scale shrinks. Default: 0.8.
        use_dynamic_loss_scaling: adapt the scale; None: for float16.

    Returns:
        The wrapped optimizer.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     loss = paddle.nn.Linear(2, 1)(paddle.static.data("x", [None, 2])).mean()
        ...     optimizer = decorate(paddle.optimizer.SGD(0.1), dtype="bfloat16")
        ...     _ = optimizer.minimize(loss)
        >>> paddle.disable_static()
        >>> "bfloat16" in str(main)
        True
    """
    only_known(decorate, kwargs)
    from ..passes.precision import AutoCast  # with it comes quantization

    lists = amp_lists or AutoMixedPrecisionLists()
    change = AutoCast(dtype, level, lists.white, lists.black, use_promote)
    scales = dtype == "float16" if use_dynamic_loss_scaling is None else use_dynamic_loss_scaling
    settings = [incr_ratio, decr_ratio, incr_every_n_steps, decr_every_n_nan_or_inf]
    return OptimizerWithMixedPrecision(optimizer, change, init_loss_scaling, settings if scales else None)


class OptimizerWithMixedPrecision:
    """An optimizer of float32 parameters for a program in mixed precision.

    Arguments:
        optimizer: which updates the parameters.
        change: the pass that puts casts into the program.
        scale: factor on the loss before its gradient is taken.
        settings: of the scale where it adapts: grow by, shrink by, after good steps, after bad ones.
    """

    def __init__(self, optimizer: Any, change: AutoCast, scale: float, settings: list[float] | None) -> None:
        self._optimizer, self._change, self._first, self._settings = optimizer, change, scale, settings
        self._scale: Tensor | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)

    @no_effect(
        place=_FLOAT32,
        scope=_FLOAT32,
        test_program="what is cloned after minimize() has its casts",
        use_fp16_test="what is cloned after minimize() has its casts",
        rewrite_test_program="what is cloned after minimize() has its casts",
    )
    def amp_init(
        self, place: Any = None, scope: Any = None, test_program: Any = None, use_fp16_test: bool = False,
        rewrite_test_program: bool = False,
    ) -> None:  # fmt: skip
        """Nothing to convert: parameters are float32."""

    def get_loss_scaling(self) -> Tensor | None:
        """Return the factor on the loss; None where it is not scaled."""
        return self._scale

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[Any]]:
        """Put casts into the program, and append gradients and updates; these are skipped if a gradient overflowed."""
        builder = state.interpreter
        if not isinstance(builder, StaticBuilder):
            raise RuntimeError("static.amp: no program is under construction; in dynamic mode use paddle.amp.auto_cast")
        with builder.starting(startup_program):
            return self._minimized(builder, loss, parameters, no_grad_set)

    def _minimized(
        self, builder: StaticBuilder, loss: Tensor, parameters: Any, no_grad_set: Any
    ) -> tuple[list[Any], list[Any]]:
        recast(builder, self._change)
        if self._settings is None:
            pairs = builder.minimized(self._optimizer, loss, parameters, no_grad_set)
            return self._optimizer.apply_gradients(pairs), pairs
        self._scale = scale = create_global_var([1], self._first, "float32", name="loss_scaling_0")
        scaled = (loss.astype("float32") * scale).sum()
        pairs = builder.minimized(self._optimizer, scaled, parameters, no_grad_set)
        unscale: Any = unscale_gradients
        with no_grad():
            found, *grads = unscale([g for _, g in pairs], scale)
        pairs = [(p, g) for (p, _), g in zip(pairs, grads, strict=True)]
        self._optimizer._set_auxiliary_var("found_inf", found)
        ops = self._optimizer.apply_gradients(pairs)
        self._optimizer._set_auxiliary_var("found_inf", None)
        self._adapt(scale, found)
        return ops, pairs

    def _adapt(self, scale: Tensor, found: Tensor) -> None:
        counts = create_global_var([2], 0, "int32", name="loss_scaling_counts_0")
        update: Any = update_loss_scaling
        settings = wrap(np.array(self._settings, np.float64))
        with no_grad():
            new, counted = update(scale, counts, Tensor(settings._payload), found)
        scale._set_payload(new._payload)
        counts._set_payload(counted._payload)


def recast(builder: StaticBuilder, change: Any) -> None:
    """Let a pass rewrite what has been built so far; values that it replaces are found under their old handles."""
    block, finals = builder.root.block, builder.finals()
    values = [v for op in block.ops for v in op.outputs]
    kept = {len(values) + i: v for i, (_, v) in enumerate(finals.values())}
    outputs: list[Any] = [*values, *kept.values()]
    names = [str(v.name) for v in block.inputs]
    made = change(
        IRProgram(Block(block.inputs, block.ops, outputs), names, updates=dict.fromkeys(kept, block.inputs[0]))
    )
    adopted = CloneMap(builder.root, adopts=True)
    block.ops = [adopted.operator(op) for op in made.block.ops]
    results = [adopted(v) for v in made.block.outputs]
    for old, new in zip(values, results, strict=False):
        if new is not old:
            new.name = old.name
            builder.clone_map[old] = new
    builder.name_values()
    latest = dict(zip(finals, results[len(values) :], strict=True))
    for write in builder.root.log.values():
        held = write.get()
        if write.key == "_payload" and isinstance(held, Value) and write.before.name in latest:
            write.put(latest[write.before.name])
    builder.version += 1
