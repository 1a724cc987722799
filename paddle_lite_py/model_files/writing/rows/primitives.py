"""Operators without a row of their own, as what they compute: JAX's primitives, which have one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ....core.config import portable
from ....core.dtypes import numpy_name
from ....core.jax_compat.equations import UnknownFormError, called_jaxpr, check_form
from ....core.jax_compat.jaxprs import Literal, body_of, constants_of
from ....core.symbolic import is_symbolic, substitute
from ....ir.block import Operator, Value
from ....ir.sized import spec_with, substituted
from ....tracing.fitting import fit_symbols, flat
from ..emitter import ANYWHERE, Emitter, Unwritable
from ..pir_text import DTypeAttribute, FileValue, Long, TensorType
from .shaping import cut, filled, joined, padded

# By name of a primitive: a function of an emitter, its inputs, its parameters and the types of its results.
Primitive = Callable[[Emitter, list[FileValue], dict[str, Any], list[TensorType]], Any]
PRIMITIVES: dict[str, Primitive] = {}


def written_by_primitives(w: Emitter, op: Operator, inputs: Sequence[Any]) -> list[FileValue]:
    """Return the results of an operator.

    Raises:
        Unwritable: it holds a primitive that has no form there either.
    """
    if op.bound.op.on_host or op.bound.op.effect or op.bound.op.random:
        raise Unwritable("")
    given = [v for v in inputs if isinstance(v, FileValue)]
    try:
        closed = _equations(op)
    except Exception as e:
        known = _fitted(op, e)
        closed, given = _equations(op, known), [_with_sizes(w, v, known) for v in given]
    return _evaluated(w, body_of(closed), constants_of(closed), given)


def _equations(op: Operator, known: dict[str, Any] | None = None) -> Any:
    """What an operator computes, where these are the sizes if any are given."""
    bound = op.bound if known is None else substituted(op.bound, known)
    specs = [v.spec if known is None else spec_with(v, known) for v in op.inputs if isinstance(v, Value)]

    def run(*arrays: Any) -> Any:
        it = iter(arrays)
        return bound.fn(*[next(it) if isinstance(v, Value) else v for v in op.inputs])

    with portable():
        return jax.make_jaxpr(run)(*specs)


def _fitted(op: Operator, error: Exception) -> dict[str, Any]:
    """Unknown sizes, some of which have to be equal, such as those of two batches."""
    dims = [n for v in op.inputs if isinstance(v, Value) for n in v.shape]
    symbols = {str(n): n for n in (*dims, *flat(op.bound.attrs)) if is_symbolic(n) and str(n).isidentifier()}
    found = fit_symbols(symbols, op.bound, op.inputs)
    if found is None or not all(is_symbolic(n) for _, n in found):  # a number would be one size of many
        raise Unwritable(f"its sizes must be known ({type(error).__name__})") from error
    return symbols | dict(found)


def _with_sizes(w: Emitter, x: FileValue, known: dict[str, Any]) -> FileValue:
    """Return a tensor whose sizes are known to be these."""
    shape = substitute(tuple(x.type.shape), known)
    return x if shape == tuple(x.type.shape) else w.op("assign", x, to=TensorType(shape, x.type.dtype))


def _evaluated(w: Emitter, jaxpr: Any, constants: Sequence[Any], inputs: Sequence[FileValue]) -> list[FileValue]:
    env: dict[Any, FileValue] = dict(zip(jaxpr.invars, inputs, strict=True))
    for var, value in zip(jaxpr.constvars, constants, strict=False):
        env[var] = w.array(np.asarray(value))

    def read(v: Any) -> FileValue:
        return filled(w, np.asarray(v.val).item(), _type(v.aval)) if isinstance(v, Literal) else env[v]

    for eqn in _needed(jaxpr):
        found = _equation(w, eqn, [read(v) for v in eqn.invars])
        env.update(zip(eqn.outvars, found, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _needed(jaxpr: Any) -> list[Any]:
    wanted, kept = {v for v in jaxpr.outvars if not isinstance(v, Literal)}, []
    for eqn in reversed(jaxpr.eqns):
        if wanted.intersection(eqn.outvars):
            kept.append(eqn)
            wanted.update(v for v in eqn.invars if not isinstance(v, Literal))
    return kept[::-1]


def _type(aval: Any) -> TensorType:
    return TensorType(tuple(aval.shape), numpy_name(np.dtype(aval.dtype)))


def _equation(w: Emitter, eqn: Any, inputs: list[FileValue]) -> Sequence[FileValue]:
    name, types = eqn.primitive.name, [_type(v.aval) for v in eqn.outvars]
    if (inner := called_jaxpr(eqn)) is not None:
        return _evaluated(w, *inner, inputs)
    if name not in PRIMITIVES:
        raise Unwritable(f"it holds JAX's `{name}`")
    try:
        check_form(eqn)
    except UnknownFormError as e:
        raise Unwritable(f"it holds JAX's {e}, which is not known") from None
    found = PRIMITIVES[name](w, inputs, eqn.params, types)
    return found if isinstance(found, list | tuple) else [found]


def primitive(*names: str) -> Callable[[Primitive], Primitive]:
    """Enter a function in the table."""

    def enter(function: Primitive) -> Primitive:
        PRIMITIVES.update(dict.fromkeys(names, function))
        return function

    return enter


def _direct(name: str, of: str) -> None:
    PRIMITIVES[name] = lambda w, inputs, params, types: w.op(of, *inputs, to=types[0])


for _name, _of in {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "add": "add", "add_any": "add", "asin": "asin", "asinh": "asinh",
    "atan": "atan", "atan2": "atan2", "atanh": "atanh", "bessel_i0e": "i0e", "bessel_i1e": "i1e", "ceil": "ceil",
    "conj": "conj", "copy": "assign", "copy_p": "assign", "cos": "cos", "cosh": "cosh", "digamma": "digamma",
    "eq": "equal", "erf": "erf", "erf_inv": "erfinv", "exp": "exp", "expm1": "expm1", "floor": "floor",
    "ge": "greater_equal", "gt": "greater_than", "imag": "imag", "is_finite": "isfinite", "le": "less_equal",
    "lgamma": "lgamma", "log": "log", "log1p": "log1p", "logistic": "sigmoid", "lt": "less_than",
    "max": "maximum", "min": "minimum", "mul": "multiply", "ne": "not_equal", "nextafter": "nextafter",
    "pow": "elementwise_pow", "real": "real", "rsqrt": "rsqrt", "sign": "sign", "sin": "sin", "sinh": "sinh",
    "sqrt": "sqrt", "square": "square", "stop_gradient": "assign", "sub": "subtract", "tan": "tan",
    "tanh": "tanh", "reduce_precision": "assign",
}.items():  # fmt: skip
    _direct(_name, _of)


@primitive("optimization_barrier", "shard_alike")
def barrier(_w: Emitter, inputs: list[FileValue], _params: dict[str, Any], _types: list[TensorType]) -> Any:
    return inputs


@primitive("convert_element_type")
def convert(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], types: list[TensorType]) -> Any:
    return w.cast(inputs[0], types[0].dtype)


@primitive("dim_as_value")
def dim_as_value(w: Emitter, _inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    return w.cast(w.size(params["dim"]), types[0].dtype)


@primitive("neg")
def neg(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], types: list[TensorType]) -> Any:
    return w.op("multiply", inputs[0], w.full(-1, types[0].dtype))


@primitive("div")
def divide(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], types: list[TensorType]) -> Any:
    if "int" not in types[0].dtype:
        return w.op("divide", *inputs, to=types[0])
    return _truncated(w, inputs, types)


def _truncated(w: Emitter, inputs: list[FileValue], types: list[TensorType]) -> FileValue:
    """Return a quotient of integers, cut off: that of the absolute values, with its sign."""
    signs = [w.op("sign", x) for x in inputs]
    sizes = [w.op("abs", x) for x in inputs]
    size = w.op("floor_divide", *sizes, to=types[0])
    return w.op("multiply", size, w.op("multiply", *signs, to=types[0]))


@primitive("rem")
def remainder(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], types: list[TensorType]) -> Any:
    """Return the rest with the sign of what is divided."""
    if "int" in types[0].dtype:
        whole = w.op("multiply", _truncated(w, inputs, types), inputs[1])
        return w.op("subtract", inputs[0], whole, to=types[0])
    sizes = [w.op("abs", x) for x in inputs]
    return w.op("multiply", w.op("remainder", *sizes, to=types[0]), w.op("sign", inputs[0]), to=types[0])


@primitive("integer_pow")
def integer_pow(w: Emitter, inputs: list[FileValue], params: dict[str, Any], _types: list[TensorType]) -> Any:
    return w.op("square", *inputs) if params["y"] == 2 else w.op("pow", *inputs, y=float(params["y"]))


@primitive("exp2")
def exp2(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], types: list[TensorType]) -> Any:
    return w.op("exp", w.op("multiply", inputs[0], w.full(math.log(2), types[0].dtype)))


@primitive("cbrt")
def cbrt(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], _types: list[TensorType]) -> Any:
    root = w.op("pow", w.op("abs", inputs[0]), y=1 / 3)
    return w.op("multiply", root, w.op("sign", inputs[0]))


@primitive("erfc")
def erfc(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], types: list[TensorType]) -> Any:
    return w.op("subtract", w.full(1.0, types[0].dtype), w.op("erf", inputs[0]), to=types[0])


@primitive("round")
def round_(w: Emitter, inputs: list[FileValue], params: dict[str, Any], _types: list[TensorType]) -> Any:
    if int(params["rounding_method"]) == 0:
        raise Unwritable("it rounds halves away from zero")
    return w.op("round", inputs[0], decimals=0)


@primitive("clamp")
def clamp(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], _types: list[TensorType]) -> Any:
    low, x, high = inputs
    return w.op("minimum", w.op("maximum", x, low), high)


def _bits(name: str) -> None:
    @primitive(name)
    def write(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
        return w.op(("logical_" if types[0].dtype == "bool" else "bitwise_") + name, *inputs, to=types[0])


for _name in ("and", "or", "xor", "not"):
    _bits(_name)


@primitive("select_n")
def select_n(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], types: list[TensorType]) -> Any:
    which, *cases = inputs
    if which.type.dtype != "bool":
        raise Unwritable("it selects one of several by number")
    condition = w.expand(which, types[0].shape)
    return w.op("where", condition, cases[1], cases[0], to=types[0])


# -- shapes --------------------------------------------------------------------------------------------------------
@primitive("reshape", "squeeze", "expand_dims")
def reshape(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], types: list[TensorType]) -> Any:
    return w.reshape(inputs[0], types[0].shape)


@primitive("transpose")
def transpose(w: Emitter, inputs: list[FileValue], params: dict[str, Any], _types: list[TensorType]) -> Any:
    return w.transpose(inputs[0], params["permutation"])


@primitive("broadcast_in_dim")
def broadcast_in_dim(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    x, out = inputs[0], types[0]
    spread: list[Any] = [1] * len(out.shape)
    for axis, n in zip(params["broadcast_dimensions"], x.type.shape, strict=True):
        spread[axis] = n
    return w.expand(w.reshape(x, spread), out.shape)


@primitive("concatenate")
def concatenate(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    return joined(w, inputs, params["dimension"], types[0])


@primitive("slice")
def slice_(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    n = len(types[0].shape)
    steps = params["strides"] or (1,) * n
    return cut(w, inputs[0], range(n), params["start_indices"], params["limit_indices"], steps, types[0])


@primitive("split")
def split(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    sizes = w.sizes(params["sizes"])
    return w.items(w.op("split", inputs[0], sizes, w.number(params["axis"]), to=types))


@primitive("stack")
def stack(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    return w.op("stack", w.combined(inputs), to=types[0], axis=int(params.get("axis", 0)))


@primitive("tile")
def tile(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    return w.op("tile", inputs[0], w.sizes(params["reps"]), to=types[0])


@primitive("complex")
def complex_(w: Emitter, inputs: list[FileValue], _params: dict[str, Any], types: list[TensorType]) -> Any:
    return w.op("complex", *inputs, to=types[0])


@primitive("sort")
def sort(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    """By the order of the first operand."""
    axis, kind = int(params["dimension"]), TensorType(types[0].shape, "int64")
    if params["num_keys"] > 1:
        raise Unwritable("it sorts by several keys")
    keys, *rest = inputs
    found, places = w.emit("argsort", [keys], [types[0], kind], axis=axis, descending=False, stable=True)
    return [found, *[w.op("take_along_axis", x, places, axis=axis) for x in rest]]


@primitive("rev")
def rev(w: Emitter, inputs: list[FileValue], params: dict[str, Any], _types: list[TensorType]) -> Any:
    return w.flip(inputs[0], [int(d) for d in params["dimensions"]])


@primitive("pad")
def pad(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    config = params["padding_config"]
    if any(is_symbolic(n) or n < 0 for lo, hi, _ in config for n in (lo, hi)) or any(i for _, _, i in config):
        raise Unwritable("it pads between elements, or by less than nothing")
    return padded(w, inputs[0], [(lo, hi) for lo, hi, _ in config], "constant", inputs[1], types[0])


@primitive("iota")
def iota(w: Emitter, _inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    out, axis = types[0], params["dimension"]
    n = out.shape[axis]
    ends = [w.full(0, "int64", [1]), w.reshape(w.size(n), (1,)), w.full(1, "int64", [1])]
    attrs = {"dtype": DTypeAttribute("int64")}
    line = w.op("arange", *ends, to=TensorType((n,), "int64"), **attrs, place=ANYWHERE)
    spread = [n if i == axis else 1 for i in range(len(out.shape))]
    return w.expand(w.reshape(w.cast(line, out.dtype), spread), out.shape)


# -- reductions ----------------------------------------------------------------------------------------------------
def _reduction(name: str, of: str) -> None:
    @primitive(name)
    def write(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
        axes = [int(a) for a in params["axes"]]
        if not axes:
            return w.op("assign", inputs[0])
        if of in ("all", "any"):
            return w.op(of, inputs[0], to=types[0], axis=list(map(Long, axes)), keepdim=False)
        named: dict[str, dict[str, Any]] = {
            "sum": {"dtype": DTypeAttribute(types[0].dtype)},
            "prod": {"reduce_all": False},
        }
        more = named.get(of, {})
        return w.op(of, inputs[0], w.ints(axes), to=types[0], keepdim=False, **more)


for _name, _of in {
    "reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod", "reduce_and": "all",
    "reduce_or": "any",
}.items():  # fmt: skip
    _reduction(_name, _of)


def _position(name: str) -> None:
    @primitive(name)
    def write(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
        (axis,), out = params["axes"], types[0]
        attrs = {"keepdims": False, "flatten": False, "dtype": DTypeAttribute("int64")}
        kind = TensorType(out.shape, "int64")
        return w.cast(w.op(name, inputs[0], w.number(axis, "int64"), to=kind, **attrs), out.dtype)


_position("argmax")
_position("argmin")


@primitive("cumsum")
def cumulative(w: Emitter, inputs: list[FileValue], params: dict[str, Any], _types: list[TensorType]) -> Any:
    axis, attrs = params["axis"], {"exclusive": False, "reverse": bool(params["reverse"])}
    return w.op("cumsum", inputs[0], w.number(axis), flatten=False, **attrs)


@primitive("dot_general")
def dot_general(w: Emitter, inputs: list[FileValue], params: dict[str, Any], types: list[TensorType]) -> Any:
    """By a product of matrices: batch axes in front, then those that stay, those that are summed over last."""
    ((summed_x, summed_y), (batch_x, batch_y)), (x, y) = params["dimension_numbers"], inputs
    kept_x = [i for i in range(len(x.type.shape)) if i not in summed_x and i not in batch_x]
    kept_y = [i for i in range(len(y.type.shape)) if i not in summed_y and i not in batch_y]
    x = w.cast(w.transpose(x, [*batch_x, *kept_x, *summed_x]), types[0].dtype)
    y = w.cast(w.transpose(y, [*batch_y, *kept_y, *summed_y]), types[0].dtype)
    b = len(batch_x)
    x, y = (_matrices(w, a, b, len(kept)) for a, kept in ((x, kept_x), (y, kept_y)))
    kind = TensorType((*x.type.shape[:-1], y.type.shape[-2]), types[0].dtype)
    return w.reshape(w.matmul(x, y, True, kind), types[0].shape)


def _matrices(w: Emitter, x: FileValue, batch: int, kept: int) -> FileValue:
    shape = x.type.shape
    return w.reshape(x, (*shape[:batch], math.prod(shape[batch : batch + kept]), math.prod(shape[batch + kept :])))
