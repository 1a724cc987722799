"""The profiler: records some of the steps of a program."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any

import jax

from ..core.no_effect import Immaterial, no_effect
from .result import ProfilerResult, Row, load_profiler_result

__all__ = [
    *("Profiler", "ProfilerState", "ProfilerTarget", "SortedKeys", "SummaryView", "export_chrome_tracing"),
    *("export_protobuf", "make_scheduler"),
]


class ProfilerTarget(Enum):
    """What to record; JAX records all that there is.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.profiler.ProfilerTarget][:2]
        ['CPU', 'GPU']
    """

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


class ProfilerState(Enum):
    """What to do in a step.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.profiler.ProfilerState][:2]
        ['CLOSED', 'READY']
    """

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3  # the last step of a recording


class SortedKeys(Enum):
    """By what to order a summary.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.profiler.SortedKeys][:2]
        ['CPUTotal', 'CPUAvg']
    """

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(Enum):
    """Parts of a summary; there is one here, of the ops.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.profiler.SummaryView][:2]
        ['DeviceView', 'OverView']
    """

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


Scheduler = Callable[[int], ProfilerState]
RECORDING = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


def make_scheduler(*, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0) -> Scheduler:
    """What to do in each step: after skip_first ones, again and again `closed`, `ready` and `record` ones.

    Arguments:
        repeat: how often; 0: without end.

    Examples:
        >>> [make_scheduler(closed=1, ready=1, record=1)(i).name for i in range(3)]
        ['CLOSED', 'READY', 'RECORD_AND_RETURN']
    """
    if record < 1 or min(closed, ready, repeat, skip_first) < 0:
        raise ValueError("make_scheduler: record must be at least 1, and the others at least 0")
    period = closed + ready + record

    def state(step: int) -> ProfilerState:
        at = step - skip_first
        if at < 0 or (repeat and at >= repeat * period):
            return ProfilerState.CLOSED
        at %= period
        if at < closed:
            return ProfilerState.CLOSED
        if at < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD if at < period - 1 else ProfilerState.RECORD_AND_RETURN

    return state


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Any], None]:
    """What writes each recording into a folder, for chrome://tracing; for Profiler(on_trace_ready=...).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> callable(paddle.profiler.export_chrome_tracing("traces"))
        True
    """

    def export(profiler: Any) -> None:
        name = f"{worker_name or 'host'}_time_{time.strftime('%Y_%m_%d_%H_%M_%S')}_{profiler.step_num}.json"
        profiler.export(str(Path(dir_name) / name))

    return export


@no_effect("the files are JSON, which load_profiler_result() reads")
def export_protobuf(dir_name: str, worker_name: str | None = None) -> Callable[[Any], None]:
    """export_chrome_tracing(), of which it warns.

    Examples:
        >>> import warnings
        >>> import paddle_lite_py as paddle
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     callable(paddle.profiler.export_protobuf("traces"))
        True
    """
    return export_chrome_tracing(dir_name, worker_name)


_ONE_TABLE = "there is one table, of all operations"


class Profiler:
    """Records steps of a program: start(), step() after each step, stop().

    Arguments:
        targets: of which kinds of devices operations are kept; of all by default.
        scheduler: what to do in each step, as of make_scheduler(); (first, last) to record these steps; None: all.
        on_trace_ready: called with the profiler after each recording.
        timer_only: record no trace, only the time of the steps.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.profiler.Profiler(timer_only=True) as p:
        ...     for _ in range(3):
        ...         y = paddle.ones([2]) + 1
        ...         p.step(num_samples=2)
        >>> "ips" in p.step_info()
        True
    """

    @no_effect(
        record_shapes="traces hold the names of operations, without shapes",
        profile_memory="traces hold times; paddle.device.memory_allocated() has the memory in use",
        emit_nvtx="XLA marks its own kernels",
        custom_device_types=Immaterial("all devices are recorded"),
        with_flops="traces hold times; paddle.flops() counts operations",
    )
    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Any = None,
        on_trace_ready: Callable[[Any], None] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        timer_only: bool = False,
        emit_nvtx: bool = False,
        custom_device_types: Any = (),
        with_flops: bool = False,
    ) -> None:
        self.scheduler = _scheduler(scheduler)
        self.targets = set(ProfilerTarget if targets is None else targets)
        self.on_trace_ready, self.timer_only = on_trace_ready, timer_only
        self.step_num = 0
        self.current_state = ProfilerState.CLOSED
        self.profiler_result: ProfilerResult | None = None
        self._folder: str | None = None
        self._times: list[tuple[float, int]] = []
        self._since = 0.0

    def start(self) -> None:
        """Begin with step 0."""
        self._since = time.perf_counter()
        self._enter(self.scheduler(self.step_num))

    def stop(self) -> None:
        """End; a recording under way is finished."""
        if self.current_state in RECORDING:
            self._finish()
        self.current_state = ProfilerState.CLOSED

    def step(self, num_samples: int | None = None) -> None:
        """Tell that a step has ended.

        Arguments:
            num_samples: how many samples it had, for step_info().
        """
        now = time.perf_counter()
        self._times.append((now - self._since, num_samples or 0))
        self._since = now
        if self.current_state is ProfilerState.RECORD_AND_RETURN:
            self._finish()
        self.step_num += 1
        self._enter(self.scheduler(self.step_num))

    def _enter(self, state: ProfilerState) -> None:
        if state in RECORDING and self._folder is None and not self.timer_only:
            self._folder = tempfile.mkdtemp(prefix="profile")
            jax.profiler.start_trace(self._folder, create_perfetto_link=False)
        elif state not in RECORDING and self._folder is not None:
            self._finish()
        self.current_state = state

    def _finish(self) -> None:
        if self._folder is None:
            return
        jax.effects_barrier()
        jax.profiler.stop_trace()
        folder, self._folder = self._folder, None
        found = sorted(Path(folder).rglob("*.trace.json.gz"))
        whole = load_profiler_result(str(found[0])) if found else ProfilerResult([])
        self.profiler_result = whole.of({"CPU" if t is ProfilerTarget.CPU else "GPU" for t in self.targets})
        shutil.rmtree(folder, ignore_errors=True)
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def step_info(self, unit: str | None = None) -> str:
        """Time of a step, and samples a second, since the last call."""
        if not self._times:
            return ""
        seconds, samples = (sum(v) for v in zip(*self._times, strict=True))
        count, self._times = len(self._times), []
        rate = (samples or count) / max(seconds, 1e-12)
        return f" batch_cost: {seconds / count:.5f} s ips: {rate:.3f} {unit or ('samples/s' if samples else 'steps/s')}"

    @no_effect(format="the file is JSON, which load_profiler_result() reads")
    def export(self, path: str = "", format: str = "json") -> None:
        """Write the last recording as a file for chrome://tracing.

        Raises:
            RuntimeError: if nothing was recorded.
        """
        if self.profiler_result is None:
            raise RuntimeError("Profiler.export: nothing was recorded")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps({"traceEvents": self.profiler_result.events}))

    @no_effect(op_detail=_ONE_TABLE, thread_sep=_ONE_TABLE, views=_ONE_TABLE)
    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: Any = None,
    ) -> None:
        """Print the ops of the last recording, those that took longest first."""
        rows = [] if self.profiler_result is None else self.profiler_result.rows()
        by: dict[str, Callable[[Row], float]] = {
            **{"Total": lambda r: r.total, "Avg": lambda r: r.total / r.calls},
            **{"Max": lambda r: r.longest, "Min": lambda r: r.shortest},
        }
        scale = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}[time_unit]
        rows.sort(key=lambda r: (r.device != sorted_by.name[:3], -by[sorted_by.name[3:]](r)))
        print(f"{'Name':<48}{'Device':>8}{'Calls':>8}{'Total':>14}{'Avg':>14}{'Max':>14}{'Min':>14}  ({time_unit})")
        for r in rows[:100]:
            times = (r.total, r.total / r.calls, r.longest, r.shortest)
            print(f"{r.name[:47]:<48}{r.device:>8}{r.calls:>8}" + "".join(f"{t / scale:>14.4f}" for t in times))


def _scheduler(given: Any) -> Scheduler:
    if callable(given):
        return given
    if given is None:
        return lambda step: ProfilerState.RECORD
    first, last = given

    def between(step: int) -> ProfilerState:
        if not first <= step < last:
            return ProfilerState.CLOSED
        return ProfilerState.RECORD_AND_RETURN if step == last - 1 else ProfilerState.RECORD

    return between
