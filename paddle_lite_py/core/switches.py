"""What users switch off in the environment."""

from __future__ import annotations

import os


def is_on(name: str) -> bool:
    """Whether a setting that is on by default is left on: not 0, false or off in the environment."""
    return os.environ.get(name, "1").lower() not in ("0", "false", "off")


class Switch:
    """A setting that is on unless the environment or a flag says otherwise."""

    def __init__(self, name: str) -> None:
        self.on = is_on(name)

    def set(self, wanted: bool) -> None:
        """Switch it on or off."""
        self.on = bool(wanted)


# Whether eager ops that gradients are recorded of wait until somebody looks: see eager/deferred.py.
deferral = Switch("FLAGS_defer_ops")
# Whether large programs are compiled by a process of their own: see cpu_compiler/apart.py.
compiler_process = Switch("FLAGS_compiler_process")
# Whether NumPy runs large programs until they are compiled: see host/baseline.py.
baseline_tier = Switch("FLAGS_baseline_tier")
# Whether a run of a program looks at the indices that it is given: see ir/index_reads.py.
index_checks = Switch("FLAGS_check_indices")
