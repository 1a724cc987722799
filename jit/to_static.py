"""to_static: a function, method, layer or whole training step that runs as one compiled program."""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

import dy2static
from paddle_lite_py import structure as nested
from paddle_lite_py.arrays import as_array
from paddle_lite_py.eager import EAGER, Eager
from paddle_lite_py.errors import TracedValueError, user_traceback
from paddle_lite_py.executor import Executable
from paddle_lite_py.interpreter import config
from paddle_lite_py.interpreter import state as mode
from paddle_lite_py.nn.layer import Layer
from paddle_lite_py.program import Program
from paddle_lite_py.tensor import Tensor, wrap
from paddle_lite_py.tracing import Traced, trace

from . import guards, spec
from .errors import StagingError
from .runtime import RUNTIME, convert
from .spec import InputSpec

# Kinds of arguments that a function keeps programs for, and programs of one kind under different Python values.
MAX_PROGRAMS = 64
MAX_VARIANTS = 8
STORM = 8


_new = Tensor.__new__


class _Settings:
    enabled = True


settings = _Settings()


class Entry:
    """A compiled program and the conditions under which it stands for the function."""

    def __init__(
        self, executable: Executable, expected: Any, found: list[guards.Guard], settled: list[guards.Guard]
    ) -> None:
        self.executable = executable
        self.run = executable.run
        self.run_with_grad = executable.run_with_grad
        self.traced = executable.traced
        self.expected = expected  # (shape, dtype, stop_gradient) of each tensor argument
        self.grad_enabled = mode.grad_enabled
        self.needs_grad = mode.grad_enabled and any(self.traced.requires_grad)
        # The compiled function itself, where there is nothing to do but call it.
        self.call = executable.jitted if executable.plain and not executable.fixed and not self.needs_grad else None
        # Nothing to look at while no layer's configuration changes.
        self.plain = not (found or self.traced.gradients or self.traced.paths)
        self.flags = [(h, h.stop_gradient) for h in self.traced.captures]
        self.gradients = self.traced.gradients
        # Guards on layers need a look only after some layer's configuration changed.
        self.guards, self.layer_guards, self.epoch = found, settled, config.epoch

    def stale(self) -> guards.Guard | None:
        """The first guard that does not hold any more."""
        for g in self.guards:
            if not g.holds():
                return g
        for place, spec_ in self.traced.paths:
            held = place.get()
            if not isinstance(held, Tensor) or held._data.shape != spec_.shape or held._data.dtype != spec_.dtype:
                return guards.Guard({"": held}, "", spec_, f"{type(place.owner).__name__}.{place.key}")
        for handle, kind in self.gradients:
            held = handle._grad
            found = "some" if held.__class__ is Tensor else "none" if held is None else "zeros"
            if found != kind and not (kind == "empty" and found != "some"):
                return guards.Guard({"grad": found}, "grad", kind, f"the gradient of '{handle.name}'")
        if self.epoch != config.epoch:
            for g in self.layer_guards:
                if not g.holds():
                    return g
            for handle, flag in self.flags:
                if handle.stop_gradient is not flag:
                    return guards.Guard(handle.__dict__, "stop_gradient", flag, f"stop_gradient of '{handle.name}'")
            self.epoch = config.epoch
        return None


