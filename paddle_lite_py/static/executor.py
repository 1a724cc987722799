"""Executor: runs programs, compiled once for each kind of feed."""

from __future__ import annotations

import difflib
import threading
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..core import symbolic
from ..core.arrays import as_array, is_array
from ..core.dtypes import from_numpy
from ..core.flags import is_earlier_generation
from ..core.no_effect import Immaterial, no_effect
from ..core.place import as_place
from ..eager.random import default_generator
from ..eager.tensor import Tensor, wrap
from ..ir.block import Value
from ..ir.parts import broadcasting
from ..tracing.executor import Executable
from .block import _hint
from .current import current
from .dataset import run_batches
from .program import Program
from .scope import Scope, global_scope, scope_guard
from .scope_variable import ScopeVariable
from .served import ServedBatch, ServedRun, read, reads_ahead
from .snapshot import traced
from .strategy import CompiledProgram

if TYPE_CHECKING:
    from ..targets import Report

__all__ = ["Executor"]

_making = threading.Lock()


class PreparedProgram:
    """A program for one list of fetches and one scope."""

    def __init__(self, program: Program, fetches: list[Value], scope: Scope, updates: bool = True) -> None:
        self.version, self.scope = program.builder.version, scope
        self.kept: Any = None  # what the key is made of, so that its ids stay taken
        made = traced(program, fetches, scope, updates)
        self.states = made.captures
        self.feeds = made.program.block.inputs[: made.n_args]
        self.names = [str(v.name) for v in self.feeds]
        self.known = program.feeds
        self.unknown = program.builder.unknown
        self.broadcasting = broadcasting(made.program)
        self.executable = Executable(made, "program")
        self.builder = program.builder if program.builder.adopted() else None
        self.kinds: list[Any] = []  # shape and dtype of each feed of the last run

    def run(self, feed: dict[str, Any]) -> list[Tensor]:
        """Results for a feed. Its arrays are copied: they are the user's, who may fill them anew for the next run."""
        args: list[Tensor] = []
        if len(feed) != len(self.names):
            self._check_names(feed)
        same = bool(self.kinds)
        for name, value in zip(self.names, self.feeds, strict=True):
            try:
                given = feed[name]
            except KeyError:
                self._check_names(feed)
                raise self._missing(name) from None
            if given.__class__ is np.ndarray:
                array = given.copy()
            else:
                array = feed_array(given, value.dtype)
            same = same and (array.shape, array.dtype) == self.kinds[len(args)]
            args.append(wrap(array))
        if not same:
            self._check(args)
        if self.builder is not None:
            self.builder.read_handles()
        out: list[Tensor] = self.executable.run(args)
        if self.builder is not None:
            self.builder.tell_handles()
        return out

    def _check_names(self, feed: dict[str, Any]) -> None:
        for name in feed:
            if name not in self.known:
                near = _hint(difflib.get_close_matches(name, self.known))
                has = ", ".join(self.known) or "none"
                warnings.warn(f"feed: the program has no data '{name}'{near}; it has {has}", stacklevel=5)

    def _missing(self, name: str) -> Exception:
        wants = ", ".join(self.names)
        return ValueError(f"feed: '{name}' is missing; what is fetched and updated needs {wants}: add feed['{name}']")

    def _check(self, args: list[Tensor]) -> None:
        for tensor, value in zip(args, self.feeds, strict=True):
            array: Any = tensor._payload
            fits = len(array.shape) == len(value.shape) and all(
                not isinstance(w, int) or w == g for w, g in zip(value.shape, array.shape, strict=True)
            )
            if not fits or array.dtype != value.dtype:
                wanted = [n if isinstance(n, int) else -1 for n in value.shape]
                raise ValueError(
                    f"feed '{value.name}' is {array.dtype}{list(array.shape)}, but data '{value.name}' is declared as "
                    f"{from_numpy(value.dtype).name}{wanted}; feed such an array, or declare it so"
                )
        shapes = [t._payload.shape for t in args]
        try:
            dims = symbolic.solve([v.shape for v in self.feeds], shapes)
            for value, shape in zip(self.feeds, shapes, strict=True):
                for want, got in zip(value.shape, shape, strict=True):
                    if symbolic.evaluate(want, dims) != got and not (got == 1 and str(want) in self.broadcasting):
                        raise ValueError(f"'{value.name}' has the size {got} where {want} is expected")
        except ValueError as e:
            fed = ", ".join(f"'{n}' {list(s)}" for n, s in zip(self.names, shapes, strict=True))
            raise ValueError(f"feed: {e}; the program takes these sizes to be the same; fed were {fed}") from None
        self.unknown.check(dims)
        self.kinds = [(t._payload.shape, t._payload.dtype) for t in args]

    @property
    def compilations(self) -> int:
        """The number of kinds of feeds that it has been traced and compiled for; others were found on the disk."""
        return self.executable.traces


