"""Features that users can switch off by environment variables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


def is_on(name: str, default: str = "1") -> bool:
    """Whether a setting is on: not 0, false or off in the environment, or by default."""
    return os.environ.get(name, default).lower() not in ("0", "false", "off")


class Switch:
    """A setting that is on, or off, by default, unless the environment or a flag says otherwise."""

    def __init__(self, name: str, default: str = "1") -> None:
        self.on = is_on(name, default)

    def set(self, wanted: bool) -> None:
        """Switch it on or off."""
        self.on = bool(wanted)

    @contextmanager
    def off(self) -> Iterator[None]:
        """Switch it off for the block."""
        before, self.on = self.on, False
        try:
            yield
        finally:
            self.on = before


# Whether eager ops that record gradients are deferred until a value is read: see eager/deferred.py.
deferral = Switch("FLAGS_defer_ops")
# Whether large programs are compiled by a process of their own: see cpu_compiler/out_of_process.py.
compiler_process = Switch("FLAGS_compiler_process")
# Whether NumPy runs large programs until they are compiled: see host/baseline.py.
# Its results differ in the last bits: not for users who need the same bits each time.
baseline_tier = Switch("FLAGS_baseline_tier")
baseline_tier.set(baseline_tier.on and not is_on("FLAGS_cudnn_deterministic", "0"))
# Whether a run of a program looks at the indices that it is given: see ir/index_reads.py.
index_checks = Switch("FLAGS_check_indices")
# Whether the results of compiled functions are looked at for NaN and infinities: see nan_checks.py.
nan_checks = Switch("FLAGS_check_nan_inf", "0")
