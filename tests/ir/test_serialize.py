"""Programs as JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import house
import paddle_lite_py as paddle
from paddle_lite_py.ir import serialize
from paddle_lite_py.ir.lower import lower
from paddle_lite_py.ir.verify import verify
from traces import X, traced

LATE = """
import importlib, json, sys
import paddle_lite_py
from paddle_lite_py.registry import op
assert op.find("frame") is not None and op.find("no such op") is None
found = set(op.REGISTRY)
for name in json.loads(sys.argv[1]):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as e:  # what stands on packages that are not here
        if e.name.startswith("paddle_lite_py"):
            raise
print(sorted(set(op.REGISTRY) - found))
"""


def test_a_file_may_name_ops_of_any_part_of_the_framework():
    modules = [m for m in house.modules() if m.startswith("paddle_lite_py") and not m.endswith("__main__")]
    command = [sys.executable, "-c", LATE, json.dumps(modules)]
    done = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def big(x):
    w = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    y = paddle.tanh(paddle.matmul(x.reshape([1, 2]), w))
    return {"y": y, "parts": [y.sum(), y.max()]}


def test_json_round_trip_gives_the_same_program_and_results():
    x = paddle.to_tensor(X)
    program = traced(big, x).program
    data = json.loads(json.dumps(serialize.to_json(program)))
    again = verify(serialize.from_json(data))
    assert serialize.to_json(again) == serialize.to_json(program)
    args = [x._payload, *[c._payload for c in traced(big, x).captures]]
    for a, b in zip(lower(program)(*args), lower(again)(*args), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: d.update(version=99), "version is 99"),
        (lambda d: d.update(format="else"), "not a paddle_lite_py.program"),
        (lambda d: d["block"]["ops"][0].update(op="os.system"), "not known"),
        (lambda d: d["block"]["ops"][0].pop("in"), "damaged"),
        (lambda d: d["block"].update(outputs=[12345]), "damaged"),
    ],
)
def test_damaged_json_is_refused(damage, message):
    data = serialize.to_json(traced(big, paddle.to_tensor(X)).program)
    damage(data)
    with pytest.raises(serialize.FormatError, match=message):
        serialize.from_json(data)
