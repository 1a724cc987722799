"""The search for an architecture, and regularization by local Rademacher complexity."""

from __future__ import annotations

import math

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.incubate import autodl

BITS = {f"bit{i}": [0, 1] for i in range(20)}
LOGITS = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")
LABEL = np.array([0, 1, 2, 3, 0, 1])


def count_ones(choices: dict[str, int]) -> int:
    return sum(choices.values())


def test_the_policy_learns_what_random_search_does_not_find():
    learned = autodl.ArchitectureSearch(BITS, batch_size=10, seed=0)
    by_chance = autodl.ArchitectureSearch(BITS, autodl.RandomPolicy, batch_size=10, seed=0)
    assert learned.run(count_ones, 150).score == 20 and len(learned.history) <= 150
    assert by_chance.run(count_ones, 150).score < 19 and len(by_chance.history) == 150


def test_a_search_is_the_same_for_the_same_seed_and_leaves_the_random_stream_of_its_draws_alone():
    found = [[t.choices for t in _search(seed).history] for seed in (3, 3, 4)]
    assert found[0] == found[1] != found[2]


def _search(seed: int) -> autodl.ArchitectureSearch:
    search = autodl.ArchitectureSearch(BITS, seed=seed)
    search.run(count_ones, 16)
    return search


def test_what_was_scored_costs_no_second_trial_and_a_space_that_is_exhausted_ends_the_search():
    calls: list[dict] = []
    search = autodl.ArchitectureSearch({"a": [1, 2], "b": ["x", "y"]}, autodl.RandomPolicy)
    best = search.run(lambda c: calls.append(c) or c["a"], 100)
    assert len(calls) == len(search.history) == 4 and best.choices["a"] == best.score == 2
    assert search.run(lambda c: pytest.fail("all are known"), 5) == best


def test_what_cannot_be_scored_teaches_nothing():
    search = autodl.ArchitectureSearch({"a": [1, 2, 3, 4]}, batch_size=4)
    best = search.run(lambda c: math.nan if c["a"] == 4 else c["a"], 4)
    assert best.score == 3 and not math.isnan(search.policy.average)
    with pytest.raises(ValueError, match="no architecture has a score; 2 were tried, all of them gave NaN"):
        autodl.ArchitectureSearch({"a": [1, 2]}).run(lambda c: math.nan, 2)


def test_an_error_in_the_score_names_the_choices():
    def fail(choices: dict) -> float:
        raise RuntimeError("does not fit")

    with pytest.raises(RuntimeError, match="does not fit") as raised:
        autodl.ArchitectureSearch({"width": [8]}).run(fail, 1)
    assert raised.value.__notes__ == ["while ArchitectureSearch.run() scored {'width': 8}"]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"space": {}}, "space: there are no decisions in it"),
    ({"space": {"a": [1], "b": []}}, "space: `b` has no options"),
    ({"space": {"a": [1]}, "batch_size": 0}, "batch_size is 0; expected at least 1"),
])  # fmt: skip
def test_a_search_that_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        autodl.ArchitectureSearch(**arguments)


def by_formula(signs: np.ndarray, logits: np.ndarray, label: np.ndarray) -> float:
    """The estimate as the paper defines it, example by example."""
    n, classes = logits.shape
    total = 0.0
    for s in signs:
        pairs = [s[i, j] * (logits[i, j] - logits[i, label[i]]) for i in range(n) for j in range(classes)]
        total += abs(sum(pairs)) / (n * (classes - 1))
    return total / len(signs)


@pytest.mark.parametrize("static", [False, True], ids=["eager", "static"])
@pytest.mark.parametrize("shape", [[6], [6, 1]], ids=str)
def test_local_rademacher_loss_is_the_formula(shape, static):
    loss = paddle.jit.to_static(autodl.local_rademacher_loss) if static else autodl.local_rademacher_loss
    paddle.seed(7)
    signs = paddle.randint(0, 2, [5, 6, 4]).numpy() * 2 - 1
    paddle.seed(7)
    found = loss(paddle.to_tensor(LOGITS), paddle.to_tensor(LABEL.reshape(shape)), 5)
    np.testing.assert_allclose(found.item(), by_formula(signs, LOGITS, LABEL), rtol=1e-6)


def test_the_regularizer_shrinks_margins():
    label, margins = paddle.to_tensor(LABEL), []
    for weight in (0.0, 10.0):
        logits = paddle.create_parameter([6, 4], "float32", default_initializer=paddle.nn.initializer.Assign(LOGITS))
        opt = paddle.optimizer.SGD(0.5, [logits])
        for _ in range(60):
            loss = weight * autodl.local_rademacher_loss(logits, label)
            (loss + paddle.nn.functional.cross_entropy(logits, label)).backward()
            opt.step()
            opt.clear_grad()
        margins.append(float((logits - logits.take_along_axis(label.reshape([-1, 1]), 1)).abs().mean()))
    assert margins[1] < 0.7 * margins[0], margins


@pytest.mark.parametrize(("logits", "label", "samples", "message"), [
    ([6], [6], 5, r"logits is \[6\]; expected \[batch, classes\]"),
    ([6, 1], [6], 5, "at least two classes"),
    ([6, 4], [6, 2], 5, r"label is \[6, 2\]; expected \[batch\] or \[batch, 1\]"),
    ([6, 4], [6], 0, "samples is 0; expected at least 1"),
])  # fmt: skip
def test_shapes_that_do_not_fit(logits, label, samples, message):
    with pytest.raises(ValueError, match=message):
        autodl.local_rademacher_loss(paddle.zeros(logits), paddle.zeros(label, "int64"), samples)
