"""Workers that are processes: what they load, what goes wrong in them, and that nothing of them stays."""

from __future__ import annotations

import collections
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import io
from paddle_lite_py.eager.random import default_generator
from paddle_lite_py.io import processes

Pair = collections.namedtuple("Pair", "image label")


class Rows(io.Dataset):
    """Rows that say which process has made them."""

    def __init__(self, n=12, fails=None, ends=None, sleeps=0.0) -> None:
        self.x, self.fails, self.ends, self.sleeps = (
            np.arange(n * 2.0, dtype="float32").reshape(n, 2),
            fails,
            ends,
            sleeps,
        )

    def __getitem__(self, i):
        time.sleep(self.sleeps)
        if i == self.fails:
            raise Unusual(i, "no such picture")
        if i == self.ends:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.x[i], os.getpid()

    def __len__(self):
        return len(self.x)


class Unusual(LookupError):
    """An exception that is not made of its arguments."""

    def __init__(self, index, text) -> None:
        super().__init__(text)
        self.index = index


class Kinds(io.Dataset):
    """Everything that a batch may hold."""

    def __getitem__(self, i):
        return {
            "x": np.full([3], i, "float32"),
            "text": f"t{i}" * 9000,
            "pair": (i, paddle.to_tensor([i * 1.5])),
            "none": np.zeros([0, 2]),
        }

    def __len__(self):
        return 4


class Draws(io.Dataset):
    def __getitem__(self, i):
        return np.random.rand()

    def __len__(self):
        return 8


class Stream(io.IterableDataset):
    def __iter__(self):
        info = io.get_worker_info()
        assert 0 <= info.id < info.num_workers == 2
        return iter(range(7)[info.id :: info.num_workers])


def pids(loader):
    return {p for _, made in loader for p in made.tolist()}


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except OSError:
        return True


def test_batches_come_in_order_from_other_processes():
    loader = io.DataLoader(Rows(), batch_size=2, num_workers=2)
    found = list(loader)
    assert [x.numpy()[:, 0].tolist() for x, _ in found] == [[4.0 * i, 4.0 * i + 2] for i in range(6)]
    by = [p.tolist()[0] for _, p in found]
    assert len(set(by)) == 2 and os.getpid() not in by and by == by[:2] * 3
    assert pids(loader) == set(by)  # they are used again


def test_everything_that_a_batch_may_hold():
    def same(a, b):
        if isinstance(a, dict | list):
            return len(a) == len(b) and all(
                same(x, y)
                for x, y in zip(
                    a.values() if isinstance(a, dict) else a, b.values() if isinstance(b, dict) else b, strict=True
                )
            )
        return a.dtype == b.dtype and a.tolist() == b.tolist() if isinstance(a, paddle.Tensor) else a == b

    for ours, theirs in zip(
        io.DataLoader(Kinds(), batch_size=2, num_workers=1), io.DataLoader(Kinds(), batch_size=2), strict=True
    ):
        assert same(ours, theirs) and ours["none"].shape == [2, 0, 2]
    singles = list(io.DataLoader(Rows(3), batch_size=None, num_workers=1))
    assert [x.tolist() for x, _ in singles] == Rows(3).x.tolist()
    made = io.DataLoader(
        Rows(4), batch_size=2, num_workers=1, collate_fn=lambda batch: Pair(np.stack([x for x, _ in batch]), "kept")
    )
    assert [b.label for b in made] == ["kept"] * 2 and next(iter(made)).image.shape == [2, 2]


def test_a_batch_stays_as_it_is_while_later_ones_are_loaded():
    kept = [x for x, _ in io.DataLoader(Rows(40), batch_size=2, num_workers=1)]
    assert np.concatenate([x.numpy() for x in kept]).tolist() == Rows(40).x.tolist()


def test_streams_are_parted_among_processes():
    loader = io.DataLoader(Stream(), batch_size=2, num_workers=2, persistent_workers=True)
    for _ in range(2):
        assert [b.tolist() for b in loader] == [[0, 2], [1, 3], [4, 6], [5]]


def test_random_numbers_depend_on_the_seed_and_not_on_the_number_of_workers():
    def drawn(seed, workers):
        np.random.seed(seed)
        return [b.tolist() for b in io.DataLoader(Draws(), batch_size=2, num_workers=workers, shuffle=True)]

    assert drawn(1, 1) == drawn(1, 2) != drawn(2, 2)
    assert len({x for b in drawn(1, 2) for x in b}) == 8


def test_worker_init_fn_and_persistent_workers(tmp_path):
    def begin(worker):
        (tmp_path / f"{worker}-{time.monotonic_ns()}").touch()
        np.random.seed(worker)

    loader = io.DataLoader(Draws(), batch_size=4, num_workers=2, worker_init_fn=begin, persistent_workers=True)
    first, second = ([b.tolist() for b in loader] for _ in range(2))
    assert (
        len(list(tmp_path.iterdir())) == 2
        and first[0] == [np.random.RandomState(0).rand(), *first[0][1:]]
        and first != second
    )
    list(io.DataLoader(Draws(), batch_size=4, num_workers=2, worker_init_fn=begin))
    assert len(list(tmp_path.iterdir())) == 4


def test_an_exception_is_raised_with_its_own_traceback():
    with pytest.raises(Unusual, match="no such picture") as caught:
        list(io.DataLoader(Rows(fails=5), batch_size=2, num_workers=2))
    assert caught.value.index == 5 and "while loading sample 5 of Rows in worker 0" in caught.value.__notes__[0]
    cause = str(caught.value.__cause__)
    assert 'raise Unusual(i, "no such picture")' in cause and "test_processes.py" in cause


