"""Base class of schedules."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any

from ...core.interpreter import state, use
from ...core.traced_number import TracedNumber
from ...eager.execute import EAGER


class Number:
    """An attribute of a schedule that its steps change: inside a static function, the number of each run."""

    of_each_run = True

    def __set_name__(self, owner: type, name: str) -> None:
        self.read, self.name = operator.methodcaller("_held", name), name

    def __get__(self, schedule: Any, owner: Any = None) -> Any:
        if schedule is None:
            return self
        if self.name not in schedule.__dict__:
            raise AttributeError(f"'{type(schedule).__name__}' object has no attribute '{self.name}'")
        if state.interpreter is EAGER:
            return schedule.__dict__[self.name]
        return state.interpreter.number(schedule, self.read)

    def __set__(self, schedule: Any, value: Any) -> None:
        if state.interpreter is EAGER:
            schedule.__dict__[self.name] = value
        else:
            state.interpreter.set_number(schedule, self.name, value)


class LRScheduler:
    """Base class of learning rate schedules.

    A subclass defines get_lr(), which computes the rate from `self.last_epoch` (the number of the step) and
    `self.base_lr`. Call step() once for each epoch, or each batch, after optimizer.step().

    Arguments:
        learning_rate: the initial learning rate. Default: 0.1.
        last_epoch: number of the last finished step, to resume a schedule; -1: start at the beginning. Default: -1.
        verbose: print each new learning rate. Default: False.

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
    last_epoch, last_lr = Number(), Number()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """A static function takes the rate that get_lr() gives for each run."""
        super().__init_subclass__(**kwargs)
        if "get_lr" in vars(cls):
            cls.get_lr = _of_each_run(cls.get_lr)  # type: ignore[method-assign, assignment]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return a schedule that knows what it is made with, for a file."""
        made = super().__new__(cls)
        made._arguments = args, kwargs
        state.interpreter.made_schedule(made)
        return made

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, int | float):
            raise TypeError(f"{type(self).__name__}: learning_rate is {learning_rate!r}; expected a number")
        if learning_rate < 0:
            raise ValueError(f"{type(self).__name__}: learning_rate is {learning_rate}; expected at least 0")
        with use(EAGER):  # also where a static function makes one
            self.base_lr = self.last_lr = float(learning_rate)
            self.last_epoch, self.verbose = last_epoch, verbose
            self._begin()

    __new__.__signature__ = inspect.signature(__init__)  # type: ignore[attr-defined]  # users see that of __init__

    def _begin(self) -> None:
        """The first step, of which a subclass may have a form of its own."""
        self._advance(None) if type(self).step is LRScheduler.step else self.step()

    def __call__(self) -> float:
        """Return the learning rate of the next optimizer step."""
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Advance the schedule by one step, or to step `epoch`."""
        if epoch is None:
            state.interpreter.advance(self, _step, True)
        else:
            state.interpreter.advance(self, lambda schedule: schedule._advance(epoch))

    def forked(self) -> Any:
        """Return an independent copy, which prints nothing."""
        made = object.__new__(type(self))
        made.__dict__.update({k: _fork_value(v) for k, v in self.__dict__.items()}, verbose=False)
        return made

    def become(self, other: Any) -> None:
        """Restore the state of a copy."""
        for name, value in other.__dict__.items():
            if isinstance(value, LRScheduler):
                self.__dict__[name].become(value)
            elif name != "verbose":
                self.__dict__[name] = value

    def _held(self, name: str) -> Any:
        return self.__dict__[name]

    def _advance(self, epoch: int | None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed: Callable[[], float] | None = getattr(self, "_closed_form", None)
        self.last_lr = self.get_lr() if epoch is None or closed is None else closed()
        self._report()

    def _report(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        """Compute the learning rate of step `last_epoch`; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr()")

    def state_keys(self) -> None:
        """Set `self.keys`, the names of the attributes in state_dict()."""
        self.keys = ["last_epoch", "last_lr", *self._keys]

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the schedule, a dict."""
        self.state_keys()
        return {key: getattr(self, key) for key in self.keys}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state_dict().

        Raises:
            KeyError: if an entry is missing; nothing is changed then.
        """
        self.state_keys()
        if missing := [key for key in self.keys if key not in state_dict]:
            raise KeyError(f"{type(self).__name__}.set_state_dict: the dict lacks {', '.join(missing)}")
        for key in self.keys:
            setattr(self, key, state_dict[key])

    set_dict = set_state_dict

    def __repr__(self) -> str:
        return f"{type(self).__name__}(last_epoch={self.__dict__['last_epoch']}, last_lr={self.__dict__['last_lr']:g})"


def _step(schedule: LRScheduler) -> None:
    schedule._advance(None)


def _fork_value(value: Any) -> Any:
    """Copy a value of a schedule: steps may change containers, and the schedules inside."""
    if type(value) is TracedNumber:
        return value.value
    if isinstance(value, LRScheduler):
        return value.forked()
    return copy.copy(value) if isinstance(value, list | dict | set) else value


def _of_each_run(get_lr: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(get_lr)
    def number(self: Any) -> Any:
        return get_lr(self) if state.interpreter is EAGER else state.interpreter.number(self, get_lr)

    return number


def positive(who: str, **values: Any) -> None:
    """Check that numbers are above zero."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise ValueError(f"{who}: {name} is {value!r}; expected a number above 0")


def function(who: str, value: Any) -> None:
    """Check that a value is callable."""
    if not callable(value):
        raise TypeError(f"{who}: lr_lambda is a {type(value).__name__}; expected a function of the step's number")
