"""Nodes of an elastic job that are killed, come late, are evicted; and what that costs. For `make chaos`.

Each story ends with the losses and weights of a training that nobody has disturbed.
"""

from __future__ import annotations

import argparse
import functools
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[3]
sys.path += [str(ROOT), str(ROOT / "tests" / "helpers")]

from elastic_job import ElasticJob  # noqa: E402

STEPS = 150
# Sums of other parts of a batch differ by rounding; Adam's first steps make that larger.
TOLERANCE = 1e-4
# Seconds from a kill to the next step.
LIMIT = 20.0


def a_node_is_killed(job: ElasticJob) -> list[float]:
    """The third of three launchers is killed with its process: two go on."""
    job.start("a", "b", "c")
    job.until(size=3, step=4)
    return [killed_and_on(job, job.launcher_of_rank(2), size=2)]


def the_first_node_is_killed(job: ElasticJob) -> list[float]:
    """The launcher of rank 0, where JAX's coordinator is, is killed."""
    job.start("a", "b", "c")
    job.until(size=3, step=4)
    return [killed_and_on(job, job.launcher_of_rank(0), size=2)]


def the_leader_is_killed(job: ElasticJob) -> list[float]:
    """The launcher at which all others meet is killed: another one takes its place."""
    job.start("a")
    while not (job.folder / "alive.a").exists():  # it leads
        time.sleep(0.05)
    job.start("b", "c")
    job.until(size=3, step=4)
    return [killed_and_on(job, "a", size=2)]


def rank_0_dies(job: ElasticJob) -> list[float]:
    """The first process dies, its launcher does not: all begin again with as many."""
    job.start("a", "b")
    job.until(size=2, step=4)
    begun = [e for e in job.events("begun") if e["rank"] == 0][-1]
    os.kill(begun["pid"], signal.SIGKILL)
    return [on_after(job, time.time(), size=2)]


def one_comes_late(job: ElasticJob) -> list[float]:
    """A third launcher comes; the others save, and lose no step."""
    job.start("a", "b")
    job.until(size=2, step=4)
    job.start("c")
    return [no_step_was_lost(job, time.time(), size=3)]


def one_is_evicted_and_comes_again(job: ElasticJob) -> list[float]:
    """A launcher is asked to leave, and started again as Kubernetes does."""
    job.start("a", "b")
    job.until(size=2, step=4)
    job.ask("b")
    asked = time.time()
    assert job.running["b"].wait(60) == 101, job.everything()
    gone = on_after(job, asked, size=1)
    job.start("b")
    job.until(size=2, step=0, after=time.time())
    return [gone]


def they_come_and_go(job: ElasticJob) -> list[float]:
    """Two, then four, then one is killed, then one more: in each world a few steps."""
    job.start("a", "b")
    job.until(size=2, step=2)
    job.start("c", "d")
    job.until(size=4, step=4)
    costs = [killed_and_on(job, job.launcher_of_rank(0), size=3)]
    reached = max(job.losses())
    job.until(size=3, step=reached + 2)
    return [*costs, killed_and_on(job, job.launcher_of_rank(1), size=2)]


def a_node_of_two_processes_is_killed(job: ElasticJob) -> list[float]:
    """Four processes on two nodes, then two on one."""
    job.start("a", "b", options=("--nproc_per_node", "2"))
    job.until(size=4, step=4)
    return [killed_and_on(job, job.launcher_of_rank(3), size=2)]


def a_process_is_asked_to_end(job: ElasticJob) -> list[float]:
    """SIGTERM to one process: all save after the same step, and begin again."""
    job.start("a", "b")
    job.until(size=2, step=4)
    os.kill([e for e in job.events("begun") if e["rank"] == 1][-1]["pid"], signal.SIGTERM)
    return [no_step_was_lost(job, time.time(), size=2)]


def all_are_evicted(job: ElasticJob) -> list[float]:
    """SIGTERM to all launchers at once; each says "begin me again", and is."""
    job.start("a", "b")
    job.until(size=2, step=4)
    job.ask("a")
    job.ask("b")
    asked = time.time()
    assert set(job.ended().values()) == {101}, job.everything()
    job.start("b", "a")
    return [no_step_was_lost(job, asked, size=2)]


