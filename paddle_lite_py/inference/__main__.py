"""Run a saved program from the command line: python -m paddle_lite_py.inference MODEL --input x.npy --benchmark."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

from ..jit import ArtifactError
from .config import Config
from .predictor import Predictor, create_predictor


def main(arguments: list[str] | None = None) -> int:
    """Run, and print the results or how long they took."""
    args = _parser().parse_args(arguments)
    try:
        config = Config(args.model)
        if args.gpu is not None:
            config.enable_use_gpu(0, args.gpu)
        predictor = create_predictor(config)
        inputs = _inputs(predictor, args)
        results = predictor.run(inputs)
        for name, tensor in zip(predictor.get_output_names(), results, strict=False):
            print(f"{name}: {tensor.dtype.name}{[*tensor.shape]}")
        if args.output:
            arrays = {n: t.numpy() for n, t in zip(predictor.get_output_names(), results, strict=False)}
            np.savez(args.output, **arrays)
        if args.benchmark:
            print(benchmark(predictor, inputs, args.repeat))
    except (ArtifactError, ValueError, TypeError, OSError) as e:
        print(f"{type(e).__name__}: {e}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m paddle_lite_py.inference", description=__doc__)
    parser.add_argument("model", help="what jit.save was given")
    parser.add_argument("--input", action="append", default=[], metavar="[NAME=]X.npy", help="an input, in order")
    parser.add_argument("--batch", type=int, default=1, help="size of unknown dimensions of inputs not given")
    parser.add_argument("--output", metavar="Y.npz", help="write the results")
    parser.add_argument("--gpu", type=int, metavar="N", help="run on this GPU")
    parser.add_argument("--benchmark", action="store_true", help="print latency percentiles and throughput")
    parser.add_argument("--repeat", type=int, default=100, help="calls that are timed (default 100)")
    return parser


def _inputs(predictor: Predictor, args: argparse.Namespace) -> list[np.ndarray]:
    names = predictor.get_input_names()
    given: dict[str, np.ndarray] = {}
    for position, text in enumerate(args.input):
        name, _, path = text.rpartition("=")
        if (not name and position >= len(names)) or (name and name not in names):
            raise ValueError(f"--input {text}: the program takes {', '.join(names)}")
        given[name or names[position]] = np.load(path, allow_pickle=False)
    specs = {str(s.name): s for s in predictor._method.inputs}
    return [given[n] if n in given else _zeros(specs[n], args.batch) for n in names]


def _zeros(spec: Any, batch: int) -> np.ndarray:
    shape = [n if isinstance(n, int) and n >= 0 else batch for n in spec.shape]
    return np.zeros(shape, spec.dtype.np)


def benchmark(predictor: Predictor, inputs: list[np.ndarray], repeat: int) -> str:
    """Latency percentiles of single calls, and how many examples a second went through."""
    times = []
    for _ in range(max(1, repeat)):
        start = time.perf_counter()
        for tensor in predictor.run(inputs):
            tensor.numpy()
        times.append(time.perf_counter() - start)
    examples = inputs[0].shape[0] if inputs and inputs[0].ndim else 1
    marks = ", ".join(f"p{p} {np.percentile(times, p) * 1000:.3f} ms" for p in (50, 90, 99))
    return f"latency over {len(times)} calls: {marks}; throughput: {examples * len(times) / sum(times):.1f} examples/s"


if __name__ == "__main__":
    sys.exit(main())
