"""Which functions of Python's library act on the world, or tell of it: files, streams, processes, clocks, threads.

One table. A call of converted code is looked up here, and so is what the code of others calls while it is traced.
"""

from __future__ import annotations

import io
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from paddle_lite_py.core.memo import memo


class Acts(NamedTuple):
    """Each run makes the call: what it gives is nothing, or a number of this type."""

    gives: type | None = None
    is_seen: bool = True  # by what Tells
    may_fail: bool = True  # so that a handler around has to see it


class Tells(NamedTuple):
    """The result of an external query is a condition of the program: it is checked again before each run."""


class Needed(NamedTuple):
    """No program can make the call, for Python needs at once what it gives; `why` says what that is."""

    why: str


class Makes(NamedTuple):
    """Makes text in memory, or what writes to what it is given."""


_QUIET = Acts(is_seen=False, may_fail=False)
_CONTENT, _CLOCK, _SHARED = "what it reads", "the time", "what other threads do"
_OPENS, _STARTS, _DRAWS = "the file that it opens", "what it starts", "what it draws"
_RAISED = "the exception that is handled"
_LOGS = "debug info warning warn error critical fatal log"
_NOTHING = "mkdir rmdir remove unlink rename replace link symlink chmod chown utime truncate putenv unsetenv chdir kill"
_STARTING = "popen fork forkpty posix_spawn posix_spawnp execv execve fork_exec"
_LOOKS = "stat lstat access listdir getcwd"
_TIMES = "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns thread_time"


def _each(module: str, names: str, how: Any) -> dict[str, Any]:
    return {f"{module}.{name}": how for name in names.split()}


_TABLE: dict[str, Any] = {
    **_each("logging.Logger", _LOGS, _QUIET),
    **_each("logging.LoggerAdapter", _LOGS, _QUIET),
    **_each("logging", _LOGS, _QUIET),
    **_each("logging.Logger", "exception", Needed(_RAISED)),
    **_each("logging.LoggerAdapter", "exception", Needed(_RAISED)),
    **_each("logging", "exception", Needed(_RAISED)),
    **_each("logging.Logger", "isEnabledFor getEffectiveLevel hasHandlers", Tells()),
    **_each("warnings", "warn warn_explicit", _QUIET),
    **_each("os", _NOTHING + " makedirs removedirs renames", Acts()),
    **_each("os", "system write", Acts(int)),
    **_each("os", _LOOKS + " getenv", Tells()),
    **_each("os", "scandir readlink read pipe", Needed(_CONTENT)),
    **_each("os", "open", Needed(_OPENS)),
    **_each("os", "urandom getrandom", Needed(_DRAWS)),
    **_each("os", _STARTING, Needed(_STARTS)),
    **_each("genericpath", "exists isfile isdir getsize getmtime", Tells()),
    **_each("posixpath", "exists isfile isdir islink realpath", Tells()),
    **_each("pathlib.Path", "exists is_file is_dir resolve", Tells()),
    **_each("shutil", "rmtree", Acts()),
    **_each("io", "open open_code", Needed(_OPENS)),
    **_each("_io", "open open_code", Needed(_OPENS)),
    **_each("builtins", "open", Needed(_OPENS)),
    **_each("builtins", "input", Needed(_CONTENT)),
    **_each("json", "dump", Acts()),
    **_each("_pickle", "dump", Acts()),
    **_each("pprint", "pprint pp", _QUIET),
    **_each("_csv.writer", "writerow", Acts(int)),
    **_each("_csv.Writer", "writerow", Acts(int)),
    **_each("_csv.writer", "writerows", Acts()),
    **_each("_csv.Writer", "writerows", Acts()),
    **_each("csv.DictWriter", "writerow writeheader", Acts(int)),
    **_each("csv.DictWriter", "writerows", Acts()),
    **_each("time", "sleep", _QUIET),
    **_each("time", _TIMES, Needed(_CLOCK)),
    **_each("datetime.datetime", "now utcnow today", Needed(_CLOCK)),
    **_each("datetime.date", "today", Needed(_CLOCK)),
    **_each("queue.Queue", "put put_nowait task_done", Acts()),
    **_each("_queue.SimpleQueue", "put put_nowait", Acts()),
    **_each("multiprocessing.queues.Queue", "put put_nowait", Acts()),
    **_each("queue.Queue", "get get_nowait join", Needed(_SHARED)),
    **_each("_queue.SimpleQueue", "get get_nowait", Needed(_SHARED)),
    **_each("queue.Queue", "qsize empty full", Tells()),
    **_each("_queue.SimpleQueue", "qsize empty", Tells()),
    **_each("threading.Event", "set clear", Acts()),
    **_each("threading.Event", "is_set", Tells()),
    **_each("threading.Event", "wait", Needed(_SHARED)),
    **_each("threading.Condition", "wait wait_for notify notify_all", Needed(_SHARED)),
    **_each("threading.Semaphore", "acquire release", Needed(_SHARED)),
    **_each("threading.Barrier", "wait", Needed(_SHARED)),
    **_each("threading.Thread", "__init__ start join", Needed(_STARTS)),
    **_each("_thread.lock", "acquire release", Needed(_SHARED)),
    **_each("_thread.RLock", "acquire release", Needed(_SHARED)),
    **_each("_thread", "start_new_thread start_joinable_thread", Needed(_STARTS)),
    **_each("_posixsubprocess", "fork_exec", Needed(_STARTS)),
    **_each("atexit", "register unregister", Needed("what it registers")),
    **_each("_socket.socket", "sendall", Acts()),
    **_each("_socket.socket", "send sendto", Acts(int)),
    **_each("_socket.socket", "recv recvfrom recv_into accept connect bind listen close", Needed(_SHARED)),
    "_csv.writer": Makes(),
    **_each("_io", "StringIO BytesIO TextIOWrapper", Makes()),
    **_each("os", "walk fwalk", Needed(_CONTENT)),
    **_each("pathlib.Path", "iterdir glob rglob", Needed(_CONTENT)),
    **_each("numpy", "save savez savez_compressed savetxt", Acts()),
    **_each("numpy", "load loadtxt genfromtxt fromfile memmap", Needed(_CONTENT)),
    **_each("numpy.ndarray", "tofile dump", Acts()),
    **_each("paddle_lite_py.framework.io", "save", Acts()),
    **_each("paddle_lite_py.framework.io", "load", Needed(_CONTENT)),
    **_each("contextlib._RedirectStream", "__enter__", Needed("where prints go")),
}
# Of streams, files or text in memory.
_STREAMS: dict[str, Any] = {
    "write": Acts(int, may_fail=False),
    **dict.fromkeys(["writelines", "flush", "close"], Acts(may_fail=False)),
    **dict.fromkeys(["isatty", "fileno", "readable", "writable", "seekable"], None),
}
_OTHER_METHOD = Needed(_CONTENT)
_CONNECTIONS = ("sqlite3", "_ssl", "mmap", "select", "_multiprocessing")  # modules whose objects are ties to the world
# Effects of library code while it is traced: they hardly ever decide what a program is.
_HARMLESS = frozenset({"warnings", "logging", "_thread.lock", "_thread.RLock", "os.getcwd", "os.getenv", "atexit"})
_MODULES = {"posix": "os", "nt": "os", "_warnings": "warnings", "_datetime": "datetime", "pathlib._local": "pathlib"}


