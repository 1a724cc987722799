"""One method of a saved program at work."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_lite_py.core import small, symbolic
from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.arrays import spec_of
from paddle_lite_py.core.dtypes import is_inexact
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.cpu_compiler import inline_device, prepare
from paddle_lite_py.custom.kernel import unknown_kernels
from paddle_lite_py.eager.execute import EAGER, failure
from paddle_lite_py.eager.tensor import Tensor, wrap
from paddle_lite_py.host.tier import Tiers, for_xla, program_jit, xla_jit
from paddle_lite_py.host.varying import sizes_vary
from paddle_lite_py.ir import serialize
from paddle_lite_py.ir.index_reads import index_limits, index_reads
from paddle_lite_py.ir.parts import is_unrolled, runs_in_parts
from paddle_lite_py.registry.bound import BoundOp
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.checks import Checks, LoopBuffer, error_from_text, look_at_indices
from paddle_lite_py.tracing.effects import Argument, Effect, resolve
from paddle_lite_py.tracing.frame import Write
from paddle_lite_py.tracing.interpretation import interpret
from paddle_lite_py.tracing.parts import PartedBlock
from paddle_lite_py.tracing.trace import Traced
from paddle_lite_py.tracing.traced_scalars import NUMBER_LEAF

from .agreement import check_agreement, check_weights, digest_of
from .artifact import ArtifactError
from .constraints import holds
from .described import structure_from_json
from .loaded_op import bind, meaningful
from .spec import InputSpec

if TYPE_CHECKING:
    from paddle_lite_py.targets import Report

_new = Tensor.__new__


class Method:
    """A loaded method in one mode.

    Arguments:
        name: of the method, for messages.
        data: what describe() gave.
        weights: all weights of the manifest.
        constraints: on unknown dimensions, such as "batch <= 64".
    """

    def __init__(self, name: str, data: dict[str, Any], weights: list[Tensor], constraints: Sequence[str]) -> None:
        self.name, self.data = name, data
        self.constraints = (*constraints, *map(str, data.get("constraints", ())))
        if absent := unknown_kernels(map(str, data.get("kernels", ()))):
            library = absent[0].partition(".")[0]
            raise ArtifactError(
                f"method `{name}` calls the compiled operators {', '.join(absent)}, which this process does not know: "
                f"load their library first, with utils.cpp_extension.load('{library}', [...])"
            )
        check_agreement(name, data, len(weights))
        assumed = map(str, data.get("assumed", ()))  # in its shapes; a call with other sizes is not refused
        self.program = serialize.from_json(data["program"], [*self.constraints, *assumed])
        self.handles = [weights[i] for i in data["weights"]]
        check_weights(name, self.program, self.handles)
        captured = self.program.block.inputs[int(data["n_args"]) :]
        self.program.captured = dict(zip(captured, self.handles, strict=False))
        self._n = int(data["n_results"])
        self.program.updates = {self._n + k: captured[i] for k, i in enumerate(data["state"]) if isinstance(i, int)}
        self._tensors = structure_from_json(data["result"], self.handles, weights)
        numbers = frozenset(data.get("numbers", ()))
        self._result = nested.replace_leaves(
            self._tensors, (NUMBER_LEAF if i in numbers else nested.LEAF for i in count())
        )
        self._checks, self._room = list(data["checks"]), data["room"]
        self._state: list[Tensor | Argument] = [
            self.handles[i] if isinstance(i, int) else Argument(int(i["argument"])) for i in data["state"]
        ]
        self._reads = index_reads(self.program)
        self._plain = self._result is nested.LEAF and not (self._state or self._checks or self._room or self._reads)
        in_parts = runs_in_parts(self.program)
        self._has_gradient = any(is_inexact(v.dtype) for v in self.program.block.outputs)
        in_turn = in_parts or is_unrolled(self.program)
        self.parts: Any = PartedBlock(self.program.block, self.program.measured) if in_turn else None
        self._bound: Any = None if in_parts else bind(name, self.program)
        if in_turn and self._bound is not None:
            self._bound.jitted, self._bound.keeps = self._compute, self._has_gradient
        self.forget()
        block, names = self.program.block, (self.program.input_names, self.program.output_names)
        given, made = (zip(v, n, strict=True) for v, n in zip((block.inputs, block.outputs), names, strict=True))
        self.inputs, self.outputs = [_spec(*i) for i in given][: data["n_args"]], [_spec(*o) for o in made][: self._n]

    def forget(self) -> None:
        """Drop what is compiled."""
        self._jitted: Any = self._compute
        if self._bound is not None and self.parts is None:
            self._jitted = self._compiled()
        self._kinds: list[Any] | None = None  # shape and dtype of each input of the last call

    def _compiled(self, device: Any = None) -> Callable[..., Any]:
        text = None if any(op.bound.op.custom for op in self.program.ops()) else self._text
        return program_jit(prepare(self._bound.fn), len(self.program.ops()), text=text, device=device)

    def _text(self) -> str:
        """Return the program's text, as far as the file has it."""
        return digest_of(serialize.to_json(self.program, bare=True))

    def __call__(self, *inputs: Any) -> Any:
        """Run it on tensors or arrays."""
        # The hot path: tensors like those of the last call, and nothing to do but run.
        kinds = self._kinds
        if kinds is not None and mode.interpreter is EAGER and not mode.grad_enabled and len(inputs) == len(kinds):
            arrays = []
            for x, (shape, dtype) in zip(inputs, kinds):  # noqa: B905  (lengths are equal)
                if x.__class__ is not Tensor or x._payload.shape != shape or x._payload.dtype is not dtype:
                    break
                arrays.append(for_xla(x._payload))
            else:
                for handle in self.handles:
                    arrays.append(for_xla(handle._payload))  # noqa: PERF401  (a comprehension would be a call)
                out = _new(Tensor)
                out._payload = self._jitted(*arrays)
                return out
        return self._run(inputs)

    def flat(self, inputs: Sequence[Any]) -> list[Tensor]:
        """Return all its results as tensors, what it gives as a number of Python too."""
        found: list[Tensor] = []
        nested.flatten(self._run(inputs, self._tensors), lambda v: isinstance(v, Tensor), found)
        return found

    # Key: the object itself, whose program and structure stay.
    @functools.cached_property
    def results(self) -> list[InputSpec]:
        """What flat() gives, also arguments and weights that are returned as they are; unnamed results are numbered."""
        numbered = {f"out{k}" for k in range(len(self.outputs))}
        found: list[Any] = []
        inputs: list[Any] = [*self.inputs]  # in the place of tensors
        given = nested.unflatten(resolve(self._tensors, inputs), iter(self.outputs))
        nested.flatten(given, lambda v: isinstance(v, Tensor | InputSpec), found)
        named = {id(s) for s in self.outputs if s.name not in numbered}
        return [s if id(s) in named else _spec(s, f"out{k}") for k, s in enumerate(found)]

    @property
    def gives_what_it_computes(self) -> bool:
        """Whether its results are all that the program computes, and no argument or weight as it is."""
        return not any(isinstance(value, Tensor | Argument) for value in nested.statics(self._tensors))

    def _run(self, inputs: Sequence[Any], structure: Any = None) -> Any:
        structure = self._result if structure is None else structure
        tensors = self.check(inputs)
        if self._plain:
            self._kinds = [(t._payload.shape, t._payload.dtype) for t in tensors]
        building = mode.interpreter
        outs = self._inlined(tensors, building) if isinstance(building, Builder) else self._ran(tensors)
        for handle, value in zip(self._state, outs[self._n :], strict=False):
            owner = tensors[handle.position] if isinstance(handle, Argument) else handle
            owner._set_payload(value._payload)
        return nested.unflatten(resolve(structure, tensors), iter(outs[: self._n]))

    @property
    def runs_in_parts(self) -> bool:
        """Whether its operators run, each part compiled for the sizes at hand."""
        return self._bound is None

    def _compute(self, *arrays: Any) -> Any:
        """Run a program in parts and return one of its results, or all."""
        with meaningful(self.name):
            outs = self.parts(arrays)
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _run_operators(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        with meaningful(self.name):
            return interpret(self.program.block, self.program.measured, (*tensors, *self.handles))

    def _ran(self, tensors: list[Tensor]) -> list[Tensor]:
        """Run the program and evaluate its checks."""
        look_at_indices(self._reads, (*tensors, *self.handles))
        given = (*tensors, *self.handles)
        records = mode.grad_enabled and not all(t.stop_gradient for t in given)
        if self._bound is not None and mode.interpreter is EAGER and not records:
            out = self._computed(self._bound, [for_xla(t._payload) for t in given])
        elif self._bound is not None:
            out = mode.interpreter.run(self._bound, given)
        elif records and self._has_gradient:
            with sizes_vary():
                out = tuple(self._run_operators(tensors))
        else:
            with meaningful(self.name):
                out = tuple(map(wrap, self.parts([for_xla(t._payload) for t in given])))
        outs = list(out) if isinstance(out, tuple) else [out]
        if self._checks and (failed := int(outs[-2 if self._room else -1])):
            known = 0 < failed <= len(self._checks)
            if not known:
                raise ArtifactError(f"`{self.name}` has no check {failed}")
            raise error_from_text(self._checks[failed - 1])
        if self._room and not outs[0].stop_gradient and int(outs[-1]) > self._room:
            # The values are right, but the gradient would lack iterations.
            return [t.detach() for t in outs]
        return outs

    def _computed(self, bound: BoundOp, arrays: list[Any]) -> tuple[Tensor, ...]:
        """Run it where no gradient is needed: compiled as a whole, since it is not differentiated."""
        try:
            found = self._jitted(*arrays)
        except Exception as e:
            raise failure(bound, tuple(map(wrap, arrays)), e) from None
        return tuple(map(wrap, found)) if isinstance(found, tuple) else (wrap(found),)

    def _inlined(self, tensors: list[Tensor], builder: Builder) -> list[Tensor]:
        """Return its operators as a part of the program that is being built."""
        self._check_by(builder, outs := self._run_operators(tensors))
        return outs

    def _check_by(self, builder: Builder, outs: list[Any]) -> None:
        """Let the program that is being built fail where this one would."""
        for number, entry in enumerate(self._checks, 1):
            passed = outs[-2 if self._room else -1].not_equal(number)
            builder.check(passed, functools.partial(error_from_text, entry), self.name)
        if self._room and not outs[0].stop_gradient:
            text = (
                f"`{self.name}`, which was loaded, has a loop of more than {self._room} iterations, and its gradient "
                "is of so many: save it again after a run that is as long, or call it under no_grad()"
            )
            builder.check(outs[-1].less_equal(self._room), functools.partial(RuntimeError, text), self.name)

    def compile_for(self, target: Any, args: Sequence[Any], size: int | None) -> Report:
        """See TranslatedLayer.compile_for."""
        from paddle_lite_py.targets import compile_all, portable, target_of

        machine = target_of(target)
        machine.require_compiler()
        specs = [self._as_xla_spec(s, size) for s in (args or self.inputs)]
        if len(specs) != len(self.inputs):
            raise TypeError(f"`{self.name}` takes {len(self.inputs)} arguments, got {len(specs)}")
        self.check([wrap(s) for s in specs])
        arrays = [*specs, *[spec_of(h._payload) for h in self.handles]]
        names = [*[str(s.name) for s in self.inputs], *[str(h.name) for h in self.handles]]
        if self._bound is None:
            raise ValueError(
                f"`{self.name}` runs in parts, each compiled for sizes that a run finds: there is no one "
                "program to compile for another machine"
            )
        made = portable(self._bound.fn, arrays, machine.platform, self.name, names, program=self.program)
        return compile_all([made], machine)[0]

    def _as_xla_spec(self, given: Any, size: int | None) -> Any:
        """Return an InputSpec or a tensor as XLA's spec."""
        if isinstance(given, Tensor):
            return spec_of(given._payload)
        shape = [size if n is None or (isinstance(n, int) and n < 0) else n for n in given.shape]
        if None in shape:
            raise ValueError(f"`{self.name}` was saved for {given}: give size=, or an InputSpec with all dimensions")
        return jax.ShapeDtypeStruct(tuple(shape), given.dtype.np)

    def index_limits(self, position: int) -> tuple[int, int] | None:
        """Return the least and the largest index that an argument may have; None where nothing is read by it."""
        return index_limits(self._reads, position, self.inputs[position].dtype.np)

    def bare(self) -> Callable[..., tuple[Any, ...]] | None:
        """The function from arrays of NumPy that fit to all results, with the weights as they are now; for servers.

        Where it is small NumPy runs it, as it does what is small in eager mode. None where a run does more than that:
        it changes state, or has something to check.
        """
        if self._state or self._checks or self._room or self.constraints or self.parts is not None:
            return None
        if all(small.is_small(h._payload.shape, h._payload.dtype) for h in self.handles):
            weights: list[Any] = [np.asarray(h._payload) for h in self.handles]
            inputs = tuple(range(len(self.inputs)))  # the caller's, who may refill them: none is identified by identity
            jitted = xla_jit(self._bound.fn)
            compiled = Tiers(self._bound.fn, jitted, jitted.trace, inputs).entry(len(inputs) + len(weights))
        else:  # on the thread of the caller, who waits for the results
            device = inline_device()
            weights = [jax.device_put(np.asarray(h._payload) if device else h._payload, device) for h in self.handles]
            compiled = self._compiled(device)

        def run(*arrays: Any) -> tuple[Any, ...]:
            if self._reads:
                look_at_indices(self._reads, (*[wrap(np.array(a)) for a in arrays], *self.handles))
            found = compiled(*arrays, *weights)
            return tuple(found) if isinstance(found, tuple | list) else (found,)

        return run

    def traced(self) -> Traced:
        """Return the program with its weights and state, as a trace gives it."""
        effects = [Effect(Write(h, "_payload", None), nested.LEAF, 1) for h in self._state]
        grads = tuple([getattr(v, "requires_grad", False) for v in self.program.block.outputs[: self._n]])
        checks, loop_buffer = (
            Checks.of(self._checks, self.name) if self._checks else None,
            LoopBuffer() if self._room else None,
        )
        if loop_buffer is not None:
            loop_buffer.capacity.size = self._room
        n_args = len(self.inputs)
        found = Traced(self.program, n_args, self.handles, [], self._result, self._n, effects, grads, [], [], [])
        return found._replace(checks=checks, loop_buffer=loop_buffer)

    def run_flat(self, tensors: list[Tensor]) -> list[Tensor]:
        """Return the tensors among the results, without their structure; state stays as it is."""
        state = [tensors[h.position] if isinstance(h, Argument) else h for h in self._state]
        before = [h._payload for h in state]
        try:
            leaves: list[Tensor] = []
            nested.flatten(self(*tensors), lambda v: isinstance(v, Tensor), leaves)
            return leaves
        finally:
            for handle, data in zip(state, before, strict=True):
                handle._set_payload(data)

    def check(self, inputs: Sequence[Any]) -> list[Tensor]:
        """Return tensors or arrays as tensors.

        Raises:
            TypeError: there are more or fewer than it takes, or one has another dtype.
            ValueError: one has another shape, or all together do not fit.
        """
        if len(inputs) != len(self.inputs):
            names = ", ".join(str(s.name) for s in self.inputs)
            raise TypeError(f"the loaded program takes {len(self.inputs)} arguments ({names}), got {len(inputs)}")
        tensors = [x if isinstance(x, Tensor) else Tensor(x) for x in inputs]
        for tensor, spec in zip(tensors, self.inputs, strict=True):
            spec.check(tensor, str(spec.name))
        declared = [v.shape for v in self.program.block.inputs[: len(tensors)]]
        shapes = [t._payload.shape for t in tensors]
        dims = symbolic.solve(declared, shapes)
        for spec, wanted, found in zip(self.inputs, declared, shapes, strict=True):
            if any(symbolic.evaluate(w, dims) != n for w, n in zip(wanted, found, strict=True)):
                raise ValueError(
                    f"`{self.name}` was saved for `{spec.name}` of the shape {list(wanted)}, and is called with one of "
                    f"the shape {list(found)}"
                )
        for text in self.constraints:
            if not holds(text, dims):
                found = ", ".join(f"{k} = {v}" for k, v in dims.items())
                raise ValueError(
                    f"`{self.name}` was saved for {text}, and is called with {found}; pass other shapes, or save it "
                    "without that constraint"
                )
        return tensors


def _spec(value: Any, name: str) -> InputSpec:
    return InputSpec([n if isinstance(n, int) else None for n in value.shape], value.dtype, name)