class StaticFunction:
    """A function that is traced once for each kind of arguments, and then runs compiled."""

    def __init__(self, function: Callable[..., Any], input_spec: Any = None, full_graph: bool = True) -> None:
        self._function = function
        self._input_spec = input_spec
        self.full_graph = full_graph
        self._last: Entry | None = None
        # The programs of each kind of call, the one used last in front.
        self._entries: OrderedDict[Any, list[Entry]] = OrderedDict()
        self.retraces: list[str] = []
        self.last_call: tuple[Any, ...] | None = None  # the arguments of the last trace, as specs
        self._bound_by_id: dict[int, StaticFunction] = {}
        self.__name__ = type(function).__name__  # a callable object; functions have a name of their own
        functools.update_wrapper(self, function, updated=())

    # -- calling ---------------------------------------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        entry = self._last
        # The hot path: the same kind of tensors as the last call. Comparing is cheaper than making a key.
        if entry is not None and not kwargs and len(args) == len(entry.expected) and mode.interpreter is EAGER:
            arrays = []
            for a, (shape, dtype, stopped) in zip(args, entry.expected):  # noqa: B905  (lengths are equal)
                if a.__class__ is not Tensor or a.stop_gradient is not stopped:
                    break
                data = a._data
                if data.shape != shape or data.dtype is not dtype:
                    break
                arrays.append(data)
            else:
                if mode.grad_enabled is entry.grad_enabled and settings.enabled:
                    if (entry.plain and entry.epoch == config.epoch) or entry.stale() is None:
                        if entry.call is not None:
                            out = _new(Tensor)
                            out._data = entry.call(*arrays)
                            return out
                        return entry.run_with_grad(args) if entry.needs_grad else entry.run(args)
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not settings.enabled:
            return self._function(*args, **kwargs)
        if not isinstance(mode.interpreter, Eager):  # inside another trace: part of that program
            return convert(self._function)(*args, **kwargs)
        try:
            return self._run(args, kwargs)
        except RecursionError:
            raise StagingError(
                f"`{self.__name__}` is recursive without an end that is known while it is traced: a recursion whose "
                "depth depends on a tensor has no static program; write it as a `while` loop"
            ) from None
        except Exception as e:
            raise e.with_traceback(user_traceback(e.__traceback__)) from e.__cause__

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = _tensors(args), {k: _tensor(v) for k, v in kwargs.items()}
        structure, tensors = spec.flatten(args, kwargs)
        entry = self._entry(structure, tensors, args, kwargs)
        plain = mode.interpreter is EAGER and not kwargs and self._input_spec is None
        simple = plain and all(a.__class__ is Tensor for a in args)
        self._last = entry if simple else None
        return entry.run_with_grad(tensors) if entry.needs_grad else entry.run(tensors)

    def _entry(self, structure: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Entry:
        specs = self._specs(args, kwargs, tensors)
        key = self._key(structure, tensors, specs)
        entries = self._entries.setdefault(key, [])
        cause = "first call" if len(self._entries) == 1 else "new kind of arguments"
        for i, entry in enumerate(entries):
            stale = entry.stale()
            if stale is None:
                entries.insert(0, entries.pop(i))
                self._entries.move_to_end(key)
                return entry
            cause = stale.change()
        try:
            entries.insert(0, self._make(structure, tensors, specs, args, kwargs))
        finally:
            del entries[MAX_VARIANTS:]
            if not entries:
                del self._entries[key]
        self._note(f"traced for {_kinds(tensors)}: {cause}")
        if len(self._entries) > MAX_PROGRAMS:
            self._entries.popitem(last=False)
        return entries[0]

    def _key(self, structure: Any, tensors: list[Tensor], specs: list[InputSpec] | None) -> Any:
        kinds: Any = tuple([(t._data.shape, t._data.dtype, t.stop_gradient) for t in tensors])
        if specs is not None:
            kinds = tuple(specs), tuple([t.stop_gradient for t in tensors])
        return mode.grad_enabled, mode.casting, structure, kinds

    def _specs(self, args: Any, kwargs: Any, tensors: list[Tensor]) -> list[InputSpec] | None:
        """The declared spec of each tensor, checked; None where nothing is declared."""
        if self._input_spec is None:
            return None
        declared: list[Any] = []
        nested.flatten(self._input_spec, spec.is_tensor, declared)
        names = spec.argument_names(self._function, args, kwargs)
        if len(declared) > len(tensors):
            raise ValueError(
                f"{self.__name__}: input_spec declares {len(declared)} tensors, "
                f"the call has {len(tensors)} ({', '.join(names)})"
            )
        out = []
        for i, t in enumerate(tensors):
            given = declared[i] if i < len(declared) else InputSpec.from_tensor(t, names[i])
            given = given if isinstance(given, InputSpec) else InputSpec.from_tensor(given)
            given.check(t, names[i] if i < len(names) else f"arg{i}")
            out.append(given)
        return out

    def _make(self, structure: Any, tensors: list[Tensor], specs: Any, args: Any, kwargs: Any) -> Entry:
        shapes = [t._data for t in tensors] if specs is None else spec.symbolic(specs)
        names = spec.argument_names(self._function, args, kwargs)
        self.last_call = tuple([InputSpec.from_tensor(a) if isinstance(a, Tensor) else a for a in args])
        traced = self.trace(structure, shapes, [not t.stop_gradient for t in tensors], names)
        owner = getattr(self._function, "__self__", None)
        layers = [owner, *traced.layers] if isinstance(owner, Layer) else traced.layers
        expected = [(t._data.shape, t._data.dtype, t.stop_gradient) for t in tensors]
        executable = Executable(traced, self.__name__)
        return Entry(executable, expected, guards.of_function(self._function), guards.of_layers(layers))

    def trace(self, structure: Any, shapes: list[Any], grads: list[bool], names: list[str]) -> Traced:
        """Trace the function for given arguments."""
        missing: dy2static.ConversionError | None = None
        try:
            converted = convert(self._function)
        except dy2static.ConversionError as e:  # no source: it may still be traced as it is, if no tensor steers it
            converted, missing = self._function, e

        def call(*tensors: Tensor) -> Any:
            a, k = nested.unflatten(structure, iter(tensors))
            return converted(*a, **k)

        names = names if len(names) == len(shapes) else [f"arg{i}" for i in range(len(shapes))]
        try:
            return trace(call, shapes, grads, names, convert)
        except TracedValueError:
            if missing is not None:
                raise missing from None
            raise

    def _note(self, line: str) -> None:
        self.retraces.append(line)
        if len(self.retraces) % STORM == 0:
            warnings.warn(
                f"`{self.__name__}` has been traced {len(self.retraces)} times, the last time because: {line}; if a "
                "shape changes, declare it with to_static(input_spec=[InputSpec([None, ...])]); if a Python number "
                "does, pass it as a tensor",
                stacklevel=4,
            )

    # -- as a method -----------------------------------------------------------------------------------------------
    def __get__(self, obj: Any, owner: Any = None) -> Any:
        if obj is None:
            return self
        made = self._bound_by_id.get(id(obj))
        if made is None or made._owner() is not obj:
            made = StaticFunction(self._function.__get__(obj, owner), self._input_spec, self.full_graph)
            key, held = id(obj), self._bound_by_id
            made._owner = weakref.ref(obj, lambda _: held.pop(key, None))
            held[key] = made
        return made

    _owner: Any = None

    # -- looking inside --------------------------------------------------------------------------------------------
    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The function as the user wrote it."""
        return self._function

    @property
    def function_spec(self) -> inspect.Signature:
        """Signature of the function."""
        return inspect.signature(self._function)

    @property
    def code(self) -> str:
        """The converted source."""
        return dy2static.to_code(self._function)

    @property
    def program_cache(self) -> list[Entry]:
        """The compiled programs, the one used longest ago first."""
        return [e for entries in self._entries.values() for e in reversed(entries)]

    @property
    def concrete_program(self) -> Program:
        """The program traced last; traced from the input_spec if there is none yet."""
        if not self._entries:
            if self._input_spec is None:
                raise RuntimeError(
                    f"`{self.__name__}` has no program yet: call it once, or give to_static an input_spec"
                )
            return self.traced_for(self._input_spec).program
        return self.program_cache[-1].traced.program

    main_program = concrete_program

    def traced_for(self, input_spec: Any) -> Traced:
        """Trace for declared arguments: InputSpecs, example tensors, and Python values as they are."""
        given = tuple(InputSpec.from_tensor(s) if isinstance(s, Tensor) else s for s in input_spec)
        structure, specs = spec.flatten(given, {})
        names = spec.argument_names(self._function, given, {})
        names = [s.name or n for s, n in zip(specs, names, strict=True)]
        return self.trace(structure, spec.symbolic(specs), [False] * len(specs), names)

    def rollback(self) -> Callable[..., Any]:
        """The function as the user wrote it, in the place of this one where it is a layer's forward."""
        owner = getattr(self._function, "__self__", None)
        if isinstance(owner, Layer):
            owner.__dict__.pop("forward", None)
        return self._function

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        owner = getattr(self._function, "__self__", None)
        if owner is not None and id(owner) in memo:
            method: Any = self._function
            return StaticFunction(method.__func__.__get__(memo[id(owner)]), self._input_spec, self.full_graph)
        return StaticFunction(self._function, self._input_spec, self.full_graph)

    def __repr__(self) -> str:
        return f"<StaticFunction {self.__name__}, {len(self.program_cache)} programs>"


def _tensors(values: Any) -> Any:
    return tuple([_tensor(v) for v in values])


def _tensor(value: Any) -> Any:
    return wrap(as_array(value)) if isinstance(value, np.ndarray) else value


def _kinds(tensors: list[Tensor]) -> str:
    return ", ".join(f"{t.dtype.name}{t.shape}" for t in tensors) or "no tensors"


def to_static(
    function: Any = None,
    input_spec: Any = None,
    build_strategy: Any = None,
    backend: Any = None,
    full_graph: bool = True,
    **kwargs: Any,
) -> Any:
    """Compile a function, method, layer or whole training step.

    Arguments:
        function: what to compile; a Layer is given a compiled forward and returned itself. None: use as a decorator.
        input_spec: InputSpecs of the tensor arguments; unknown dimensions (None) do not cause new traces.
        build_strategy, backend: accepted for compatibility; XLA decides.
        full_graph: True: what cannot be staged is an error.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> @paddle.jit.to_static
        ... def f(x):
        ...     if x.sum() > 0:
        ...         return x * 2
        ...     return -x
        >>> f(paddle.to_tensor([1.0, 2.0])).tolist(), f(paddle.to_tensor([-3.0])).tolist()
        ([2.0, 4.0], [3.0])
    """
    if function is None:
        return functools.partial(to_static, input_spec=input_spec, full_graph=full_graph)
    if isinstance(function, StaticFunction):
        return function
    if isinstance(function, Layer):
        forward = function.forward
        if not isinstance(forward, StaticFunction):
            object.__setattr__(function, "forward", StaticFunction(forward, input_spec, full_graph))
        return function
    if isinstance(function, classmethod | staticmethod):
        return type(function)(to_static(function.__func__, input_spec, full_graph=full_graph))
    if not callable(function):
        raise TypeError(f"to_static takes a function, a method or a Layer, got {type(function).__name__}")
    return StaticFunction(function, input_spec, full_graph)


def not_to_static(function: Any = None) -> Any:
    """Mark a function to be called as it is while a program is traced."""
    return not_to_static if function is None else dy2static.do_not_convert(function)


def enable_to_static(flag: bool) -> None:
    """Switch all static functions on, or off so that they run eagerly as written."""
    settings.enabled = bool(flag)


def ignore_module(modules: Any) -> None:
    """Call the functions of these modules as they are while a program is traced."""
    listed = modules if isinstance(modules, list | tuple) else [modules]
    RUNTIME.ignored.update(m if isinstance(m, str) else m.__name__ for m in listed)
