"""Learning rates that a static program computes from a count of its runs; in eager mode, the schedules themselves."""

from __future__ import annotations

import math
from typing import Any

from ..core.interpreter import state
from ..eager.tensor import Tensor
from ..ops.creation import full
from ..ops.manipulation import cast
from ..ops.math import minimum
from ..ops.search import where
from ..ops.unary import ceil, cos, exp, floor
from ..optimizer import lr
from .mode import default_main_program
from .variables import create_global_var

COUNTER = "@LR_DECAY_COUNTER@"


def runs(begin: int = 0) -> Any:
    """How often the program has run, float32 [1]: `begin` in the first run. All rates of a program count together."""
    main = default_main_program()
    if COUNTER not in main.counters:
        held = create_global_var([1], begin - 1, "int64", persistable=True, name=COUNTER)
        held.set_value(held + 1)
        main.counters[COUNTER] = cast(held, "float32")
    return main.counters[COUNTER]


def _stages(decay_steps: float, staircase: bool) -> Any:
    passed = runs() / decay_steps
    return floor(passed) if staircase else passed


def noam_decay(d_model: int, warmup_steps: int, learning_rate: Any = 1.0) -> Any:
    """Schedule of the Transformer: linear warmup, then inverse square root decay (Vaswani et al., 2017).

    Returns:
        In static mode the rate of a run, float32 [1]; in eager mode a `NoamDecay`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.noam_decay(64, 100).__class__.__name__
        'NoamDecay'
    """
    if state.interpreter.is_eager:
        return lr.NoamDecay(d_model, warmup_steps, learning_rate)
    n = runs(1)
    return learning_rate * d_model**-0.5 * minimum(n**-0.5, n * warmup_steps**-1.5)


def exponential_decay(learning_rate: Any, decay_steps: float, decay_rate: float, staircase: bool = False) -> Any:
    """Geometric decay: `learning_rate * decay_rate**(run / decay_steps)`.

    Returns:
        In static mode the rate of a run, float32 [1]; in eager mode an `ExponentialDecay`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.exponential_decay(0.1, 10, 0.5).__class__.__name__
        'ExponentialDecay'
    """
    if state.interpreter.is_eager:
        return lr.ExponentialDecay(learning_rate, decay_rate)
    return learning_rate * decay_rate ** _stages(decay_steps, staircase)


def natural_exp_decay(learning_rate: Any, decay_steps: float, decay_rate: float, staircase: bool = False) -> Any:
    """Exponential decay: `learning_rate * exp(-decay_rate * run / decay_steps)`.

    Returns:
        In static mode the rate of a run, float32 [1]; in eager mode a `NaturalExpDecay`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.natural_exp_decay(0.1, 10, 0.5).__class__.__name__
        'NaturalExpDecay'
    """
    if state.interpreter.is_eager:
        return lr.NaturalExpDecay(learning_rate, decay_rate)
    return learning_rate * exp(-decay_rate * _stages(decay_steps, staircase))


def inverse_time_decay(learning_rate: Any, decay_steps: float, decay_rate: float, staircase: bool = False) -> Any:
    """Inverse time decay: `learning_rate / (1 + decay_rate * run / decay_steps)`.

    Returns:
        In static mode the rate of a run, float32 [1]; in eager mode an `InverseTimeDecay`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.inverse_time_decay(0.1, 10, 0.5).__class__.__name__
        'InverseTimeDecay'
    """
    if state.interpreter.is_eager:
        return lr.InverseTimeDecay(learning_rate, decay_rate)
    return learning_rate / (1 + decay_rate * _stages(decay_steps, staircase))


def polynomial_decay(
    learning_rate: Any, decay_steps: int, end_learning_rate: float = 0.0001, power: float = 1.0, cycle: bool = False
) -> Any:
    """Polynomial decay: `(learning_rate - end_learning_rate) * (1 - run / decay_steps)**power + end_learning_rate`.

    Returns:
        In static mode the rate of a run, float32 [1]; in eager mode a `PolynomialDecay`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.polynomial_decay(0.1, 10).__class__.__name__
        'PolynomialDecay'
    """
    if state.interpreter.is_eager:
        return lr.PolynomialDecay(learning_rate, decay_steps, end_learning_rate, power, cycle)
    n, length = runs(), full([1], float(decay_steps))
    if cycle:
        length = length * where(n == 0, full([1], 1.0), ceil(n / decay_steps))
    return (learning_rate - end_learning_rate) * (1 - minimum(n, length) / length) ** power + end_learning_rate


def piecewise_decay(boundaries: list[int], values: list[float]) -> Any:
    """Piecewise constant rate: values[i] before run boundaries[i], the last value after all boundaries.

    Returns:
        In static mode the rate of a run, float32 [1]; in eager mode a `PiecewiseDecay`.

    Raises:
        ValueError: if there is not one value more than boundaries.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.piecewise_decay([10], [0.1, 0.01]).__class__.__name__
        'PiecewiseDecay'
    """
    if len(values) != len(boundaries) + 1:
        raise ValueError(f"piecewise_decay: {len(boundaries)} boundaries and {len(values)} values; give one value more")
    if state.interpreter.is_eager:
        return lr.PiecewiseDecay(boundaries, values)
    n, rate = runs(), full([1], float(values[-1]))
    for bound, value in list(zip(boundaries, values, strict=False))[::-1]:
        rate = where(n < float(bound), full([1], float(value)), rate)
    return rate


def cosine_decay(learning_rate: Any, step_each_epoch: int, epochs: int) -> Any:
    """Cosine decay by epoch: `learning_rate * 0.5 * (cos(epoch * pi / epochs) + 1)`.

    Returns:
        In static mode the rate of a run, float32 [1]; in eager mode a `CosineAnnealingDecay`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.cosine_decay(0.1, 100, 10).__class__.__name__
        'CosineAnnealingDecay'
    """
    if state.interpreter.is_eager:
        return lr.CosineAnnealingDecay(learning_rate, epochs)
    return learning_rate * 0.5 * (cos(floor(runs() / step_each_epoch) * (math.pi / epochs)) + 1)


def linear_lr_warmup(learning_rate: Any, warmup_steps: int, start_lr: float, end_lr: float) -> Any:
    """Linear warmup from `start_lr` to `end_lr` over `warmup_steps` runs, then `learning_rate`.

    Arguments:
        learning_rate: number, rate of another of these functions, or (in eager mode) LRScheduler.

    Returns:
        In static mode the rate of a run, float32 [1]; in eager mode a `LinearWarmup`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.linear_lr_warmup(0.1, 10, 0.0, 0.1).__class__.__name__
        'LinearWarmup'
    """
    if state.interpreter.is_eager:
        return lr.LinearWarmup(learning_rate, warmup_steps, start_lr, end_lr)
    n = runs()
    after = learning_rate if isinstance(learning_rate, Tensor) else full([1], float(learning_rate))
    return where(n < float(warmup_steps), start_lr + (end_lr - start_lr) * (n / float(warmup_steps)), after)
