"""Passes for inference: normalization into the weights before it, and what depends on weights alone computed once."""

from __future__ import annotations

import math
from typing import Any

import jax

from .. import nn
from ..core.arrays import is_array
from ..core.dtypes import is_inexact
from ..eager.random import default_generator
from ..eager.tensor import Parameter, Tensor, wrap
from ..host.baseline import baseline
from ..ir.block import Block, Value
from ..ir.graph import with_inputs
from ..ir.lower import run_ops
from ..ir.program import Program
from ..ir.simplify import dead_code
from ..ops.unary import rsqrt
from .cleaning import common_subexpressions
from .lifting import Known, is_known, known_from, lift_constants
from .manager import register
from .pattern import Call
from .rewriting import Match, PassError, last_captured, rewrite

CONVOLUTIONS = tuple(f"conv{n}d{kind}" for n in (1, 2, 3) for kind in ("", "_transpose"))
_NORM: dict[str, Any] = {"bind": "norm", "attrs": {"training": False}}


@register("fold_added_bias", ["inference"], before="dead_code")
@rewrite(Call("batch_norm", Call("add", "x", "bias"), "mean", "var", "scale", "shift", **_NORM))
def fold_added_bias(m: Match) -> Any:
    """A bias for each channel, added before a normalization by running statistics, becomes part of their mean.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> norm, bias = paddle.nn.BatchNorm2D(2), paddle.ones([1, 2, 1, 1])
        >>> _ = norm.eval()
        >>> x = paddle.ones([1, 2, 2, 2])
        >>> f = paddle.jit.to_static(lambda x: norm(x + bias), passes="fold_added_bias")
        >>> bool(paddle.allclose(f(x), norm(x + bias), atol=1e-5))
        True
    """
    form = m.norm["data_format"]
    axis = m.x.ndim - 1 if form[-1] == "C" or m.x.ndim == 2 else 1
    shape = (*(1,) * (m.x.ndim - m.bias.ndim), *m.bias.shape)
    if shape != tuple(m.x.shape[axis] if i == axis else 1 for i in range(m.x.ndim)):
        return None
    mean = m.mean - m.bias.reshape([-1]).astype(m.mean.dtype)
    return nn.functional.batch_norm(m.x, mean, m.var, m.scale, m.shift, epsilon=m.norm["epsilon"], data_format=form)


@register("fold_batch_norm", ["inference"], before="dead_code")
@rewrite(
    Call(
        "batch_norm",
        Call((*CONVOLUTIONS, "linear"), "x", "w", "b", bind="product"),
        "mean",
        "var",
        "scale",
        "shift",
        **_NORM,
    )
)
def fold_batch_norm(m: Match) -> Any:
    """A normalization by running statistics becomes part of the convolution or linear map before it.

    Source: Jacob et al., Quantization and Training of Neural Networks, 2017, section 3.2.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> model = paddle.nn.Sequential(paddle.nn.Conv2D(1, 2, 1), paddle.nn.BatchNorm2D(2))
        >>> model.eval()
        Sequential(
          (0): Conv2D(1, 2, kernel_size=[1, 1], data_format=NCHW)
          (1): BatchNorm2D(num_features=2, momentum=0.9, epsilon=1e-05)
        )
        >>> x = paddle.ones([1, 1, 2, 2])
        >>> f = paddle.jit.to_static(lambda x: model(x), passes=[paddle.passes.fold_batch_norm])
        >>> bool(paddle.allclose(f(x), model(x), atol=1e-5))
        True
    """
    linear, turned = m.product.name == "linear", m.product.name.endswith("_transpose")
    if turned and m.product["groups"] != 1:
        return None
    last = m.norm["data_format"][-1] == "C" or m.x.ndim == 2
    if last != (linear or m.product["data_format"][-1] == "C"):
        return None  # the channels of one are not those of the other
    rate = rsqrt(m.var + m.norm["epsilon"])
    rate = rate if m.scale is None else rate * m.scale
    bias = -m.mean * rate if m.b is None else (m.b - m.mean) * rate
    bias = bias if m.shift is None else bias + m.shift
    outputs = m.w.ndim - 1 if linear else int(turned)  # the axis of the weight
    weight = m.w * rate.reshape([-1 if i == outputs else 1 for i in range(m.w.ndim)])
    kept = [t if t.dtype == m.w.dtype else t.astype(m.w.dtype) for t in (weight, bias)]
    return getattr(nn.functional, m.product.name)(m.x, *kept, **m.product.attrs)


