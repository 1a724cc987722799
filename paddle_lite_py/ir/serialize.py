"""Programs as versioned JSON, and back. Reading one executes nothing: it only names ops of the registry."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax import export

from ..core import dtypes
from ..core.config import exporting
from ..core.dtypes import numpy_name
from ..core.errors import UNKNOWN, MissingOperatorError, Where
from ..core.jax_compat.executables import unchecked_calls
from ..core.symbolic import is_symbolic
from ..registry.bound import BoundOp
from ..registry.op import REGISTRY, SINGLE, Op, find
from . import control
from .block import Block, Operator, Value
from .parts import measured_in
from .program import Measured, Program

FORMAT = "paddle_lite_py.program"
VERSION = 1
# A dimension as JAX prints it: 2*b + 1, b^2, mod(b, 4).
_DIM = re.compile(r"(?:[A-Za-z_]\w*|\d{1,12}|\^\d|[-+*(), ])+")
MAX_DIM = 300
MAX_DEPTH = 200
MAX_CAPACITY = 1 << 30
MAX_SIZE = 1 << 40  # of a dimension
MAX_NUMBER = 1 << 64  # among attributes


class FormatError(ValueError):
    """A file or text is not a program of a version that this package reads."""


def to_json(program: Program, bare: bool = False) -> dict[str, Any]:
    """Return a program as JSON-ready data.

    Arguments:
        bare: without names and lines, which change nothing that it computes.

    Raises:
        TypeError: naming the operator, if an attribute has no JSON form.
    """
    writer = _Writer(bare)
    names = {} if bare else {"inputs": program.input_names, "outputs": program.output_names}
    out = {"format": FORMAT, "version": VERSION, "names": names, "block": writer.block(program.block)}
    found = measured_in(program) if program.measured else {}
    measured = {name: [writer.ids[m.value], m.element, m.axis] for name, m in found.items()}
    return out | ({"measured": measured} if measured else {})


def from_json(data: Any, constraints: Sequence[str] = ()) -> Program:
    """Return the program that to_json() wrote.

    Arguments:
        constraints: on its unknown dimensions, such as "n >= 2".

    Raises:
        FormatError: if the data are damaged, foreign, or of a newer version.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormatError(f"not a {FORMAT}: {str(data)[:60]}")
    if data.get("version") != VERSION:
        raise FormatError(f"program version is {data.get('version')!r}; this package reads version {VERSION}")
    try:
        reader = _Reader(constraints)
        block = reader.block(data["block"])
        inputs, outputs = (list(data["names"][kind]) for kind in ("inputs", "outputs"))
        return Program(block, inputs, outputs, measured=reader.measured(data.get("measured", {})))
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError) as e:
        if isinstance(e, FormatError):
            raise
        raise FormatError(f"the program is damaged: {type(e).__name__}: {e}") from None


