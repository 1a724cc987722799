"""The process that compiles: a script that knows JAX only, since its settings must stand before JAX starts.

usage: python compiler.py FOLDER. There lie jobs.json and the programs; `N.json` and `N.hlo` are written for each.
"""

import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

_SIZES = ("argument", "output", "temp", "alias", "generated_code")


def devices_of(target: dict[str, Any]) -> Any:
    """Return the devices of a machine that is not here, or of this one."""
    if target["platform"] == "cpu":
        return jax.devices()
    if target["platform"] == "tpu":
        return topologies.get_topology_desc(platform="tpu", topology_name=target["topology"]).devices
    jax.config.update("jax_platforms", None)  # or the plug-in of CUDA is not looked for
    config = {"target_config": target["config"], "topology": target["topology"]}
    return topologies.get_topology_desc(platform="cuda", **config).devices


def lowered(job: dict[str, Any], folder: Path, devices: Any) -> Any:
    """Return a program as the compiler takes it, with its arguments on the devices."""
    program = export.deserialize(bytearray((folder / job["file"]).read_bytes()))
    places: Any = [SingleDeviceSharding(devices[0])] * len(program.in_avals)
    if program.nr_devices > 1:
        axes = job["mesh"] or {"device": program.nr_devices}
        mesh = Mesh(np.array(devices[: program.nr_devices]).reshape(*axes.values()), tuple(axes))
        places = [p or NamedSharding(mesh, PartitionSpec()) for p in program.in_shardings_jax(mesh)]
    args = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=p) for a, p in zip(program.in_avals, places, strict=True)]
    return jax.jit(program.call, donate_argnums=tuple(job["donated"])).lower(*args)


def work_of(compiled: Any, job: dict[str, Any], folder: Path) -> dict[str, float]:
    """Floating point operations, and bytes that are read and written; as for a CPU where the compiler does not tell."""
    found = compiled.cost_analysis() or {}
    if not found.get("flops"):
        jax.config.update("jax_platforms", "cpu")
        found = work_on_a_cpu(export.deserialize(bytearray((folder / job["file"]).read_bytes())))
        jax.config.update("jax_platforms", None)
    return {"flops": float(found.get("flops", 0)), "bytes": float(found.get("bytes accessed", 0))}


def work_on_a_cpu(program: Any) -> dict[str, float]:
    """The work of a program before it is optimized; after it of one for any sizes, which compiling settles."""
    if program.nr_devices > 1:
        return {}
    found = jax.jit(program.call).lower(*[jax.ShapeDtypeStruct(a.shape, a.dtype) for a in program.in_avals])
    if program.uses_global_constants:  # nothing of it will run, so that LLVM need not optimize
        options: dict[str, str | bool] = {"xla_backend_optimization_level": "0"}
        return found.compile(options).cost_analysis() or {}
    return found.cost_analysis() or {}


def compiled_for(job: dict[str, Any], folder: Path, devices: Any) -> dict[str, Any]:
    """Return the compiler's report on one program."""
    since = time.time()
    try:
        compiled = lowered(job, folder, devices).compile()
    except Exception as e:
        return {"error": f"{type(e).__name__}: {e}", "trace": traceback.format_exc(), "seconds": time.time() - since}
    memory = compiled.memory_analysis()
    sizes = {k: int(getattr(memory, f"{k}_size_in_bytes")) for k in _SIZES}
    seconds = time.time() - since
    (folder / f"{job['file']}.hlo").write_text(compiled.as_text() or "")
    return {"memory": sizes, "seconds": seconds} | work_of(compiled, job, folder)


def main(given: str) -> None:
    """Compile all programs of a folder."""
    folder = Path(given)
    work = json.loads((folder / "jobs.json").read_text())
    jax.config.update("jax_enable_x64", True)
    devices = devices_of(work["target"])
    (folder / "devices").write_text(str(len(devices)))
    for job in work["programs"]:
        (folder / f"{job['file']}.json").write_text(json.dumps(compiled_for(job, folder, devices)))


if __name__ == "__main__":
    main(*sys.argv[1:])
