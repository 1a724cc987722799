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
from .kernels import annotate
from .recorder import Recorder
from .result import ProfilerResult, load_profiler_result
from .schedule import ProfilerState, as_scheduler
from .tables import UNITS, SortedKeys, SummaryView, tables

__all__ = ["Profiler", "ProfilerTarget", "export_chrome_tracing", "export_protobuf"]


class ProfilerTarget(Enum):
    """The devices to record; JAX records all that exist.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.profiler.ProfilerTarget][:2]
        ['CPU', 'GPU']
    """

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


RECORDING = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Any], None]:
    """Return an on_trace_ready handler that writes each recording into a folder, for Perfetto and chrome://tracing.

    Arguments:
        dir_name: the folder; it is made where there is none.
        worker_name: what the names of files begin with; "host" by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> callable(paddle.profiler.export_chrome_tracing("traces"))
        True
    """

    def export(profiler: Any) -> None:
        profiler.export(str(Path(dir_name) / f"{worker_name or 'host'}_time_{_now()}_{profiler.step_num}.json"))

    return export


def export_protobuf(dir_name: str, worker_name: str | None = None) -> Callable[[Any], None]:
    """Return a handler that writes each recording for TensorBoard's profiler: tensorboard --logdir DIR_NAME.

    Arguments:
        dir_name: the folder; it is made where there is none.
        worker_name: the name of the file; "host" by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> callable(paddle.profiler.export_protobuf("traces"))
        True
    """

    def export(profiler: Any) -> None:
        folder = Path(dir_name) / "plugins" / "profile" / f"{_now()}_{profiler.step_num}"
        profiler.export(str(folder / f"{worker_name or 'host'}.xplane.pb"), format="pb")

    return export


def _now() -> str:
    return time.strftime("%Y_%m_%d_%H_%M_%S")


class Profiler:
    """Records steps of a program: start(), step() after each step, stop().

    What the thread runs that starts it is recorded as operations, each with the line of the user's code that it comes
    from: eager ops, backward, updates, and the operators of compiled programs. While it records, each operation is
    waited for, and ops run one by one.

    Arguments:
        targets: of which kinds of devices operations are kept; of all by default.
        scheduler: what to do in each step, as of make_scheduler(); (first, last) to record these steps; None: all.
        on_trace_ready: called with the profiler after each recording.
        record_shapes: keep the shapes of arguments with each eager op.
        profile_memory: count the bytes of XLA's arrays after each operation; small tensors on the CPU are NumPy arrays.
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
        self.scheduler = as_scheduler(scheduler)
        self.targets = set(ProfilerTarget if targets is None else targets)
        self.on_trace_ready, self.timer_only = on_trace_ready, timer_only
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.step_num = 0
        self.current_state = ProfilerState.CLOSED
        self.profiler_result: ProfilerResult | None = None
        self._folder: str | None = None
        self._recorder: Any = None
        self._step: Any = None  # the span of the step under way
        self._times: list[tuple[float, int]] = []
        self._recorded: list[float] = []  # seconds of the steps of the last recording
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
        if self._folder is not None:
            self._recorded.append(now - self._since)
            self._end_step()
        if self.current_state is ProfilerState.RECORD_AND_RETURN:
            self._finish()
        self.step_num += 1
        self._since = time.perf_counter()
        self._enter(self.scheduler(self.step_num))

    def _enter(self, state: ProfilerState) -> None:
        if state in RECORDING and self._folder is None and not self.timer_only:
            self._record()
        elif state not in RECORDING and self._folder is not None:
            self._finish()
        if self._folder is not None:
            self._step = jax.profiler.StepTraceAnnotation("step", step_num=self.step_num)
            self._step.__enter__()
        self.current_state = state

    def _record(self) -> None:
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0  # Python calls are not recorded: they would cost more than the rest
        self._folder = tempfile.mkdtemp(prefix="profile")
        jax.profiler.start_trace(self._folder, profiler_options=options)
        self._recorded = []
        self._recorder = Recorder(self.record_shapes, self.profile_memory)
        self._recorder.start()

    def _end_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)

    def _finish(self) -> None:
        if self._folder is None:
            return
        self._end_step()
        jax.effects_barrier()
        self._recorder.stop()
        jax.profiler.stop_trace()
        folder, self._folder = Path(self._folder), None
        try:
            whole = _read(folder, self._recorder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.profiler_result = whole.of({"CPU" if t is ProfilerTarget.CPU else "GPU" for t in self.targets})
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def step_info(self, unit: str | None = None) -> str:
        """Time of a step, and samples a second, since the last call.

        Arguments:
            unit: the unit of samples; "samples/s" by default, "steps/s" where step() got no number.
        """
        if not self._times:
            return ""
        seconds, samples = (sum(v) for v in zip(*self._times, strict=True))
        count, self._times = len(self._times), []
        rate = (samples or count) / max(seconds, 1e-12)
        return f" batch_cost: {seconds / count:.5f} s ips: {rate:.3f} {unit or ('samples/s' if samples else 'steps/s')}"

    def export(self, path: str = "", format: str = "json") -> None:
        """Write the last recording as a file.

        Arguments:
            path: of the file; folders are made where there are none.
            format: "json" for Perfetto and chrome://tracing, "pb" for TensorBoard.

        Raises:
            RuntimeError: if nothing was recorded.
            ValueError: for another format.
        """
        if self.profiler_result is None:
            raise RuntimeError("Profiler.export: nothing was recorded")
        if format not in ("json", "pb"):
            raise ValueError(f"Profiler.export: format is {format!r}; it is 'json' or 'pb'")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if format == "pb":
            Path(path).write_bytes(self.profiler_result.xplane or b"")
        else:
            Path(path).write_text(json.dumps({"traceEvents": self.profiler_result.events}))

    @no_effect(thread_sep="spans are of one thread, and kernels of no thread of the user's")
    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: SummaryView | Iterable[SummaryView] | None = None,
    ) -> None:
        """Print tables of the last recording: by operation, by line of the user's code, and more.

        Arguments:
            sorted_by: what the rows are ordered by.
            op_detail: whether there is a table by line.
            time_unit: "s", "ms", "us" or "ns".
            views: which tables; all that have rows by default. ModelView is the one by line.

        Raises:
            ValueError: for another unit.
        """
        if time_unit not in UNITS:
            raise ValueError(f"Profiler.summary: time_unit is {time_unit!r}; it is one of {', '.join(UNITS)}")
        wanted = {views} if isinstance(views, SummaryView) else set(SummaryView if views is None else views)
        result = self.profiler_result or ProfilerResult([])
        print("\n\n".join(tables(result, self._recorded, sorted_by, op_detail, time_unit, wanted)))


def _read(folder: Path, recorder: Recorder) -> ProfilerResult:
    """Read a recording from a folder, each event with its operation and line."""
    found, planes = sorted(folder.rglob("*.trace.json.gz")), sorted(folder.rglob("*.xplane.pb"))
    if not found:
        return ProfilerResult([])
    events = [e for e in load_profiler_result(str(found[0])).events if "ph" in e]
    annotate(events, recorder.spans)
    return ProfilerResult(events, planes[0].read_bytes() if planes else None)
