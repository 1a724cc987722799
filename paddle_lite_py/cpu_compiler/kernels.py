"""Kernels that go element by element over arrays of one shape, with several results: steps of a jaxpr in machine code.

XLA's compiler for CPUs makes one kernel for each result, and reads what they have in common each time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.jax_compat.jaxprs import Literal
from ..core.memo import once
from .machine_code import KERNEL, compiler, cpus, key_of

PIECE = 1 << 15  # elements that a thread takes at a time
_FLOAT, _BOOL = np.dtype("float32"), np.dtype("bool")

_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_CALLS = {"sqrt": "sqrt", "abs": "fabs", "max": "maximum", "min": "minimum"}
_COMPARED = {"gt": "ogt", "ge": "oge", "lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
_LOGIC = {"and": "and", "or": "or"}
ONE = "0x3FF0000000000000"


def serves(eqn: Any) -> bool:
    """Whether a kernel can have a step."""
    name = eqn.primitive.name
    if len(eqn.outvars) != 1 or not _has_one_shape(eqn) or (name == "integer_pow" and eqn.params["y"] != 2):
        return False
    dtypes = [a.aval.dtype for a in (*eqn.invars, *eqn.outvars)]
    if name == "select_n":
        return dtypes == [_BOOL, _FLOAT, _FLOAT, _FLOAT]
    if name in _LOGIC:
        return all(d == _BOOL for d in dtypes)
    if name in _COMPARED:
        return dtypes == [_FLOAT, _FLOAT, _BOOL]
    return name in _ARITHMETIC and all(d == _FLOAT for d in dtypes)


def _has_one_shape(eqn: Any) -> bool:
    """Whether the result has elements, whose number is known, and all that is no single number has its shape."""
    shape = eqn.outvars[0].aval.shape
    sized = bool(shape) and all(type(n) is int and n > 0 for n in shape)
    return sized and all(a.aval.shape in ((), shape) for a in eqn.invars)


class Code:
    """The computation of a loop for one element, as LLVM IR text."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def new(self, text: str) -> str:
        """Return a value."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def call(self, function: str, *args: str) -> str:
        """Return the result of calling one of LLVM's intrinsic functions."""
        return self.new(f"call contract float @llvm.{function}.f32({', '.join(f'float {a}' for a in args)})")

    def step(self, name: str, *args: str) -> str:
        """Return the result of a primitive."""
        if name in _BINARY:
            return self.new(f"{_BINARY[name]} contract float {args[0]}, {args[1]}")
        if name in _CALLS:
            return self.call(_CALLS[name], *args)
        if name in _COMPARED:
            return self.new(f"fcmp {_COMPARED[name]} float {args[0]}, {args[1]}")
        if name in _LOGIC:
            return self.new(f"{name} i1 {args[0]}, {args[1]}")
        return _OTHERS[name](self, *args)


def _sign(code: Code, x: str) -> str:
    one, zero = code.call("copysign", ONE, x), code.new(f"fmul float {x}, 0.0")  # that of NaN is NaN
    return code.new(f"select i1 {code.new(f'fcmp one float {x}, 0.0')}, float {one}, float {zero}")


_OTHERS: dict[str, Callable[..., str]] = {
    "copy": lambda _, x: x,
    "convert_element_type": lambda _, x: x,
    "optimization_barrier": lambda _, x: x,
    "neg": lambda code, x: code.new(f"fneg float {x}"),
    "square": lambda code, x: code.step("mul", x, x),
    "integer_pow": lambda code, x: code.step("mul", x, x),
    "rsqrt": lambda code, x: code.step("div", ONE, code.call("sqrt", x)),
    "sign": _sign,
    "select_n": lambda code, c, no, yes: code.new(f"select i1 {c}, float {yes}, float {no}"),
}
_ARITHMETIC = {*_BINARY, *_CALLS, *_OTHERS} - {"select_n"}