@register("freeze_weights", ["inference"], before="dead_code")
def freeze_weights(program: Program) -> Program:
    """Compute once what depends on weights alone, and make it a weight, unless that takes more memory.

    The tensors themselves stay as they are; what is done to them later is not seen.

    Raises:
        PassError: if the program trains the weights.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 2))
        >>> model.eval()
        Sequential(
          (0): Linear(in_features=2, out_features=2, dtype=float32)
        )
        >>> x = paddle.ones([1, 2])
        >>> f = paddle.jit.to_static(lambda x: model(x), passes=[paddle.passes.freeze_weights])
        >>> bool(paddle.allclose(f(x), model(x), atol=1e-6))
        True
    """
    if any(op.name == "grad" for op in program.ops()):
        raise PassError(
            "pass `freeze_weights`: the program holds a gradient, so that its weights change; take the "
            "program of inference"
        )
    changing = {*program.updates.values()} | {v for v, t in program.captured.items() if t is default_generator.state}
    weights = {v: frozenset([v]) for v in program.captured if v not in changing}
    if (block := lift_constants(program.block, weights)) is not program.block:
        program = common_subexpressions(program.replaced(block))  # what several branches computed, once
    known = known_from(program.block, weights)
    rest = [op for op in program.block.ops if not is_known(op, known)]
    wanted = dict.fromkeys(v for op in rest for v in op.inputs if isinstance(v, Value) and v in known)
    wanted |= dict.fromkeys(v for v in program.block.outputs if isinstance(v, Value) and v in known)
    needed = [v for v in wanted if v not in program.captured and known[v]]
    return _with_weights(program, needed, known) if needed else program


def _with_weights(program: Program, needed: list[Value], known: Known) -> Program:
    block = program.block
    ops = [op for op in block.ops if is_known(op, known)]
    given = [v for v in block.inputs if v in known]

    def compute(*arrays: Any) -> list[Any]:
        env = dict(zip(given, arrays, strict=True))
        run_ops(ops, env)
        return [env[v] for v in needed]

    arrays = _compute(compute, [_array(program.captured[v]) for v in given])
    swaps: dict[Value, Any] = {}
    for v in needed:
        swaps[v] = new = Value(v.shape, v.dtype, v.requires_grad)
        new.name = v.name
    handles = [_weight(a, [program.captured[w] for w in known[v]]) for v, a in zip(needed, arrays, strict=True)]
    captured = program.captured | dict(zip(swaps.values(), handles, strict=True))
    at = last_captured(program) + 1
    inputs = [*block.inputs[:at], *swaps.values(), *block.inputs[at:]]
    names = [*program.input_names[:at], *(t.name for t in handles), *program.input_names[at:]]
    outputs = [swaps.get(v, v) if isinstance(v, Value) else v for v in block.outputs]
    frozen = Block(inputs, [with_inputs(op, swaps) for op in block.ops], outputs)
    return dead_code(Program(frozen, names, program.output_names, captured, program.updates))


def _compute(compute: Any, arrays: list[Any]) -> Any:
    """Return the results of a function of weights, by NumPy where it has a rule for each step: it runs only once."""
    traced = jax.jit(compute).trace(*arrays)
    by_numpy = baseline(traced.jaxpr, traced.out_info, math.inf)
    return traced.lower().compile()(*arrays) if by_numpy is None else by_numpy(*arrays)


def _array(state: Any) -> Any:
    """Return the array of a tensor, or of state that is kept in a scope."""
    data = getattr(state, "_payload", state)
    return data if is_array(data) else data.concrete("freeze_weights")


def _weight(array: Any, sources: list[Tensor]) -> Tensor:
    """The tensor for an array computed from weights: trainable if one of them is, and named after the largest."""
    largest = max(sources, key=lambda t: (t.size, t.name))
    name = f"{largest.name.removesuffix('.frozen')}.frozen"
    parameters = [t for t in sources if isinstance(t, Parameter)]
    if parameters and is_inexact(array.dtype):
        return Parameter(wrap(array), name=name, trainable=any(not t.stop_gradient for t in parameters))
    made = wrap(array)
    made.name = name
    return made