@pytest.mark.parametrize("pause", [0.0, 0.2], ids=["at once", "found dead"])
def test_a_killed_worker_is_reported_and_cleaned_up(pause):
    loader = io.DataLoader(Rows(ends=3), batch_size=1, num_workers=2)
    seen = []
    with pytest.raises(
        RuntimeError, match=r"worker 1 \(process \d+\) was killed by SIGKILL while loading samples \[3\]"
    ):
        for _, p in loader:
            seen.append(p.item())
            time.sleep(pause)
    time.sleep(0.1)
    assert len(seen) == 3 and all(gone(p) for p in set(seen))
    loader.dataset.ends = None
    assert len(list(loader)) == 12  # the next pass starts others


def test_a_slow_worker_times_out():
    loader = io.DataLoader(Rows(2, sleeps=1.0), num_workers=1, timeout=0.1)
    with pytest.raises(RuntimeError, match="timeout=0.1"):
        list(loader)


def test_a_pass_may_be_left_halfway():
    loader = io.DataLoader(Rows(100), batch_size=2, num_workers=2, persistent_workers=True)
    it = iter(loader)
    by = next(it)[1].tolist()[0]
    it.close()
    assert [x.numpy()[0, 0] for x, _ in loader] == [4.0 * i for i in range(50)] and by in pids(loader)


def test_data_sets_that_cannot_be_sent_are_loaded_by_threads():
    data = Rows()
    data.lock = __import__("threading").Lock()
    assert pids(io.DataLoader(data, num_workers=2)) == {os.getpid()}
    tensors = io.TensorDataset([paddle.arange(4)])
    assert [x.tolist() for (x,) in io.DataLoader(tensors, batch_size=2, num_workers=2)] == [[0, 1], [2, 3]]


def test_what_a_worker_writes_into_its_arrays_is_its_own():
    class Writes(Rows):
        def __getitem__(self, i):
            self.x[i] += 100
            return self.x[i]

    data = Writes(4)
    assert [x.tolist() for x in io.DataLoader(data, batch_size=4, num_workers=1)] == [(Rows(4).x + 100).tolist()]
    assert data.x.tolist() == Rows(4).x.tolist()


# -- whole programs ----------------------------------------------------------------------------------------------------
UNGUARDED = """
import os, sys, time
import numpy as np
import paddle_lite_py as paddle

print("once")
OFFSET = 7

class Squares(paddle.io.Dataset):
    def __init__(self):
        self.f = lambda i: i * i + OFFSET
    def __getitem__(self, i):
        time.sleep({pause})
        return np.array([self.f(i), os.getpid()])
    def __len__(self):
        return 8

for batch in paddle.io.DataLoader(Squares(), batch_size=2, num_workers=2):
    print(*batch.numpy()[:, 0], *set(batch.numpy()[:, 1]), flush=True)
"""


def program(pause=0.0):
    command = [sys.executable, "-c", UNGUARDED.format(pause=pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def test_a_program_without_a_guard_runs_once():
    out, err = program().communicate(timeout=120)
    lines = out.splitlines()
    assert lines[0] == "once" and lines.count("once") == 1 and not err
    assert [line.split()[:2] for line in lines[1:]] == [[str(i * i + 7), str((i + 1) ** 2 + 7)] for i in range(0, 8, 2)]
    assert all(gone(int(line.split()[2])) for line in lines[1:])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_program_leaves_no_process(how):
    running = program(0.2)
    assert running.stdout.readline() == "once\n"
    workers = {int(running.stdout.readline().split()[2]) for _ in range(2)}
    (os.killpg if how is signal.SIGINT else os.kill)(running.pid, how)
    running.communicate(timeout=60)
    until = time.monotonic() + 10
    while not all(gone(p) for p in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert all(gone(p) for p in workers) and len(workers) == 2 and running.returncode != 0


def test_a_worker_starts_without_jax(monkeypatch):
    class Plain:
        def __getitem__(self, i):
            return [m in sys.modules for m in ("jax", "paddle_lite_py")]

        def __len__(self):
            return 1

    monkeypatch.setattr(processes, "_idle", [])  # none that waited for work before
    loading = io.DataLoader(Plain(), num_workers=1)._loading()._replace(collate_fn=None)
    worker = processes.Processes(1, loading, None, 0)
    (found,) = worker.run(iter([[0]]), 1, 0, np.array)
    worker.close()
    assert [x.tolist() for x in found] == [[False], [False]]


# -- where it is -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("seeded", [True, False])
def test_a_loader_goes_on_where_another_was(workers, seeded):
    def loader():
        return io.DataLoader(Draws(), batch_size=2, shuffle=True, num_workers=workers)

    def start():
        default_generator.seeded = False
        paddle.seed(5) if seeded else np.random.seed(5)
        np.random.seed(5)

    start()
    made = loader()
    whole = [[b.tolist() for b in made] for _ in range(2)]
    start()
    first = loader()
    list(first)
    passing = iter(first)
    head = [next(passing).tolist()]
    state, numbers, own = first.state_dict(), np.random.get_state(), paddle.get_rng_state()
    np.random.seed(1), paddle.seed(9)
    second = loader()
    second.load_state_dict(state)
    paddle.set_rng_state(own), np.random.set_state(numbers)
    assert head + [b.tolist() for b in second] == whole[1]
    assert second.state_dict() == {} and len(list(second)) == 4
    with pytest.raises(ValueError, match="batches and random"):
        second.load_state_dict({"epoch": 3})
