"""What programs written for torch.optim need besides paddle.optimizer."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ...core.argument_docs import document as _document
from ...eager.tensor import Tensor
from . import classes, lr_scheduler
from .grouped import RMSprop, groups

__all__ = ["Optimizer", "RMSprop", "classes", "groups", "lr_scheduler"]


class Optimizer:
    """The base of optimizers that a program writes itself: groups of parameters, and a state for each parameter.

    A subclass defines step(), which reads group["lr"] and what else is in `defaults`.

    Arguments:
        params: parameters, or groups: dicts with "params" and settings.
        defaults: the settings of groups that have none of their own.

    Raises:
        ValueError: there are no parameters.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Descent(paddle.compat.optim.Optimizer):
        ...     def step(self):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p.detach().sub_(p.grad * group["lr"])
        >>> w = paddle.to_tensor([1.0], stop_gradient=False)
        >>> (w * 2).backward()
        >>> Descent([w], {"lr": 0.25}).step()
        >>> w.tolist()
        [0.5]
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "step" in vars(cls):
            cls.step = _at_rates(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        given = list(params)
        if not given:
            raise ValueError(f"{type(self).__name__}: there are no parameters")
        self.defaults, self.param_groups = defaults, []
        self.state: Any = defaultdict(dict)
        self._scheduler: Any = None
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    param_groups: list[dict[str, Any]]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters, with settings of their own."""
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters, or set them to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none or p.grad is None:
                    p.grad = None
                else:
                    p.grad.detach().zero_()

    clear_grad = zero_grad

    def step(self) -> Any:
        """Update the parameters; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no step()")

    def get_lr(self) -> float:
        """Return the rate of the first group."""
        return float(self.param_groups[0]["lr"] if self._scheduler is None else self._scheduler())

    def set_lr(self, value: float) -> None:
        """Set the rate of all groups."""
        for group in self.param_groups:
            group["lr"] = value

    def set_lr_scheduler(self, scheduler: Any) -> None:
        """Take the rate of each step from a schedule of paddle.optimizer.lr, in groups in proportion to their rates."""
        self._scheduler = scheduler
        for group in self.param_groups:
            group["initial_lr"] = group["lr"]

    def state_dict(self) -> dict[str, Any]:
        """Return the states by the numbers of the parameters, and the settings of the groups."""
        params = [p for group in self.param_groups for p in group["params"]]
        groups = [{k: v for k, v in group.items() if k != "params"} for group in self.param_groups]
        return {"state": {i: self.state[p] for i, p in enumerate(params) if p in self.state}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what state_dict() gave.

        Raises:
            ValueError: it is of another number of groups.
        """
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError(f"load_state_dict: there are {len(saved)} groups; expected {len(self.param_groups)}")
        params = [p for group in self.param_groups for p in group["params"]]
        for i, value in state_dict["state"].items():
            self.state[params[int(i)]] = dict(value)
        for group, settings in zip(self.param_groups, saved, strict=True):
            group.update(settings)


def _at_rates(step: Any) -> Any:
    """Return a step() that first takes the rates of the schedule."""

    @functools.wraps(step)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._scheduler is not None:
            first = self.param_groups[0]["initial_lr"]
            for group in self.param_groups:
                group["lr"] = self._scheduler() * (group["initial_lr"] / first)
        return step(self, *args, **kwargs)

    return wrapped


_document(globals())
