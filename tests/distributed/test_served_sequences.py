"""Programs on sequences of items, as GRU4Rec and SSR are: with servers they give what they give without."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import static
from paddle_lite_py.distributed import fleet
from paddle_lite_py.nn import functional as F
from parameter_servers import one_worker

SIZE, ITEMS = 4, 20
SESSIONS = {"seen": np.array([[3, 7, 2], [5, 0, 0], [2, 4, 0]]), "target": np.array([[7, 2, 9], [8, 0, 0], [4, 6, 0]])}


def attr(value):
    return paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(value))


def embedded():
    """What looks items up: rows that begin alike, as servers and parameters have them, and numbers that do not."""
    name = paddle.ParamAttr(name="items", initializer=paddle.nn.initializer.Constant(0.1))
    table = paddle.nn.Embedding(ITEMS, SIZE, padding_idx=0, sparse=True, weight_attr=name)
    return lambda ids: (
        table(ids) + paddle.sin(ids.unsqueeze(-1).astype("float32") * paddle.arange(1, SIZE + 1).astype("float32"))
    )


def next_item(seen, target):
    """The cost of what comes next, and how often it is among the best."""
    lengths = (seen != 0).astype("int64").sum(1)
    weights = {f"weight_{kind}_attr": attr(0.3) for kind in ("ih", "hh")}
    states, _ = paddle.nn.GRU(SIZE, SIZE, **weights)(embedded()(seen), sequence_length=lengths)
    scores = paddle.nn.Linear(SIZE, ITEMS, weight_attr=attr(0.2))(states.reshape([-1, SIZE]))
    # Weights that are all alike pass no gradient back, only rounding, of which Adagrad makes whole steps.
    uneven = paddle.sin(paddle.arange(SIZE * ITEMS, dtype="float32")).reshape([SIZE, ITEMS])
    chance = F.softmax(scores + states.reshape([-1, SIZE]) @ uneven)
    label = target.reshape([-1, 1])
    there = (label != 0).astype("float32")
    cost = F.cross_entropy(chance, label, use_softmax=False, reduction="none")
    return (cost * there).sum() / there.sum(), static.accuracy(chance, label, k=5)


def nearer_item(seen, target):
    """By how much the item that was taken lacks to be nearer than another one, and for how many it is nearer."""
    items = embedded()
    user, both = items(seen).max(1), items(target)
    taken, other = (F.cosine_similarity(user, both[:, i], axis=1) for i in (0, 2))
    lacks = paddle.maximum(paddle.full_like(taken, 0.0), 0.8 - taken + other)
    return lacks.mean(), (other < taken).astype("float32").sum()


def trained(net):
    """What some steps give."""
    paddle.seed(1)
    cost, metric = net(static.data("seen", [None, 3], "int64"), static.data("target", [None, 3], "int64"))
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = False
    fleet.distributed_optimizer(paddle.optimizer.Adagrad(0.1), strategy).minimize(cost)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    return [exe.run(feed=SESSIONS, fetch_list=[cost, metric]) for _ in range(4)]


@pytest.mark.parametrize("net", [next_item, nearer_item])
def test_sequences_are_trained_with_servers_as_without(static_mode, net):
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        wanted = trained(net)
    paddle.utils.unique_name.switch()
    with one_worker():
        found = trained(net)
    np.testing.assert_allclose(np.array(found, "float32"), np.array(wanted, "float32"), rtol=1e-4)
    assert wanted[3][0] < wanted[0][0]
