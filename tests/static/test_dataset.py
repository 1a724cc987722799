"""Datasets of slots in text files, and programs run on them."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import static
from paddle_lite_py.distributed.fleet.dataset.ahead import ahead
from paddle_lite_py.distributed.fleet.dataset.numbers import numbers
from paddle_lite_py.distributed.fleet.dataset.slots import parse

pytestmark = pytest.mark.usefixtures("static_mode")
KINDS = [np.dtype("int64"), np.dtype("float32")]


def lines(rows):
    return "".join(f"{len(a)} {' '.join(map(str, a))} {len(b)} {' '.join(map(str, b))}\n" for a, b in rows)


def files(tmp_path, *parts):
    out = []
    for i, rows in enumerate(parts):
        (tmp_path / f"part-{i}").write_text(lines(rows))
        out.append(str(tmp_path / f"part-{i}"))
    return out


def test_slots_are_parsed():
    rng = np.random.default_rng(0)
    rows = [
        (rng.integers(0, 1 << 60, rng.integers(0, 4)), rng.normal(size=rng.integers(0, 3)).astype("float32"))
        for _ in range(20)
    ]
    ids, values = parse(lines([(a % 1000, b) for a, b in rows]).encode(), KINDS)
    for i, (a, b) in enumerate(rows):
        assert ids.values[ids.starts[i] : ids.starts[i + 1]].tolist() == (a % 1000).tolist()
        np.testing.assert_array_equal(values.values[values.starts[i] : values.starts[i + 1]], b)
    exact, _ = parse(lines([(a, [1] * len(b)) for a, b in rows]).encode(), [KINDS[0]] * 2)
    assert exact.values.tolist() == np.concatenate([a for a, _ in rows]).tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 3 1 0.5\n2 3 1 0.5\n", "line 2 of the text does not hold 2 slots"),
        (b"1 3\n", "line 1 of"),
        (b"1 3 1 0.5 7\n", "line 1 of"),
        (b"-1 3 1 0.5\n", "line 1 of"),
        (b"1 3 1 half\n", "no number"),
    ],
)
def test_bad_lines_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text, KINDS)


def test_numbers_are_read_as_python_reads_them():
    rng = np.random.default_rng(0)
    values = rng.normal(size=300) * 10.0 ** rng.integers(-30, 30, 300)
    texts = [
        f"{v:.{d}{k}}" for v, d, k in zip(values, rng.integers(0, 20, 300), rng.choice(list("gef"), 300), strict=True)
    ]
    texts += [str(n) for n in rng.integers(-(1 << 62), 1 << 62, 200) >> rng.integers(0, 62, 200)]
    texts += ["-0", "+7", ".5", "-.25", "5.", "1e3", "1E-3", "inf", "nan", "-inf", "9007199254740993", "0.1", "00012"]
    rng.shuffle(texts)
    found = numbers("\n".join(" ".join(texts[i : i + 7]) for i in range(0, len(texts), 7)).encode())
    np.testing.assert_array_equal(found.floats, [float(t) for t in texts])
    for text, integer in zip(texts, found.integers.tolist(), strict=True):
        if text.lstrip("+-").isdigit():
            assert integer == int(text)
    assert found.per_line.tolist() == [7] * (len(texts) // 7) + [len(texts) % 7] * (len(texts) % 7 > 0)


@pytest.mark.parametrize("token", ["-", "+", ".", "1.2.3", "1-2", "--1", "1_0", "0x1", "half", "1e", "e5", "1,5"])
def test_what_is_no_number_is_named(token):
    with pytest.raises(ValueError, match="is no number"):
        numbers(f"1 2.5 {token} 7".encode())


def test_a_long_text_is_read_in_pieces_and_lines_keep_their_numbers(monkeypatch):
    monkeypatch.setattr("paddle_lite_py.distributed.fleet.dataset.numbers.PIECE", 64)
    rows = [([i] * (i % 3), [i / 8]) for i in range(200)]
    text = lines(rows).replace("\n", "\n\n", 3).encode()
    for threads in (0, 1, 3):
        ids, values = parse(text, KINDS, threads=threads)
        assert np.diff(ids.starts).tolist() == [i % 3 for i in range(200)]
        assert values.values.tolist() == [i / 8 for i in range(200)]
    with pytest.raises(ValueError, match="line 154 of the text"):
        parse(text.replace(b"150 1 18.75", b"150 9 18.75").replace(b"1 18.75", b"9 18.75"), KINDS)
    assert [len(s.values) for s in parse(b"\n \n", KINDS)] == [0, 0]


def test_feeds_are_made_ahead_and_errors_come_through():
    def feeds():
        yield from range(3)
        raise RuntimeError("the file ended")

    found = ahead(feeds(), 1)
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RuntimeError, match="the file ended"):
        next(found)
    left = ahead(iter(range(100)), 1)
    assert next(left) == 0
    left.close()
    assert list(ahead([])) == []


def test_batches_are_padded_with_lengths(tmp_path):
    ids, x = static.data("ids", [None, None], "int64"), static.data("x", [None, 2])
    n = static.data("ids.lengths", [None], "int64")
    dataset = static.InMemoryDataset()
    dataset.init(batch_size=2, use_var=[ids, x])
    parts = files(tmp_path, [([1, 2, 3], [1, 2]), ([4], [3, 4])], [([5, 6], [5, 6])])
    dataset.set_filelist(parts)
    dataset.load_into_memory()
    assert dataset.get_memory_data_size() == 3
    first, second = list(dataset)
    assert first["ids"].tolist() == [[1, 2, 3], [4, 0, 0]] and first["ids.lengths"].tolist() == [3, 1]
    assert second["x"].tolist() == [[5, 6]]
    pooled = static.nn.sequence_pool(ids.astype("float32").unsqueeze(-1), "sum", lengths=n)
    found = [static.Executor().run(feed=f, fetch_list=[pooled])[0].ravel().tolist() for f in dataset]
    assert found == [[6, 4], [11]]
    seen = []
    handler = type("Handler", (), {"handler": lambda self, found: seen.append(found["sum"].ravel().tolist())})()
    static.Executor().train_from_dataset(
        dataset=dataset, fetch_list=[pooled], fetch_info=["sum"], print_period=1, fetch_handler=handler
    )
    assert seen == [[6, 4], [11]]
    queue = static.QueueDataset()
    queue.init(batch_size=2, use_var=[ids, x], pipe_command="sed s/5/7/g")
    queue.set_filelist(parts)
    assert [f["ids"].tolist() for f in queue] == [[[1, 2, 3], [4, 0, 0]], [[7, 6]]]


def test_shuffling_keeps_instances_together(tmp_path):
    ids, x = static.data("ids", [None, 1], "int64"), static.data("x", [None, 1])
    dataset = static.InMemoryDataset()
    dataset.init(use_var=[ids, x])
    dataset.update_settings(batch_size=20)
    dataset.set_filelist(files(tmp_path, [([i], [i / 2]) for i in range(20)]))
    dataset.load_into_memory(is_shuffle=True)
    (feed,) = dataset
    assert feed["ids"].ravel().tolist() != list(range(20)) and sorted(feed["ids"].ravel()) == list(range(20))
    np.testing.assert_allclose(feed["ids"] / 2, feed["x"])
    dataset.slots_shuffle(["x"])
    (feed,) = dataset
    assert not np.allclose(feed["ids"] / 2, feed["x"]) and sorted(feed["x"].ravel() * 2) == list(range(20))
    dataset.release_memory()
    assert not list(dataset)


def test_a_program_is_trained_on_a_dataset(tmp_path, capsys):
    x, y = static.data("x", [None, 1]), static.data("y", [None, 1])
    loss = paddle.nn.functional.mse_loss(paddle.nn.Linear(1, 1)(x), y)
    paddle.optimizer.SGD(0.3).minimize(loss)
    values = np.linspace(-1, 1, 16)
    dataset = static.InMemoryDataset()
    dataset.init(batch_size=4, use_var=[x, y])
    dataset.set_filelist(files(tmp_path, [([v], [3 * v + 1]) for v in values]))
    dataset.load_into_memory()
    exe = static.Executor()
    exe.run(static.default_startup_program())
    for _ in range(40):
        dataset.local_shuffle()
        exe.train_from_dataset(static.default_main_program(), dataset)
    capsys.readouterr()
    state = {n: t.numpy() for n, t in static.default_main_program().state_dict().items()}
    exe.infer_from_dataset(None, dataset, fetch_list=[loss], fetch_info=["loss"], print_period=2)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed] == ["batch 2", "batch 4"]
    assert float(printed[1].split("=")[1]) < 1e-3
    for n, t in static.default_main_program().state_dict().items():
        np.testing.assert_array_equal(t.numpy(), state[n])
    with pytest.raises(TypeError, match="dataset is a NoneType"):
        exe.train_from_dataset()
    with pytest.raises(ValueError, match="use_var is empty"):
        static.QueueDataset()._read("none")


def test_a_handler_is_given_what_is_fetched():
    y = static.data("x", [None]).sum()
    seen = []

    class Handler:
        def handler(self, found):
            seen.append({k: float(v) for k, v in found.items()})

    feeds = [{"x": np.full(2, i, "float32")} for i in range(4)]
    static.Executor().train_from_dataset(
        dataset=feeds, fetch_list=[y], fetch_info=["sum"], print_period=2, fetch_handler=Handler()
    )
    assert seen == [{"sum": 2.0}, {"sum": 6.0}]


def test_a_loader_gives_feeds():
    x, y = static.data("x", [None, 2]), static.data("y", [None, 1], "int64")
    total = x.sum(1) + y.astype("float32").flatten()
    samples = [(np.full(2, i, "float32"), np.array([i])) for i in range(4)]
    loader = paddle.io.DataLoader(samples, feed_list=[x, y], batch_size=2, return_list=False)
    exe = static.Executor(paddle.CPUPlace())
    assert [exe.run(feed=feed, fetch_list=[total])[0].tolist() for feed in loader] == [[0, 3], [6, 9]]
    with pytest.raises(ValueError, match="device 'gpu:97' is not there"):
        static.Executor(paddle.CUDAPlace(97))
