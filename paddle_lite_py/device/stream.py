"""Streams and events. XLA has one stream for a device and runs what it is given in order; these wait for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax

from ..core.interpreter import state
from ..core.no_effect import Immaterial, no_effect
from .properties import as_device

IN_ORDER = Immaterial("a device does its work in order")


def synchronize(device: Any = None) -> None:
    """Wait until a device has finished all work.

    Arguments:
        device: the device; None: the current one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y = paddle.ones([2]) + 1
        >>> paddle.device.synchronize()
    """
    state.interpreter.flush()
    jax.effects_barrier()
    jax.device_put(0, as_device(device)).block_until_ready()


class Event:
    """Marker in the work of a device, for timing and synchronization.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> start, end = paddle.device.Event(), paddle.device.Event()
        >>> start.record(); y = paddle.ones([2]) + 1; end.record()
        >>> start.elapsed_time(end) >= 0
        True
    """

    @no_effect(
        enable_timing=Immaterial("each event has its time"),
        blocking=Immaterial("synchronize() leaves the processor to others"),
        interprocess="no memory is shared between processes",
    )
    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, device: Any = None
    ) -> None:
        self.device = device
        self._at: float | None = None

    @no_effect(stream=IN_ORDER)
    def record(self, stream: Any = None) -> None:
        """Record the time when all work so far has finished."""
        synchronize(self.device)
        self._at = time.perf_counter()

    def query(self) -> bool:
        """Return True: recorded work has finished."""
        return True

    def synchronize(self) -> None:
        """Wait until the device has finished."""
        synchronize(self.device)

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to another.

        Raises:
            RuntimeError: if one of them was not recorded.
        """
        if self._at is None or end_event._at is None:
            raise RuntimeError("elapsed_time: both events must have been recorded")
        return (end_event._at - self._at) * 1000


class Stream:
    """Stream of a device; each device has exactly one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.Stream().query()
        True
    """

    @no_effect(priority=IN_ORDER, stream_base=IN_ORDER)
    def __init__(self, device: Any = None, priority: int = 2, stream_base: Any = None) -> None:
        self.device = device

    def query(self) -> bool:
        """Wait until all work has finished and return True."""
        self.synchronize()
        return True

    def synchronize(self) -> None:
        """Wait until the device has finished."""
        synchronize(self.device)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event after the work so far and return it."""
        event = Event(device=self.device) if event is None else event
        event.record()
        return event

    @no_effect(event=IN_ORDER)
    def wait_event(self, event: Event) -> None:
        """Do nothing; work runs in order."""

    @no_effect(stream=IN_ORDER)
    def wait_stream(self, stream: Stream) -> None:
        """Do nothing; work runs in order."""


def current_stream(device: Any = None) -> Stream:
    """Return the stream of a device.

    Arguments:
        device: the device; None: the current one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.device.current_stream().query()
        True
    """
    return Stream(device)


def set_stream(stream: Stream | None = None) -> Stream:
    """Return the previous stream; each device has exactly one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> before = paddle.device.set_stream(paddle.device.Stream())
        >>> before.query()
        True
    """
    return Stream() if stream is None else Stream(stream.device)


@contextmanager
@no_effect(stream=IN_ORDER)
def stream_guard(stream: Stream | None = None) -> Iterator[None]:
    """Context manager for a stream; without effect, since each device has exactly one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.device.StreamContext(paddle.device.Stream()):
        ...     y = paddle.ones([1]) + 1
        >>> y.item()
        2.0
    """
    yield


StreamContext = stream_guard
