"""Pipelines of models and Python functions: a chain, or a small graph, of steps that pass values by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import ServingError
from .models import ServedModel, load_model
from .tensors import DTYPES, Arrays, TensorSpec


@dataclass(frozen=True)
class Stage:
    """One part of a pipeline.

    Arguments:
        run: a function of arrays, a ServedModel, or what jit.save was given.
        takes: names of the values that it takes, in order.
        gives: names for what it gives, in order.

    Examples:
        >>> Stage(np.negative, ["x"], ["y"]).name
        'negative'
    """

    run: Callable[..., Any] | ServedModel | str
    takes: Sequence[str]
    gives: Sequence[str]

    @property
    def name(self) -> str:
        """For messages."""
        return self.run if isinstance(self.run, str) else getattr(self.run, "__name__", type(self.run).__name__)


class ModelPipeline(ServedModel):
    """Steps as one model, which a file for the command line calls `model`.

    Arguments:
        inputs, outputs: what it takes and gives.
        steps: in any order; each runs once its values are there. A step raises ValueError for what the client has sent.
        example: a row or more of each input, for the trial before the server is ready; numbers are made up else.

    Raises:
        ServingError: if a value that a step takes is given by none, or by two.

    Examples:
        >>> halves = Stage(lambda x: (x / 2, x / 2), ["x"], ["a", "b"])
        >>> whole = Stage(np.add, ["a", "b"], ["y"])
        >>> floats = [TensorSpec("x", "FP32", ("n",))], [TensorSpec("y", "FP32", ("n",))]
        >>> ModelPipeline(*floats, [whole, halves]).run({"x": np.ones(2, "float32")})["y"].tolist()
        [1.0, 1.0]
    """

    platform = "pipeline"

    def __init__(
        self, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec], steps: Sequence[Stage],
        example: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.example = {s.name: _rows(example[s.name], s) for s in inputs} if example else None
        self._steps = [(s, _function(s)) for s in _in_order(steps, [s.name for s in inputs], [s.name for s in outputs])]

    def run(self, arrays: Arrays) -> Arrays:
        """Run the steps one after the other."""
        values: dict[str, Any] = dict(arrays)
        for step, function in self._steps:
            try:
                found = function(*[values[n] for n in step.takes])
            except ServingError as e:
                raise ServingError(e.kind, f"step {step.name}: {e.text}") from e
            except ValueError as e:
                raise ServingError("invalid", f"step {step.name}: {e}") from e
            several = found if len(step.gives) > 1 else (found,)
            values.update(zip(step.gives, several, strict=True))
        return {s.name: _as_output(values[s.name], s) for s in self.outputs}


def _in_order(steps: Sequence[Stage], inputs: list[str], outputs: list[str]) -> list[Stage]:
    """Return the steps, each after those that give what it takes."""
    known, left, ordered = set(inputs), list(steps), []
    while left:
        ready = [s for s in left if known.issuperset(s.takes)]
        if not ready:
            missing = sorted({n for s in left for n in s.takes} - known - {n for s in left for n in s.gives})
            what = f"no step gives {', '.join(missing)}" if missing else "steps wait for each other in a circle"
            raise ServingError("invalid", f"pipeline: {what}; the steps {', '.join(s.name for s in left)} cannot run")
        for step in ready:
            if twice := known.intersection(step.gives):
                raise ServingError("invalid", f"pipeline: {', '.join(twice)} is given twice, by step {step.name} too")
            known.update(step.gives)
            ordered.append(step)
        left = [s for s in left if s not in ready]
    if absent := [n for n in outputs if n not in known]:
        raise ServingError("invalid", f"pipeline: no step gives the output {', '.join(absent)}")
    return ordered


def _function(step: Stage) -> Callable[..., Any]:
    """Return a step as a function of arrays."""
    model = load_model(step.run) if isinstance(step.run, str) else step.run
    if not isinstance(model, ServedModel):
        return model
    if len(model.inputs) != len(step.takes) or len(model.outputs) != len(step.gives):
        has = f"takes {len(model.inputs)} values and gives {len(model.outputs)}"
        raise ServingError(
            "invalid", f"pipeline: step {step.name} {has}; it is declared with {step.takes} -> {step.gives}"
        )

    def run(*given: Any) -> Any:
        arrays = {s.name: np.asarray(a, DTYPES[s.datatype]) for s, a in zip(model.inputs, given, strict=True)}
        found = model.run(arrays)
        several = tuple(found[s.name] for s in model.outputs)
        return several if len(several) > 1 else several[0]

    return run


def _rows(value: Any, spec: TensorSpec) -> np.ndarray:
    made = np.asarray(value, DTYPES[spec.datatype])
    if made.ndim != len(spec.dims):
        raise ServingError(
            "invalid", f"pipeline: the example of `{spec.name}` has shape {list(made.shape)}, not {list(spec.dims)}"
        )
    return made


def _as_output(value: Any, spec: TensorSpec) -> np.ndarray:
    return np.asarray(value, DTYPES[spec.datatype])