class _Writer:
    def __init__(self, bare: bool) -> None:
        self.ids: dict[Value, int] = {}
        self.bare = bare

    def value(self, v: Value) -> dict[str, Any]:
        self.ids[v] = len(self.ids)
        shape, name = [self.attr(n) for n in v.shape], {} if v.name is None or self.bare else {"name": v.name}
        return {"id": self.ids[v], "shape": shape, "dtype": numpy_name(v.dtype), "grad": v.requires_grad} | name

    def read(self, v: Any) -> Any:
        return self.ids[v] if isinstance(v, Value) else {"py": self.attr(v)}

    def block(self, block: Block) -> dict[str, Any]:
        return {
            "inputs": [self.value(v) for v in block.inputs],
            "ops": [self.operator(op) for op in block.ops],
            "outputs": [self.read(v) for v in block.outputs],
        }

    def operator(self, op: Operator) -> dict[str, Any]:
        if op.name not in REGISTRY and op.name not in control.REBUILD:
            raise TypeError(f"operator {op.name} at {op.where} is not of the registry, so it cannot be written")
        bound = op.bound
        if op.name == "py_func":
            raise ValueError(
                f"operator py_func at {op.where} calls the Python function `{bound.attrs[0].name}`, which no file can "
                "hold: write it with jax (utils.custom_op), or leave it out of what is saved"
            )
        attrs = {n: self.attr(a) for n, a in zip(bound.op.attr_names, bound.attrs, strict=True)}
        layout = None if bound.layout is None else list(bound.layout)
        inputs = [self.read(v) for v in op.inputs]
        out: dict[str, Any] = {"op": op.name, "in": inputs, "out": [self.value(v) for v in op.outputs], "attrs": attrs}
        out |= ({"custom": True} if bound.op.custom else {}) | ({"layout": layout} if layout is not None else {})
        if bound.default not in (None, dtypes.float32):
            out["default"] = bound.default.name
        return out if self.bare else out | {"at": str(op.where)}

    def attr(self, a: Any) -> Any:
        if a is None or isinstance(a, bool | int | str):
            return a
        if isinstance(a, float):
            return a if math.isfinite(a) else {"float": repr(a)}
        if isinstance(a, complex):
            return {"complex": [a.real, a.imag]}
        if isinstance(a, tuple):
            return [self.attr(x) for x in a]
        if isinstance(a, dtypes.DType | np.dtype):
            return {"dtype": a.name}
        if isinstance(a, Block):
            return {"block": self.block(a)}
        if isinstance(a, control.Capacity):
            return {"capacity": a.size}
        if a is Ellipsis:
            return {"ellipsis": True}
        if is_symbolic(a):
            return {"dim": str(a)}
        raise TypeError(f"an attribute of type {type(a).__name__} ({a!r:.60}) has no JSON form")


class _Reader:
    def __init__(self, constraints: Sequence[str] = ()) -> None:
        self.values: dict[int, Value] = {}
        self.depth = 0  # of the blocks that are being read
        self.scope = export.SymbolicScope([c for c in constraints if "!=" not in c])
        self.dims: dict[str, Any] = {}  # by text, which JAX takes its time to read
        self.capacity = control.Capacity()  # that all loops of a program share

    def value(self, data: Any) -> Value:
        shape = tuple([self.attr(n) for n in data["shape"]])
        for n in shape:
            if not is_symbolic(n) and not (type(n) is int and 0 <= n < MAX_SIZE):
                raise FormatError(f"{n!r:.60} is no size")
        if type(data["id"]) is not int or data["id"] in self.values:
            raise FormatError(f"value {data['id']!r:.60} is defined twice, or has no number")
        made = Value(shape, dtypes.as_dtype(data["dtype"]).np, bool(data["grad"]))
        made.name = data.get("name")
        if not isinstance(made.name, str | None):
            raise FormatError(f"{made.name!r:.60} is no name")
        self.values[data["id"]] = made
        return made

    def read(self, data: Any) -> Any:
        return self.attr(data["py"]) if isinstance(data, dict) else self.values[data]

    def block(self, data: Any) -> Block:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FormatError(f"blocks lie deeper in each other than any program's ({MAX_DEPTH})")
        inputs = [self.value(v) for v in data["inputs"]]
        made = Block(inputs, [self.operator(o) for o in data["ops"]], [self.read(v) for v in data["outputs"]])
        self.depth -= 1
        return made

    def measured(self, data: Any) -> dict[str, Measured]:
        out = {}
        for name, (value, index, axis) in data.items():
            if not isinstance(name, str) or not name.isidentifier() or type(index) is type(axis) is int:
                raise FormatError(f"{name!r:.60} is no measured size")
            out[name] = Measured(self.values[value], *(n if n is None else int(n) for n in (index, axis)))
        return out

    def operator(self, data: Any) -> Operator:
        inputs = tuple([self.read(v) for v in data["in"]])
        bound = self.bound(data, len(inputs))
        file, _, line = str(data.get("at", "")).rpartition(":")
        where = Where(file, int(line)) if line.isdigit() else UNKNOWN
        return Operator(bound, inputs, tuple([self.value(v) for v in data["out"]]), where)

    def bound(self, data: Any, n_inputs: int) -> BoundOp:
        name, attrs = data["op"], {k: self.attr(v) for k, v in data["attrs"].items()}
        if name in control.REBUILD and not data.get("custom"):
            return control.REBUILD[name](**attrs)
        op = find(name)
        if name == "py_func" or (op is None and not data.get("custom")):
            raise FormatError(f"op {name!r:.60} is not known to this version of the package")
        op = op or _undefined_op(name, tuple(attrs))
        layout = None if data.get("layout") is None else _layout(data["layout"], n_inputs)
        with dtypes.bound_default(dtypes.as_dtype(data.get("default", "float32"))):
            return op.bind(tuple([attrs[n] for n in op.attr_names]), layout)

    def attr(self, data: Any) -> Any:
        if isinstance(data, list):
            return tuple([self.attr(x) for x in data])
        if type(data) is int and abs(data) >= MAX_NUMBER:
            raise FormatError(f"{data!r:.60} is larger than any number of a program")
        if not isinstance(data, dict):
            return data
        ((kind, value),) = data.items()
        match kind:
            case "float":
                return float(value)
            case "complex":
                return complex(*value)
            case "dtype":
                return dtypes.as_dtype(value)
            case "block":
                return self.block(value)
            case "capacity":
                if type(value) is not int or not 0 < value <= MAX_CAPACITY:
                    raise FormatError(f"{value!r:.60} is no number of iterations")
                self.capacity.size = value
                return self.capacity
            case "ellipsis":
                return Ellipsis
            case "dim":
                if not isinstance(value, str) or not _DIM.fullmatch(value) or len(value) > MAX_DIM:
                    raise FormatError(f"{value!r:.60} is no dimension")
                if value not in self.dims:
                    self.dims[value] = export.symbolic_shape(value, scope=self.scope)[0]
                return self.dims[value]
        raise FormatError(f"unknown attribute kind {kind!r}")


