"""Write nn_ops_figures.json: the results of PaddlePaddle 3.3.1 for every row of nn_ops_table.py.

python tests/golden/nn_ops_figures.py samples FILE   with paddle_lite_py: the samples, as an .npz file
python tests/golden/nn_ops_figures.py record FILE    with PaddlePaddle: the figures of these samples
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).with_name("nn_ops_figures.json")


def samples(path: str) -> None:
    """Write the arguments of all rows; attributes as JSON."""
    sys.path.append(str(OUT.parents[1] / "tables"))
    from nn_ops_table import ROWS, key

    seen: dict[str, int] = {}
    arrays: dict[str, Any] = {}
    for r in ROWS:
        at = seen[r.name] = seen.get(r.name, -1) + 1
        name = key(r.name, r.attrs, at)
        arrays[f"{name}|attrs"] = np.array(json.dumps([r.attrs, r.names]))
        for i, value in enumerate(r.sample()):
            arrays[f"{name}|{i}"] = value
    np.savez(path, **{k.replace("/", "_"): v for k, v in arrays.items()})


def figures(paddle: Any, name: str, args: list[Any], names: list[str], attrs: dict[str, Any]) -> list[dict[str, Any]]:
    """Results of one call."""
    function = getattr(paddle.nn.functional, name)
    tensors = [paddle.to_tensor(a) for a in args]
    out = function(**dict(zip(names, tensors, strict=True)), **attrs) if names else function(*tensors, **attrs)
    arrays = [o.numpy() for o in (out if isinstance(out, tuple | list) else (out,))]
    return [
        {"dtype": str(a.dtype), "shape": list(a.shape), "values": [rounded(v) for v in a.ravel().tolist()]}
        for a in arrays
    ]


def rounded(value: Any) -> Any:
    """Six digits, and no more characters than needed."""
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() else short


def record(path: str) -> None:
    """Run PaddlePaddle on the samples."""
    import paddle

    data = np.load(path)
    found = {}
    for name in [k[:-6] for k in data.files if k.endswith("|attrs")]:
        attrs, names = json.loads(data[f"{name}|attrs"].item())
        args = [data[f"{name}|{i}"] for i in range(sum(k.startswith(f"{name}|") for k in data.files) - 1)]
        op = name.partition(" ")[2].partition("(")[0].rpartition(".")[2]
        try:
            found[name] = figures(paddle, op, args, names, attrs)
        except Exception as e:
            print(name, type(e).__name__, str(e).strip().splitlines()[-1][:200], file=sys.stderr)
    lines = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in found.items()]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    {"samples": samples, "record": record}[sys.argv[1]](sys.argv[2])
