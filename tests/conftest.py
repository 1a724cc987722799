"""Set before anything imports JAX: compiled code is kept between runs and shared by the test processes.

Most of the time goes into compiling what runs once, so LLVM does not optimize it; XLA does. `XLA_FLAGS= make test` runs
what users run, in a quarter more time.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parent.parent / ".cache"
os.environ.setdefault("PADDLE_LITE_CACHE_DIR", str(CACHE / "xla"))
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
# Asserts of these say what they compared, as those of test files do.
pytest.register_assert_rewrite("agreement", "conversions", "op_checks")


@pytest.fixture
def static_mode():
    """Static mode with programs, a scope and names of the test's own."""
    import paddle_lite_py as paddle
    from paddle_lite_py import static

    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
        yield
    paddle.disable_static()
