"""The op test table: one row an op, from which tests of several kinds are derived (values, dtypes, gradients, methods,
eager against static). A row names the op, samples its arguments and has an oracle in NumPy or SciPy."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Sampler = Callable[[np.random.Generator, str], np.ndarray]


@dataclass(frozen=True)
class Row:
    """One op under test. `inputs` holds samplers (or lists of them); `attrs` are the other arguments."""

    name: str
    inputs: tuple[Any, ...]
    oracle: Callable[..., Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ("float32",)
    grad: bool = True
    dynamic: bool = False  # its shape depends on the data: eager mode only
    out: str | tuple[str, ...] | None = None  # dtype of the results where it is not that of the oracle
    tol: float = 2e-5
    names: tuple[str, ...] = ()  # keywords of the inputs, where attributes stand between them

    def __str__(self) -> str:
        said = ", ".join(f"{k}={v}" for k, v in self.attrs.items())
        return f"{self.name}({said})" if said else self.name

    @property
    def function(self) -> Callable[..., Any]:
        """The public function."""
        return find(self.name)

    def sample(self, dtype: str = "float32", seed: int = 0) -> list[Any]:
        """NumPy arguments; floating ones in `dtype`."""
        rng = np.random.default_rng(seed)
        return [[s(rng, dtype) for s in i] if isinstance(i, list) else i(rng, dtype) for i in self.inputs]


@functools.cache
def families() -> dict[str, Any]:
    """The modules of the ops by name. Imported late: PaddlePaddle reads the table where they are not installed."""
    path = importlib.import_module("paddle_lite_py.ops").__path__
    return {m.name: importlib.import_module(f"paddle_lite_py.ops.{m.name}") for m in pkgutil.iter_modules(path)}


def find(name: str) -> Callable[..., Any]:
    """A public function of the ops by name; "fft.rfft" names its family."""
    family, _, last = name.rpartition(".")
    for module in [families()[family]] if family else families().values():
        if last in getattr(module, "__all__", ()):
            return getattr(module, last)
    raise KeyError(name)


ROWS: list[Row] = []


def row(name: str, inputs: list[Any], oracle: Callable[..., Any], **options: Any) -> None:
    """Add a row; options that Row has not are attributes of the op, and `attrs` those whose name clashes."""
    own = {k: options.pop(k) for k in ("dtypes", "grad", "dynamic", "out", "tol", "names") if k in options}
    ROWS.append(Row(name, tuple(inputs), oracle, {**options.pop("attrs", {}), **options}, **own))


# -- samplers -----------------------------------------------------------------------------------------------------
def _floating(draw: Callable[[np.random.Generator], np.ndarray]) -> Sampler:
    def sample(rng: np.random.Generator, dtype: str) -> np.ndarray:
        values = draw(rng)
        return np.round(values * 4).astype(dtype) if dtype.startswith("int") else values.astype(dtype)

    return sample


def normal(*shape: int) -> Sampler:
    """Standard normal numbers; in an integer dtype, their quarters rounded."""
    return _floating(lambda rng: rng.standard_normal(shape))


def between(low: float, high: float, *shape: int) -> Sampler:
    """Uniform numbers."""
    return _floating(lambda rng: rng.uniform(low, high, shape))


def distinct(*shape: int) -> Sampler:
    """Numbers at least 0.5 apart, so that order has no ties and a small step does not change it."""
    n = int(np.prod(shape))
    return _floating(lambda rng: (rng.permutation(n) - n / 3).reshape(shape) / 2)


def positive_definite(n: int, *batch: int) -> Sampler:
    """Symmetric positive matrices."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        a = rng.standard_normal((*batch, n, n))
        return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)

    return _floating(draw)


def ints(low: int, high: int, *shape: int) -> Sampler:
    """int64 numbers, whatever the dtype of the row."""
    return lambda rng, dtype: rng.integers(low, high, shape)


def bools(*shape: int) -> Sampler:
    """Booleans, whatever the dtype of the row."""
    return lambda rng, dtype: rng.random(shape) < 0.5


def fixed(*values: Any, dtype: Any = None) -> Sampler:
    """A given vector; floats in the dtype of the row."""

    def sample(rng: np.random.Generator, row_dtype: str) -> np.ndarray:
        array = np.array(values, dtype)
        return array.astype(row_dtype) if array.dtype.kind == "f" and dtype is None else array

    return sample


def complexes(*shape: int) -> Sampler:
    """Complex numbers of the precision of the row's dtype."""

    def sample(rng: np.random.Generator, dtype: str) -> np.ndarray:
        kind = "complex128" if dtype == "float64" else "complex64"
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)

    return sample


N, P, U, D = normal(2, 3), between(0.5, 2.0, 2, 3), between(-0.9, 0.9, 2, 3), distinct(2, 3)
V, K, B = normal(3), ints(0, 8, 2, 3), bools(2, 3)
INT = ("float32", "int64")

for _family in ("math", "shape", "index", "linalg"):
    importlib.import_module(f"table_{_family}")
