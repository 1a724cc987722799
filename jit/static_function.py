"""Static functions: traced once for each kind of call, and then run compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_lite_py.core.errors import NoGradientError
from paddle_lite_py.core.interpreter import layer_version
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.memo import Memo
from paddle_lite_py.core.traced_number import ScalarInputs
from paddle_lite_py.eager.execute import EAGER
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.host.tier import for_xla
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.checks import refused_by_op
from paddle_lite_py.tracing.executor import SharedWithState

from .bound_methods import bound_method
from .breaks import Parts
from .buckets import Buckets
from .call import FunctionCall
from .check import checked
from .containers import restored
from .declared import DeclaredSpecs
from .entry import Entry
from .errors import GraphBreak, HeldGradientError, InnerGradientError, StagingError, raise_for_user
from .inspection import Inspection
from .options import DEFAULTS, CompileOptions, settings
from .raising import raised_by_user
from .runtime import convert
from .specializer import Specializer
from .tracer import FunctionTracer

_new = Tensor.__new__
_EAGER: Any = object()  # in the place of results: the function itself is to run


class StaticFunction(DeclaredSpecs, Inspection):
    """Function that is traced once for each kind of call and then runs as a compiled program; made by to_static().

    Arguments:
        function: the function, method or callable object.
        input_spec: InputSpecs of the tensor arguments; None: taken from each call.
        options: compile options, those of to_static().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x + 1)
        >>> isinstance(f, paddle.jit.StaticFunction), f(paddle.ones([1])).item()
        (True, 2.0)
    """

    def __init__(
        self, function: Callable[..., Any], input_spec: Any = None, options: CompileOptions = DEFAULTS
    ) -> None:
        self._function, self._input_spec, self.options = function, input_spec, options
        self._buckets = None if options.buckets is None else Buckets(options.buckets)
        self._last: Entry | None = None
        self.__name__ = type(function).__name__  # a callable object; functions have a name of their own
        functools.update_wrapper(self, function, updated=())
        self._tracer = FunctionTracer(function, self.__name__, options.passes)
        self._specializer = Specializer(self._tracer, options, self._show)
        self.cache = self._specializer.cache
        # Key: the context, structure and Python values of the arguments, and their specs.
        self._declared = Memo(f"declared programs of {self.__name__}", options.cache_size)
        self._parts: Parts | None = None  # once it has turned out that it cannot be staged as a whole

    # -- calling ---------------------------------------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        entry = self._last
        # The hot path: the same kind of tensors as the last call. Comparing is cheaper than making a key.
        if entry is not None and not kwargs and len(args) == len(entry.expected) and mode.interpreter is EAGER:
            arrays = []
            for a, (shape, dtype, stopped) in zip(args, entry.expected):  # noqa: B905  (lengths are equal)
                if a.__class__ is not Tensor or a.stop_gradient is not stopped:
                    break
                data = a._payload
                if data.shape != shape or data.dtype is not dtype:
                    break
                arrays.append(data if data.__class__ is not np.ndarray else for_xla(data))
            else:
                if mode.grad_enabled is entry.grad_enabled and settings.enabled:
                    plain = entry.plain and entry.coded.__code__ is entry.code
                    if (plain and entry.layer_version == layer_version.number) or (
                        entry.stale() is None and not (entry.owned and entry.owns_otherwise(args))
                    ):
                        if entry.call is not None:
                            out = _new(Tensor)
                            out._payload = entry.call(*arrays)
                            return out
                        try:
                            return entry.run(args)
                        except SharedWithState:
                            return self._call(args, kwargs)
                        except Exception as e:
                            if not raised_by_user(e):
                                raise
                            return self._as_it_is(args, kwargs)
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not settings.enabled:
            return self._function(*args, **kwargs)
        if not mode.interpreter.is_eager:  # inside another trace: part of that program
            if self.options.passes:
                raise StagingError(
                    f"`{self.__name__}` has its own passes, but is called inside another program, which inlines its "
                    "code without them: give passes= to the outer static function, or call it from eager code"
                )
            return convert(self._function)(*args, **kwargs)
        try:
            if self._parts is not None:
                return self._parts.run(args, kwargs)
            call, out = self._arguments(args, kwargs), _EAGER
            try:
                out = self._run(call)
            except Exception as e:
                if not (raised_by_user(e) or refused_by_op(e) or isinstance(e, HeldGradientError | NoGradientError)):
                    raise
            return call.run_eagerly() if out is _EAGER else out
        except GraphBreak as e:
            return self._break(e.cause, args, kwargs)
        except InnerGradientError as e:
            if self.options.full_graph:
                raise
            return self._break(e, args, kwargs)
        except RecursionError:
            raise StagingError(
                f"`{self.__name__}` is recursive without an end that is known while it is traced: a recursion whose "
                "depth depends on a tensor has no static program; write it as a `while` loop"
            ) from None
        except Exception as e:
            raise_for_user(e)

    def _as_it_is(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function itself, which raises what its program has found, after what it does before it raises."""
        try:
            return self._function(*args, **kwargs)
        except Exception as e:
            raise_for_user(e)

    def _break(self, cause: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run in parts from now on; if that fails as well, the function itself is to blame."""
        self._parts = Parts(self._function, cause, lambda f: StaticFunction(f, None, self.options))
        self._last = None
        try:
            return self._parts.run_first(args, kwargs)
        except Exception as e:
            self._parts = None
            raise_for_user(e)

    def _run(self, call: FunctionCall) -> Any:
        checks = self.options.check or settings.check
        entry, numbers = self._specializer.find(call, may_wait=not (self._input_spec or checks))
        if entry is None:
            return _EAGER
        if self._buckets is not None and call.specs:
            out = self._buckets.run(entry, call.tensors, call.specs, numbers, self.__name__)
            return restored(out, call)
        special = checks or numbers or self._input_spec or self._specializer.has_aliases(call)
        self._last = None if special or not _is_simple(entry, call) else entry

        def run(entry: Entry, numbers: ScalarInputs) -> Any:
            if checks:
                return checked(entry, call.run_eagerly, call.tensors, numbers, self.__name__)
            return entry.run_with(call.tensors, numbers)

        out = self._specializer.run(call, entry, numbers, run)
        return restored(out, call)

    # -- as a method -----------------------------------------------------------------------------------------------
    def __get__(self, obj: Any, owner: Any = None) -> Any:
        if obj is None:
            return self
        return bound_method(self, obj, lambda: self.like(self._function.__get__(obj, owner)))

    def like(self, function: Callable[..., Any]) -> StaticFunction:
        """Return a static function of another function, with the same settings."""
        return StaticFunction(function, self._input_spec, self.options)

    def rollback(self) -> Callable[..., Any]:
        """Return the function as the user wrote it, in the place of this one where it is a layer's forward."""
        if isinstance(owner := getattr(self._function, "__self__", None), Layer):
            owner.__dict__.pop("forward", None)
        return self._function

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        owner = getattr(self._function, "__self__", None)
        if owner is not None and id(owner) in memo:
            method: Any = self._function
            return self.like(method.__func__.__get__(memo[id(owner)]))
        return self.like(self._function)

    def __reduce__(self) -> Any:
        return StaticFunction, (self._function, self._input_spec, self.options)

    def __repr__(self) -> str:
        return f"<StaticFunction {self.__name__}, {len(self.cache)} programs>"


def _is_simple(entry: Entry, call: FunctionCall) -> bool:
    """True if later calls with the same kind of tensors may go straight to the program."""
    plain = mode.interpreter is EAGER and not (call.kwargs or entry.from_leaves or entry.traced.speculated)
    lasts = not (entry.called_once or entry.changes_arguments)
    return plain and lasts and entry.executable.repeatable and all(a.__class__ is Tensor for a in call.args)
