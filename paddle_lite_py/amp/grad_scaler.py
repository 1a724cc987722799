"""Loss scaling: small gradients survive float16; all of its state is tensors."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from ..core.arrays import as_array
from ..core.interpreter import no_grad, state
from ..eager.tensor import Tensor, wrap
from ..ops.loss_scaling import unscale_gradients, update_loss_scaling


class OptimizerState(Enum):
    """The state of an optimizer's gradients since the last update().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [state.name for state in paddle.amp.OptimizerState]
        ['INIT', 'UNSCALED', 'STEPPED']
    """

    INIT = 0
    UNSCALED = 1
    STEPPED = 2


# The index of each setting in the tensor of settings.
_GROW, _SHRINK, _GOOD, _BAD = range(4)


def _state(values: Any, dtype: Any, name: str) -> Tensor:
    out = wrap(as_array(np.array(values, dtype)))
    out.name, out.persistable = name, True
    return out


class AmpScaler:
    """GradScaler with the defaults of Paddle's older class.

    Arguments:
        enable: False: all methods pass their arguments through. Default: True.
        init_loss_scaling: initial scale. Default: 32768.0.
        incr_ratio: factor by which the scale grows, above 1. Default: 2.0.
        decr_ratio: factor by which the scale shrinks, below 1. Default: 0.5.
        incr_every_n_steps: number of consecutive finite steps after which the scale grows. Default: 1000.
        decr_every_n_nan_or_inf: number of consecutive skipped steps after which the scale shrinks. Default: 1.
        use_dynamic_loss_scaling: False: the scale is constant. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.amp.AmpScaler(init_loss_scaling=2.0).scale(paddle.ones([1])).tolist()
        [2.0]
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 32768.0,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 1000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        state.interpreter.begins("a GradScaler")
        self._enable = bool(enable)
        self._use_dynamic_loss_scaling = bool(enable and use_dynamic_loss_scaling)
        self._init_loss_scaling = float(init_loss_scaling) if enable else 1.0
        settings = [incr_ratio, decr_ratio, incr_every_n_steps, decr_every_n_nan_or_inf]
        self._settings = _state(settings, np.float64, "loss_scaling_settings")
        self.set_incr_ratio(incr_ratio)
        self.set_decr_ratio(decr_ratio)
        self._scale = _state([self._init_loss_scaling], np.float32, "loss_scaling")
        self._counts = _state([0, 0], np.int32, "loss_scaling_counts")
        # By id of the optimizer: what was done, and whether its gradients overflowed. Replaced, never changed.
        self._stages: dict[int, tuple[OptimizerState, Tensor]] = {}

    # -- a step ----------------------------------------------------------------------------------------------------
    def scale(self, var: Tensor) -> Tensor:
        """Return the loss multiplied by the scale."""
        if not isinstance(var, Tensor):
            raise TypeError(f"GradScaler.scale: var is a {type(var).__name__}; expected a Tensor")
        return var * self._scale if self._enable else var

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of the optimizer's parameters by the scale, for example before clipping.

        Raises:
            RuntimeError: if it was called since the last update().
        """
        if not self._enable:
            return
        stage = self._stage(optimizer)
        if stage is OptimizerState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update()")
        if stage is OptimizerState.STEPPED:
            raise RuntimeError("unscale_() is called after step(): call update() between two steps")
        self._mark(optimizer, OptimizerState.UNSCALED, self._unscaled(optimizer))

    def _unscaled(self, optimizer: Any) -> Tensor:
        params = list(optimizer._parameter_list)
        for p in params:
            state.interpreter.gradient_state(p)
        params = [p for p in params if isinstance(p._grad, Tensor)]
        if not params:
            return wrap(as_array(np.array([False])))
        with no_grad():
            found, *grads = unscale_gradients([p._grad for p in params], self._scale)
        for p, g in zip(params, grads, strict=True):
            p.grad = g
        return found

    def step(self, optimizer: Any) -> None:
        """Unscale the gradients and call optimizer.step(), unless a gradient is NaN or infinite.

        Raises:
            RuntimeError: if it was called since the last update().
        """
        self._stepped(optimizer, optimizer.step)

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Call optimizer.minimize(*args) with unscaled gradients, unless one is NaN or infinite; then update()."""
        out = self._stepped(optimizer, lambda: optimizer.minimize(*args, **kwargs))
        self.update()
        return out

    def _stepped(self, optimizer: Any, run: Any) -> Any:
        if not self._enable:
            return run()
        if self._stage(optimizer) is OptimizerState.STEPPED:
            raise RuntimeError("step() has already been called since the last update()")
        if self._stage(optimizer) is OptimizerState.INIT:
            self.unscale_(optimizer)
        found = self._stages[id(optimizer)][1]
        self._mark(optimizer, OptimizerState.STEPPED, found)
        if not hasattr(optimizer, "_set_auxiliary_var"):  # an optimizer of the user's own: ask the host
            return None if bool(found) else run()
        optimizer._set_auxiliary_var("found_inf", found)
        try:
            return run()
        finally:
            optimizer._set_auxiliary_var("found_inf", None)

    def update(self) -> None:
        """Adapt the scale to the results of the last steps."""
        if not self._enable:
            return
        found = [f for _, f in self._stages.values()]
        if self._use_dynamic_loss_scaling and found:
            with no_grad():
                any_found = found[0] if len(found) == 1 else sum(f.astype("int32") for f in found) > 0
                scale, counts = update_loss_scaling(self._scale, self._counts, self._settings, any_found)
            self._scale._set_payload(scale._payload)
            self._counts._set_payload(counts._payload)
        self._set_stages({})

    def _stage(self, optimizer: Any) -> OptimizerState:
        return self._stages[id(optimizer)][0] if id(optimizer) in self._stages else OptimizerState.INIT

    def _mark(self, optimizer: Any, stage: OptimizerState, found: Tensor) -> None:
        self._set_stages({**self._stages, id(optimizer): (stage, found)})

    def _set_stages(self, stages: dict[int, tuple[OptimizerState, Tensor]]) -> None:
        state.interpreter.rebound(self, "_stages")
        self._stages = stages

    # -- settings --------------------------------------------------------------------------------------------------
    def is_enable(self) -> bool:
        """Return whether loss scaling is enabled."""
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Return whether the scale adapts."""
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        """Return the initial scale."""
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Set the scale."""
        self._init_loss_scaling = new_init_loss_scaling
        self._scale.set_value(np.array([new_init_loss_scaling], np.float32))

    def _setting(self, index: int) -> float:
        return float(self._settings.numpy()[index])

    def _set(self, index: int, value: float) -> None:
        settings = self._settings.numpy()
        settings[index] = value
        self._settings.set_value(settings)

    def get_incr_ratio(self) -> float:
        """Return the factor by which the scale grows."""
        return self._setting(_GROW)

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Set the factor by which the scale grows; above 1."""
        if not new_incr_ratio > 1.0:
            raise ValueError(f"incr_ratio is {new_incr_ratio}; expected more than 1.0")
        self._set(_GROW, new_incr_ratio)

    def get_decr_ratio(self) -> float:
        """Return the factor by which the scale shrinks."""
        return self._setting(_SHRINK)

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Set the factor by which the scale shrinks; below 1."""
        if not new_decr_ratio < 1.0:
            raise ValueError(f"decr_ratio is {new_decr_ratio}; expected less than 1.0")
        self._set(_SHRINK, new_decr_ratio)

    def get_incr_every_n_steps(self) -> int:
        """Return the number of consecutive finite steps after which the scale grows."""
        return int(self._setting(_GOOD))

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Set the number of consecutive finite steps after which the scale grows."""
        self._set(_GOOD, new_incr_every_n_steps)

    def get_decr_every_n_nan_or_inf(self) -> int:
        """Return the number of consecutive skipped steps after which the scale shrinks."""
        return int(self._setting(_BAD))

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Set the number of consecutive skipped steps after which the scale shrinks."""
        self._set(_BAD, new_decr_every_n_nan_or_inf)

    # -- saving ----------------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """Return the scale, the settings and the counters; an empty dict if scaling is disabled."""
        if not self._enable:
            return {}
        good, bad = self._counts.tolist()
        return {
            "scale": self._scale.numpy(),
            "incr_ratio": self.get_incr_ratio(),
            "decr_ratio": self.get_decr_ratio(),
            "incr_every_n_steps": self.get_incr_every_n_steps(),
            "decr_every_n_nan_or_inf": self.get_decr_every_n_nan_or_inf(),
            "incr_count": good,
            "decr_count": bad,
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state_dict().

        Raises:
            RuntimeError: if it is empty, from a scaler that was disabled.
            KeyError: if an entry is missing; nothing is changed then.
        """
        if not self._enable:
            return
        if not state_dict:
            raise RuntimeError("GradScaler.load_state_dict: the dict is empty: was it saved by a disabled scaler?")
        names = ("incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf")
        settings = [state_dict[name] for name in names]
        counts = [state_dict["incr_count"], state_dict["decr_count"]]
        dynamic, scale = (
            bool(state_dict["use_dynamic_loss_scaling"]),
            float(np.asarray(state_dict["scale"]).reshape(-1)[0]),
        )
        self._settings.set_value(np.array(settings, np.float64))
        self._counts.set_value(np.array(counts, np.int32))
        self._use_dynamic_loss_scaling = dynamic
        self.set_init_loss_scaling(scale)

    set_state_dict = load_state_dict


class GradScaler(AmpScaler):
    """Dynamic loss scaling for float16: scales the loss, unscales the gradients, skips steps that overflowed.

    A skipped step leaves parameters and optimizer state unchanged, without synchronizing with the host: the same code
    runs eagerly and in a static function.

    Arguments:
        enable: False: all methods pass their arguments through. Default: True.
        init_loss_scaling: initial scale. Default: 65536.0.
        incr_ratio: factor by which the scale grows, above 1. Default: 2.0.
        decr_ratio: factor by which the scale shrinks, below 1. Default: 0.5.
        incr_every_n_steps: number of consecutive finite steps after which the scale grows. Default: 2000.
        decr_every_n_nan_or_inf: number of consecutive skipped steps after which the scale shrinks. Default: 1.
        use_dynamic_loss_scaling: False: the scale is constant. Default: True.

    Raises:
        ValueError: if incr_ratio is not above 1, or decr_ratio not below 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        >>> scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
        >>> with paddle.amp.auto_cast():
        ...     loss = net(paddle.ones([4, 2])).mean()
        >>> scaler.scale(loss).backward()
        >>> scaler.step(opt); scaler.update(); opt.clear_grad()

    Source: Micikevicius et al., Mixed Precision Training, 2018.
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 65536.0,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        super().__init__(
            enable, init_loss_scaling, incr_ratio, decr_ratio, incr_every_n_steps, decr_every_n_nan_or_inf,
            use_dynamic_loss_scaling,
        )  # fmt: skip