def feed_array(given: Any, dtype: Any) -> Any:
    """Return a feed that is no NumPy array: tensors as they are, lists and numbers in the dtype declared."""
    if isinstance(given, Tensor):
        return given._array("feed")
    if isinstance(given, jax.Array):
        return given
    if hasattr(given, "__array__"):
        return np.array(given)
    try:
        return np.array(given, dtype)  # a copy too: of a buffer, NumPy's array would be a view
    except (TypeError, ValueError) as e:
        raise TypeError(f"feed: a {type(given).__name__} is no array of {dtype}: {e}") from None


class Executor:
    """Run programs on a device.

    A program is compiled at the first run with a list of fetches and the shapes and dtypes of its feeds; later runs
    reuse it. The state of the program is read from the scope and updated there.

    Arguments:
        place: the device; None: the current device.

    Raises:
        ValueError: if there is no such device.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.data("x", [None, 2]) * 3
        >>> exe = Executor()
        >>> exe.run(startup)
        []
        >>> exe.run(main, feed={"x": np.ones([1, 2], "float32")}, fetch_list=[y])
        [array([[3., 3.]], dtype=float32)]
        >>> paddle.disable_static()
    """

    def __init__(self, place: Any = None) -> None:
        self.place = place
        device = None if place is None else as_place(place).device
        self._device = None if device == jax.local_devices()[0] else device  # that of XLA needs no word in each run

    @no_effect(
        feed_var_name=Immaterial("feeds have names of their own"),
        fetch_var_name=Immaterial("fetches have names of their own"),
        use_program_cache=Immaterial("programs are always kept compiled"),
        use_prune=Immaterial("what nothing needs is never computed"),
    )
    def run(
        self,
        program: Any = None,
        feed: Any = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        use_prune: bool = False,
    ) -> list[Any]:
        """Run a program once: its operators and the updates of its state, or for a startup program the initialization.

        Arguments:
            program: the program; None: the default main program.
            feed: arrays by the names of the inputs.
            fetch_list: tensors, or their names, whose values to return.
            scope: the scope with the state; None: the current one.
            return_numpy: return NumPy arrays; False: tensors. Default: True.

        Returns:
            A list with the value of each element of fetch_list.

        Raises:
            ValueError: if a feed is missing, unknown, or of another shape or dtype, or a fetch does not exist.
            RuntimeError: if the state is not initialized.
        """
        if self._device is not None:
            with jax.default_device(self._device):
                return self._run(program, feed, fetch_list, scope, return_numpy)
        return self._run(program, feed, fetch_list, scope, return_numpy)

    def _run(self, program: Any, feed: Any, fetch_list: Any, scope: Scope | None, return_numpy: bool) -> list[Any]:
        if program.__class__ is not Program:
            program = _program(program)
        where = scope or global_scope()
        if program.initials:
            _start(program, where)
        if program.pipeline is not None:
            return program.pipeline.run(self, feed, _flat(fetch_list), where, return_numpy)
        if program.lookups:
            return self._run_served(program, feed, fetch_list, where, return_numpy)
        return self._run_alone(program, feed, fetch_list, where, return_numpy)

    def _run_alone(self, program: Program, feed: Any, fetch_list: Any, where: Scope, return_numpy: bool) -> list[Any]:
        listed = _flat(fetch_list)
        key = (id(where), where.reshaped, True, *[f if f.__class__ is str else id(f) for f in listed])
        compiled = program.compiled.get(key)
        if compiled is None or compiled.version != program.builder.version:
            if not listed and not program.builder.root.block.ops:
                return []
            compiled = self._compiled(program, listed, key, where)
        feed = feed.__class__ is dict and feed or _feed(feed)
        outs = compiled.run(feed)
        if not return_numpy:
            return outs
        return [np.array(t._payload) for t in outs]

    def _run_served(self, program: Program, feed: Any, fetch_list: Any, where: Scope, return_numpy: bool) -> list[Any]:
        """Return a run of a program whose tables servers keep."""
        step = ServedRun(program, where)
        again = not isinstance(feed, ServedBatch) and step.skips()
        if again and not fetch_list:
            return []
        batch = feed if isinstance(feed, ServedBatch) else self._batch(program, _feed(feed), where)
        step.begin()
        step.refresh()
        before = step.state() if again else {}
        outs = self._run_alone(program, batch.feed, [*_flat(fetch_list), *step.gradients], where, return_numpy)
        wanted = len(outs) - len(step.gradients)
        if again:
            step.put_back(before)
        else:
            step.give(batch, outs[wanted:])
        return outs[:wanted]

    def _batch(self, program: Program, feed: dict[str, Any], where: Scope) -> ServedBatch:
        """Return a feed with the rows of tables that servers keep."""
        ServedRun(program, where).begin()

        def compute(names: list[str]) -> list[Any]:
            return [np.asarray(t._payload) for t in self.computed(program, feed, names, where)]

        return read(program.lookups, feed, compute)

    def computed(self, program: Program, feed: dict[str, Any], fetch_list: Sequence[Any], scope: Scope) -> list[Tensor]:
        """Run a program without its updates."""
        key = (id(scope), scope.reshaped, False, *[f if f.__class__ is str else id(f) for f in fetch_list])
        made: PreparedProgram | None = program.compiled.get(key)
        if made is None or made.version != program.builder.version:
            made = self._compiled(program, fetch_list, key, scope, False)
        return made.run(feed)

    @no_effect(thread="XLA computes with all cores", debug="times of steps are what paddle.profiler shows")
    def train_from_dataset(
        self, program: Any = None, dataset: Any = None, scope: Scope | None = None, thread: int = 0,
        debug: bool = False, fetch_list: Sequence[Any] | None = None, fetch_info: Sequence[str] | None = None,
        print_period: int = 100, fetch_handler: Any = None,
    ) -> None:  # fmt: skip
        """Run a program once for each batch of a data set.

        Arguments:
            program: the program; None: the default main program.
            dataset: an InMemoryDataset, a QueueDataset, or an iterable of feeds: dicts from names to arrays.
            scope: the scope with the state; None: the current one.
            fetch_list: tensors to print every print_period batches.
            fetch_info: the names to print them under.
            print_period: number of batches between two prints. Default: 100.
            fetch_handler: object whose handler(dict) is called instead of printing.

        Raises:
            TypeError: if dataset yields anything but feeds.
        """
        chosen = _program(program)

        def run(feed: Any, fetches: list[Any]) -> list[Any]:
            return self.run(chosen, feed, fetches, scope=scope)

        def prepared(feed: Any) -> Any:
            """Return the feed with its rows, where they may be read while the batch before it is trained on."""
            return self._batch(chosen, feed, scope or global_scope()) if reads_ahead(chosen) else feed

        skips = ServedRun(chosen, scope or global_scope()).skips
        run_batches(run, dataset, fetch_list or [], fetch_info, print_period, fetch_handler, prepared, skips)

    def infer_from_dataset(self, program: Any = None, *args: Any, **kwargs: Any) -> None:
        """Like train_from_dataset(), in evaluation mode: nothing is updated."""
        self.train_from_dataset(_program(program).clone(for_test=True), *args, **kwargs)

    def _compiled(self, program: Program, listed: Any, key: Any, scope: Scope, updates: bool = True) -> PreparedProgram:
        with _making:
            fits = program
            if scope.reshaped and is_earlier_generation():  # programs of that generation run with what a scope has
                fits = program.described("views").fitted(program, scope)
            made = PreparedProgram(fits, [fetched(fits, f) for f in listed], scope, updates)
            made.kept, made.version = tuple(listed), program.builder.version
            return program.compiled.put(key, made)

    def compile_for(
        self, target: Any, program: Any = None, feed: Any = None, fetch_list: Any = None, scope: Scope | None = None
    ) -> Report:
        """Compile a program for a machine that is not here, and tell what comes of it; its state needs no values yet.

        Arguments:
            target: "cpu", "h200", a TPU ("v5e") with or without its topology ("v5p:8x8x8"), or a file with the target
                configuration of a GPU.
            feed: arrays or shapes by the names of its data, where these have unknown dimensions.
            program, fetch_list, scope: as of run().

        Raises:
            TargetError: if nobody knows the target, or its compiler is not installed.
            ValueError: if a dimension is not known.

        Examples:
            >>> paddle.enable_static()
            >>> main = paddle.static.Program()
            >>> with paddle.static.program_guard(main):
            ...     y = paddle.static.data("x", [None, 2]) * 3
            >>> Executor().compile_for("cpu", main, {"x": [4, 2]}, [y]).memory.arguments
            32
            >>> paddle.disable_static()
        """
        from ..targets import compile_traced

        chosen = _program(program)
        where = _with_shapes(chosen, scope or global_scope())
        made = PreparedProgram(chosen, [fetched(chosen, f) for f in _flat(fetch_list)], where)
        return compile_traced(made.executable, [_fed(v, dict(feed or {})) for v in made.feeds], target)

    def close(self) -> None:
        """Nothing to release: compiled programs go with their Program."""

    def flush(self) -> None:
        """Nothing to flush: a run has written its updates when it returns."""


