"""DataLoader.from_generator(): batches of Python generators, in eager code and for programs."""

import numpy as np
import pytest

import paddle_lite_py as paddle


def samples():
    for i in range(5):
        yield np.full(2, i, "float32"), i


def lists():
    kept = list(samples())
    yield from (kept[:2], kept[2:4])


def batches():
    for i in range(2):
        yield np.full([3, 2], i, "float32"), np.full([3, 1], i)


LOADERS = {
    "set_sample_generator": ((samples, 2), 2, [[2, 2], [3, 3]], [2, 3]),
    "set_sample_list_generator": ((lists,), 2, [[2, 2], [3, 3]], [2, 3]),
    "set_batch_generator": ((batches,), 2, [[1, 1]] * 3, [[1]] * 3),
}


@pytest.mark.parametrize("name", LOADERS)
def test_batches(name):
    args, count, x, y = LOADERS[name]
    loader = getattr(paddle.io.DataLoader.from_generator(capacity=4), name)(*args)
    assert len(list(loader)) == count
    last = list(loader())[-1]
    assert last[0].dtype == paddle.float32 and last[0].tolist() == x and last[1].tolist() == y


def test_the_last_samples_may_be_kept():
    loader = paddle.io.DataLoader.from_generator().set_sample_generator(samples, 2, drop_last=False)
    assert [len(batch[0]) for batch in loader] == [2, 2, 1]


def test_batches_are_fed():
    paddle.enable_static()
    x, y = paddle.static.data("x", [-1, 2], "float32"), paddle.static.data("y", [-1, 1], "int64")
    total, run = x.sum() + y.sum(), paddle.static.Executor().run
    loader = paddle.io.DataLoader.from_generator(feed_list=[x, y]).set_batch_generator(batches)
    assert [run(feed=batch, fetch_list=[total])[0].item() for batch in loader] == [0, 9]
    few = paddle.io.DataLoader.from_generator(feed_list=[x]).set_batch_generator(batches)
    with pytest.raises(ValueError, match="the generator gives 2 fields; feed_list has 1"):
        next(iter(few))


def test_what_is_refused():
    with pytest.raises(NotImplementedError, match="iterable=False"):
        paddle.io.DataLoader.from_generator(iterable=False)
    with pytest.raises(ValueError, match="the loader has no generator"):
        next(iter(paddle.io.DataLoader.from_generator()))
