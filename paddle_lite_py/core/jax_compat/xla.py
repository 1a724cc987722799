"""XLA's compiler options and flags, and the names of the events that JAX reports."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.backend import get_backend
from jaxlib.xla_client import make_cpu_client

try:
    from jax.experimental.shard_alike import shard_alike
except ImportError:  # JAX 0.11 and later have none
    shard_alike = None  # type: ignore[assignment]

# Events of jax.monitoring, which last as long as that.
LOWERED, COMPILED = "/jax/core/compile/jaxpr_to_mlir_module_duration", "/jax/core/compile/backend_compile_duration"


def options(library: tuple[str, ...], plain: bool) -> dict[str, Any]:
    """XLA's options for CPUs.

    Arguments:
        library: kinds of fusions that are left to its library.
        plain: kernels come from its plain emitters, if it still has them.
    """
    kinds = ",".join(f"LIBRARY_FUSION_TYPE_{kind}" for kind in library)
    wanted: dict[str, Any] = {"xla_cpu_experimental_ynn_fusion_type": kinds}
    return wanted | ({"xla_cpu_use_fusion_emitters": False} if plain else {})


def known_options(wanted: dict[str, Any]) -> dict[str, Any]:
    """Those options that this jaxlib knows, and takes with their values; XLA has no plain emitters since JAX 0.11."""
    if _are_known(wanted):
        return wanted
    return {name: value for name, value in wanted.items() if _are_known({name: value})}


def _are_known(wanted: dict[str, Any]) -> bool:
    try:
        jax.jit(lambda x: x, compiler_options=wanted).lower(0).compile()
    except Exception:  # jaxlib names no class for an unknown option
        return False
    return True


def on_devices(count: int) -> str:
    """Return the flag, for XLA_FLAGS, by which one CPU is several devices."""
    return f"--xla_force_host_platform_device_count={count}"


def synchronous_cpu() -> Any:
    """Return the CPU as a device whose programs run on the thread that calls them, which jax.devices() has not.

    Elsewhere XLA hands a program over to a thread of its own, so that Python may go on.
    """
    client: Any = make_cpu_client(asynchronous=False)
    return client.devices()[0]


def live_modules() -> list[Any]:
    """Return the modules of all programs that are loaded."""
    return [module for executable in get_backend().live_executables() for module in executable.hlo_modules()]


# JAX settings that change what is traced.
_SETTINGS = (
    *("jax_default_matmul_precision", "jax_default_prng_impl", "jax_enable_x64", "jax_numpy_dtype_promotion"),
    *("jax_random_seed_offset", "jax_threefry_partitionable"),
)


def traced_by() -> dict[str, Any]:
    """Return the settings in force that change what JAX traces."""
    return {name: getattr(jax.config, name, None) for name in _SETTINGS}


def sharded_alike(made: jax.Array, like: jax.Array) -> jax.Array:
    """Return an array that XLA lays over the devices of a program as it lays another one of its shape, where it can."""
    if shard_alike is not None:
        return shard_alike(made, like)[0]
    if made.shape != like.shape:
        return made
    never = jax.lax.optimization_barrier(jnp.zeros((), bool))  # what is chosen from both lies as they do
    other = like.real if jnp.iscomplexobj(like) else like
    return jnp.where(never, jax.lax.stop_gradient(other).astype(made.dtype), made)