def _with_shapes(program: Program, scope: Scope) -> Scope:
    """Return a scope where state that has no value yet has a shape."""
    out = Scope()
    out.homes.update(scope.homes)
    for state in program.builder.states.values():
        if isinstance(state, ScopeVariable) and state.home is None and state.name not in out.homes:
            out.homes[state.name] = wrap(jax.ShapeDtypeStruct(state.shape, state.dtype))
    return out


def _fed(value: Value, feed: dict[str, Any]) -> jax.ShapeDtypeStruct:
    """Return the spec of what is fed to a value."""
    given = feed.get(str(value.name), value.shape)
    shape = tuple(getattr(given, "shape", given))
    if not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError(f"compile_for: '{value.name}' has unknown dimensions; give feed={{'{value.name}': [...]}}")
    return jax.ShapeDtypeStruct(shape, value.dtype)


def _program(given: Any) -> Program:
    if given is None:
        return current.main
    if isinstance(given, CompiledProgram):
        return given.program
    if isinstance(given, Program):
        return given
    raise TypeError(f"Executor.run: program is a {type(given).__name__}; expected a paddle.static.Program")


def _feed(feed: Any) -> dict[str, Any]:
    if feed is None or feed == {}:
        return {}
    if isinstance(feed, list | tuple) and len(feed) == 1:
        feed = feed[0]
    if not isinstance(feed, dict):
        raise TypeError(f"feed is a {type(feed).__name__}; expected a dict from names to arrays")
    return feed


