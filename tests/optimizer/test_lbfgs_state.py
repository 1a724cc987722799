"""LBFGS goes on from its state as if it had not stopped."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.optimizer.line_search import Point, _lowest


def _steps(optimizer, w, n):
    def closure():
        optimizer.clear_grad()
        loss = ((w - 1) ** 4).sum() + w[0] * w[1]
        loss.backward()
        return loss

    for _ in range(n):
        optimizer.step(closure)


def _made(start, search):
    w = paddle.nn.Parameter(paddle.to_tensor(start))
    return w, paddle.optimizer.LBFGS(max_iter=3, line_search_fn=search, parameters=[w])


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_it_goes_on(tmp_path, search):
    w, optimizer = _made(np.array([3.0, -2.0], "float32"), search)
    assert optimizer.state_dict()["state"]["func_evals"] == 0
    _steps(optimizer, w, 2)
    state = optimizer.state_dict()
    assert {"old_sk", "old_yk", "ro", "d", "alpha", "prev_flat_grad", "n_iter"} <= state["state"].keys()
    if search is None:  # as PaddlePaddle 3.3.1 counts
        assert (state["state"]["func_evals"], state["state"]["n_iter"]) == (6, 4)
    paddle.save(state, tmp_path / "state")
    again, other = _made(w.numpy(), search)
    other.set_state_dict(paddle.load(tmp_path / "state"))
    _steps(optimizer, w, 2)
    _steps(other, again, 2)
    assert w.tolist() == again.tolist()
    assert other.state_dict()["state"]["n_iter"] == optimizer.state_dict()["state"]["n_iter"]


def test_a_state_of_other_parameters():
    w, optimizer = _made(np.ones(2, "float32"), None)
    _steps(optimizer, w, 2)
    _, other = _made(np.ones(3, "float32"), None)
    with pytest.raises(ValueError, match="other parameters than these 3 numbers"):
        other.set_state_dict(optimizer.state_dict())


def test_steps_that_round_to_none():
    """Each step is at least a hundredth of the one before: after some of these there is none."""
    point = Point(1.0, 0.0, -1.0, None)
    assert _lowest(point, point, 1.0, 10.0) == 5.5
