"""Tensors that a static function moves from one place outside to another stay the tensors they are."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import paddle_lite_py as paddle


def moved(box, places, y):
    places[0], box.v = box.v, y * 2.0


def moved_after_a_write(box, places, y):
    held = box.v
    held.add_(y)
    places[0], box.v = held, y * 3.0


def moved_into_a_container(box, places, y):
    held = box.v
    places[0], box.v = {"k": (held, held)}, y * 3.0


def moved_twice_and_returned(box, places, y):
    held = box.v
    places[0], places[1], box.v = held, held, y * 3.0
    return held


def exchanged(box, places, y):
    places[1], box.v = box.v, places[1]
    places[1].add_(y)


def calls(f, convert):
    """What stands where after each of some calls, and which tensors are one."""
    box, places = SimpleNamespace(v=paddle.to_tensor([1.0, 2.0])), [None, paddle.to_tensor([0.0, 0.5])]
    function, seen = convert(lambda y: f(box, places, y)), []
    for i in range(4):
        before = box.v
        result = function(paddle.full([2], i + 1.0))
        first = places[0]["k"][1] if isinstance(places[0], dict) else places[0]
        seen.append([t is before for t in (result, first, places[1], box.v)])
        places[1].scale_(2.0)  # shows wherever the tensor is
        seen.append([t if t is None else t.tolist() for t in (result, first, places[1], box.v)])
    return seen


MOVES = [moved, moved_after_a_write, moved_into_a_container, moved_twice_and_returned, exchanged]


@pytest.mark.parametrize("f", MOVES, ids=lambda f: f.__name__)
def test_a_tensor_stays_itself(f):
    assert calls(f, paddle.jit.to_static) == calls(f, lambda g: g)
