"""Other keywords for parameters: each in core/keywords.txt is taken, and gives what the parameter gives."""

import inspect

import numpy as np
import pytest

import paddle_lite_py as paddle
from ops_table import ROWS, families
from paddle_lite_py.core.keywords import _table, of_layers

FUNCTIONS = {name: spelling for name, spelling in _table().items() if not name[0].isupper()}
FIRST_ROWS = {row.name.rpartition(".")[2]: row for row in reversed(ROWS)}


def _taken(function):
    found = {}
    while function is not None:
        found |= vars(function).get("__aliases__", {})
        function = vars(function).get("__inplace_of__") or vars(function).get("__wrapped__")
        function = function if inspect.isfunction(function) else None
    return found


def _defined():
    """Everything callable that the rooms with functions define, by name."""
    sparse = __import__("paddle_lite_py.sparse.shape", fromlist=["shape"])
    modules = [*families().values(), sparse]
    return [(name, f) for m in modules for name, f in vars(m).items() if hasattr(f, "__dict__")]


def test_every_function_of_the_table_takes_its_keywords():
    taken = {}
    for name, function in _defined():
        taken.setdefault(name, {}).update(_taken(function))
        taken.setdefault(getattr(function, "__name__", name), {}).update(_taken(function))
    lacking = {name: set(spelling) - set(taken.get(name, ())) for name, spelling in FUNCTIONS.items()}
    assert not {name: keys for name, keys in lacking.items() if keys}


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() & FIRST_ROWS.keys()))
def test_other_keywords_give_the_same(name):
    row = FIRST_ROWS[name]
    inputs = [[paddle.to_tensor(a) for a in x] if isinstance(x, list) else paddle.to_tensor(x) for x in row.sample()]
    params = row.names or list(inspect.signature(row.function).parameters)[: len(inputs)]
    given = dict(zip(params, inputs, strict=True)) | row.attrs
    other = {param: key for key, param in FUNCTIONS[name].items()}
    expected, found = row.function(**given), row.function(**{other.get(k, k): v for k, v in given.items()})
    for a, b in zip(_flat(expected), _flat(found), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def _flat(x):
    return [y for part in x for y in _flat(part)] if isinstance(x, list | tuple) else [x]


@pytest.mark.parametrize("name", sorted(of_layers()))
def test_layers_take_theirs(name):
    layer, _, method = name.partition(".")
    function = getattr(getattr(paddle.nn, layer), method or "__init__")
    assert of_layers()[name].items() <= _taken(function).items()


def test_layers_made_and_called_by_other_keywords():
    x = paddle.arange(16.0).reshape([1, 4, 2, 2])
    assert paddle.nn.GLU(dim=1)(input=x).shape == [1, 2, 2, 2]
    norm = paddle.nn.GroupNorm(num_groups=2, num_channels=4, eps=0.5)
    assert norm._epsilon == 0.5 and [*norm.named_parameters(recurse=False)] == [*norm.named_parameters()]
    assert paddle.nn.Conv2d(4, 1, 1)(input=x).shape == [1, 1, 2, 2]
    assert paddle.nn.AdaptiveMaxPool2D(1, return_indices=True)(input=x)[1].shape == [1, 4, 1, 1]
    assert paddle.nn.ZeroPad2D(1)(input=x).shape == [1, 4, 4, 4]
    norm.register_buffer("seen", paddle.zeros([1]), persistent=False)
    assert "seen" not in norm.state_dict()


def test_a_parameter_is_given_once():
    x = paddle.ones([2, 2])
    for call in (
        lambda: paddle.sum(x, 0, dim=1),
        lambda: x.mean(0, dim=1),
        lambda: paddle.concat([x], tensors=[x]),
        lambda: paddle.median(x, 0, dim=1),
        lambda: paddle.nn.functional.adaptive_avg_pool2d(x, 1, input=x),
        lambda: paddle.nn.GLU(axis=1, dim=1),
        lambda: paddle.nn.Conv2D(2, 2, 1).forward(x=x, input=x),
    ):
        with pytest.raises(TypeError, match="given twice"):
            call()


def test_keywords_that_are_reserved_words():
    drawn = paddle.zeros([8]).uniform_(**{"from": 2.0, "to": 3.0})
    assert 2 <= drawn.min() and drawn.max() <= 3


def test_limits_by_type():
    assert paddle.finfo(type="float64").bits == 64 and paddle.finfo().bits == 32
