"""A saved program as what is to be converted: a JAX function of its inputs, with the weights in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..core.config import portable
from ..core.interpreter import no_grad
from ..ir.lower import lower
from ..ir.parts import symbols_of
from ..ir.program import Program
from ..jit import TranslatedLayer, load
from ..jit.method import Method


class ConvertError(ValueError):
    """A program has no form in what it should be converted to, or is converted to something else than it is.

    Examples:
        >>> issubclass(ConvertError, ValueError)
        True
    """


class SavedProgram:
    """A program that jit.save or static.save_inference_model has written.

    Arguments:
        path: what it was saved as.

    Raises:
        ArtifactError: if the files are missing or damaged.
        ConvertError: if it changes state or holds checks, which no file of another kind can.
    """

    def __init__(self, path: str) -> None:
        self.name = Path(path.removesuffix(".json")).name
        self.layer: TranslatedLayer = load(path.removesuffix(".json"))
        if "forward" not in self.layer._methods:
            raise ConvertError(f"{path} has no method forward")
        self._method: Method = self.layer._methods["forward"]["eval"]
        checked = not all("argument" in check for check in self._method.data["checks"])
        if self._method.data["state"] or checked:
            what = "changes state" if self._method.data["state"] else "holds asserts or raises on tensors"
            raise ConvertError(f"{path}: its method forward {what}, which only this framework can run")

    @property
    def program(self) -> Program:
        """Its operators, with the lines of the source that they came from."""
        return self._method.program

    @property
    def inputs(self) -> list[Any]:
        """Name, dtype and shape of each input, as InputSpecs."""
        return self._method.inputs

    def function(self) -> Callable[..., tuple[Any, ...]]:
        """Return the program in eval mode.

        Raises:
            ConvertError: if it runs in parts.
        """
        self._require_one_part()
        lowered, weights = lower(self.program), [np.asarray(h._payload) for h in self._method.handles]
        n = len(self._method.outputs)

        def run(*arrays: Any) -> tuple[Any, ...]:
            with no_grad(), portable():
                return tuple(lowered(*arrays, *weights)[:n])

        return run

    @property
    def runs_in_parts(self) -> bool:
        """Whether sizes are known only when it runs."""
        return self._method.runs_in_parts

    def _require_one_part(self) -> None:
        if self.runs_in_parts:
            ops, measured = self.program.ops(), self.program.measured
            sized = next((op for op in ops if op.bound.op.on_host or symbols_of(op) & measured.keys()), ops[0])
            raise ConvertError(
                f"{self.name}: its method forward runs in parts, since sizes such as of `{sized.name}` at "
                f"{sized.where} depend on the data or must be known when it is compiled; of other formats ONNX alone "
                "has operators for that: convert it to ONNX, save what comes before it, or give it a fixed size"
            )

    def shapes(self, sizes: Mapping[str, int], otherwise: int = 1) -> list[tuple[int, ...]]:
        """Shapes of the inputs; unknown dimensions that are not named have another size."""
        values = self.program.block.inputs[: len(self.inputs)]
        return [tuple(n if isinstance(n, int) else sizes.get(str(n), otherwise) for n in v.shape) for v in values]

    def samples(self, sizes: Mapping[str, int], seed: int = 0, otherwise: int = 1) -> list[np.ndarray]:
        """Made-up inputs; unknown dimensions that are not named have another size."""
        rng = np.random.default_rng(seed)
        shapes = self.shapes(sizes, otherwise)
        return [_numbers(rng, s, i.dtype.np) for s, i in zip(shapes, self.inputs, strict=True)]

    def results(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Return the outputs of the saved program itself."""
        found = self._method._run(arrays)
        return [np.asarray(t._payload if hasattr(t, "_payload") else t) for t in jax.tree.leaves(found)]


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    kind = np.dtype(dtype).kind
    return (rng.standard_normal(shape) if kind not in "iub" else rng.integers(0, 2, shape)).astype(dtype)


def compare(found: list[Any], want: list[np.ndarray], what: str, tolerance: float = 1e-3) -> float:
    """Return the largest difference, relative to the largest number.

    Raises:
        ConvertError: if it is too large, or no number.
    """
    worst = [0.0]
    for a, b in zip(found, want, strict=True):
        if np.shape(a) != b.shape:
            raise ConvertError(f"{what} gives shape {list(np.shape(a))}, the program {list(b.shape)}")
        scale = float(np.abs(b.astype(np.float64)).max(initial=0.0)) + 1e-9
        worst.append(float(np.abs(np.asarray(a, np.float64) - b).max(initial=0.0)) / scale)
    largest = float(np.max(worst))  # NaN if one of them is
    if not largest <= tolerance:
        raise ConvertError(f"{what} gives other numbers than the program: they differ by {largest:.2g} of the largest")
    return largest
