"""What updates of users keep: accumulators that they add, and what else PaddlePaddle's optimizers offer to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtypes import as_dtype
from ..core.interpreter import no_grad
from ..core.versioned import Versioned
from ..eager.tensor import Tensor
from .own_updates import pair, place_of, run_each
from .parameter_group import handle_of


class OwnState(Versioned):
    """The part of an optimizer that updates of users call."""

    _name: str | None
    _multi_precision: bool
    _auxiliary_vars: dict[str, Tensor]
    _grad_clip: Any
    _master_weights: dict[str, Tensor]
    _default_dict: dict[str, Any]
    _global_learning_rate: Callable[[], Tensor]
    # The names under which updates of users find the accumulators of the rules.
    _moment_acc_str, _moment1_acc_str, _moment2_acc_str = "moment", "moment1", "moment2"
    _beta1_pow_acc_str, _beta2_pow_acc_str, _velocity_acc_str = "beta1_pow_acc", "beta2_pow_acc", "velocity"

    def _begin_own(self) -> None:
        self._added: dict[str, dict[str, Tensor]] = {}
        self._waiting: dict[str, Any] = {}  # loaded before it was added
        self._already_create_accumulator: set[str] = set()
        self._default_dict = {}

    def _add_accumulator(
        self, name: str, param: Any, dtype: Any = None, fill_value: float = 0.0, shape: Any = None, type: Any = None,
        device: Any = None,
    ) -> Tensor:  # fmt: skip
        """Return the accumulator of a parameter, a new one where there is none: state that is saved with the rest."""
        name = self._full_name(name)
        held = self._added.setdefault(name, {})
        if param.name not in held:
            kind = (param.dtype if dtype is None else as_dtype(dtype)).np
            shape = tuple(param.shape if shape is None else shape)
            like = param if shape == tuple(param.shape) else None
            loaded = self._waiting.get(f"{param.name}_{name}_0")
            fill = fill_value if loaded is None else np.asarray(loaded).reshape(shape)
            held[param.name] = handle_of(shape, kind, fill, f"{param.name}_{name}", like)
        return held[param.name]

    def _get_accumulator(self, name: str, param: Any) -> Tensor:
        """Return an accumulator that has been added, or that the rule has."""
        name = self._full_name(name)
        found = self._added.get(name, {}).get(param.name)
        found = self._accumulators.get(name, {}).get(param.name) if found is None else found
        if found is None:
            raise KeyError(
                f"{type(self).__name__}: there is no accumulator {name!r} of parameter {param.name!r}; "
                "_create_accumulators adds it by _add_accumulator"
            )
        return found

    def _get_accumulator_master(self, name: str, param: Any) -> Tensor:
        """Return the same; of a narrow parameter that of its copy in float32."""
        masters = self._master_weights if self._multi_precision else {}
        return self._get_accumulator(name, masters.get(param.name, param))

    @property
    def _accumulators(self) -> dict[str, dict[str, Tensor]]:
        """The accumulators by their names and those of parameters, as programs look into them."""
        return {name: dict(held) for name, held in self._added.items()}

    def _full_name(self, name: str) -> str:
        return name if self._name is None else f"{self._name}_{name}"

    def _create_accumulators(self, block: Any, parameters: Any) -> None:
        """Add the accumulators of these parameters; a subclass may add more, for each step."""

    def _finish_update(self, block: Any, parameters_and_grads: Any) -> None:
        """Do what follows the update of all parameters."""

    def _create_optimization_pass(self, parameters_and_grads: Any, param_group_idx: int = 0) -> list[Any]:
        """Update parameters with gradients that are clipped and decayed already."""
        pairs = parameters_and_grads["params"] if isinstance(parameters_and_grads, dict) else parameters_and_grads
        for param, _ in pairs:
            group, i = place_of(self, param)
            group.start([i], self._multi_precision)
        run_each(self, parameters_and_grads)
        return []

    def _create_master_weight(self, param: Any) -> Tensor:
        """Return the copy of a narrow parameter in float32, which updates of subclasses keep."""
        group, i = place_of(self, param)
        group.start_master(i)
        held = group.masters[i]
        return param if held is None else held

    def _create_param_lr(self, param_and_grad: Any) -> Tensor:
        """Return the learning rate of a parameter, for updates of subclasses."""
        factor = pair(param_and_grad)[0].optimize_attr["learning_rate"]
        rate = self._global_learning_rate()
        return rate if factor == 1.0 else rate * factor

    def _update_param_group(self, parameters: Any) -> Any:
        """Return the parameters of a group, or a pair of one."""
        return parameters["params"]

    def _get_auxiliary_var(self, key: str) -> Tensor | None:
        return self._auxiliary_vars.get(key)

    def _is_dtype_fp16_or_bf16(self, dtype: Any) -> bool:
        return as_dtype(dtype).name in ("float16", "bfloat16")

    def _create_regularization_of_grad(self, param: Any, grad: Any, regularization: Any = None) -> Any:
        """Return a gradient with what a regularizer adds to it: that of the parameter, if it has one."""
        chosen = regularization if param.regularizer is None else param.regularizer
        if grad is None or chosen is None:
            return grad
        with no_grad():
            return grad + chosen(param, grad, None)

    def append_regularization_ops(self, parameters_and_grads: Any, regularization: Any = None) -> list[Any]:
        """Return (parameter, gradient) pairs with what regularizers add to the gradients.

        Arguments:
            parameters_and_grads: the pairs.
            regularization: the regularizer of parameters that have none.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
            >>> sgd = paddle.optimizer.SGD(0.1, parameters=[w])
            >>> pairs = sgd.append_regularization_ops([(w, paddle.ones([1]))], paddle.regularizer.L2Decay(0.5))
            >>> pairs[0][1].item()
            2.0
        """
        found = map(pair, parameters_and_grads)
        return [(p, self._create_regularization_of_grad(p, g, regularization)) for p, g in found]

    # -- saving ----------------------------------------------------------------------------------------------------
    def _own_state(self) -> dict[str, Tensor]:
        return {f"{param}_{name}_0": t for name, held in self._added.items() for param, t in held.items()}

    def _plan_own(self, found: dict[str, Any], params: list[Any]) -> list[Callable[[], None]]:
        """Return the steps that load what updates of users keep, also what they have not added yet."""
        own, rest = self._own_state(), {}
        steps: list[Callable[[], None]] = []
        for key, value in found.items():
            if key in own:
                steps.append(lambda held=own[key], value=value: held.set_value(np.asarray(value)))  # type: ignore[misc]
            elif any(key.startswith(f"{p.name}_") for p in params):
                rest[key] = value
        return [*steps, lambda: self._waiting.update(rest)] if rest else steps