def entry(f: Any) -> Any:
    """Return the effect of calling a function, or a bound method of a builtin type, on the world; None: none.

    Examples:
        >>> import time
        >>> entry(time.sleep).gives, entry(time.time).why, entry(len)
        (None, 'the time', None)
    """
    if isinstance(f, types.BuiltinFunctionType):
        return _of_builtin(f)
    return _TABLE.get(name_of(f)) if hasattr(f, "__qualname__") and not isinstance(f, types.MethodType) else None


def of_stream(method: str) -> Any:
    """Return the effect of a method of a file, or of text in memory."""
    return _STREAMS.get(method, None if method.startswith("__") else _OTHER_METHOD)


def _of_builtin(f: Any) -> Any:
    owner: Any = f.__self__
    if isinstance(owner, io.IOBase):
        return of_stream(f.__name__)
    if owner is None or isinstance(owner, types.ModuleType):
        return _TABLE.get(name_of(f))
    kind = owner if isinstance(owner, type) else type(owner)
    if kind.__module__ in _CONNECTIONS:
        return _OTHER_METHOD
    return next((found for name in _names_of_type(kind) if (found := _TABLE.get(f"{name}.{f.__name__}"))), None)


# Key: the class, whose bases do not change.
@memo(256, context=False)
def _names_of_type(kind: type) -> tuple[str, ...]:
    return tuple([f"{_MODULES.get(c.__module__, c.__module__)}.{c.__qualname__}" for c in kind.__mro__])


def name_of(f: Any) -> str:
    """Return the name of a function in its module, for the table and for people.

    Examples:
        >>> import os
        >>> name_of(os.mkdir), name_of(io.StringIO().write)
        ('os.mkdir', '_io.StringIO.write')
    """
    owner = getattr(f, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        module: Any = getattr(f, "__module__", None) or getattr(owner, "__name__", "")
        return f"{_MODULES.get(module, module)}.{getattr(f, '__qualname__', type(f).__name__)}".lstrip(".")
    kind = owner if isinstance(owner, type) else type(owner)
    return f"{kind.__module__}.{kind.__qualname__}.{f.__name__}"


def acts_in_library(f: Any, streams: list[Any]) -> bool:
    """Whether what the code of others calls acts on the world.

    Arguments:
        streams: what is text in memory, and the user has given it: other such text is its own.
    """
    found = entry(f)
    if found is None or name_of(f).startswith(tuple(_HARMLESS)):
        return f is print
    owner = f.__self__ if isinstance(f, types.BuiltinFunctionType) else None
    in_memory = isinstance(owner, io.StringIO | io.BytesIO)
    return any(owner is s for s in streams) if in_memory else not isinstance(found, Tells) or "os." in name_of(f)


def streams_in(values: Any, depth: int = 2) -> Iterator[Any]:
    """Text in memory among arguments of a call, in what they hold, and in their attributes."""
    for value in values:
        if isinstance(value, io.StringIO | io.BytesIO):
            yield value
        elif depth and isinstance(value, list | tuple):
            yield from streams_in(value, depth - 1)
        elif depth and hasattr(value, "__dict__") and not isinstance(value, types.ModuleType | type):
            yield from streams_in(list(vars(value).values()), depth - 1)


def environment(name: str) -> Any:
    """Return the effect of a method of os.environ: those that read, and those that change it."""
    if name in ("get", "__getitem__", "__contains__", "__len__", "keys", "copy"):
        return Tells()
    return Acts() if name in ("__setitem__", "__delitem__", "update") else _OTHER_METHOD
