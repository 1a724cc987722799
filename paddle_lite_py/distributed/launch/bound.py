"""Becomes a program that ends when its launcher does: python bound.py PID PROGRAM ARGUMENTS...

A file by itself, run without the package and without site-packages, so that it takes 20 ms.
"""

from __future__ import annotations

import os
import signal
import sys

# prctl's number for "send me this signal when my parent ends"; it outlives exec.
PR_SET_PDEATHSIG = 1


def main(launcher: int, program: list[str]) -> None:
    """Become the program; on other systems than Linux without the bond."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != launcher:  # it ended before
            sys.exit(128 + signal.SIGKILL)
    os.execvp(program[0], program)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
