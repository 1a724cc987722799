"""paddle.onnx.export: the program of a layer in eval mode as an ONNX file, through jax2onnx."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import structure as nested
from ..core import symbolic
from ..core.config import portable
from ..core.extras import install_hint
from ..core.interpreter import no_grad
from ..core.no_effect import only_known
from ..core.quiet import quiet
from ..ir.block import Block, Operator, Value
from ..ir.lower import concrete, lower
from ..ir.parts import runs_in_parts
from ..ir.program import Program
from ..ir.simplify import without_acts
from ..jit import TranslatedLayer
from ..jit.save_load import trace_in_eval_mode
from ..model_files.writing.emitter import Unwritable
from ..static import Program as StaticProgram
from ..static.saving import bound
from ..tracing.as_traced import as_traced
from ..tracing.effects import Argument
from ..tracing.trace import Traced
from .parts import in_parts
from .pools import plain_pools

# The oldest set of operators that jax2onnx writes well.
OLDEST_OPSET = 21
DEFAULT_OPSET = 23


class OnnxError(ValueError):
    """A program has no form in ONNX.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.onnx.OnnxError, ValueError)
        True
    """


def export(
    layer: Any, path: str, input_spec: Sequence[Any] | None = None, opset_version: int | None = None,
    *, output_spec: Sequence[Any] | None = None, **configs: Any,
) -> str:  # fmt: skip
    """Write a layer or function, as it is in eval mode, to path.onnx.

    It needs the packages of the extra `onnx`.

    Arguments:
        layer: a Layer, a static function, a plain function, or a Program of the static mode.
        path: the file, with or without the ending.
        input_spec: an InputSpec or example for each argument; taken from to_static, or the last call, if absent. Of a
            Program the data that it is fed, all if absent.
        output_spec: of a Program, the tensors that it is to give; those it was loaded with if absent.
        opset_version: of ONNX; 21 at least, 23 by default.

    Returns:
        The name of the file.

    Raises:
        ImportError: if jax2onnx is not installed.
        OnnxError: naming the operator and its line, if ONNX has no form of one.
        ValueError: if no input_spec is known, or output_spec is given for what is no Program.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.onnx.export(paddle.nn.Linear(2, 1), "model")
        ... except (ImportError, ValueError):
        ...     print("it needs jax2onnx, and an input_spec")
        it needs jax2onnx, and an input_spec
    """
    only_known(export, configs)
    try:
        import jax2onnx  # noqa: F401
    except ImportError:
        raise ImportError(f"paddle.onnx.export needs the package jax2onnx: {install_hint('onnx')}") from None
    quiet("onnx_ir", logging.ERROR)  # it warns of each constant that it writes without a type, as it may
    if opset_version is not None and opset_version < OLDEST_OPSET:
        warnings.warn(
            f"paddle.onnx.export: opset_version={opset_version} is older than {OLDEST_OPSET}, which is written instead",
            stacklevel=2,
        )
    name, traced = _evaluated(layer, input_spec, output_spec)
    if traced.effects or not (traced.checks is None or traced.checks.are_of_arguments):
        what = "changes state" if traced.effects else "holds asserts or raises on tensors"
        raise OnnxError(f"paddle.onnx.export of `{name}`: it {what}, which ONNX has no form of")
    traced = _with_arguments(traced)
    program = without_acts(traced.program)
    names = [_identifier(n) for n in program.input_names[: traced.n_args]]
    if runs_in_parts(program):
        model = _in_parts(name, traced._replace(program=program), names, opset_version)
    else:
        model = _by_jax(name, traced._replace(program=program), names, opset_version)
    target = Path(str(path).removesuffix(".onnx") + ".onnx")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(model.SerializeToString())
    return str(target)


def _with_arguments(traced: Traced) -> Traced:
    """Return a trace whose results have the arguments among them that the function gives back as they are."""
    places = list(_places(traced.structure))
    if not any(isinstance(p, Argument) for p in places):
        return traced
    block, others = traced.program.block, iter(traced.program.block.outputs)
    outputs = [block.inputs[p.position] if isinstance(p, Argument) else next(others) for p in places]
    program = Program(Block(block.inputs, block.ops, outputs), traced.program.input_names)
    return traced._replace(program=program, n_results=len(outputs))


def _places(structure: Any) -> Iterator[Any]:
    """Return what stands for each tensor of a result: an Argument, or a leaf."""
    if isinstance(structure, nested.Nest):
        for child in structure.children:
            yield from _places(child)
    elif structure is nested.LEAF:
        yield structure
    elif isinstance(structure, nested.Static) and isinstance(structure.value, Argument):
        yield structure.value


def _in_parts(name: str, traced: Traced, names: list[str], opset: int | None) -> Any:
    try:
        return in_parts(name, traced, names, max(opset or OLDEST_OPSET, OLDEST_OPSET))
    except Unwritable as e:
        raise OnnxError(
            f"paddle.onnx.export of `{name}`: ONNX has no form of\n  {e}\nwrite them with other operators"
        ) from None


def _by_jax(name: str, traced: Traced, names: list[str], opset: int | None) -> Any:
    """The model that jax2onnx makes; where it does not get by with unknown sizes, one as of a program in parts."""
    import jax2onnx

    values = traced.program.block.inputs[: traced.n_args]
    inputs = [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in values]
    try:
        model = jax2onnx.to_onnx(
            _function(traced), inputs, model_name=name, input_names=names,
            output_names=[f"out{i}" for i in range(traced.n_results)], opset=max(opset or DEFAULT_OPSET, OLDEST_OPSET),
        )  # fmt: skip
    except Exception as e:
        if any(symbolic.has_symbolic(v.shape) for v in values):
            with suppress(Unwritable):
                return in_parts(name, traced, names, max(opset or OLDEST_OPSET, OLDEST_OPSET))
        raise OnnxError(_unsupported(name, traced.program, e)) from e
    plain_pools(model)
    _forget_unknown_sizes(model.graph)
    made = {n for node in model.graph.node for n in node.output}
    for i, (output, value) in enumerate(zip(model.graph.output, traced.program.block.outputs, strict=False)):
        if output.name not in made:
            raise OnnxError(f"paddle.onnx.export of `{name}`: result {i} is a constant; leave it out")
        _state_sizes(output, value.shape)
    _keep_types(model, {n: v.dtype for n, v in zip(names, values, strict=True)})
    return model


def _evaluated(layer: Any, input_spec: Any, output_spec: Any) -> tuple[str, Traced]:
    """Return the function to export, with a name."""
    if isinstance(layer, TranslatedLayer) and input_spec is None and layer._forward:
        return "forward", layer._forward[0].traced()
    if not isinstance(layer, StaticProgram):
        if output_spec is not None:
            raise ValueError("paddle.onnx.export: output_spec is for a Program; a layer gives what forward() does")
        static, traced = trace_in_eval_mode(layer, input_spec)
        return static.__name__, traced
    feeds = list(layer.feeds) if input_spec is None else input_spec
    return Program.__name__, as_traced(bound(layer, feeds, layer.fetches if output_spec is None else output_spec))


def _function(traced: Traced) -> Any:
    """Return the program as a JAX function of its arguments; the weights are constants in it."""
    lowered, weights = lower(traced.program), [h._payload for h in traced.captures]

    def function(*args: Any) -> Any:
        with no_grad(), portable("onnx"):
            outs = _apart(lowered(*args, *weights)[: traced.n_results], args)
        return outs[0] if len(outs) == 1 else tuple(outs)

    return function


def _apart(outs: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Return results of which each is made by an operation of its own: a value has one name in ONNX."""
    taken, found = [*args], []
    for out in outs:
        found.append(jnp.copy(out) if any(out is t for t in taken) else out)
        taken.append(out)
    return found


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