class Kernel(NamedTuple):
    """Steps in their order, and what they are given: arrays, single numbers; `results` are variables of the steps.

    Arguments:
        splats: the numbers that arrays of one number are made of, by the variables of those.
        in_place: the array that a result takes the place of, by the number of the result.
    """

    eqns: Sequence[Any]
    arrays: Sequence[Any]
    numbers: Sequence[Any]
    results: Sequence[Any]
    splats: dict[Any, Any]
    in_place: dict[int, int]

    def key(self, n: int, ignored: int) -> int:
        """By which a program calls it for n elements; behind its numbers it is given some arrays that it ignores."""
        return _target().plan(self._text(ignored), n)

    def _text(self, ignored: int) -> str:
        """Return the code: a loop, and a function that finds what the loop is given."""
        names: dict[Any, str] = {v: f"%a{i}" for i, v in enumerate(self.arrays)}
        names |= {v: f"%n{i}" for i, v in enumerate(self.numbers)}
        code = Code()

        def value(atom: Any) -> str:
            atom = self.splats.get(atom, atom) if not isinstance(atom, Literal) else atom
            return _literal(atom.val) if isinstance(atom, Literal) else names[atom]

        for eqn in self.eqns:
            names[eqn.outvars[0]] = code.step(eqn.primitive.name, *map(value, eqn.invars))
        return "\n".join(self._lines(code, [names[v] for v in self.results], ignored))

    def _lines(self, code: Code, results: list[str], ignored: int) -> Iterator[str]:
        of_result = {a: r for r, a in self.in_place.items()}
        alone = [i for i in range(len(self.arrays)) if i not in of_result]
        kinds = ["i1" if v.aval.dtype == _BOOL else "float" for v in self.numbers]
        given = [f"ptr noalias %p{i}" for i in alone] + [f"ptr noalias %r{i}" for i in range(len(results))]
        given += [f"{kind} %n{i}" for i, kind in enumerate(kinds)]
        yield f"define private void @loop({', '.join([*given, 'i64 %from, i64 %to'])}) noinline {{"
        yield "  br label %next\nnext:\n  %i = phi i64 [ %from, %0 ], [ %i2, %next ]"
        for i in range(len(self.arrays)):
            pointer = f"%r{of_result[i]}" if i in of_result else f"%p{i}"
            yield from _loaded(f"%a{i}", pointer, self.arrays[i].aval.dtype, "%i")
        yield from code.lines
        for i, value in enumerate(results):
            yield f"  %to{i} = getelementptr float, ptr %r{i}, i64 %i\n  store float {value}, ptr %to{i}"
        yield "  %i2 = add nuw i64 %i, 1\n  %more = icmp ult i64 %i2, %to\n  br i1 %more, label %next, label %done"
        yield "done:\n  ret void\n}"
        n = len(self.arrays)
        places = {f"%p{i}": i for i in alone} | {f"%s{i}": n + i for i in range(len(kinds))}
        places |= {f"%r{i}": n + len(kinds) + ignored + i for i in range(len(results))}
        yield "define void @kernel(ptr %pointers, i64 %from, i64 %to) {"
        for name, place in places.items():
            yield f"  {name}_at = getelementptr ptr, ptr %pointers, i64 {place}\n  {name} = load ptr, ptr {name}_at"
        for i, v in enumerate(self.numbers):
            yield from _loaded(f"%n{i}", f"%s{i}", v.aval.dtype, "0")
        passed = [g.replace("noalias ", "") for g in given]
        yield f"  call void @loop({', '.join([*passed, 'i64 %from, i64 %to'])})\n  ret void\n}}"
        for name in ("sqrt", "fabs"):
            yield f"declare float @llvm.{name}.f32(float)"
        for name in ("maximum", "minimum", "copysign"):
            yield f"declare float @llvm.{name}.f32(float, float)"


def _loaded(name: str, pointer: str, dtype: Any, i: str) -> Iterator[str]:
    """Yield the i-th element; a bool is a byte in memory."""
    kind = "i8" if dtype == _BOOL else "float"
    yield f"  {name}_at = getelementptr {kind}, ptr {pointer}, i64 {i}"
    if dtype == _BOOL:
        yield f"  {name}_byte = load i8, ptr {name}_at\n  {name} = icmp ne i8 {name}_byte, 0"
    else:
        yield f"  {name} = load float, ptr {name}_at"


def _literal(value: Any) -> str:
    if np.asarray(value).dtype == _BOOL:
        return "true" if value else "false"
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(np.float32(value))))[0]:016X}"


class _Target:
    """The FFI target that XLA calls for kernels."""

    def __init__(self, llvm: Any) -> None:
        self._table = llvm.target(KERNEL, "kernel_call.ll")
        self.planned: dict[int, tuple[str, int]] = {}
        self._address = once(lambda text: llvm.compiled(text).get_function_address("kernel"))

    def plan(self, text: str, n: int) -> int:
        """Return the key of a plan: the kernel, how many elements, how many pieces, and who helps with them."""
        key = key_of(f"{text} {n}")
        if key not in self.planned:
            pieces = -(-n // PIECE)
            helpers = min(pieces, len(cpus())) - 1 if pieces > 2 else 0
            self._table.add(key, [self._address(text), n, PIECE, pieces, helpers])
            self.planned[key] = text, n
        return key


@once
def _target() -> _Target:
    return _Target(compiler())


def planned(key: int) -> tuple[str, int] | None:
    """Return the code and the number of elements for which this process has a plan of that key."""
    return _target().planned.get(key)


def plan(text: str, n: int) -> int:
    """Plan what planned() gave in another process."""
    return _target().plan(text, n)
