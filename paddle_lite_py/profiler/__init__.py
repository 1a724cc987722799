"""Where the time goes: JAX's profiler behind Paddle's names."""

from .profiler import (
    Profiler,
    ProfilerState,
    ProfilerTarget,
    SortedKeys,
    SummaryView,
    export_chrome_tracing,
    export_protobuf,
    make_scheduler,
)
from .record import RecordEvent
from .result import ProfilerResult, load_profiler_result

__all__ = [
    *("Profiler", "ProfilerResult", "ProfilerState", "ProfilerTarget", "RecordEvent", "SortedKeys", "SummaryView"),
    *("export_chrome_tracing", "export_protobuf", "load_profiler_result", "make_scheduler"),
]
