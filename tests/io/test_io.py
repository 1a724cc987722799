"""Data sets, samplers and the DataLoader."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import io


class Numbers(io.Dataset):
    def __init__(self, n=5, bad=None, pause=0.0):
        self.n, self.bad, self.pause = n, bad, pause

    def __getitem__(self, i):
        time.sleep(self.pause)
        if i == self.bad:
            raise KeyError("no such picture")
        return np.full([2], i, "float32"), i, {"k": float(i)}, f"x{i}"

    def __len__(self):
        return self.n


class Stream(io.IterableDataset):
    def __iter__(self):
        info = io.get_worker_info()
        yield from range(7)[info.id :: info.num_workers] if info else range(7)


def column(loader):
    return [batch[1].tolist() for batch in loader]


def test_batches_are_tensors_field_by_field():
    x, i, extra, text = next(iter(io.DataLoader(Numbers(), batch_size=2)))
    assert x.tolist() == [[0.0, 0.0], [1.0, 1.0]] and x.dtype == "float32"
    assert i.tolist() == [0, 1] and i.dtype == "int64"
    assert extra["k"].tolist() == [0.0, 1.0] and text == ["x0", "x1"]


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_the_order_is_the_same_for_any_number_of_workers(workers):
    loader = io.DataLoader(Numbers(7), batch_size=2, num_workers=workers)
    assert column(loader) == [[0, 1], [2, 3], [4, 5], [6]] == column(loader)
    assert len(loader) == 4 and len(io.DataLoader(Numbers(7), batch_size=2, drop_last=True)) == 3
    assert column(io.DataLoader(Numbers(7), batch_size=2, drop_last=True, num_workers=workers))[-1] == [4, 5]


def test_workers_load_ahead(monkeypatch):
    monkeypatch.setenv("PADDLE_LITE_WORKERS", "threads")
    both = threading.Barrier(2)

    class Met(Numbers):
        def __getitem__(self, i):
            both.wait(timeout=60)  # another worker is at a sample of its own
            return super().__getitem__(i)

    assert column(io.DataLoader(Met(8), batch_size=1, num_workers=2)) == [[i] for i in range(8)]


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_says_which_sample(workers):
    with pytest.raises(KeyError, match="no such picture") as caught:
        column(io.DataLoader(Numbers(8, bad=5), batch_size=2, num_workers=workers))
    assert "sample 5 of Numbers" in caught.value.__notes__[0]
    assert ("in worker 0" in caught.value.__notes__[0]) == bool(workers)


def test_samples_of_different_shapes_are_explained():
    with pytest.raises(ValueError, match="pad them") as caught:
        list(io.DataLoader([np.zeros(2), np.zeros(3)], batch_size=2))
    assert "samples [0, 1]" in caught.value.__notes__[0]


def test_a_slow_worker_times_out():
    with pytest.raises(RuntimeError, match="timeout=0.05"):
        column(io.DataLoader(Numbers(pause=0.4), num_workers=1, timeout=0.05))


def test_a_loader_may_be_left_halfway():
    it = iter(io.DataLoader(Numbers(100), num_workers=2))
    next(it)
    it.close()
    with pytest.raises(StopIteration):
        next(it)


def test_streams_with_and_without_workers():
    assert [b.tolist() for b in io.DataLoader(Stream(), batch_size=3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [b.tolist() for b in io.DataLoader(Stream(), batch_size=3, drop_last=True)] == [[0, 1, 2], [3, 4, 5]]
    found = [b.tolist() for b in io.DataLoader(Stream(), batch_size=2, num_workers=2)]
    assert found == [[0, 2], [1, 3], [4, 6], [5]]
    assert list(io.ChainDataset([Stream(), Stream()])) == [*range(7), *range(7)]


def test_single_samples_and_own_batching():
    assert [s[1] for s in io.DataLoader(Numbers(2), batch_size=None)] == [0, 1]
    loader = io.DataLoader(Numbers(4), batch_sampler=io.BatchSampler(dataset=Numbers(4), batch_size=3))
    assert column(loader) == [[0, 1, 2], [3]]
    assert list(io.DataLoader([1, 2], batch_size=2, collate_fn=sum)) == [3]


def test_worker_init_is_called_in_each_worker(monkeypatch):
    monkeypatch.setenv("PADDLE_LITE_WORKERS", "threads")
    seen = []
    column(io.DataLoader(Numbers(6), num_workers=2, worker_init_fn=seen.append))
    assert sorted(seen) == [0, 1]


# What PaddlePaddle 3.3.1 gives.
ORDERS = {
    "replacement": [6, 9, 2, 4],
    "some": [7, 0, 10, 1],
    "batches": [[2, 5, 3, 10], [6, 0, 8, 1], [9, 7, 4]],
    "weighted": [2, 2, 2, 2, 1, 0],
    "once": [2, 1],
    "rows": [0, 0, 0, 0, 1, 0],
    "loader": [[6, 5, 8, 10, 1, 4, 0, 7, 2, 9, 3], [0, 2, 10, 5, 4, 3, 1, 6, 8, 9, 7]],
    "workers": [[6, 9, 5, 7, 4, 3, 1, 10, 2, 0, 8], [6, 2, 9, 4, 0, 3, 5, 8, 1, 10, 7]],
    "next": 0.045345728574653243,
}


def test_the_order_follows_numpy_seed_as_in_the_reference():
    """Recorded of PaddlePaddle 3.3.1 after numpy.random.seed(1), one after the other."""
    paddle.seed(3)
    np.random.seed(1)
    data = Numbers(11)
    weights = np.array([0.1, 0.3, 0.5])
    assert list(io.RandomSampler(data)) == [2, 3, 4, 9, 1, 6, 0, 7, 10, 8, 5]
    assert list(io.RandomSampler(data, replacement=True, num_samples=4)) == ORDERS["replacement"]
    assert list(io.RandomSampler(data, num_samples=4)) == ORDERS["some"]
    assert list(io.BatchSampler(data, shuffle=True, batch_size=4)) == ORDERS["batches"]
    assert list(io.WeightedRandomSampler(weights, 6)) == ORDERS["weighted"]
    assert list(io.WeightedRandomSampler(weights, 2, replacement=False)) == ORDERS["once"]
    assert list(io.WeightedRandomSampler(np.full([2, 2], 0.5), 3)) == ORDERS["rows"]
    for passed in range(2):
        assert column(io.DataLoader(data, batch_size=11, shuffle=True)) == [ORDERS["loader"][passed]]
    loader = io.DataLoader(data, batch_size=11, shuffle=True, num_workers=1)
    for passed in range(2):
        assert column(loader) == [ORDERS["workers"][passed]]
    assert np.random.rand() == ORDERS["next"]


def test_the_order_of_splits_and_subsets_follows_both_seeds():
    def orders():
        parts = io.random_split(range(20), [10, 10])
        return [*parts[0], *parts[1]], list(io.SubsetRandomSampler(range(20)))

    np.random.seed(1)
    paddle.seed(1)
    first, second = orders(), orders()
    paddle.seed(1)
    assert first == orders() != second


def test_datasets():
    tensors = io.TensorDataset([paddle.arange(4), paddle.ones([4, 2])])
    assert len(tensors) == 4 and tensors[2][0].item() == 2
    both = io.ConcatDataset([Numbers(), Numbers()])
    assert len(both) == 10 and both[6][1] == 1 and both[-1][1] == 4
    assert len(io.ComposeDataset([Numbers(), Numbers()])[0]) == 8
    assert list(io.Subset(range(10), [1, 2])) == [1, 2]
    parts = io.random_split(range(10), [0.25, 0.75])
    assert [len(p) for p in parts] == [3, 7] and sorted([*parts[0], *parts[1]]) == list(range(10))


def test_samplers():
    paddle.seed(3)
    assert list(io.SequenceSampler(range(3))) == [0, 1, 2]
    assert sorted(io.RandomSampler(range(9))) == list(range(9))
    assert len(list(io.RandomSampler(range(3), replacement=True, num_samples=8))) == 8
    assert list(io.WeightedRandomSampler([0.0, 1.0], 3)) == [1, 1, 1]
    assert sorted(io.SubsetRandomSampler([3, 5])) == [3, 5]
    assert list(io.RandomSampler(range(3), generator=iter([2, 0, 1]))) == [2, 0, 1]


def test_distributed_batches_are_those_of_the_reference():
    def batches(rank, **kwargs):
        return list(io.DistributedBatchSampler(range(5), 2, num_replicas=2, rank=rank, **kwargs))

    assert (batches(0), batches(1)) == ([[0, 1], [4]], [[2, 3], [0]])
    assert batches(0, shuffle=True, drop_last=True) == [[0, 2]] and batches(1, shuffle=True) == [[1, 3], [4]]
    sampler = io.DistributedBatchSampler(range(5), 2, shuffle=True)
    first = list(sampler)
    sampler.set_epoch(0)
    assert list(sampler) == first != list(sampler)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: io.DataLoader(3), "__getitem__"),
        (lambda: io.DataLoader(Numbers(), batch_size=0), "batch_size"),
        (lambda: io.DataLoader(Numbers(), batch_sampler=io.BatchSampler(Numbers()), shuffle=True), "batch_sampler"),
        (lambda: io.DataLoader(Numbers(), num_workers=-1), "num_workers"),
        (lambda: io.DataLoader(Stream(), shuffle=True), "IterableDataset"),
        (lambda: len(io.DataLoader(Stream())), "length"),
        (lambda: io.BatchSampler(), "dataset and sampler"),
        (lambda: io.random_split(range(3), [1, 1]), "add up to 2"),
        (lambda: io.TensorDataset([paddle.ones([2]), paddle.ones([3])]), r"\[2, 3\]"),
        (lambda: io.RandomSampler(range(2), num_samples=5), "num_samples"),
        (lambda: next(iter(io.DataLoader([object()]))), "collate_fn"),
        (lambda: io.ConcatDataset([Numbers()])[9], "out of range"),
    ],
)
def test_wrong_arguments_are_named(make, part):
    with pytest.raises((ValueError, TypeError, IndexError), match=part):
        make()


@pytest.mark.parametrize("persistent", [False, True])
def test_what_worker_init_fn_raises_is_raised(persistent):
    def fails(worker):
        raise KeyError("no such file")

    def leaves(worker):
        raise SystemExit(4)

    data = paddle.io.TensorDataset([paddle.arange(4)])
    for begin, kind, text in ((fails, KeyError, "no such file"), (leaves, RuntimeError, r"worker \d: SystemExit\(4\)")):
        loader = paddle.io.DataLoader(
            data, num_workers=2, worker_init_fn=begin, persistent_workers=persistent, timeout=20
        )
        with pytest.raises(kind, match=text) as raised:
            list(loader)
        assert kind is RuntimeError or "in worker_init_fn, called for worker" in raised.value.__notes__[0]


def test_a_batch_is_on_its_way_while_the_one_before_is_used():
    from paddle_lite_py.io.worker import one_ahead

    made, used = [], []

    def batches(n, fails):
        for i in range(n):
            made.append(i)
            yield i
        if fails:
            raise KeyError("the last")

    for i in one_ahead(batches(4, False)):
        used.append((i, len(made)))
    assert used == [(0, 2), (1, 3), (2, 4), (3, 4)] and not list(one_ahead(iter(())))
    it, seen = one_ahead(batches(2, True)), []
    with pytest.raises(KeyError, match="the last"):
        for i in it:
            seen.append(i)  # what was made before the error comes first
    assert seen == [0, 1] and list(one_ahead(iter([5]))) == [5]


@pytest.mark.parametrize("workers", [0, 2])
def test_tensors_are_taken_by_rows(workers):
    class Doubled(io.TensorDataset):
        def __getitem__(self, i):
            return tuple(2 * x for x in super().__getitem__(i))

    big = paddle.arange(80_000, dtype="float32").reshape([40_000, 2])  # XLA's, and not the host's
    columns = [paddle.arange(5), paddle.ones([5, 2]).astype("bfloat16"), big[:5]]
    first = list(io.DataLoader(io.TensorDataset(columns), batch_size=2, num_workers=workers))
    single = [io.default_collate_fn([io.TensorDataset(columns)[i] for i in rows]) for rows in ([0, 1], [2, 3], [4])]
    for ours, theirs in zip(first, single, strict=True):
        assert [(t.dtype, t.tolist()) for t in ours] == [(t.dtype, t.tolist()) for t in theirs]
    assert [x.tolist() for (x,) in io.DataLoader(Doubled([paddle.arange(3)]), batch_size=2, num_workers=workers)] == [
        [0, 2],
        [4],
    ]
    with pytest.raises(IndexError):
        list(io.DataLoader(io.TensorDataset(columns), batch_sampler=[[7]], num_workers=workers))
