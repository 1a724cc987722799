"""Run what paddle.jit.save wrote, with nothing but jax and safetensors: run_artifact.py PREFIX INPUT.npy ..."""

import json
import sys
from pathlib import Path

import jax
import numpy as np
from jax import export
from safetensors.numpy import load_file

jax.config.update("jax_enable_x64", True)
prefix, *inputs = sys.argv[1:]
manifest = json.loads(Path(f"{prefix}.json").read_text())
files = {suffix: Path(prefix).parent / entry["name"] for suffix, entry in manifest["files"].items()}
forward = export.deserialize(bytearray(files["forward.eval.stablehlo"].read_bytes()))
arrays = load_file(files["safetensors"])
method = manifest["methods"]["forward"]["eval"]
weights = [arrays[manifest["weights"][i]["name"]] for i in method["weights"]]
results = forward.call(*[np.load(path) for path in inputs], *weights)
for result in results[: method["n_results"]]:
    print(np.array2string(np.asarray(result), threshold=sys.maxsize))
