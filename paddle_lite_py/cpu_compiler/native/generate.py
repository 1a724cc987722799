"""The functions that XLA calls, from C to what llvmlite reads: `make native` after a change of theirs.

Clang comes with the package ziglang, one whose LLVM is older than llvmlite's, which reads the text of all older ones.
The first line of a result names the source that it was made of, so that a test finds one that was not made again.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import jax

from ..machine_code import CHAINS, MOST_ARGUMENTS, MOST_BUFFERS

HERE = Path(__file__).parent
CLANG = (sys.executable, "-m", "ziglang", "cc")
FLAGS = (
    *"-target x86_64-linux-gnu -mcpu=baseline -std=c11 -O2 -g0 -Wall -Wextra -Werror".split(),
    *"-fno-stack-protector -fno-asynchronous-unwind-tables -S -emit-llvm".split(),
    f"-DCHAINS={CHAINS}",
    f"-DMOST_ARGUMENTS={MOST_ARGUMENTS}",
    f"-DMOST_BUFFERS={MOST_BUFFERS}",
)


def first_line(source: Path) -> str:
    """Return the line that names what a result is made of: a digest of the source, its header and the flags."""
    texts = [source.read_text(encoding="utf-8"), (HERE / "xla_call.h").read_text(encoding="utf-8"), " ".join(FLAGS)]
    return f"; generated from {source.name}, sha256 {hashlib.sha256(chr(0).join(texts).encode()).hexdigest()}"


def main() -> None:
    """Compile each C file next to this one."""
    for source in sorted(HERE.glob("*.c")):
        result = source.with_suffix(".ll")
        command = [*CLANG, *FLAGS, f"-I{jax.ffi.include_dir()}", "-o", result.name, source.name]
        subprocess.run(command, cwd=HERE, check=True)
        # For whatever CPU llvmlite compiles: its LLVM warns of features that only Clang's knows.
        text = re.sub(r' "target-(cpu|features)"="[^"]*"', "", result.read_text(encoding="utf-8"))
        result.write_text(f"{first_line(source)}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
