"""Who runs a program that exchanges in several groups of processes."""

from __future__ import annotations

import pytest

from paddle_lite_py.distributed.spread import _beside

ROWS = {0: (0, 1), 1: (0, 1), 2: (2, 3), 3: (2, 3)}
WRONG = [
    ({**ROWS, 3: (1, 3)}, RuntimeError, r"rank 2 is among the ranks \[2, 3\], but rank 3 among \[1, 3\]"),
    ({0: (0, 1), 1: ()}, RuntimeError, r"rank 0 is among the ranks \[0, 1\], but rank 1 among \[\]"),
    ({0: (0, 1), 1: (0, 1), 2: (2,)}, NotImplementedError, "groups of 1 and of 2 processes exchange side by side"),
]


def test_groups_that_exchange_side_by_side():
    assert _beside("step", 0, {rank: [ranks] for rank, ranks in ROWS.items()}) == [(0, 1), (2, 3)]


@pytest.mark.parametrize(("groups", "kind", "message"), WRONG)
def test_groups_that_do_not_fit_are_named(groups, kind, message):
    with pytest.raises(kind, match=f"step: .*{message}"):
        _beside("step", 0, {rank: [ranks] if ranks else [] for rank, ranks in groups.items()})
