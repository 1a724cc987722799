"""The base of schedules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.interpreter import state


class LRScheduler:
    """Base of schedules: a subclass defines get_lr() from `last_epoch` and `base_lr`.

    Arguments:
        learning_rate: the first learning rate.
        last_epoch: number of the last step, to go on from there.
        verbose: print each new rate.

    Raises:
        TypeError: if the learning rate is not a number.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Halving(paddle.optimizer.lr.LRScheduler):
        ...     def get_lr(self):
        ...         return self.base_lr * 0.5 ** self.last_epoch
        >>> schedule = Halving(0.4)
        >>> schedule.step(); schedule()
        0.2
    """

    _keys: tuple[str, ...] = ()
    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A schedule that knows what it is made with, for a file."""
        made = super().__new__(cls)
        made._arguments = args, kwargs
        return made

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, int | float):
            raise TypeError(f"{type(self).__name__}: learning_rate is {learning_rate!r}; expected a number")
        if learning_rate < 0:
            raise ValueError(f"{type(self).__name__}: learning_rate is {learning_rate}; expected at least 0")
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch, self.verbose = last_epoch, verbose
        self._advance(None)

    def __call__(self) -> float:
        """The learning rate of the next optimizer step."""
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go one step on, or to step `epoch`. Inside a static function: after each run of it."""
        state.interpreter.defer(lambda: self._advance(epoch))

    def _advance(self, epoch: int | None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed: Callable[[], float] | None = getattr(self, "_closed_form", None)
        self.last_lr = self.get_lr() if epoch is None or closed is None else closed()
        self._report()

    def _report(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        """The learning rate of step `last_epoch`."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr()")

    def state_keys(self) -> None:
        """Set `self.keys`, the names that state_dict() holds."""
        self.keys = ["last_epoch", "last_lr", *self._keys]

    def state_dict(self) -> dict[str, Any]:
        """What it needs to go on."""
        self.state_keys()
        return {key: getattr(self, key) for key in self.keys}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state_dict().

        Raises:
            KeyError: if the dict lacks an entry; nothing is changed then.
        """
        self.state_keys()
        if missing := [key for key in self.keys if key not in state_dict]:
            raise KeyError(f"{type(self).__name__}.set_state_dict: the dict lacks {', '.join(missing)}")
        for key in self.keys:
            setattr(self, key, state_dict[key])

    set_dict = set_state_dict

    def __repr__(self) -> str:
        return f"{type(self).__name__}(last_epoch={self.last_epoch}, last_lr={self.last_lr:g})"


def positive(who: str, **values: Any) -> None:
    """Numbers above zero."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise ValueError(f"{who}: {name} is {value!r}; expected a number above 0")


def function(who: str, value: Any) -> None:
    """A callable."""
    if not callable(value):
        raise TypeError(f"{who}: lr_lambda is a {type(value).__name__}; expected a function of the step's number")
