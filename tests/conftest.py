"""Set before anything imports JAX: how programs are compiled here, and where they are kept between runs.

Most of the time goes into compiling what runs once. So LLVM does not optimize it, and kernels come from XLA's plain
emitters, which take less than half the time of those that users get; the passes of XLA are the same. `make test-all`
runs what users run.
"""

from __future__ import annotations

import gc
import os
import random
import signal
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest


def cache() -> Path:
    """A folder that the next checkout finds too, or one in this checkout where there is none that can be written."""
    shared = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "paddle_lite_py-tests"
    try:
        shared.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(__file__).resolve().parent.parent / ".cache" / "xla"
    return shared


os.environ.setdefault("PADDLE_LITE_CACHE_DIR", str(cache()))
# Newer versions have no plain emitters, and end a process that names them.
PLAIN = "--xla_cpu_use_fusion_emitters=false" if version("jaxlib").startswith("0.10.") else ""
os.environ.setdefault("XLA_FLAGS", f"--xla_backend_optimization_level=0 {PLAIN}".strip())
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell, and in what is started there
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Traces make millions of objects that stay for a while: to look through them at every 700th takes 4 % of all time.
gc.set_threshold(100_000, 20, 100)
# Asserts of these say what they compared, as those of test files do.
pytest.register_assert_rewrite("agreement", "conversions", "figures", "op_checks")


def pytest_addoption(parser):
    parser.addoption("--every", type=int, default=1, help="of each file the first test, and each so manieth after it")


@pytest.hookimpl(trylast=True)  # after what marks leave out
def pytest_collection_modifyitems(config, items):
    kept, left_out, seen = [], [], Counter()
    for item in items:
        (left_out if seen[item.path] % config.getoption("every") else kept).append(item)
        seen[item.path] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


@pytest.fixture(autouse=True, scope="module")
def heap():
    """What a file leaves (compiled programs, above all) is no concern of later collections, which take seconds else."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_settings():
    """Each test begins with the same random numbers and settings, whatever ran before in its process."""
    import jax

    import paddle_lite_py as paddle
    from paddle_lite_py.core import flags, interpreter, small, switches
    from paddle_lite_py.eager.deferred import Deferred

    paddle.seed(0)
    np.random.seed(0)
    random.seed(0)
    device, given = jax.config.jax_default_device, flags._flags.copy()
    switched = [(s, s.on) for s in vars(switches).values() if isinstance(s, switches.Switch)]
    yield
    if isinstance(interpreter.state.interpreter, Deferred):
        interpreter.state.interpreter.flush()
    if not paddle.in_dynamic_mode():
        paddle.disable_static()
    for name in ("grad_enabled", "casting", "observers", "timer"):
        setattr(interpreter.state, name, getattr(interpreter._State, name))
    if paddle.get_default_dtype() != "float32":
        paddle.set_default_dtype("float32")
    if jax.config.jax_default_device != device:
        jax.config.update("jax_default_device", device)
        small.reset()
    for name in [n for n in flags._ACTING if flags._flags.get(n, ...) != given.get(n, ...)]:
        on = name != "FLAGS_check_nan_inf" and switches.is_on(name)
        flags._ACTING[name](given.get(name, on))
    flags._flags.clear()
    flags._flags.update(given)
    for switch, on in switched:
        switch.on = on


@pytest.fixture
def static_mode():
    """Static mode with programs, a scope and names of the test's own."""
    import paddle_lite_py as paddle
    from paddle_lite_py import static

    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
        yield
