"""Tables in ordinary programs are updated by rows: the same values, without touching the rest."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import static

pytestmark = pytest.mark.usefixtures("static_mode")


def trained(sparse, optimizer, shared=False, **settings):
    """Losses of some steps, the state after them, and the kinds of operators."""
    paddle.seed(3)
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        a, b = static.data("a", [None, 3], "int64"), static.data("b", [None, 2], "int64")
        table = paddle.nn.Embedding(50, 4, padding_idx=0, sparse=sparse)
        out = paddle.nn.Linear(20, 1)(paddle.concat([table(a).reshape([-1, 12]), table(b).reshape([-1, 8])], 1))
        loss = (out**2).mean() + (table.weight.sum() if shared else 0.0) + out.mean()
        optimizer(0.1, **settings).minimize(loss)
        exe, rng = static.Executor(), np.random.default_rng(0)
        exe.run(startup)
        feeds = [{"a": rng.integers(0, 9, (6, 3)), "b": rng.integers(0, 50, (6, 2))} for _ in range(4)]
        losses = [float(exe.run(main, feed=f, fetch_list=[loss])[0]) for f in feeds]
        return losses, main, {n: t.numpy() for n, t in main.state_dict().items()}


@pytest.mark.parametrize("optimizer", [paddle.optimizer.SGD, paddle.optimizer.Adagrad])
def test_rows_are_updated_as_tables_are(optimizer):
    (wanted, plain, state), (found, by_rows, same) = trained(False, optimizer), trained(True, optimizer)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    for name in state:
        np.testing.assert_allclose(same[name], state[name], atol=1e-6)
    kinds = [[op.type for op in p.global_block().ops] for p in (plain, by_rows)]
    assert "rows_put" in kinds[1] and "rows_put" not in kinds[0]


DENSE = [
    (paddle.optimizer.Adam, {}, False),
    (paddle.optimizer.SGD, {"weight_decay": 0.1}, False),
    (paddle.optimizer.SGD, {"grad_clip": paddle.nn.ClipGradByGlobalNorm(1.0)}, False),
    (paddle.optimizer.SGD, {}, True),
]


@pytest.mark.parametrize(("optimizer", "settings", "shared"), DENSE, ids=["adam", "decay", "clip", "shared"])
def test_what_moves_all_rows_is_dense(optimizer, settings, shared):
    losses, program, _ = trained(True, optimizer, shared, **settings)
    assert "rows_put" not in [op.type for op in program.global_block().ops] and losses[-1] < losses[0]


def test_a_program_that_trains_by_rows_is_written_and_read():
    _, program, _ = trained(True, paddle.optimizer.Adagrad)
    again = static.Program.parse_from_string(program.serialize_to_string())
    assert [op.type for op in again.global_block().ops] == [op.type for op in program.global_block().ops]
