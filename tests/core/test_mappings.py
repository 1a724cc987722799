"""A process that compiles many programs does not run out of memory mappings."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core import mappings


@pytest.mark.skipif(not mappings._LIMIT.exists(), reason="Linux limits mappings")
def test_caches_are_dropped_where_room_is_short(monkeypatch):
    monkeypatch.setattr(mappings, "SHARE", 0.0)
    monkeypatch.setattr(mappings, "EVERY", 1)
    kept = paddle.jit.to_static(lambda x: (x * 2.0).sum())
    x = paddle.ones([40, 40])
    assert kept(x).item() == 3200.0
    before = mappings.room.dropped
    for n in (3.0, 5.0):
        assert paddle.jit.to_static(lambda x, n=n: (x * n).sum())(x).item() == 1600 * n
    assert mappings.room.dropped > before and mappings.mapped() > 0
    assert kept(x).item() == 3200.0  # compiled once more
    monkeypatch.undo()
    mappings.room.due = False


def test_nothing_is_dropped_while_jax_traces(monkeypatch):
    import jax

    before = mappings.room.dropped
    monkeypatch.setattr(mappings.room, "due", True)

    @jax.jit
    def f(a):
        mappings.make_room()
        return a + 1

    assert f(1) == 2 and mappings.room.dropped == before
