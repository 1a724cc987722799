"""Containers of tensors by identity."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.migrate.values import ValueDict, ValueSet


def values():
    program = paddle.static.Program()
    paddle.enable_static()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [2])
        return x, x + 1


@pytest.mark.parametrize("made", [lambda: (paddle.ones([2]), paddle.ones([2])), values], ids=["eager", "static"])
def test_tensors_are_keys_by_identity(made):
    x, y = made()
    assert paddle.autograd.backward_utils.ValueDict is ValueDict
    found = ValueDict({x: 1, None: 0})
    found[x] = 2
    assert found[x] == 2 and x in found and y not in found and found.get(y, 5) == 5 and list(found.values()) == [2, 0]
    assert [key is x for key, _ in found.items()] == [True, False] and len(found.copy()) == 2
    assert found.pop(x) == 2 and found.setdefault(y, 7) == 7 and len(found) == 2
    with pytest.raises(KeyError, match="is not in ValueDict"):
        found[x]
    counted = ValueDict(default_factory=list)
    counted[x].append(1)
    assert counted[x] == [1] and counted.get(y) is None and y not in counted


def test_sets_of_tensors():
    x, y = paddle.ones([2]), paddle.ones([2])
    both = ValueSet([x, x]) | ValueSet([y])
    assert len(both) == 2 and list(both & ValueSet([y]))[0] is y and x in both - ValueSet([y])
    both.discard(x)
    both.update([y])
    assert len(both) == 1 and both.copy().pop() is y and not ValueSet()
