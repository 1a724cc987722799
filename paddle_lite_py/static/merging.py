"""Wrappers of optimizers: gradients of several runs merged into one update, and averages of parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..core.interpreter import no_grad, state
from ..core.no_effect import AT_HAND, no_effect
from ..eager.tensor import Tensor
from .current import current
from .scope import Scope, global_scope
from .variables import create_global_var

__all__ = ["ExponentialMovingAverage", "GradientMergeOptimizer"]


class GradientMergeOptimizer:
    """Accumulate the gradients of k_steps runs for each update of the inner optimizer.

    Arguments:
        inner_optimizer: the optimizer.
        k_steps: number of runs for each update. Default: 1.
        avg: divide the sum of the gradients by k_steps. Default: True.

    Raises:
        ValueError: if k_steps is below 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.static.GradientMergeOptimizer(paddle.optimizer.SGD(0.1, [w]), k_steps=2)
        >>> type(opt).__name__
        'GradientMergeOptimizer'
    """

    def __init__(self, inner_optimizer: Any, k_steps: int = 1, avg: bool = True) -> None:
        if k_steps < 1:
            raise ValueError(f"GradientMergeOptimizer: k_steps is {k_steps}; expected at least 1")
        self.inner_optimizer, self.k_steps, self.avg = inner_optimizer, k_steps, avg

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner_optimizer, name)

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[Any]]:
        """Append gradients, their sums, and an update that every k-th run makes."""
        with state.interpreter.starting(startup_program):
            return self._minimized(loss, parameters, no_grad_set)

    def _minimized(self, loss: Tensor, parameters: Any, no_grad_set: Any) -> tuple[list[Any], list[Any]]:
        optimizer = self.inner_optimizer
        pairs = state.interpreter.minimized(optimizer, loss, parameters, no_grad_set)
        runs = create_global_var([1], 0, "int64", name="gradient_merge_step")
        with no_grad():
            now = runs + 1
            waits = now % self.k_steps != 0
            runs._set_payload(now._payload)
            sums = [create_global_var(p.shape, 0.0, g.dtype, name=f"{p.name}@GradientMerge") for p, g in pairs]
            totals = [s + g for s, (_, g) in zip(sums, pairs, strict=True)]
            for held, total in zip(sums, totals, strict=True):
                held._set_payload((total * waits.astype(total.dtype))._payload)
            merged = [(p, t / self.k_steps if self.avg else t) for (p, _), t in zip(pairs, totals, strict=True)]
        optimizer._set_auxiliary_var("found_inf", waits)
        ops = optimizer.apply_gradients(merged)
        optimizer._set_auxiliary_var("found_inf", None)
        return ops, merged


class ExponentialMovingAverage:
    """Exponential moving average of the trained parameters: `ema = decay * ema + (1 - decay) * param`, for evaluation.

    Arguments:
        decay: decay rate, in [0, 1]. Default: 0.999.
        thres_steps: a step counter; the decay then is `min(decay, (1 + steps) / (10 + steps))`. None: a constant decay.

    Raises:
        ValueError: if decay is not in [0, 1].

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     loss = paddle.nn.Linear(1, 1)(paddle.static.data("x", [None, 1])).mean()
        ...     _ = paddle.optimizer.SGD(0.1).minimize(loss)
        ...     ema = ExponentialMovingAverage(0.9)
        ...     ema.update()
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup), exe.run(main, feed={"x": np.ones([1, 1], "float32")})
        >>> with ema.apply(exe):
        ...     pass  # evaluate with the averages
        >>> paddle.disable_static()
    """

    def __init__(self, decay: float = 0.999, thres_steps: Tensor | None = None, name: str | None = None) -> None:
        if not 0 <= decay <= 1:
            raise ValueError(f"ExponentialMovingAverage: decay is {decay}; expected a number between 0 and 1")
        self._decay, self._thres_steps, self._prefix = decay, thres_steps, name or ""
        self._names: list[str] = []
        self._kept: dict[str, Any] = {}

    def update(self) -> None:
        """Append the update of the averages, after that of the parameters."""
        with no_grad():
            runs = create_global_var([1], 0, "int64", name=f"{self._prefix}@EMA_STEP_COUNTER@")
            runs._set_payload((runs + 1)._payload)
            decay: Any = self._decay
            if self._thres_steps is not None:
                steps = self._thres_steps.astype("float32")
                decay = ((steps + 1.0) / (steps + 10.0)).minimum(steps * 0 + self._decay)
            product = create_global_var([1], 1.0, "float32", name=f"{self._prefix}@EMA_DECAY@")
            product._set_payload((product * decay)._payload)
            for p in current.main.all_parameters():
                if not p.stop_gradient:
                    held = create_global_var(p.shape, 0.0, p.dtype, name=f"{self._prefix}{p.name}.ema")
                    held._set_payload((held * decay + p.detach() * (1.0 - decay))._payload)
                    self._names.append(p.name)

    @contextlib.contextmanager
    def apply(self, executor: Any, need_restore: bool = True) -> Iterator[None]:
        """Put the averages in the place of the parameters, in the scope in force, for the block."""
        scope = global_scope()
        self._kept = {n: scope.homes[n]._payload for n in self._names}
        rest = 1.0 - float(scope.homes[f"{self._prefix}@EMA_DECAY@"].numpy()[0])
        for name in self._names:
            average = scope.homes[f"{self._prefix}{name}.ema"]._payload
            scope.set(name, (average / (rest or 1.0)).astype(average.dtype))
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor, scope)

    @no_effect(executor=AT_HAND)
    def restore(self, executor: Any, scope: Scope | None = None) -> None:
        """Give the parameters their own values back."""
        for name, array in self._kept.items():
            (scope or global_scope()).set(name, array)
        self._kept = {}
