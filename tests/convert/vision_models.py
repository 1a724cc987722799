"""Every model of vision.models, and the nets of the benchmarks, as ONNX: onnxruntime gives what the program gives.

usage: python tests/convert/vision_models.py [--only REGEX] [--int8] [--json FILE]

A model is saved, converted and compared in a process of its own, since jax2onnx keeps what it has made. Weights follow
from their names, so that numbers neither vanish nor grow on the way through the deepest of the nets.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS / "tables"), str(TESTS.parent / "benchmarks")]
BENCHMARKS = ["mlp", "lenet", "resnet", "bert", "lm"]
EXAMPLES = 8  # for calibration


def names() -> list[str]:
    """What there is to convert."""
    from paddle_lite_py.vision import models

    made = [n for n in models.__all__ if n[0].islower()]
    return [*(f"benchmark.{n}" for n in BENCHMARKS), "LeNet", *made]


def built(name: str) -> tuple[Any, Any]:
    """A model in eval mode, and what it takes: any number of rows."""
    import paddle_lite_py as paddle

    if name.startswith("benchmark."):
        import workloads_paddle

        make, examples = workloads_paddle.NETS[name.partition(".")[2]]
        example = examples()[0]
        return make(), paddle.static.InputSpec(["rows", *example.shape[1:]], example.dtype.name, "x")
    side = {"LeNet": 28, "inception_v3": 299}.get(name, 224)
    shape = ["rows", 1 if name == "LeNet" else 3, side, side]
    return getattr(paddle.vision.models, name)(), paddle.static.InputSpec(shape, "float32", "x")


def set_weights(model: Any) -> None:
    """Weights with the spread that keeps the size of activations, statistics near one."""
    import numpy as np

    import paddle_lite_py as paddle

    for name, value in model.state_dict().items():
        rng, shape = np.random.RandomState(sum(map(ord, name))), value.shape
        if "variance" in name or len(shape) == 1 and "weight" in name:
            made = rng.uniform(0.8, 1.2, shape)
        else:
            fan_in = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
            made = rng.randn(*shape) * (2 / fan_in) ** 0.5 if len(shape) > 1 else rng.randn(*shape) * 0.1
        value.set_value(paddle.to_tensor(made.astype("float32")))


def convert(name: str, int8: bool) -> dict[str, Any]:
    """Save a model, convert it, compare both; what was said, how long it took, and what 8-bit integers make of it."""
    import numpy as np

    import paddle_lite_py as paddle
    from paddle_lite_py.convert import SavedProgram, to_onnx

    warnings.simplefilter("ignore")
    model, spec = built(name)
    set_weights(model)
    model.eval()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        paddle.jit.save(model, f"{folder}/net", input_spec=[spec], platforms=["cpu"])
        source = SavedProgram(f"{folder}/net")
        said = to_onnx(source, f"{folder}/net", sizes={"rows": 2}).partition(": ")[2]
        seconds = time.perf_counter() - start
        differ = [np.ptp(a, axis=0).max() / np.abs(a).max() for a in source.results(source.samples({"rows": 2}))]
        small = eight_bits(source, f"{folder}/net.onnx") if int8 else ""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"said": said, "differ": float(min(differ)), "seconds": seconds, "GiB": memory, "int8": small}


def eight_bits(source: Any, path: str) -> str:
    """How far the scores with 8-bit integers are from those without."""
    import numpy as np
    import onnxruntime

    from paddle_lite_py.convert import quantized

    (rows,) = source.samples({"rows": EXAMPLES}, seed=1)
    try:
        small = quantized(path, {"x": rows})
        a, b = (onnxruntime.InferenceSession(p).run(None, {"x": rows})[0] for p in (path, small))
    except Exception as e:
        return f"FAILS: {str(e)[:400]}"
    ratio = Path(path).stat().st_size / Path(small).stat().st_size
    return f"{ratio:.1f} times smaller, off by {np.abs(a - b).max() / np.abs(a).max():.2f}"


def in_process(name: str, int8: bool) -> dict[str, Any]:
    """The same in a process of its own; what it died of if it did."""
    command = [sys.executable, __file__, "--one", name, *["--int8"] * int8]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"JAX_PLATFORMS": "cpu"})
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"ended with {done.returncode}"]
        return {"error": last[0][:500]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def show(name: str, found: dict[str, Any]) -> None:
    """A row."""
    if "error" in found:
        return print(f"{name:26} FAILS: {found['error']}", flush=True)
    small = f"; 8 bits: {found['int8']}" if found["int8"] else ""
    spent = f"{found['seconds']:6.0f} s {found['GiB']:5.1f} GiB"
    print(f"{name:26} {spent}  {found['said']}; rows differ by {found['differ']:.1e}{small}", flush=True)


def main() -> None:
    """Print the table; end with 1 if a model fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names that hold this regular expression")
    parser.add_argument("--int8", action="store_true", help="8-bit integers too, calibrated on examples")
    parser.add_argument("--json", help="a file for the results")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        return print(json.dumps(convert(given.one, given.int8)))
    results: dict[str, Any] = {}
    for name in [n for n in names() if re.search(given.only, n)]:
        results[name] = in_process(name, given.int8)
        show(name, results[name])
        if given.json:
            Path(given.json).write_text(json.dumps(results, indent=1))
    failed = [n for n, r in results.items() if "error" in r or "FAILS" in r["int8"]]
    print(f"{len(results) - len(failed)} of {len(results)} models give the same in onnxruntime")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
