"""Servers and workers of a recommender that are killed under load, at random moments. For `make chaos`.

    python recommenders.py [--kills N] [--seed N] [STORY ...]

A story is a kind of process and a way to keep step, as worker-sync; "both" are a worker and a server at the same
instant. AUC is compared with that of a run without kills.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path += [str(ROOT), str(ROOT / "tests" / "helpers")]

from launching import PROGRAMS  # noqa: E402
from served_job import ServedJob  # noqa: E402

FOLDER = PROGRAMS / "recommenders"
MODES = ["async", "geo", "half", "sync"]
STORIES = [*[f"{role}-{mode}" for mode in MODES for role in ("worker", "server")], "both-sync"]
# What AUC may differ by.
LIMIT = 0.002
# With 0.01 asynchronous runs without kills differ by 0.0026 among themselves, with this one by 0.0003.
RATE = 0.003
SERVERS = WORKERS = 2


def begun(folder: Path, clicks: Path, mode: str, given: argparse.Namespace, restarts: int) -> ServedJob:
    """A job that trains DeepFM."""
    program = [str(FOLDER / "train.py"), str(clicks), "--net", "deepfm", "--rate", str(given.rate), "--mode", mode]
    program += ["--epochs", str(given.epochs), "--batch", "64"]
    options = ["--server_num", str(SERVERS), "--trainer_num", str(WORKERS), "--max_restart", str(restarts)]
    kept = {"PADDLE_PS_FOLDER": str(folder / "kept"), "RECOMMENDER_CONSTANT": "1"}
    return ServedJob(folder, program, options, kept)


def auc(job: ServedJob) -> float:
    """What the job ends with."""
    try:
        code = job.ended(3600)
        assert code == 0, job.said()
        return float(re.findall(r"^auc (\S+) loss", job.said(), re.MULTILINE)[-1])
    finally:
        job.close()


def on(job: ServedJob, workers: list[int]) -> list[int]:
    """Wait until each of some workers has done more than it had; what they have done. Workers in step wait for all."""
    before, end = [job.done(w) for w in workers], time.monotonic() + 120
    while any(job.done(w) <= b for w, b in zip(workers, before, strict=True)):
        assert job.process.poll() is None, f"the job is over before all kills; give it more --epochs\n{job.said()}"
        assert time.monotonic() < end, f"workers {workers} do not go on\n{job.said()}"
        time.sleep(0.02)
    return [job.done(w) for w in workers]


def roles_of(role: str) -> list[str]:
    """The processes of a story that are killed together."""
    return ["worker", "server"] if role == "both" else [role]


def killed(job: ServedJob, role: str, kills: int, moments: random.Random) -> float:
    """Kill processes of a role in turn, each when all workers go on; the longest time from a kill to that."""
    longest = 0.0
    for n in range(kills):
        on(job, list(range(WORKERS)))
        time.sleep(moments.uniform(0.0, 1.0))
        start = time.monotonic()
        assert all(job.kill(r, n % 2) for r in roles_of(role)), job.said()
        on(job, list(range(WORKERS)))
        longest = max(longest, time.monotonic() - start)
    return longest


def told(story: str, clicks: Path, folder: Path, given: argparse.Namespace, whole: float) -> None:
    """Tell a story, and compare."""
    role, _, mode = story.partition("-")
    start = time.monotonic()
    expected = given.kills * len(roles_of(role))
    job = begun(folder, clicks, mode, given, expected)
    try:
        longest = killed(job, role, given.kills, random.Random(given.seed))
    except BaseException:
        job.close()
        raise
    found = auc(job)
    again = len(re.findall("has failed .signal SIGKILL.; starting it again", job.said()))
    print(
        f"{story}: {again} kills, AUC {found:.5f}, without {whole:.5f}; at most {longest:.1f} s from a kill until all "
        f"workers went on; {time.monotonic() - start:.0f} s",
        flush=True,
    )
    assert again == expected and abs(found - whole) < LIMIT


def main() -> None:
    """Tell the stories that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stories", nargs="*", help=f"of {', '.join(STORIES)}; all by default")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lines", type=int, default=40000, help="of the clicks to train on")
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--epochs", type=int, default=24)
    given = parser.parse_args()
    whole: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        clicks = Path(name) / "clicks"
        subprocess.run([sys.executable, str(FOLDER / "data.py"), str(clicks), str(given.lines)], check=True)
        for story in given.stories or STORIES:
            mode = story.partition("-")[2]
            if mode not in whole:
                start = time.monotonic()
                whole[mode] = auc(begun(Path(name) / f"whole-{mode}", clicks, mode, given, 0))
                print(f"{mode}: AUC {whole[mode]:.5f} in {time.monotonic() - start:.0f} s", flush=True)
            told(story, clicks, Path(name) / story, given, whole[mode])


if __name__ == "__main__":
    main()
