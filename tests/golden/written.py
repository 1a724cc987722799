"""Model files that this package writes, run by PaddlePaddle: `python tests/golden/written.py PADDLE_PYTHON [record]`.

Each case of `tests/tables/written_cases.py` is written here, and run there by the predictor (as it is by default, and
without its rewriting) and by jit.load; all have to agree with what the case gives here. `record` writes the results of
the predictor to `written.json`, which the tests compare with.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tables"))

from written_cases import CASES, TOLERANCE, TOLERANCES, figures, save  # noqa: E402

KINDS = ("plain", "default", "load")
# Kernels of oneDNN that PaddlePaddle itself cannot run: nearest_interp and its like, by default.
NOT_BY_DEFAULT = ("images",)

# What PaddlePaddle's Python runs, for one case in one way: files in, results out.
RUNNER = """
import sys
import numpy as np, paddle, paddle.inference as inference
folder, kind = sys.argv[1:]
given = dict(np.load(folder + "/inputs.npz"))
if kind == "load":
    out = paddle.jit.load(folder + "/inference")(*[paddle.to_tensor(a) for a in given.values()])
    found = [t.numpy() for t in (out if isinstance(out, (list, tuple)) else [out])]
else:
    import os
    weights = folder + "/inference.pdiparams"
    config = inference.Config(folder + "/inference.json", weights if os.path.exists(weights) else "")
    config.disable_glog_info()
    if kind == "plain":
        config.switch_ir_optim(False)
        config.disable_mkldnn()
    predictor = inference.create_predictor(config)
    for name in predictor.get_input_names():
        handle = predictor.get_input_handle(name)
        handle.reshape(list(given[name].shape))
        handle.copy_from_cpu(given[name])
    predictor.run()
    found = [predictor.get_output_handle(n).copy_to_cpu() for n in predictor.get_output_names()]
np.savez(folder + "/" + kind + ".npz", **{f"out{i:03d}": a for i, a in enumerate(found)})
"""


def difference(found: list[np.ndarray], wanted: list[np.ndarray]) -> float:
    """The largest one, relative to the largest number of a result; infinite where shapes or dtypes differ."""
    if [(a.shape, a.dtype) for a in found] != [(a.shape, a.dtype) for a in wanted]:
        return float("inf")
    worst = 0.0
    for a, b in zip(found, wanted, strict=True):
        if a.size:
            x, y = a.astype("float64"), b.astype("float64")
            worst = max(worst, float(np.abs(x - y).max()) / max(1.0, float(np.abs(y).max())))
    return worst


def run(python: str, folder: Path, kind: str) -> list[np.ndarray] | str:
    """What PaddlePaddle gives, or its last words."""
    done = subprocess.run([python, "-c", RUNNER, str(folder), kind], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"ended by signal {-done.returncode}"])[-1]
    with np.load(folder / f"{kind}.npz") as file:
        return list(file.values())


def main(python: str, record: bool) -> int:
    """Run all cases; the number of those that differ."""
    failed, recorded = 0, dict[str, Any]()
    for name in CASES:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / name
            _, wanted = save(name, folder)
            for kind in KINDS:
                if kind == "default" and name in NOT_BY_DEFAULT:
                    continue
                found = run(python, folder, kind)
                worst = float("inf") if isinstance(found, str) else difference(found, wanted)
                failed += not worst <= TOLERANCES.get(name, TOLERANCE)
                print(f"{name} ({kind}): {found if isinstance(found, str) else f'off by {worst:.1e}'}", flush=True)
                if kind == "plain" and not isinstance(found, str):
                    recorded[name] = [figures(a) for a in found]
    if record and not failed:
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in recorded.items())
        (HERE / "written.json").write_text(f"{{\n{lines}\n}}\n")
    print(f"written: {len(CASES)} cases, {failed} runs differ")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "record" in sys.argv[2:]) > 0)
