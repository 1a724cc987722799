"""Wrong arguments: an error that names the argument; see bad_input_cases.py, _library.py and _reported.py."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys

import numpy as np
import pytest

import paddle_lite_py as paddle
from bad_input_cases import CASES
from bad_input_library import CASES as MORE
from bad_input_reported import CASES as REPORTED
from nn_ops_table import ROWS as OPS_OF_NETWORKS
from ops_table import ROWS as OPS

ALL = [*CASES, *MORE, *REPORTED]


def names() -> dict[str, object]:
    x = paddle.ones([2, 3])
    small = {
        "x": x,
        "v": paddle.ones([3]),
        "m3": paddle.ones([2, 3, 3]),
        "i": paddle.to_tensor([0, 1]),
        "c": x * 1j,
        "b": x > 0,
        "leaf": paddle.to_tensor(1.0, stop_gradient=False),
    }
    images = {"img": paddle.ones([1, 4, 6, 6]), "e": paddle.zeros([0, 3])}
    return {"paddle": paddle, "np": np, "F": paddle.nn.functional, "nn": paddle.nn, **small, **images}


@pytest.mark.parametrize(("call", "error", "words"), ALL, ids=[call[:60] for call, *_ in ALL])
def test_the_error_says_what_is_wrong(call: str, error: str, words: str):
    with pytest.raises(getattr(builtins, error)) as found:
        eval(call, names())
    assert words in str(found.value)


@pytest.mark.repeat
def test_the_error_stays_the_same_once_an_op_has_seen_other_shapes():
    def raised(call: str, given: dict[str, object]) -> str:
        try:
            eval(call, given)
        except Exception as error:
            return f"{type(error).__name__}: {re.sub('0x[0-9a-f]+|generated_tensor_[0-9]+', '', str(error))}"
        return "nothing"

    first = {call: raised(call, names()) for call, *_ in ALL}
    for rows, columns in ((3, 3), (4, 3), (5, 3), (6, 4), (7, 5)):
        x = paddle.ones([rows, columns])
        other = {"x": x, "v": x[0], "m3": paddle.ones([rows, columns, columns]), "i": paddle.arange(rows)}
        other |= {"c": x * 1j, "b": x > 0, "e": x[:0], "img": paddle.ones([rows - 1, 4, columns + 3, columns + 3])}
        for call in first:
            raised(call, names() | other)
    assert {call: raised(call, names()) for call in first} == first


# Words of JAX, NumPy and Python about their own functions.
FOREIGN = re.compile(
    r"jax|jnp|Tracer|numpy|\bnp\.|arr_shape|contracting|single shape|at position|has no attribute|zip\(\)|list index"
    r"|tuple index|no identity|empty sequence|to unpack|Einstein|vmap|scan got|jaxpr|lax\.|by zero|^'?-?\d+'?$"
)


def others(array: np.ndarray) -> list[np.ndarray]:
    """Arrays of other shapes and another dtype, one of which an op is given in the place of an array."""
    kind = "float32" if array.dtype.kind in "biu" else "bool"
    shapes = (
        [array.reshape(-1)[:1].reshape([]), array[None], array[:0], array[..., :0]] if array.ndim else [array[None]]
    )
    return [*shapes, array.astype(kind)]


@pytest.mark.repeat
@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types")
@pytest.mark.parametrize("row", [*OPS, *OPS_OF_NETWORKS], ids=str)
def test_errors_of_ops_are_in_words_about_the_call(row):
    inputs = row.sample(row.dtypes[0])
    for i, array in enumerate(inputs):
        for other in [] if isinstance(array, list) else others(array):
            given = [paddle.to_tensor(a) if not isinstance(a, list) else [*map(paddle.to_tensor, a)] for a in inputs]
            given[i] = paddle.to_tensor(other)
            named = dict(zip(row.names, given, strict=False))
            try:
                row.function(*given[len(named) :], **named, **row.attrs)
            except Exception as e:
                text = str(e).rpartition("): ")[2]
                assert not FOREIGN.search(text), f"{row} of {other.dtype}{[*other.shape]}: {e}"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("paddle.nn.Conv2D(3, 8, kernal_size=3)", "Conv2D() got an unexpected keyword argument 'kernal_size'; did you"),
        ("paddle.nn.Linear(2, 3, bias=False)", "did you mean 'bias_attr'?"),
        (
            "paddle.nn.LSTM(2, 3, layers=2)",
            "LSTM() got an unexpected keyword argument 'layers'; did you mean 'num_layers'",
        ),
        ("paddle.optimizer.Adam([paddle.create_parameter([2], 'float32')], 0.1)", "were the arguments swapped?"),
        ("paddle.jit.to_static(abs, input_spec=paddle.static.InputSpec([None]))", "expected a list of them"),
        ("float(paddle.ones([4, 3]))", "index it, or reduce it"),
        ("bool(paddle.ones([4, 3]))", "use .any() or .all()"),
    ],
)
def test_a_message_says_what_to_write(code, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        eval(code, {"paddle": paddle})


def test_a_name_that_is_nearly_one_of_the_package_is_suggested():
    ran = subprocess.run(
        [sys.executable, "-c", "import paddle_lite_py as paddle; paddle.optimzer"], capture_output=True, text=True
    )
    assert "Did you mean: 'optimizer'?" in ran.stderr


def test_a_name_that_begins_one_of_the_package_is_completed():
    with pytest.raises(AttributeError, match=r"'optim' here; did you mean 'paddle\.optimizer'\?"):
        paddle.optim  # noqa: B018
