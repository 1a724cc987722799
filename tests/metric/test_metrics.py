"""Metrics, with the figures that PaddlePaddle gives."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import metric

SCORES = [[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]]


@pytest.mark.parametrize("labels", [[[1], [0]], [1, 0], [[0, 1, 0], [1, 0, 0]]])
def test_accuracy_takes_ids_columns_and_one_hot_labels(labels):
    m = metric.Accuracy()
    correct = m.compute(paddle.to_tensor(SCORES), paddle.to_tensor(labels))
    assert correct.tolist() == [[0.0], [1.0]]
    assert m.update(correct) == 0.5 and m.accumulate() == 0.5 and m.name() == ["acc"]
    m.update(np.array([[1.0], [1.0]]))
    assert m.accumulate() == 0.75
    m.reset()
    assert m.accumulate() == 0.0


def test_accuracy_of_several_k():
    m = metric.Accuracy(topk=(1, 2))
    correct = m.compute(paddle.to_tensor(SCORES), paddle.to_tensor([[1], [0]]))
    assert m.update(correct) == [0.5, 1.0] and m.name() == ["acc_top1", "acc_top2"]
    assert metric.accuracy(paddle.to_tensor(SCORES), paddle.to_tensor([[1], [0]]), k=2).item() == 1.0


def test_precision_and_recall():
    precision, recall = metric.Precision(), metric.Recall()
    assert precision.accumulate() == 0.0
    precision.update(np.array([0.1, 0.6, 0.8]), np.array([0, 1, 0]))
    recall.update(paddle.to_tensor([0.1, 0.6, 0.8]), paddle.to_tensor([1, 1, 0]))
    assert (precision.accumulate(), recall.accumulate(), precision.name(), recall.name()) == (
        0.5,
        0.5,
        "precision",
        "recall",
    )


def test_area_under_the_curve():
    rs, m = np.random.RandomState(0), metric.Auc()
    assert m.accumulate() == 0.0
    q = rs.rand(20)
    m.update(np.stack([1 - q, q], 1), (rs.rand(20) > 0.5).astype(int)[:, None])
    assert m.accumulate() == pytest.approx(0.7252747252747253) and m.name() == "auc"
    assert metric.Auc.trapezoid_area(0, 2, 1, 3) == 4.0


def test_a_metric_of_the_users_own_must_say_what_it_does():
    with pytest.raises(NotImplementedError, match="accumulate"):
        metric.Metric().accumulate()