def _layout(data: Any, n_inputs: int) -> tuple[Any, ...]:
    """Return the number of inputs that each argument takes; together these are all."""
    taken = [1 if n == SINGLE else n for n in data if n is not None]
    if not all(type(n) is int and 0 <= n <= n_inputs for n in taken) or sum(taken) != n_inputs:
        raise FormatError(f"{data!r:.60} is no layout of {n_inputs} inputs")
    return tuple(data)


def _undefined_op(name: str, attr_names: tuple[str, ...]) -> Op:
    """Return an operator of the user's that is not defined here: it can be shown, and runs once it is defined."""

    def run(*args: Any, **attrs: Any) -> Any:
        if name not in REGISTRY:
            raise MissingOperatorError(
                f"operator `{name}` is one of the user's own, and not known in this process: define it with "
                "utils.custom_op, or load its library with utils.cpp_extension.load, and then run the program"
            )
        return REGISTRY[name].fn(*args, **attrs)

    made = Op(run, name)
    made.custom, made.attr_names = True, attr_names
    return made


def export_program(
    program: Program, lowered: Any, platforms: tuple[str, ...], vjp_order: int = 1, kernels: Sequence[str] = ()
) -> bytes:
    """Return the program as serialised StableHLO for several platforms, with its gradient.

    Arguments:
        kernels: the compiled operators of the user's that it may call.
    """
    specs = [v.spec for v in program.block.inputs]
    allowed = unchecked_calls(kernels)
    with _anonymous(), exporting(platforms):
        exported = export.export(jax.jit(lowered), platforms=platforms, disabled_checks=allowed)(*specs)
        return bytes(exported.serialize(vjp_order=vjp_order))


@contextmanager
def _anonymous() -> Iterator[None]:
    """Keep the paths of this machine out of what JAX writes."""
    names = ("jax_hlo_source_file_canonicalization_regex", "jax_traceback_in_locations_limit")
    before = [getattr(jax.config, n) for n in names]
    try:
        for name, value in zip(names, (".*", 0), strict=True):
            jax.config.update(name, value)
        yield
    finally:
        for name, value in zip(names, before, strict=True):
            jax.config.update(name, value)
