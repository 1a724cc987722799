"""Objects and containers that a staged branch or loop makes, aliases, and exceptions that show tensors."""

# Programs to convert are odd on purpose.
# ruff: noqa: B007, E731, F841, RET503

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from agreement import SIGNS, agree
from paddle_lite_py.tracing.escape import find_unescaped
from paddle_lite_py.tracing.frame import Write

CASES = []


def case(f):
    CASES.append(f)
    return f


class Box:
    def __init__(self, v=None):
        self.v = v


class TooLarge(ValueError):
    def __init__(self, value, limit):
        super().__init__(f"{value.item():.1f} > {limit}")
        self.value = value


@case
def made_in_both_branches(x):
    if x.sum() > 0:
        box = Box(x)
    else:
        box = Box(-x * 3)
    return box.v


@case
def made_in_one_branch(x):
    box = Box(x)
    if x.sum() > 0:
        box = Box(x * 2)
    return box.v


@case
def changed_in_a_nested_branch(x):
    if x.sum() > 0:
        box = Box(x * 2)
        if x.max() > 1:
            box.v = box.v + 1
        x = x + box.v
    return x


@case
def made_in_a_loop(x):
    for i in range(x.astype("int64").abs().max()):
        box = Box(x.max())
        box.w = [box.v, i]
        box.w[0] = box.w[0] + i
        x = x + box.w[0]
    return x


@case
def returned_from_branches(x):
    def f():
        if x.sum() > 0:
            return Box(x)
        return Box(-x)

    return f().v


@case
def linked(x):
    head = Box(x)
    if x.sum() > 0:
        head.next = Box(x * 2)
    else:
        head.next = Box(x * 3)
    return head.next.v


@case
def alias_of_an_object(x):
    outer = Box(Box(x))
    if x.sum() > 0:
        inner = outer.v
        inner.v = x * 2
    return outer.v.v


@case
def alias_of_a_list(x):
    box = Box([x, x])
    if x.sum() > 0:
        items = box.v
        items[0] = x * 2
    return box.v


@case
def alias_of_a_dict_that_gets_a_key(x):
    box = Box({"a": x})
    if x.sum() > 0:
        held = box.v
        held["a"] = x * 2
        held["b"] = x
    return box.v["a"]


@case
def exception_with_attributes_is_not_raised(x):
    if x.sum() > 100:
        raise TooLarge(x.sum(), 100)
    return x


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:.*has no single static program")
def test_static_is_eager(f):
    agree(f, *SIGNS)


def test_a_container_from_outside_changed_through_an_alias():
    box = Box([paddle.zeros([2]), paddle.zeros([2])])

    @paddle.jit.to_static
    def f(x):
        if x.sum() > 0:
            items = box.v
            items[0] = x * 2

    f(paddle.ones([2]))
    assert box.v[0].tolist() == [2.0, 2.0]
    f(-paddle.ones([2]))
    assert box.v[0].tolist() == [2.0, 2.0] and box.v[1].tolist() == [0.0, 0.0]


def test_what_dies_in_the_trace_is_no_state():
    @paddle.jit.to_static
    def f(x):
        box = Box(x)
        box.v = box.v * 2
        return box.v + 1

    assert f(paddle.ones([2])).tolist() == [3.0, 3.0]
    assert len(f.concrete_program.main_program.block.outputs) == 1


def test_made_here():
    own, outside, alias = [0], [0], Box()
    alias.v = outside
    log = [Write(own, 0, 0, True), Write(own, 1, 0, True), Write(outside, 0, 0, True), Write(Box(), "v", None)]
    values, alone = (own,), id(log[3].owner)  # the variable refers to its value, and the tuple of all values does
    assert find_unescaped(log, (), values) == {alone, id(own)}
    assert find_unescaped(log, values, values) == {alone}
    values = (own, outside)
    assert find_unescaped(log, (), values) == {alone, id(own)}
    alias.w = own
    assert find_unescaped(log, (), values) == {alone}


# -- messages -------------------------------------------------------------------------------------------------------
def asserted(x):
    assert (x < 2).all(), f"too large: {x.max().item():.2f}, {'not' if x.ndim else ''} scalar"
    return x


def raised(x):
    if x.sum() > 2:
        raise TooLarge(x.sum(), 2)
    return x


def raised_in_a_loop(x):
    for i in range(x.astype("int64").max()):
        if x[i] > 1:
            raise KeyError("entry %d is %s" % (i, x[i].item()))  # noqa: UP031
    return x


@pytest.mark.parametrize("f", [asserted, raised, raised_in_a_loop], ids=lambda f: f.__name__)
def test_messages_show_the_values_of_the_run(f):
    static = paddle.jit.to_static(f)
    for numbers in ([1.0, 3.0], [5.0, 4.0], [0.5, 0.5]):
        x = paddle.to_tensor(numbers)
        if numbers[0] < 1:
            assert static(x).tolist() == numbers
            continue
        with pytest.raises(Exception) as eager:
            f(x)
        with pytest.raises(type(eager.value)) as found:
            static(x)
        assert str(found.value).partition("\nassert")[0] == str(eager.value).partition("\nassert")[0]  # pytest explains
        assert f"{f.__name__}" not in str(found.value)
        if f is raised:
            assert found.value.value.item() == sum(numbers)


def test_a_saved_program_says_what_it_would_show(tmp_path):
    layer = paddle.nn.Layer()
    layer.forward = asserted
    paddle.jit.save(layer, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([2], "float32")])
    with pytest.raises(AssertionError, match=r"too large: <float32\[\] tensor>, not scalar"):
        paddle.jit.load(str(tmp_path / "m"))(paddle.to_tensor([1.0, 3.0]))
