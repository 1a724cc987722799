"""Plants faults one at a time in a copy of the tree, and reports which of them the tests notice: make mutants.

usage: mutants.py [--only TEXT] [--jobs N]

Exits with an error where fewer than 90 % are noticed, where a text to be replaced is not there once, or where tests
fail without a fault.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from tables.mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parent.parent
LEAST = 0.9
SECONDS = 900  # a fault that makes tests wait is noticed too


class Copy:
    """A copy of the tree, in which tests run as in the tree itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in listed.stdout.splitlines():
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        (folder / "paddle_lite_py" / "jit").symlink_to(folder / "jit")  # before the one that is installed

    def passes(self, tests: str, cache: Path) -> bool:
        """Whether tests pass."""
        env = {**os.environ, "PYTHONPATH": str(self.folder), "PADDLE_LITE_CACHE_DIR": str(cache)}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests.split()]
        try:
            done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return False
        if done.returncode not in (0, 1, 2):  # 2: a test file cannot be loaded
            raise RuntimeError(
                f"pytest ended with {done.returncode}: {tests}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        return done.returncode == 0

    def notices(self, mutant: Mutant, cache: Path) -> bool:
        """Whether the tests of a fault fail with it."""
        path = self.folder / mutant.file
        text = path.read_text()
        path.write_text(text.replace(mutant.old, mutant.new))
        try:
            # What a fault of the compiler has written is not to be read without it.
            with tempfile.TemporaryDirectory() as own:
                return not self.passes(mutant.tests, Path(own) if "cpu_compiler" in mutant.file else cache)
        finally:
            path.write_text(text)


def misplaced(mutants: list[Mutant]) -> list[str]:
    """The faults whose text is not once in its file."""
    counts = [(m, (ROOT / m.file).read_text().count(m.old)) for m in mutants]
    return [f"{m.fault}: its text is {n} times in {m.file}" for m, n in counts if n != 1]


def main() -> int:
    """Plant each fault, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="faults with this text, in words or in the file's name")
    parser.add_argument("--jobs", type=int, default=2, help="copies of the tree, each with tests of its own")
    args = parser.parse_args()
    chosen = [m for m in MUTANTS if args.only in m.fault or args.only in m.file]
    if wrong := misplaced(chosen):
        print(*wrong, sep="\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(args.jobs) as pool:
        cache, copies = Path(folder, "cache"), Queue()
        for i in range(args.jobs):
            copies.put(Copy(Path(folder, f"tree{i}")))

        def run(what: str | Mutant) -> bool:
            copy, since = copies.get(), time.monotonic()
            try:
                found = copy.passes(what, cache) if isinstance(what, str) else copy.notices(what, cache)
            finally:
                copies.put(copy)
            said = f"{'pass' if found else 'FAIL without a fault'}: {what}"
            if isinstance(what, Mutant):
                said = f"{'noticed' if found else 'NOT NOTICED'}: {what.fault} ({what.file})"
            print(f"{time.monotonic() - since:5.0f} s  {said}", flush=True)
            return found

        files = sorted({file for m in chosen for file in m.tests.split()})
        if not all(pool.map(run, files)):
            return 1
        noticed = sum(pool.map(run, chosen))
    print(f"{noticed} of {len(chosen)} faults are noticed")
    return int(noticed < LEAST * len(chosen))


if __name__ == "__main__":
    sys.exit(main())