def no_step_was_lost(job: ElasticJob, asked: float, size: int) -> float:
    """The seconds to the next world, which goes on with the step after that at which all have stopped."""
    taken = on_after(job, asked, size, new=True)
    left = {e["step"] for e in job.events("left") if e["time"] > asked}
    begun = {e["step"] for e in job.events("begun") if e["time"] > asked}
    assert len(left) == 1 and begun == {left.pop() + 1}, job.events("left")
    return taken


def shared_weights_go_to_another_world(job: ElasticJob) -> list[float]:
    """Weights that lie over three processes, then over two, then over three again."""
    job.start("a", "b", "c")
    job.until(size=3, step=4)
    gone = killed_and_on(job, job.launcher_of_rank(1), size=2)
    job.start("d")
    return [gone, no_step_was_lost(job, time.time(), size=3)]


def killed_and_on(job: ElasticJob, name: str, size: int) -> float:
    """Kill a launcher: the seconds to the next step of so many processes."""
    return on_after(job, job.kill(name), size)


def on_after(job: ElasticJob, moment: float, size: int, new: bool = False) -> float:
    """The seconds from a moment to the next step of so many processes, or of a new world; printed in parts."""
    step = job.until(size=size, step=0, after=moment, begun=new)
    begun = next(e for e in job.events("begun") if e["time"] > moment and e["size"] == size)
    taken = step["time"] - moment
    print(f"  {begun['time'] - moment:5.1f} s to the program of the new world, {taken:5.1f} s to the end of its first "
          f"step, {step['step']}", flush=True)  # fmt: skip
    return taken


STORIES: list[tuple[Callable[[ElasticJob], list[float]], str]] = [
    (a_node_is_killed, "2:3"),
    (the_first_node_is_killed, "2:3"),
    (the_leader_is_killed, "2:3"),
    (rank_0_dies, "2:2"),
    (one_comes_late, "2:3"),
    (one_is_evicted_and_comes_again, "1:2"),
    (all_are_evicted, "2:2"),
    (a_process_is_asked_to_end, "2:2"),
    (a_node_of_two_processes_is_killed, "1:2"),
    (they_come_and_go, "2:4"),
    (shared_weights_go_to_another_world, "2:3"),
]
PROGRAMS = {shared_weights_go_to_another_world: "elastic_shared"}


@functools.cache
def undisturbed(folder: Path, program: str) -> ElasticJob:
    """The same training in one world, once for all stories."""
    job = ElasticJob(folder / f"whole.{program}", "2:2", STEPS, 0.0, program)
    job.start("a", "b")
    assert set(job.ended().values()) == {0}, job.everything()
    return job


def told(story: Callable[[ElasticJob], list[float]], nodes: str, folder: Path) -> float:
    """Tell a story; the longest time from a kill to the next step."""
    program = PROGRAMS.get(story, "elastic")
    whole = undisturbed(folder.parent, program)
    job = ElasticJob(folder, nodes, STEPS, 0.3, program)
    print(f"{story.__name__.replace('_', ' ')} (--nnodes {nodes})", flush=True)
    try:
        costs = story(job)
        job.hurry()
        codes = job.ended()
        assert set(codes.values()) == {0}, f"{codes}\n{job.everything()}"
    finally:
        job.close()
    found, wanted = job.losses(), whole.losses()
    assert found.keys() == wanted.keys(), found.keys() ^ wanted.keys()
    by_step = max(abs(found[k] - wanted[k]) for k in wanted)
    weights = float(np.abs(job.weights() - whole.weights()).max())
    worlds = len({e["restarts"] for e in job.events("begun")})
    print(f"  {worlds} worlds; losses differ by at most {by_step:.1e}, weights by {weights:.1e}", flush=True)
    limit = 0.0 if {e["size"] for e in job.events("step")} == {2} else TOLERANCE
    assert by_step <= limit and weights <= limit, "not the training that it should be"
    assert max(costs) < LIMIT, f"it took {max(costs):.1f} s"
    return max(costs)


def main() -> None:
    """Tell the stories that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stories", nargs="*", help="which; all by default")
    names = parser.parse_args().stories
    with tempfile.TemporaryDirectory() as folder:
        longest = [
            told(story, nodes, Path(folder) / story.__name__)
            for story, nodes in STORIES
            if not names or story.__name__ in names
        ]
    print(f"{len(longest)} stories; {max(longest):.1f} s at most from a kill to the next step")


if __name__ == "__main__":
    main()