# -- types ---------------------------------------------------------------------------------------------------------
def _keep_types(model: Any, declared: dict[str, Any]) -> None:
    """jax2onnx narrows 64-bit integers; let the inputs take what the user's program takes, by a cast."""
    from onnx import TensorProto, helper

    for given in model.graph.input:
        kind = given.type.tensor_type
        if declared.get(given.name) == np.int64 and kind.elem_type == TensorProto.INT32:
            inner = f"{given.name}_int32"
            for node in model.graph.node:
                node.input[:] = [inner if n == given.name else n for n in node.input]
            model.graph.node.insert(0, helper.make_node("Cast", [given.name], [inner], to=TensorProto.INT32))
            kind.elem_type = TensorProto.INT64


def _forget_unknown_sizes(graph: Any) -> None:
    """Drop what jax2onnx says of sizes inside that are not known: it names different ones alike, and a runtime puts
    arrays of one size into one memory."""
    known = [v for v in graph.value_info if all(d.HasField("dim_value") for d in v.type.tensor_type.shape.dim)]
    del graph.value_info[:]
    graph.value_info.extend(known)
    for inner in (a.g for node in graph.node for a in node.attribute if a.HasField("g")):
        _forget_unknown_sizes(inner)


def _state_sizes(output: Any, shape: Sequence[Any]) -> None:
    dims = output.type.tensor_type.shape.dim
    for dim, n in zip(dims, shape, strict=True):
        if symbolic.is_symbolic(n):
            dim.dim_param = str(n)


# -- unsupported operators -----------------------------------------------------------------------------------------
def _unsupported(name: str, program: Program, error: Exception) -> str:
    """Name the operators of the program that hold the JAX primitive that an error of jax2onnx speaks of."""
    text = str(error)
    words = set(re.findall(r"[a-z_0-9]+", text))
    for op in program.ops():
        if words & _primitives(op):
            return (
                f"paddle.onnx.export of `{name}`: operator {op.name} at {op.where} has no form in ONNX "
                f"({text[:200]}); write it with other operators"
            )
    return f"paddle.onnx.export of `{name}`: jax2onnx failed: {type(error).__name__}: {text[:300]}"


def _primitives(op: Operator) -> set[str]:
    """Names of the JAX primitives that an operator is made of; none where its shapes are not known."""
    if op.blocks:
        return set()
    specs = [v.spec if isinstance(v, Value) else v for v in op.inputs]
    try:
        jaxpr = jax.make_jaxpr(concrete(op.bound).fn)(*specs)
    except Exception:  # a symbolic dimension that has no value here
        return set()
    return set(_names(jaxpr.jaxpr))


def _names(jaxpr: Any) -> Iterator[str]:
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        for value in eqn.params.values():
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from _names(inner)
