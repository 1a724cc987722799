"""Each rule of the host tier against XLA: exactly where there is one right answer, else within a few units of the last
place."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from paddle_lite_py.host import draws
from paddle_lite_py.host.rules import RULES
from paddle_lite_py.host.steps import Steps, UnknownStepError
from paddle_lite_py.host.steps_text import from_told, told
from paddle_lite_py.host.tier import write_function
from paddle_lite_py.ops.threefry import random_words

COMPLEX = ("complex64", "complex128")
FLOATS, INTS = ("float32", "float64"), ("int8", "int32", "int64", "uint8", "uint32")
SOME = (*FLOATS, "int32")
ODD = {"f": (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.5, 1e30, 3e-30), "i": (0, 1, -1), "u": (0, 1)}


class Case(NamedTuple):
    """A function that JAX traces into one step, its arguments by shape, their dtypes, and the tolerance in ulps."""

    name: str
    function: Callable[..., Any]
    shapes: tuple[Any, ...]
    dtypes: tuple[str, ...] = FLOATS
    ulps: float = 0.0


def sample(rs: np.random.RandomState, shape: Any, dtype: str) -> np.ndarray:
    """Random numbers with the odd ones among them; an array as it is."""
    if isinstance(shape, np.ndarray):
        return shape
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rs.rand(*shape) > 0.5
    if kind.kind == "c":  # of infinite ones XLA and NumPy make different things
        return (rs.randn(*shape) + 1j * rs.randn(*shape)).astype(kind)
    if kind.kind == "f":
        found = (rs.randn(*shape) * 3).astype(kind)
        odd = np.array(ODD["f"], kind)
    else:
        info = np.iinfo(kind)
        found = rs.randint(info.min, info.max, shape, dtype=np.int64 if kind != np.uint64 else kind).astype(kind)
        odd = np.array([*ODD[kind.kind], info.min, info.max], kind)
    flat = found.reshape(-1)
    flat[: len(odd)] = odd[: flat.size]
    rs.shuffle(flat)
    return found


def unary(names: str, dtypes: tuple[str, ...] = FLOATS, ulps: float = 0.0) -> list[Case]:
    """Cases of functions of one array."""
    return [Case(n, getattr(lax, n), ((5, 7),), dtypes, ulps) for n in names.split()]


def binary(names: str, dtypes: tuple[str, ...] = FLOATS, ulps: float = 0.0) -> list[Case]:
    """Cases of functions of two arrays."""
    return [Case(n.rstrip("_"), getattr(lax, n), ((5, 9), (5, 9)), dtypes, ulps) for n in names.split()]


def converted(to: str) -> Callable[[Any], Any]:
    return lambda x: lax.convert_element_type(x, to)


I = functools.partial(np.array, dtype=np.int64)  # noqa: E741
ROWS = I([[0], [3], [1], [9], [-1]])
CELLS = I([[0, 1], [3, 2], [1, 4], [9, 0], [0, -1], [0, 1]])
TAKEN = lax.GatherDimensionNumbers((1,), (0,), (0,))
CELL = lax.GatherDimensionNumbers((), (0, 1), (0, 1))
BOX = lax.GatherDimensionNumbers((0, 1), (), (0, 1))
ALONG = lax.GatherDimensionNumbers((), (1,), (1,), (0,), (0,))
PUT = lax.ScatterDimensionNumbers((1,), (0,), (0,))
PUT_CELL = lax.ScatterDimensionNumbers((), (0, 1), (0, 1))


def gathered(numbers: Any, sizes: Any, mode: str) -> Callable[..., Any]:
    return lambda x, i: lax.gather(x, i, numbers, sizes, mode=mode)


def scattered(put: Any, numbers: Any, mode: str) -> Callable[..., Any]:
    return lambda x, i, u: put(x, i, u, numbers, mode=mode)


BRANCHES = [lambda x: (x, x + 1), lambda x: (x, x * 2)]


def carried(state: Any, given: Any) -> Any:
    return state + given[0], (state * given[1], given[0])


WAVE = np.sin(np.arange(48.0)).reshape(8, 6)
CASES = [
    *unary("neg abs sign", (*FLOATS, "int8", "int32", "int64")),
    *unary("floor ceil square is_finite"),
    *unary("conj real imag neg", COMPLEX),
    Case("complex", lax.complex, ((5, 7), (5, 7))),
    *unary("abs sign square exp exp2 expm1 log log1p sqrt rsqrt logistic", COMPLEX, 64),
    *unary("sin cos tan sinh cosh tanh asin atan asinh atanh", COMPLEX, 256),
    *binary("add sub eq ne", COMPLEX),
    *binary("mul div", COMPLEX, 64),
    *[Case("integer_pow", lambda x, y=y: lax.integer_pow(x, y), ((5, 7),), COMPLEX, 256) for y in (2, 3, -1, -2)],
    Case("pow", lax.pow, ((5, 7), (5, 7)), COMPLEX, 2048),
    Case("select_n", lambda x, y: lax.select(lax.real(x) < 0, x, y), ((60, 50), (60, 50)), COMPLEX),
    *[Case("convert_element_type", converted(to), ((7, 9),), COMPLEX) for to in COMPLEX],
    *[Case("convert_element_type", converted(to), ((7, 9),), (*FLOATS, "int32")) for to in COMPLEX],
    Case("dot_general", lambda x, y: x @ y, ((5, 7), (7, 4)), COMPLEX, 64),
    *[Case(f"reduce_{n}", lambda x, n=n: getattr(jnp, n)(x, 1), ((5, 7),), COMPLEX, 64) for n in ("sum", "prod")],
    *[Case(n, lambda x, n=n: getattr(lax, n)(x, 1), ((5, 7),), COMPLEX, 64) for n in ("cumsum", "cumprod")],
    *[
        Case("fft", lambda x, t=t, n=n: lax.fft(x, t, n), ((3, 8, 6),), COMPLEX, 256)
        for t in (lax.FftType.FFT, lax.FftType.IFFT)
        for n in ((6,), (8, 6))
    ],
    *[
        Case("fft", lambda x, n=n: lax.fft(x, lax.FftType.RFFT, n), (WAVE.astype(d),), (d,), 256)
        for n in ((6,), (8, 6))
        for d in FLOATS
    ],
    *[
        Case("fft", lambda x, n=n: lax.fft(x, lax.FftType.IRFFT, n), ((3, 8, 4),), COMPLEX, 256)
        for n in ((6,), (7,), (8, 6))
    ],
    *[Case("not", lax.bitwise_not, ((5, 7),), ("bool", *INTS))],
    *unary("population_count", INTS),
    *[Case("round", lambda x, m=m: lax.round(x, m), ((5, 9),)) for m in lax.RoundingMethod],
    *unary("exp exp2 expm1 log log1p sqrt rsqrt cbrt logistic", ulps=16),
    *unary(" ".join(n for n in ("log2", "one_minus_square") if hasattr(lax, n)), ulps=16),
    *unary("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh", ulps=64),
    *unary("erf erfc lgamma", ulps=64),
    Case("erf_inv", lambda x: lax.erf_inv(lax.tanh(x / 4)), ((5, 7),), FLOATS, 256),
    Case("erf_inv", lambda x: lax.erf_inv(x), (np.linspace(-1, 1, 999, dtype="f4"),), FLOATS[:1], 256),
    *[Case("digamma", lambda x: lax.digamma(lax.abs(x) + 0.1), ((5, 7),), FLOATS, 256)],
    *[Case("integer_pow", lambda x, y=y: lax.integer_pow(x, y), ((5, 7),), FLOATS, 8) for y in (0, 2, 3, 7, -1, -2)],
    Case("integer_pow", lambda x: lax.integer_pow(x, 3), ((5, 7),), INTS),
    *binary("add sub mul max min", (*FLOATS, *INTS)),
    *binary("div rem", (*FLOATS, *INTS)),
    *binary("eq ne lt le gt ge", (*FLOATS, *INTS, "bool")),
    *[Case(n, getattr(lax, f"bitwise_{n}"), ((5, 9), (5, 9)), ("bool", *INTS)) for n in ("and", "or", "xor")],
    *binary("nextafter"),
    *binary("atan2", ulps=64),
    *[
        Case("polynomial", lambda x, y, n=n: lax.polynomial(x, [1.5, y, 2.0, 0.25][:n]), ((5, 9), (5, 1)), FLOATS, 8)
        for n in ((2, 4) if hasattr(lax, "polynomial") else ())
    ],
    Case("pow", lambda x, y: lax.pow(lax.abs(x), y), ((5, 9), (5, 9)), FLOATS, 256),
    Case("pow", lambda x: lax.pow(x, jnp.full((5, 7), 3)), ((5, 7),), FLOATS, 64),
    *binary("shift_left shift_right_logical shift_right_arithmetic", INTS),
    Case("clamp", lambda x, y: lax.clamp(x, y, x + 1), ((5, 9), (5, 9)), (*FLOATS, "int32")),
    Case("select_n", lambda x, y: lax.select(x < y, x, y), ((5, 9), (5, 9)), (*FLOATS, *INTS)),
    Case("select_n", lambda x: lax.select_n(I([0, 2, 1]).astype("int32"), x[0], x[1], x[2]), ((3, 3),)),
    *[
        Case("convert_element_type", converted(to), ((7, 9),), (*FLOATS, *INTS, "bool"))
        for to in ("bool", "int8", "uint8", "int32", "int64", "uint32", "float32", "float64")
    ],
    Case("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (4, 3, 2), (1, 2)), ((3, 2),)),
    Case("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (4, 3), (1,)).T + x[:, None], ((3,),)),
    Case("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x[0, 0], (4, 3), ()), ((3, 2),)),
    Case("reshape", lambda x: lax.reshape(x, (6, 2)), ((3, 4),)),
    Case("reshape", lambda x: lax.reshape(x, (6, 2), dimensions=(1, 0)), ((3, 4),)),
    Case("squeeze", lambda x: lax.squeeze(x, (1,)), ((3, 1, 4),)),
    Case("expand_dims", lambda x: lax.expand_dims(x, (1,)), ((3, 4),)),
    Case("transpose", lambda x: lax.transpose(x, (2, 0, 1)), ((3, 4, 2),)),
    Case("slice", lambda x: lax.slice(x, (1, 0), (3, 5), (1, 2)), ((3, 6),)),
    Case("rev", lambda x: lax.rev(x, (1,)), ((3, 6),)),
    Case("concatenate", lambda x, y: lax.concatenate([x, y, x], 1), ((3, 6), (3, 2))),
    Case("stack", lambda x, y: jnp.stack([x, y], 1), ((3, 6), (3, 6))),
    Case("tile", lambda x: jnp.tile(x, (2, 3)), ((3, 6),)),
    Case("split", lambda x: jnp.split(x, [1, 4], 1), ((3, 6),)),
    Case("unstack", lambda x: jnp.unstack(x, axis=1), ((3, 6),)),
    Case("iota", lambda x: x + lax.broadcasted_iota(x.dtype, (3, 6), 1), ((3, 6),), (*FLOATS, "int32")),
    *[
        Case("pad", lambda x, c=c: lax.pad(x, x[0, 0], c), ((3, 6),))
        for c in (((1, 2, 0), (0, 1, 2)), ((-1, 0, 0), (2, -3, 1)), ((-3, 1, 0), (0, 0, 0)), ((0, -1, 2), (-2, 1, 0)))
    ],
    Case("bitcast_convert_type", lambda x: lax.bitcast_convert_type(x, f"uint{x.dtype.itemsize * 8}"), ((3, 6),)),
    *[
        Case(name, lambda x, d=d: d(jax.random.fold_in(jax.random.key(x[0]), x[1])), ((2,),), ("uint32", "int64"), 16)
        for name, d in (
            ("random_seed", lambda key: jax.random.uniform(key, (3, 50), "float32")),
            ("random_fold_in", lambda key: jax.random.normal(key, (300,), "float32")),
            ("random_bits", lambda key: jax.random.bits(key, (7,), "uint64")),
            ("random_split", lambda key: jax.random.randint(key, (2, 250), 0, 10)),
            ("random_words", lambda key: random_words(jax.random.key_data(key), (3, 40))),
            ("random_unwrap", lambda key: jax.random.key_data(key)),
            ("random_wrap", lambda key: jax.random.bits(jax.random.wrap_key_data(jax.random.key_data(key)), (9,))),
        )
    ],
    *[
        Case("scan", lambda x, y, r=r: lax.scan(carried, x[0], (x, y), reverse=r), ((4, 3), (4,)), ulps=4)
        for r in (False, True)
    ],
    Case("scan", lambda x: lax.scan(lambda s, _: (s * 2, None), x, length=3), ((4,),)),
    *[Case("cond", lambda x, i=i: lax.switch(i + x[0] * 0, BRANCHES, x), ((4,),), ("int32",)) for i in (-1, 0, 1, 5)],
    Case("optimization_barrier", lambda x, y: lax.optimization_barrier((x, y)), ((3,), (2,))),
    Case("copy", lambda x: jnp.copy(x), ((3, 6),)),
    *[
        Case(f"reduce_{n}", lambda x, n=n, a=a: getattr(jnp, n)(x, axis=a), ((3, 4, 5),), (*FLOATS, *INTS))
        for n in ("max", "min")
        for a in (None, 0, (0, 2), (1, 2))
    ],
    *[Case("reduce_max", lambda x: lax.reduce_max(x, (0,)), ((0, 4),), (*FLOATS, "int32", "bool"))],
    *[
        Case(f"reduce_{n}", lambda x, n=n, a=a: getattr(lax, f"reduce_{n}")(x, a), ((3, 4, 5),), INTS)
        for n in ("sum", "prod")
        for a in ((0,), (0, 2), (1, 2), (0, 1, 2))
    ],
    *[
        Case(f"reduce_{n}", lambda x, n=n, a=a: getattr(lax, f"reduce_{n}")(lax.tanh(x), a), ((3, 4, 5),), FLOATS, 64)
        for n in ("sum", "prod")
        for a in ((0,), (0, 2), (1, 2), (0, 1, 2))
    ],
    *[
        Case(f"reduce_{n}", lambda x, n=n: getattr(lax, f"reduce_{n}")(x, (1,)), ((3, 4),), ("bool", "int32"))
        for n in ("and", "or", "xor")
    ],
    *[Case(n, lambda x, n=n: getattr(lax, n)(x, 1, np.dtype("int32")), ((4, 9),)) for n in ("argmax", "argmin")],
    *[
        Case(n, lambda x, n=n, r=r: getattr(lax, n)(x, 1, reverse=r), ((4, 9),), dtypes, ulps)
        for n in ("cumsum", "cumprod", "cummax", "cummin")
        for r in (False, True)
        for dtypes, ulps in ((INTS[:3], 0), (FLOATS, 0))
        if n in ("cummax", "cummin") or dtypes != FLOATS
    ],
    *[
        Case(n, lambda x, n=n: getattr(lax, n)(jnp.nan_to_num(lax.tanh(x)), 1), ((4, 9),), FLOATS, 64)
        for n in ("cumsum", "cumprod", "cumlogsumexp")
    ],
    Case("sort", lambda x: lax.sort(x, 1), ((4, 19),), (*FLOATS, *INTS)),
    Case("sort", lambda x, y: lax.sort((x, y), 1, num_keys=1), ((4, 19), (4, 19)), FLOATS),
    Case("sort", lambda x, y: lax.sort((x % 3, y % 3, y), 1, num_keys=2), ((4, 19), (4, 19)), ("int32",)),
    Case("top_k", lambda x: lax.top_k(x, 3), ((4, 19),), (*FLOATS, "int32")),
    *[
        Case("dot_general", lambda x, y, d=d: lax.dot_general(lax.tanh(x), lax.tanh(y), d), shapes, FLOATS, 64)
        for d, shapes in (
            ((((1,), (0,)), ((), ())), ((3, 4), (4, 5))),
            ((((0,), (1,)), ((), ())), ((4, 3), (5, 4))),
            ((((2,), (1,)), ((0,), (0,))), ((2, 3, 4), (2, 4, 5))),
            ((((1, 3), (2, 0)), ((2,), (3,))), ((5, 2, 3, 4), (4, 6, 2, 3))),
            ((((0,), (0,)), ((), ())), ((4,), (4,))),
            ((((), ()), ((), ())), ((4,), (3,))),
            ((((1,), (0,)), ((), ())), ((3, 4), (4,))),
            ((((1,), (0,)), ((), ())), ((100, 64), (64, 90))),
            ((((0,), (1,)), ((), ())), ((64, 100), (90, 64))),
        )
    ],
    Case("dot_general", lambda x, y: x @ y, ((3, 4), (4, 5)), ("int32", "uint8")),
    *[
        case
        for mode in ("clip", "fill", "promise_in_bounds")
        for case in (
            Case("gather", gathered(TAKEN, (1, 5), mode), ((4, 5), ROWS), (*FLOATS, "int32", "uint8", "bool")),
            Case("gather", gathered(CELL, (1, 1), mode), ((4, 5), CELLS)),
            Case("gather", gathered(BOX, (2, 3), mode), ((4, 5), I([1, 2]))),
            Case("gather", gathered(BOX, (2, 3), mode), ((4, 5), I([3, -1]))),
            Case("gather", gathered(ALONG, (1, 1), mode), ((4, 5), I([[[0], [7]]] * 4))),
        )
        if mode != "promise_in_bounds" or case.shapes[1] is not CELLS
    ],
    *[
        Case(name, scattered(put, numbers, mode), (shape, index, updates), dtypes, ulps)
        for name, put in (
            ("scatter", lax.scatter), ("scatter-add", lax.scatter_add), ("scatter-mul", lax.scatter_mul),
            ("scatter-min", lax.scatter_min), ("scatter-max", lax.scatter_max),
        )
        for mode in ("clip", "fill")
        for numbers, index, updates in ((PUT, ROWS, (5, 5)), (PUT_CELL, CELLS, (6,)))
        for shape, dtypes, ulps in (((4, 5), ("int32",), 0), ((4, 5), FLOATS, 8))
    ],
    # Indices that are known when the function is written.
    *[
        Case("gather", lambda x, n=n, s=s, i=i: lax.gather(x, i, n, s, mode="fill"), ((4, 5),))
        for n, s, i in ((TAKEN, (1, 5), ROWS), (TAKEN, (1, 5), I([[0], [3]])), (CELL, (1, 1), CELLS[[0, 1, 5]]))
    ],
    *[
        Case("scatter", lambda x, y, at=at: at(x, y), (shape, (4,)), ("int32", "float32"), 8)
        for shape in ((4, 4), (3, 4, 4))
        for at in (
            lambda x, y: x.at[1].set(y),
            lambda x, y: x.at[..., 2].add(y),
            lambda x, y: x.at[1, 1:3].multiply(y[..., 1:3] if x.ndim == 2 else y),
            lambda x, y: x.at[9].set(y),
        )
    ],
    # From the end, where it is negative.
    *[Case("wrapped_index", lambda x, i: x[i], ((4, 5), i)) for i in (I([0, -1, 3]), I([1, 2]), I(-2), I([7, -9]))],
    *[
        Case("gather", lambda x, i=i: jnp.take_along_axis(x, i, axis=1), ((4, 5),), (*FLOATS, "int32"))
        for i in (I([[0, -1], [3, 4], [-5, 2], [1, 1]]), I([[9], [-9], [0], [2]]))
    ],
    *[
        Case("gather", lambda x, i, axis=axis: jnp.take_along_axis(x, i, axis=axis), ((4, 5), i))
        for axis, i in ((1, I([[0, -1], [3, 4], [-5, 2], [1, 1]])), (0, I([[9, -9, 0, 2, -1]])), (1, I([[-1]] * 4)))
    ],
    # Elements and rows that are picked, and what Python's operators do with numbers.
    Case("slice", lambda x: x[0] * x[1, 2] + x[:, 3] @ x[:, 4], ((5, 5),), SOME, 8),
    Case("slice", lambda x: (x[0, 1] < x[2, 3]) & (x[1, 1] != x[1, 2]) | (x[0, 0] >= x[3, 3]), ((5, 7),), SOME),
    Case("slice", lambda x: (x[0, 1] - 3) * x[2, 3] / (x[1, 1] - x[1, 1]), ((5, 7),)),
    Case("slice", lambda x: x[0, 1] * x[2, 3] + x[0, 0] - 7, ((5, 7),), INTS),
    Case("slice", lambda x: x[1:4:2, :, 2:3].reshape(2, 7) * x[0, 0, 0].reshape(1, 1), ((5, 7, 3),), SOME),
    # Choices where the other case has all elements, and where nothing has.
    Case("select_n", lambda x, y: jnp.where(x > 0, 2, y) + jnp.where(x > y, x, y[0]), ((5, 9), (5, 9)), SOME),
    Case("select_n", lambda x: jnp.where(jnp.full((3, 4), x[0] > 0), jnp.full((3, 4), x[1]), x[2]), ((5,),)),
    *[
        Case("top_k", lambda x, a=a, k=k, n=n: lax.top_k(x, k, axis=a)[n], ((4, 5, 3),))
        for a, k, n in itertools.product((0, 1, 2), (1, 3), (0, 1))
    ],
    *[
        Case("sort", lambda x, y, a=a: lax.sort((x, y), dimension=a)[1], ((4, 5, 3), (4, 5, 3)), INTS)
        for a in (0, 1, 2)
    ],
    Case("split", lambda x: lax.split(x, (2, 0, 3), axis=1)[2], ((4, 5),)),
    # Places that are known, and differ or not.
    Case("scatter-add", lambda x, y: x.at[:, 0:6:2].add(y).at[1::2].multiply(2), ((4, 6), (4, 3)), SOME),
    Case("scatter-add", lambda x, y: x.at[I([3, 0, 1])].add(y).at[I([1, 1])].add(y[:2]), ((4, 3), (3, 3)), SOME, 8),
    # What comes twice, or changes nothing.
    Case("add", lambda x, y: (x + 0) * 1 + (x + 0 - 0) + (0 + y) / 1 + (y + x), ((5, 9), (9,)), (*FLOATS, "int32")),
    Case("mul", lambda x, y: (x + y) * (x + y) * jnp.sum(x + y + 0) * 1, ((5, 9), (9,)), INTS),
    Case("add", lambda x: jnp.full((2, 3), x[0]).sum(0) + jnp.full((3, 3), x[0]).sum(0), ((5,),), ("int32",)),
    Case("and", lambda x: (x & -1 | 0) ^ 0, ((5, 9),), ("int32",)),
    Case("or", lambda x: (x | False) & True, ((5, 9),), ("bool",)),
    Case("shift_left", lambda x: (x << 3) + (x >> 2) + lax.shift_right_logical(x, jnp.ones_like(x)), ((5, 9),), INTS),
    Case("concatenate", lambda x: lax.concatenate([x[:0], x, jnp.repeat(x, 0, 0)], 0), ((3, 6),)),
    Case("concatenate", lambda x: lax.concatenate([x[:, :0], x[:, 4:4]], 1), ((3, 6),)),
    *[
        Case("dynamic_slice", lambda x, i=i: lax.dynamic_slice(x, i, (2, 3)), ((4, 5),))
        for i in ((1, 1), (-1, 9))
    ],
    Case("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, 0 * i), (2, 3)), ((4, 5), I(3))),
    *[
        Case("dynamic_update_slice", lambda x, y, i=i: lax.dynamic_update_slice(x, y, (i, 1)), ((4, 5), (2, 3)))
        for i in (0, 3, -7)
    ],
]  # fmt: skip


def results(case: Case, dtype: str) -> tuple[Any, Any]:
    """What the host tier makes of a case, and what XLA does."""
    rs = np.random.RandomState(len(case.name))
    args = [sample(rs, shape, dtype) for shape in case.shapes]
    jitted = jax.jit(case.function)
    traced = jitted.trace(*args)
    steps = Steps(traced.jaxpr)
    ours = write_function(steps, traced.out_info).function()(*args)
    again = from_told(json.loads(json.dumps(told(steps))))
    kept = write_function(again, traced.out_info).function()(*args)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(kept), strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    return ours, jitted(*args)


@pytest.mark.parametrize("index", range(len(CASES)), ids=[f"{i} {c.name}" for i, c in enumerate(CASES)])
def test_a_rule_agrees_with_xla(index):
    case = CASES[index]
    for dtype in case.dtypes:
        for ours, theirs in zip(*map(jax.tree.leaves, results(case, dtype)), strict=True):
            theirs = np.asarray(theirs)
            assert type(ours) is np.ndarray and (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), dtype
            if case.ulps and theirs.dtype.kind in "fc":
                tolerance = case.ulps * np.finfo(theirs.dtype).eps
                np.testing.assert_allclose(ours, theirs, tolerance, tolerance, err_msg=dtype)
            else:
                np.testing.assert_array_equal(ours, theirs, err_msg=dtype)


# A sum of products by element along axes of x [3, 4] and y, and whether that is a product of two matrices.
SUMS = {
    "x @ y": (lambda x, y: (x[:, :, None] * y[None]).sum(1), (4, 5), True),
    "y.T @ x.T": (lambda x, y: (y.T[:, :, None] * x.T[None]).sum(1), (4, 5), True),
    "x.T @ y": (lambda x, y: (x[:, :, None] * y[:, None]).sum(0), (3, 5), True),
    "x @ y.T": (lambda x, y: (y[None] * x[:, None]).sum(2), (5, 4), True),
    "x.T @ y.T": (lambda x, y: (x[:, None] * y.T[:, :, None]).sum(0), (5, 3), True),
    "another axis": (lambda x, y: (x[:, :, None] * y[None]).sum(0), (4, 5), False),
    "two axes": (lambda x, y: (x[:, :, None] * y[None]).sum((0, 1)), (4, 5), False),
    "the same axes": (lambda x, y: (x[:, :, None] * y[:, :, None]).sum(1), (3, 4), False),
    "a broadcast row": (lambda x, y: (x[:, :, None] * y[None]).sum(1), (1, 5), False),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_that_is_a_product_of_matrices_becomes_one(name):
    function, shape, is_product = SUMS[name]
    rs = np.random.RandomState(0)
    x, y = rs.randn(3, 4), rs.randn(*shape)
    traced = jax.jit(function).trace(x, y)
    steps = Steps(traced.jaxpr)
    assert ("dot_general" in [s.name for s in steps.list]) == is_product
    found = write_function(steps, traced.out_info).function()(x, y)
    np.testing.assert_allclose(found, function(x, y), rtol=1e-12)


def test_each_rule_has_a_case():
    # Spellings of other versions of JAX, and what only gradients hold.
    newer = {n for n in ("log2", "one_minus_square", "polynomial") if not hasattr(lax, n)}
    others = newer | {"copy_p", "stop_gradient", "add_any", "scatter_add", "scatter_mul", "scatter_min", "scatter_max"}
    others |= {"dim_as_value"}  # of open sizes: test_open_sizes.py
    assert RULES.keys() - others <= {c.name for c in CASES}


def test_what_has_no_rule_is_left_to_xla():
    with pytest.raises(UnknownStepError):
        Steps(jax.jit(lambda x: x.astype("bfloat16")).trace(np.ones(3)).jaxpr)
    traced = jax.jit(lambda x: jnp.linalg.inv(x)).trace(np.ones((3, 3)))
    with pytest.raises(UnknownStepError):
        write_function(Steps(traced.jaxpr), traced.out_info)


def test_keys_of_a_stream_are_those_of_jax_in_any_order():
    stream = jax.random.key_data(jax.random.key(3))
    words = tuple(np.asarray(stream).tolist())
    for count in (5, 4, 3 * draws._KEYS, 2, 3 * draws._KEYS + 1, 5):
        right = jax.random.key_data(jax.random.fold_in(jax.random.key(3), count))
        np.testing.assert_array_equal(draws.fold(words, count), right)
