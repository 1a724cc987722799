"""Indices out of range raise in compiled programs as in eager code, where they are among what a run is given."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static
from paddle_lite_py.nn import functional as F

ROWS = paddle.arange(12, dtype="float32").reshape([4, 3])
# An op, an index within range and one that is not.
READS = {
    "getitem": (lambda i: ROWS[i], [0, 3], [0, 4]),
    "a number": (lambda i: ROWS[i], 3, 4),
    "a row of a column": (lambda i: ROWS[:, i], [-3, 2], [-4, 2]),
    "gather": (lambda i: paddle.gather(ROWS, i), [0, 3], [0, 4]),
    "index_select": (lambda i: paddle.index_select(ROWS, i), [0, 3], [0, 4]),
    "gather_nd": (lambda i: paddle.gather_nd(ROWS, i), [[0, 2]], [[0, 3]]),
    "take": (lambda i: paddle.take(ROWS, i), [11], [12]),
    "take_along_axis": (lambda i: paddle.take_along_axis(ROWS, i, 0), [[0, 3, 1]], [[0, 4, 1]]),
    "multiplex": (lambda i: paddle.multiplex([ROWS, ROWS], i), [[0], [1], [0], [1]], [[0], [2], [0], [1]]),
    "one_hot": (lambda i: F.one_hot(i, 3), [0, 2], [0, 3]),
    "embedding": (lambda i: F.embedding(i, ROWS), [0, 3], [0, 4]),
    "cross_entropy": (lambda i: F.cross_entropy(ROWS, i), [0, 1, 2, 0], [0, 7, 2, 0]),
    "nll_loss": (lambda i: F.nll_loss(ROWS, i), [0, 1, 2, 0], [0, 3, 2, 0]),
    "scatter": (lambda i: paddle.scatter(ROWS, i, paddle.ones([2, 3])), [0, 3], [0, 4]),
    "index_add": (lambda i: paddle.index_add(ROWS, i, 0, paddle.ones([2, 3])), [0, 3], [0, 4]),
    "put_along_axis": (lambda i: paddle.put_along_axis(ROWS, i, 1.0, 0), [[0, 3, 1]], [[0, 4, 1]]),
    "floor_divide": (lambda i: 7 // i, [1, 2], [1, 0]),
    "remainder": (lambda i: 7 % i, [1, 2], [1, 0]),
}


@pytest.mark.parametrize("name", READS)
def test_a_static_function_raises_what_eager_code_raises(name):
    call, inside, outside = READS[name]
    compiled = paddle.jit.to_static(call)
    for _ in range(2):
        assert np.allclose(compiled(paddle.to_tensor(inside)), call(paddle.to_tensor(inside)), atol=1e-6)
    with pytest.raises((IndexError, ValueError)) as eager:
        call(paddle.to_tensor(outside))
    with pytest.raises(eager.type) as found:
        compiled(paddle.to_tensor(outside))
    assert str(found.value) == str(eager.value)
    assert sum(map(len, compiled.cache.entries.values())) == 1


def test_a_training_step_leaves_the_weights_alone():
    net = nn.Linear(3, 3)
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())

    @paddle.jit.to_static
    def step(x, y):
        loss = F.cross_entropy(net(x), y.reshape([-1]))
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    step(ROWS, paddle.to_tensor([[0], [1], [2], [-100]]))
    before = net.weight.numpy()
    with pytest.raises(IndexError, match=r"label holds 7 at \[1\]; expected 0 to 2"):
        step(ROWS, paddle.to_tensor([[0], [7], [2], [0]]))
    assert np.array_equal(net.weight.numpy(), before)


def test_a_static_layer_in_an_eager_step():
    net = paddle.jit.to_static(nn.Sequential(nn.Embedding(4, 2), nn.Linear(2, 1)))
    net(paddle.to_tensor([0, 3])).sum().backward()
    with pytest.raises(ValueError, match="x holds 4"):
        net(paddle.to_tensor([0, 4]))


def test_a_branch_that_is_not_taken_reads_nothing():
    @paddle.jit.to_static
    def pick(i, wanted):
        out = ROWS[0]
        if wanted:
            out = ROWS[i][0]
        return out

    assert pick(paddle.to_tensor([2]), paddle.to_tensor(True)).tolist() == [6.0, 7.0, 8.0]
    assert pick(paddle.to_tensor([9]), paddle.to_tensor(False)).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(IndexError, match="the index holds 9"):
        pick(paddle.to_tensor([9]), paddle.to_tensor(True))


def test_the_flag_leaves_it_to_xla():
    compiled = paddle.jit.to_static(lambda i: paddle.gather(ROWS, i))
    compiled(paddle.to_tensor([0]))
    paddle.set_flags({"FLAGS_check_indices": False})
    assert np.isnan(compiled(paddle.to_tensor([4])).numpy()).all()


def test_a_saved_program_names_the_op(tmp_path):
    net = nn.Embedding(4, 2)
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[static.InputSpec([None], "int64", "ids")])
    loaded = paddle.jit.load(str(tmp_path / "net"))
    assert loaded(paddle.to_tensor([3, 0])).shape == [2, 2]
    with pytest.raises(ValueError, match=r"embedding at .*: x holds 4 at \[1\]; expected 0 to 3"):
        loaded(paddle.to_tensor([3, 4]))


def test_an_executor_names_the_op(static_mode):
    label = static.data("label", [None], "int64")
    logits = static.data("logits", [None, 3], "float32")
    loss = F.cross_entropy(logits, label)
    run = static.Executor().run
    feed = {"logits": np.ones([2, 3], "float32"), "label": np.array([0, 2])}
    assert run(feed=feed, fetch_list=[loss])[0] == pytest.approx(np.log(3))
    with pytest.raises(IndexError, match=r"cross_entropy at .*test_index_checks.*: label holds 3"):
        run(feed={**feed, "label": np.array([0, 3])}, fetch_list=[loss])


def test_fit_does_not_train_on_labels_that_there_are_not():
    net = nn.Linear(3, 3)
    model = paddle.Model(net)
    model.prepare(paddle.optimizer.SGD(0.1, parameters=net.parameters()), nn.CrossEntropyLoss())
    data = paddle.io.TensorDataset([ROWS, paddle.to_tensor([[0], [1], [7], [2]])])
    with pytest.raises(IndexError, match="label holds 7"):
        model.fit(data, batch_size=2, verbose=0, shuffle=False)
    assert np.isfinite(net.weight.numpy()).all()
