"""Large programs are compiled by a process of their own (`compiler.py`), and kept on disk.

XLA's compiler takes memory in several threads at once. In the one heap of this process (`memory.py`) they wait for each
other, for a quarter of the time; and they leave that heap in pieces, in which all that runs later has its arrays: a
training step of a MobileNet takes 35 ms then, and 25 in a process that has not compiled it.

Nobody waits for it where the baseline tier (`host/baseline.py`) can run the program until it is there.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import time
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import monitoring

from ..core import memory, progress, small
from ..core.config import kept_in
from ..core.jax_compat.executables import programs_from_disk
from ..core.jax_compat.versions import warn_unknown
from ..core.jax_compat.xla import COMPILED
from ..core.mappings import dropping
from ..core.memo import Memo
from ..core.nan_checks import run_checked
from ..core.processes import world
from ..core.switches import baseline_tier, compiler_process, nan_checks
from . import executables
from .compiler_process import CompilerJob, process
from .executables import ExecutableFile
from .inline import spec_on
from .named_programs import NamedExecutable, NamedPrograms
from .traced import TracedFunction, specs_of

# Equations above which the process compiles a program although the caller waits (some six seconds, of which handing it
# over and loading it take half of one), and from which on the baseline tier runs it until it is compiled.
LARGE, BASELINE = 3800, 250
# Operators from which on a program may have as many; and from which on the process is started before that is known,
# unless there are programs on the disk for arguments like these.
FEW, MANY = 20, 200
# About how many seconds XLA takes to compile an equation, and which part of them a call may take on the baseline tier;
# the same where a file may have the executable, which takes some time to find and to load.
PER_EQUATION, SHARE, SHARE_IF_ALIKE = 1.2e-3, 0.25, 0.06
MAX_KINDS = 64
_ARRAYS = (jax.Array, np.ndarray)
Function = Callable[..., Any]


def may_be_large(operators: int) -> bool:
    """Whether a program of so many operators may be one that another process compiles."""
    return operators >= FEW


def may_warm() -> bool:
    """Whether NumPy may run a large program that is not compiled yet."""
    return baseline_tier.on and serves() and not nan_checks.on


def warm_seconds(equations: int, share: float = SHARE) -> float:
    """How long NumPy may take for a call of a program of so many equations."""
    return equations * PER_EQUATION * share


def serves() -> bool:
    """Whether another process may compile programs of this one: those of one CPU, with the heap as it is set here."""
    return (
        compiler_process.on
        and memory.heap.is_one
        and not process.refused
        and jax.default_backend() == "cpu"
        and jax.local_device_count() == 1
        and getattr(jax.config, "jax_default_device", None) is None
        and world().size == 1
    )


class UncompiledRuns(Protocol):
    """What runs a program without a compiler: see host/baseline.py."""

    def of(self, traced: TracedFunction, seconds: float) -> Function | None:
        """Return a function that takes no longer than that; None where there is none."""

    def known(self, args: Sequence[Any], seconds: Callable[[int], float]) -> Function | None:
        """Return the same for what an earlier process has traced."""

    def drop(self, args: Sequence[Any]) -> None:
        """Let later processes not know what they find compiled."""


class OutOfProcessJit:
    """A function of arrays that is compiled in a process of its own, if it is large.

    Arguments:
        fn: the function. donated: of its arguments.
        jit: compiles functions here, if they are large or not; options: XLA's for either.
        operators: how many it is made of.
        baseline: what runs it without a compiler, if anything does.
        text, results: what the function computes, and gives, if that has a text of its own; see named_programs.py.
        device: that it runs on, with arrays of the host and its own; None: the default one.
    """

    def __init__(
        self,
        fn: Function,
        donated: Sequence[int],
        jit: Callable[[Function, bool], Any],
        options: Callable[[bool], dict[str, Any] | None],
        operators: int,
        baseline: UncompiledRuns,
        text: Callable[[], str | None] | None = None,
        results: Callable[[Sequence[Any]], Any] | None = None,
        device: Any = None,
    ) -> None:
        self.fn, self.donated, self.jit, self.options, self.baseline = fn, tuple(donated), jit, options, baseline
        self.name, self.device = fn.__name__, device
        self.named = NamedPrograms(text, self.name, self.donated, results)
        self._may_be_large = operators >= MANY
        self._last: Any = None
        # Key: shapes, dtypes and structure of the arguments; the function is pure.
        self._known: Memo[Any, Any] = Memo(f"kinds of {self.name}", MAX_KINDS)
        _all.add(self)

    # Key: the object itself, whose function stays. Made when it is needed: XLA's options are tried out by compiling.
    @functools.cached_property
    def small(self) -> Any:
        """The function under jax.jit."""
        return self.jit(self.fn, False)

    def lower(self, *args: Any) -> Any:
        """Lower the function, as jax.jit does."""
        return self.small.lower(*args)

    def trace(self, *args: Any) -> Any:
        """Trace the function, as jax.jit does."""
        return self.small.trace(*args)

    def __call__(self, *args: Any) -> Any:
        """Run the program."""
        return run_checked(self._run, self.fn, self.donated, args) if nan_checks.on else self._run(*args)

    def _run(self, *args: Any) -> Any:
        """Run it; arrays of the same kind as in the last call skip all checks."""
        if self._last is not None:
            run, scalars = self._last
            try:
                if all(_is_weak(args[i]) == weak for i, weak in scalars):
                    return run(*args)
            except TypeError:  # of another kind, or no arrays at all
                pass
        if any(isinstance(a, jax.core.Tracer) for a in args):
            return self.small(*args)
        args = _arrays(args)
        key = _kinds(args)
        run = self._known.get(key) or self._known.put(key, self._new(args))
        if isinstance(run, Warming):
            compiled = run.compiled() if baseline_tier.on else self.compiled_here(run.traced)
            if compiled is None:
                try:
                    return run.baseline(*args)
                except Exception as e:  # no error of the program's own, which has looked at its arguments before
                    warn_unknown("a program of the baseline tier", e)
                    compiled = self.compiled_here(run.traced)
            run = self._known.put(key, compiled)
        # XLA's executables do not tell numbers from arrays without dimensions, which promote otherwise.
        self._last = run, [(i, _is_weak(a)) for i, a in enumerate(args) if not a.shape]
        return run(*args)

    def without_compiler(self, *args: Any) -> Function | None:
        """Return a way to run arrays like these, which may not come again, without compiling; None if there is none."""
        if nan_checks.on:
            return None
        arrays = _arrays(args)
        key = _kinds(arrays)
        run = self._known.get(key)
        if run is None:
            run = loaded(self.named.of(arrays), self.device) or self._known_to_warm(arrays)
            run = run or self._warming(TracedFunction(self.fn, arrays))
            if run is not None:
                self._known.put(key, run)
        return run.baseline if isinstance(run, Warming) else run

    def forget(self) -> None:
        """Drop what is compiled."""
        self._last = None
        self._known.clear()

    def _new(self, args: Sequence[Any]) -> Any:
        # jax.jit distinguishes devices; while results are checked, nothing else is compiled for later.
        if jax.default_backend() != "cpu" or jax.device_count() > 1 or nan_checks.on:
            return self.small
        found: Any = loaded(self.named.of(args), self.device)
        if found is not None:
            return found
        is_alike = executables.is_any_alike(self.name, args)
        share = SHARE_IF_ALIKE if is_alike else SHARE
        found = self._known_to_warm(args, share)
        if found is not None:
            return found
        if self._may_be_large and serves() and not is_alike:
            process.start()
        traced = TracedFunction(self.fn, args)
        if traced.closed.effects:
            return self.small
        found = self._warming(traced, share)
        if found is None and serves() and (traced.size >= LARGE or (is_alike and traced.size >= BASELINE)):
            executable = self.executable(traced)
            found = loaded(executable, self.device) or (self._warming(traced) if is_alike else None)
            found = found or self._awaited(executable)
            self.named.note(executable)
        return found or self.compiled_here(traced)

    def _warming(self, traced: TracedFunction, share: float = SHARE) -> Warming | None:
        if traced.size < BASELINE or not may_warm():
            return None
        run = self.baseline.of(traced, warm_seconds(traced.size, share))
        return None if run is None else Warming(self, lambda: traced, run, traced.specs)

    def _known_to_warm(self, args: Sequence[Any], share: float = SHARE) -> Warming | None:
        """Return the same for what an earlier process has traced."""
        run = self.baseline.known(args, lambda size: warm_seconds(size, share)) if may_warm() else None
        if run is None:
            return None
        specs = specs_of(args)
        return Warming(self, lambda: TracedFunction(self.fn, specs), run, specs)

    def executable(self, traced: TracedFunction) -> ExecutableFile:
        """Return the executable of a traced function, which may be in a file."""
        return ExecutableFile(traced, self.name, self.donated, self.options(traced.size >= LARGE))

    def _awaited(self, executable: ExecutableFile) -> Any:
        """It, once another process has compiled it; None where that cannot."""
        if executable.traced.size < LARGE or (job := executable.job()) is None:
            return None
        since = time.perf_counter()
        try:
            process.do(job)
        finally:
            executable.drop_source()
        return loaded(executable, self.device, since)

    def compiled_here(self, traced: TracedFunction) -> Any:
        """Compile in this process for one kind of arguments; all others are refused."""
        specs = traced.specs if self.device is None else [spec_on(self.device, s) for s in traced.specs]
        with programs_from_disk() as found:
            compiled = self.jit(traced.function(), traced.size >= LARGE).lower(*specs).compile()
        if traced.size >= BASELINE and not found and self.named.has_text():
            self.named.note(self.executable(traced), compiled)
        return compiled


class Warming:
    """A kind of arguments that the baseline tier runs until another process has compiled what comes a second time."""

    def __init__(
        self, owner: OutOfProcessJit, trace: Callable[[], TracedFunction], baseline: Function, specs: Sequence[Any]
    ) -> None:
        self.baseline, self._trace, self._specs = baseline, trace, specs
        self._owner = weakref.proxy(owner)
        self._executable: ExecutableFile | None = None
        self._job: CompilerJob | None = None
        self._calls = 0
        self._changed = Counter([(s.shape, s.dtype) for s in (specs[i] for i in owner.donated)])
        if not _steps:
            _steps.append(self)

    # Key: the object itself, whose kind of arguments stays.
    @functools.cached_property
    def traced(self) -> TracedFunction:
        """The traced function."""
        return self._trace()

    # Key: the object itself. It is asked in each call, and to find the name of its file reads the whole text.
    @functools.cached_property
    def _named(self) -> NamedExecutable:
        return self._owner.named.of(self._specs)

    def compiled(self) -> Any:
        """Return the compiled program once it exists; None while the baseline tier runs it."""
        self._calls += 1
        if self._calls == 1:
            return None
        found = self._found()
        if found is not None:
            self._owner.baseline.drop(self._specs)
        return found

    def _found(self) -> Any:
        if self._executable is None:
            named = self._named
            if named.is_being_compiled():  # an earlier process has asked for it: to trace it, and ask again, is waste
                return None
            with memory.paused_collection():
                found = loaded(named, self._owner.device) or self._prepared()
            if found is not None:
                return found
        if self._job is not None and not process.is_done(self._job):
            return None
        assert self._executable is not None
        self._executable.drop_source()
        return loaded(self._executable, self._owner.device) or self._owner.compiled_here(self.traced)

    def _prepared(self) -> Any:
        """Return the compiled program if it is there, or have it compiled."""
        self._executable = self._owner.executable(self.traced)
        self._owner.named.note(self._executable)
        found = loaded(self._executable, self._owner.device)
        if found is not None:
            return found
        self._submit(self._executable)
        if self._changed and self._changed == _steps[0]._changed and self is not _steps[0]:
            if len(_steps) == 1:
                atexit.register(_leave_first_step)  # before the process of the compiler is left, and files are written
            _steps[1:] = [self]
        return None

    def _submit(self, executable: ExecutableFile) -> None:
        job = executable.job()
        progress.cancel()  # nothing waits for it
        if job is not None:
            self._job = process.submit(CompilerJob(job, stays=True))

    def leave(self) -> None:
        """Have it compiled for the next process, which begins with it too, if this one has called it once."""
        with contextlib.suppress(ReferenceError):  # the function is gone
            executable = self._owner.executable(self.traced)
            if self._calls == 1 and self._owner.named.has_text() and executable.path and not executable.path.exists():
                self._owner.named.note(executable)
                self._submit(executable)


# The first step of this process that the baseline tier runs, and the next that changes the same arrays: the first one
# differs where it begins with parameters that NumPy holds.
_steps: list[Warming] = []


def _leave_first_step() -> None:
    if len(_steps) > 1 and kept_in() is not None and serves():
        _steps[0].leave()


def loaded(executable: ExecutableFile | NamedExecutable, device: Any = None, since: float | None = None) -> Any:
    """An executable from its file, if it is there; JAX tells of it as of what it compiles itself, or finds on the disk.

    Arguments:
        device: that it runs on; None: the default one.
        since: when its compilation began, if it did.
    """
    since = since or time.perf_counter()
    found = executable.loaded(device)
    if found is not None:
        seconds = time.perf_counter() - since
        monitoring.record_event_duration_secs(COMPILED, seconds, fun_name=f"jit({executable.name})")
    return found


def _arrays(args: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments with arrays in the place of numbers, which promote as these do."""
    return tuple([a if isinstance(a, _ARRAYS) else jnp.asarray(a) for a in args])


def _kinds(args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([(a.shape, a.dtype, not a.shape and _is_weak(a)) for a in args])


def _is_weak(a: Any) -> bool:
    """Whether `x` is a number, or a JAX array that promotes like one."""
    return a.__class__ in (float, int, bool, complex) or getattr(a, "weak_type", False)


_all: weakref.WeakSet[OutOfProcessJit] = weakref.WeakSet()


def forget() -> None:
    """Drop all executables that are loaded."""
    for each in list(_all):
        each.forget()


dropping.append(forget)
small.on_change(forget)