def _start(program: Program, scope: Scope) -> None:
    """Make first values, in order, on the stream of paddle.seed() or of the program's own seed."""
    before = wrap(default_generator.state._payload)  # now: get_state() would ask the program under construction
    if program.random_seed:
        default_generator.manual_seed(program.random_seed)
    with scope_guard(scope):
        for initial in program.initials.values():
            scope.set(initial.variable.name, as_array(initial.draw(), initial.variable.dtype))
    if program.random_seed:
        default_generator.set_state(before)


def _flat(fetches: Any) -> list[Any]:
    """Flatten a fetch list with nested lists."""
    if not isinstance(fetches, list | tuple):
        return [] if fetches is None else [fetches]
    nested = any(isinstance(f, list | tuple) for f in fetches)
    return [f for each in fetches for f in _flat(each)] if nested else list(fetches)


def fetched(program: Program, wanted: Any) -> Value:
    """Return the value that a fetch names: of state the one after the run."""
    builder, made_eagerly = program.builder, None
    if isinstance(wanted, Tensor):
        variable = current.main.builder.variable_of(wanted)
        if variable is None and isinstance(wanted._payload, Value):
            return builder.clone_of(wanted._payload)
        if variable is not None and variable.name not in builder.captures:
            return builder.value_of(wrap(variable))
        made_eagerly = wanted if variable is None and is_array(wanted._payload) else None  # as tril_indices() is
        wanted = wanted.name if variable is None else variable.name
    if not isinstance(wanted, str):
        raise TypeError(f"fetch_list holds a {type(wanted).__name__}; expected tensors of the program or their names")
    names = {v.name: v for v in builder.root.block.inputs}
    names.update({v.name: v for op in builder.root.block.ops for v in op.outputs})
    names.update({name: value for name, (_, value) in builder.finals().items()})
    if wanted in names:
        return names[wanted]
    if wanted in program.parameters:
        return builder.value_of(program.parameters[wanted])
    if made_eagerly is not None:
        return builder.value_of(made_eagerly)
    near = _hint(difflib.get_close_matches(wanted, [n for n in dict.fromkeys([*names, *program.parameters]) if n]))
    raise ValueError(f"fetch_list: the program has no variable '{wanted}'{near}")
