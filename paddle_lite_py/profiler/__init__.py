"""Where the time goes, by operation and by line of the user's code: JAX's profiler behind Paddle's names."""

from ..core.argument_docs import document as _document
from .profiler import Profiler, ProfilerTarget, export_chrome_tracing, export_protobuf
from .record import RecordEvent
from .result import ProfilerResult, load_profiler_result
from .schedule import ProfilerState, make_scheduler
from .tables import SortedKeys, SummaryView

__all__ = [
    *("Profiler", "ProfilerResult", "ProfilerState", "ProfilerTarget", "RecordEvent", "SortedKeys", "SummaryView"),
    *("export_chrome_tracing", "export_protobuf", "load_profiler_result", "make_scheduler"),
]

_document(globals())
