"""Inspection of static functions: its code, programs, traces, and what XLA makes of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax

import dy2static
from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.arrays import spec_of
from paddle_lite_py.core.context import context
from paddle_lite_py.core.dtypes import is_inexact
from paddle_lite_py.core.errors import warn_user
from paddle_lite_py.core.memo import Memo
from paddle_lite_py.core.no_effect import Immaterial, no_effect
from paddle_lite_py.core.traced_number import ScalarInputs
from paddle_lite_py.eager.tensor import Tensor, wrap
from paddle_lite_py.ir.printer import to_text
from paddle_lite_py.ir.program import Program
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.dimensions import Dimensions
from paddle_lite_py.tracing.trace import Traced

from . import spec
from .cache import Cache
from .entry import Entry
from .errors import GraphBreak
from .options import settings
from .retracing import retrace_until_sizes_hold
from .spec import InputSpec, SpecifiedCall
from .stages import Lowered

if TYPE_CHECKING:
    from paddle_lite_py.targets import Report

    from .call import FunctionCall
    from .specializer import Specializer
    from .tracer import FunctionTracer


@dataclass(frozen=True, eq=False)
class ConcreteProgram:
    """One compiled program of a static function, with its inputs, outputs and parameters.

    Arguments:
        main_program: the program.
        inputs: InputSpecs of its inputs.
        outputs: InputSpecs of its outputs.
        parameters: the parameters that it reads.
        function: the function that was traced.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x + 1, input_spec=[paddle.static.InputSpec([2], name="x")])
        >>> isinstance(f.concrete_program, paddle.jit.ConcreteProgram), f.concrete_program.inputs[0].name
        (True, 'x')
    """

    main_program: Program
    inputs: list[InputSpec]
    outputs: list[InputSpec]
    parameters: list[Tensor]
    function: Callable[..., Any]

    def __repr__(self) -> str:
        return to_text(self.main_program)


class Programs(list[Entry]):
    """The compiled programs of a static function, the one used last at the end."""

    def __init__(self, entries: Iterable[Entry], concrete: Callable[[Entry], ConcreteProgram]) -> None:
        super().__init__(entries)
        self._concrete = concrete

    def concrete_programs(self) -> list[ConcreteProgram]:
        """Return each of them with its inputs, outputs and parameters."""
        return [self._concrete(entry) for entry in self]

    def last(self) -> tuple[Any, tuple[ConcreteProgram, Entry]]:
        """Return the expected tensor arguments of the last used program, and the program."""
        return tuple(self[-1].expected), (self._concrete(self[-1]), self[-1])


class Parameters(list[Tensor]):
    """A list that can be called as well: what takes any callable for a layer asks for `parameters()`."""

    def __call__(self) -> list[Tensor]:
        """Return the list itself."""
        return self


class Inspection:
    """The part of a static function that looks inside."""

    __name__: str
    _function: Callable[..., Any]
    _input_spec: Any
    cache: Cache
    _tracer: FunctionTracer
    _specializer: Specializer
    _arguments: Callable[..., FunctionCall]
    _declared: Memo[Any, ConcreteProgram]
    # Its own attributes; others are the user's.
    OWN = frozenset(
        "_function _input_spec options _buckets _last cache _tracer _specializer _declared _parts "
        "__name__ __qualname__ __module__ __doc__ __wrapped__ __type_params__ __annotations__ __annotate__".split()
    )

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The function as the user wrote it."""
        return self._function

    @property
    def function_spec(self) -> inspect.Signature:
        """Signature of the function."""
        return inspect.signature(self._function)

    @property
    def class_instance(self) -> Any:
        """The object that it is a method of, or None."""
        return getattr(self._function, "__self__", None)

    @property
    def code(self) -> str:
        """The converted source."""
        return dy2static.to_code(self._function)

    def _show(self) -> None:
        """Print what the settings ask for of the last trace."""
        if settings.verbosity > 0:
            record = self.cache.history[-1]
            print(f"traced `{self.__name__}` for {record.what}: {record.cause} ({record.seconds * 1000:.0f} ms)")
        if settings.code_level > 0:
            print(self.code)

    def train(self) -> None:
        """Switch the layer that it is the forward of to training; of other functions nothing depends on it."""
        if isinstance(self.class_instance, Layer):
            self.class_instance.train()

    def eval(self) -> None:
        """Switch the layer that it is the forward of to evaluation; of other functions nothing depends on it."""
        if isinstance(self.class_instance, Layer):
            self.class_instance.eval()

    @property
    def last_call(self) -> SpecifiedCall | None:
        """The arguments of the last trace, as specs."""
        return self._specializer.last_call

    # -- programs --------------------------------------------------------------------------------------------------
    @property
    def program_cache(self) -> Programs:
        """The compiled programs, the one used longest ago first."""
        return Programs(self.cache, self._concrete_of)

    def get_traced_count(self) -> int:
        """Return the number of times that it has been traced."""
        return self.cache.count

    @property
    def retraces(self) -> list[str]:
        """A line for each trace: what for, and why."""
        return [f"traced for {r.what}: {r.cause}" for r in self.cache.history]

    def explain(self) -> str:
        """Return one line for each trace: what it was for, why it was needed, and how long it took.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> f = paddle.jit.to_static(lambda x: x + 1.0)
            >>> f(paddle.ones([2])).shape, f(paddle.ones([3])).shape
            (paddle.Size([2]), paddle.Size([3]))
            >>> [line.partition(" (")[0] for line in f.explain().splitlines()[1:]]
            ['1. float32[2]: first call', '2. float32[3]: argument `x` changed from float32[2] to float32[3]']
        """
        return self.cache.explain()

    @property
    def concrete_program(self) -> ConcreteProgram:
        """The program used last; traced from the input_spec if there is none yet.

        Raises:
            ValueError: if there is neither a program nor an input_spec.
        """
        if len(self.cache):
            return self._concrete_of(self.program_cache[-1])
        if self._input_spec is None:
            raise ValueError(f"`{self.__name__}` has no program yet: call it once, or give to_static an input_spec")
        return self.concrete_program_specify_input_spec(self._input_spec)

    @no_effect(
        with_hook=Immaterial("hooks are part of what is traced"),
        is_prim_infer=Immaterial("operators are not taken apart"),
    )
    def concrete_program_specify_input_spec(
        self, input_spec: Any, with_hook: bool = False, is_prim_infer: bool = False
    ) -> ConcreteProgram:
        """Return the program for declared arguments."""
        return self._find_specified(SpecifiedCall(tuple(input_spec), {}))

    def get_concrete_program(self, *args: Any, **kwargs: Any) -> tuple[ConcreteProgram, Entry | None]:
        """Return the program for the arguments of a call, and what runs it.

        Arguments:
            args: tensors, Python values, or InputSpecs in the place of tensors: then nothing is made that could run.

        Raises:
            TypeError: if the function does not take these arguments.
        """
        inspect.signature(self._function).bind(*args, **kwargs)
        if any(isinstance(t, InputSpec) for t in spec.flatten(args, kwargs)[1]):
            return self._find_specified(spec.call_of(self._function, args, kwargs)), None
        entry, _ = self._find_program(self._arguments(args, kwargs))
        return self._concrete_of(entry), entry

    def _find_specified(self, call: SpecifiedCall) -> ConcreteProgram:
        """Return the program for declared arguments, the same one each time."""
        structure, specs = spec.flatten(*call)
        key = context(), structure, tuple(specs)
        if key not in self._declared:
            self._declared.put(key, self._concrete(self.traced_for(call.args, keywords=call.kwargs)))
        return self._declared[key]

    def _find_program(self, call: FunctionCall) -> tuple[Entry, ScalarInputs]:
        """Return the program for a call, as a whole."""
        try:
            return self._specializer.find(call, runs=False)
        except GraphBreak as e:
            raise e.cause from None

    def _concrete_of(self, entry: Entry) -> ConcreteProgram:
        if entry.concrete is None:
            entry.concrete = self._concrete(entry.traced)
        return entry.concrete

    def _concrete(self, traced: Traced) -> ConcreteProgram:
        block, n = traced.program.block, traced.n_args
        inputs = [_spec_of(v, name) for v, name in zip(block.inputs[:n], traced.program.input_names, strict=False)]
        outputs = [_spec_of(v, f"out{i}") for i, v in enumerate(block.outputs[: traced.n_results])]
        kept = [t for t in traced.captures if not t.stop_gradient]
        return ConcreteProgram(traced.program, inputs, outputs, kept, self._function)

    @property
    def main_program(self) -> Program:
        """The program used last, as readable text when printed."""
        return self.concrete_program.main_program

    @property
    def inputs(self) -> list[InputSpec]:
        """The inputs of the last used program."""
        return self.concrete_program.inputs

    @property
    def outputs(self) -> list[InputSpec]:
        """The outputs of the last used program."""
        return self.concrete_program.outputs

    @property
    def parameters(self) -> Parameters:
        """The tensors from outside that the program used last differentiates; none before the first call."""
        return Parameters(self.concrete_program.parameters if len(self.cache) else ())

    def traced_for(
        self,
        input_spec: Any,
        constraints: Sequence[str] = (),
        with_grads: bool = False,
        keywords: Mapping[str, Any] | None = None,
    ) -> Traced:
        """Trace for declared arguments: InputSpecs, example tensors, and Python values as they are.

        Arguments:
            with_grads: whether the arguments may need gradients.
            keywords: those that are given by name.
        """
        call = SpecifiedCall(tuple(input_spec), dict(keywords or {}))
        sizes = self.dimensions(call, constraints)
        traced = self.traced_with(sizes, call, with_grads)
        warn_of_sizes(self.__name__, sizes.fixed())
        return traced

    def dimensions(self, call: SpecifiedCall, constraints: Sequence[str] = ()) -> Dimensions:
        """Return the unknown dimensions of declared arguments."""
        specs = [InputSpec.from_tensor(s, s._name) if isinstance(s, Tensor) else s for s in spec.flatten(*call)[1]]
        names = spec.argument_names(self._function, *call)
        names = [s.name or n for s, n in zip(specs, names, strict=True)]
        return Dimensions(specs, names, self._sizes_at_hand(specs), constraints, for_file=True)

    def traced_with(self, sizes: Dimensions, call: SpecifiedCall, with_grads: bool = False) -> Traced:
        """Trace for declared arguments, and learn what has to be known of their dimensions."""
        structure, _ = spec.flatten(*call)
        grads = [with_grads and is_inexact(s.dtype.np) for s in sizes.specs]
        traced = retrace_until_sizes_hold(
            sizes, lambda shapes: self._tracer.trace(structure, shapes, grads, sizes.arguments, sizes), []
        )
        return traced._replace(constraints=tuple(sizes.relations()))

    def _sizes_at_hand(self, specs: list[Any]) -> list[Any] | None:
        """Return the shapes of the last call, where they are such as are declared."""
        if self.last_call is None:
            return None
        found = [tuple(s.shape) for s in spec.flatten(*self.last_call)[1]]
        fits = len(found) == len(specs) and all(s.takes(shape) for s, shape in zip(specs, found, strict=True))
        return found if fits else None

    # -- ahead of time ---------------------------------------------------------------------------------------------
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Lower for a call with these arguments, as XLA gets it; nothing runs.

        Arguments:
            args: tensors, Python values, or an InputSpec in the place of a tensor (which then needs no gradient).

        Raises:
            ValueError: if a dimension of an InputSpec is unknown.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> f = paddle.jit.to_static(lambda x: x.tanh() + 1.0)
            >>> lowered = f.lower(paddle.static.InputSpec([4], "float32"))
            >>> "stablehlo.tanh" in lowered.stablehlo(), lowered.compile().cost_analysis()["flops"] > 0
            (True, True)
        """
        return Lowered(*self._specified_call(args, kwargs))

    def compile_for(self, target: Any, *args: Any, **kwargs: Any) -> Report:
        """Compile for a machine that is not here, and tell what comes of it: memory, work, exchanges, errors.

        Nothing runs. XLA's compiler for the machine must be installed, in a process of its own it compiles.

        Arguments:
            target: "cpu", "h200", a TPU ("v5e") with or without its topology ("v5p:8x8x8"), or a file with the target
                configuration of a GPU.
            args: as for lower().

        Raises:
            TargetError: if nobody knows the target, its compiler is not installed, or it has too few devices.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> net = paddle.nn.Linear(4, 2)
            >>> report = paddle.jit.to_static(net.forward).compile_for("cpu", paddle.static.InputSpec([8, 4]))
            >>> report.fits, [b.what for b in report.buffers if b.shape == "f32[8,4]"]
            (True, ['input'])
        """
        from paddle_lite_py.targets import compile_traced

        entry, tensors, numbers = self._specified_call(args, kwargs)
        specs = [spec_of(t._payload) for t in tensors]
        return compile_traced(entry.executable, specs, target, entry.needs_grad, numbers)

    def _specified_call(self, args: Any, kwargs: Any) -> tuple[Entry, list[Any], ScalarInputs]:
        """Return the program for the arguments of a call, those arguments, and the numbers that it takes as inputs."""
        call = self._arguments(*nested.unflatten(*_with_examples(args, kwargs)))
        entry, numbers = self._find_program(call)
        return entry, call.tensors, numbers


def warn_of_sizes(name: str, fixed: str) -> None:
    """Tell the user of dimensions that a program for declared arguments has for one size only."""
    if fixed:
        warn_user(
            f"`{name}` is traced for one size of {fixed}. Its InputSpec leaves that open: write the number there, or "
            "write that line so that it works for any size"
        )


def _spec_of(value: Any, name: str) -> InputSpec:
    return InputSpec([n if isinstance(n, int) else None for n in value.shape], value.dtype, name)


def _with_examples(args: Any, kwargs: Any) -> tuple[Any, Any]:
    leaves: list[Any] = []
    structure = nested.flatten((args, kwargs), spec.is_tensor, leaves)
    return structure, iter([_example(x) if isinstance(x, InputSpec) else x for x in leaves])


def _example(given: InputSpec) -> Tensor:
    """Return a tensor that has a shape and a dtype, but no data."""
    if not all(isinstance(n, int) and n >= 0 for n in given.shape):
        raise ValueError(f"lower() of {given}: XLA compiles for known shapes; give each dimension a number")
    return wrap(jax.ShapeDtypeStruct(given.shape, given.dtype.np))
