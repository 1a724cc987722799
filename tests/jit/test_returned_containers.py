"""Containers and records from outside that a static function returns are themselves, not copies."""

import collections
import dataclasses

import pytest

import paddle_lite_py as paddle


@dataclasses.dataclass
class Config:
    width: int = 1
    parts: list[int] = dataclasses.field(default_factory=list)


class Holder:
    parts = None


LIST, COUNTED, CONFIG, HOLDER = [1, 2], [], Config(), Holder()
DICT, QUEUE = {"a": LIST}, collections.deque([1])
HOLDER.parts = LIST


def counts(x):
    COUNTED.append(x)
    return COUNTED


def stores(x):
    DICT["x"] = x
    return DICT


def keeps(x):
    HOLDER.kept = QUEUE
    return HOLDER.kept


CASES = {
    "a list": (lambda x: LIST, lambda: LIST),
    "with a tensor": (lambda x: (x + 1, LIST)[1], lambda: LIST),
    "an item": (lambda x: DICT["a"], lambda: LIST),
    "an attribute": (lambda x: HOLDER.parts, lambda: LIST),
    "a deque": (lambda x: QUEUE, lambda: QUEUE),
    "a record": (lambda x: CONFIG, lambda: CONFIG),
    "a field": (lambda x: CONFIG.parts, lambda: CONFIG.parts),
    "one that grows": (counts, lambda: COUNTED),
    "one that is changed": (stores, lambda: DICT),
    "one that is put elsewhere": (keeps, lambda: HOLDER.kept),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_same(name):
    f, expected = CASES[name]
    static, x = paddle.jit.to_static(f), paddle.ones([1])
    for _ in range(3):
        assert static(x) is expected()


def test_next_to_arguments():
    static, x = paddle.jit.to_static(lambda x, held: (held.append(x), [LIST, x, held])[1]), paddle.ones([1])
    held = []
    for _ in range(2):
        found = static(x, held)
        assert found[0] is LIST and found[1] is x and found[2] is held
    assert len(held) == 2 and held[0] is x


def test_one_container_in_several_places_is_one():
    def f(x):
        pair, table = [x + 1, x * 2], {"x": x}
        return pair, [table, pair, LIST], (pair, table)

    static, x = paddle.jit.to_static(f), paddle.ones([1])
    for _ in range(2):
        pair, (table, again, outside), last = static(x)
        assert pair is again is last[0] and table is last[1] and outside is LIST
        assert [t.item() for t in pair] == [2, 2] and table["x"] is x
