"""Tests derived from the table of the ops for networks: values, dtypes, gradients; and what a table cannot say."""

from __future__ import annotations

import pytest

import test_ops
from nn_ops_table import ROWS
from ops_table import Row

IDS = [f"{i}-{r}"[:80] for i, r in enumerate(ROWS)]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_value_and_dtype(row: Row):
    test_ops.test_value_and_dtype(row, "float32")


WITH_GRADIENT = [r for r in ROWS if r.grad]


@pytest.mark.parametrize("row", WITH_GRADIENT, ids=[f"{i}-{r}"[:80] for i, r in enumerate(WITH_GRADIENT)])
def test_gradient(row: Row):
    test_ops.test_gradient(row)
