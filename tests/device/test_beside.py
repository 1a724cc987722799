"""Tensors on the host beside those of an accelerator, of which one of two CPUs takes the place."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

PRELUDE = """
import jax
import paddle_lite_py as paddle
from paddle_lite_py.core import place as places
accelerator, host = jax.local_devices()
places.is_accelerator = lambda device: device == accelerator
paddle.set_flags({"FLAGS_host_tier": False})

def on_host(x, wants=False):
    x = paddle.to_tensor(x, place=paddle.CPUPlace(1))
    x.stop_gradient = not wants
    return x

def lies(x):
    return "host" if x._payload.devices() == {host} else "accelerator"

def given(*shape, wants=False):
    x = paddle.ones(shape)
    x.stop_gradient = not wants
    return x
"""
HERE, THERE = "host", "accelerator"
# What is computed, and where the results lie.
CASES = {
    "alone on the host": ("[lies(on_host([2.0, 1.0]) * 3), lies(on_host([1.0]).exp().sum())]", [HERE, HERE]),
    "random numbers": ("[lies(paddle.nn.functional.dropout(on_host([2.0, 1.0])))]", [HERE]),
    "both": ("[lies(on_host([1.0, 2.0]) + given(2)), lies(paddle.concat([given(2), on_host([1.0])]))]", [THERE] * 2),
    "an index": ("[lies(given(3, 2)[on_host([0, 2])])]", [THERE]),
    "a static function": ("[lies(paddle.jit.to_static(lambda x, y: x * y)(given(2), on_host([1.0, 2.0])))]", [THERE]),
    "written into": ("[(a := given(2)).add_(on_host([1.0, 2.0])), [lies(a), a.tolist()]][1]", [THERE, [2.0, 3.0]]),
    "gradients": (
        "[(a := on_host([2.0, 3.0], True)), (a * given(2)).sum().backward(), [lies(a.grad), a.grad.tolist()]][2]",
        [HERE, [1.0, 1.0]],
    ),
    "gradients of both": (
        "[(w := given(2, wants=True)), (w * on_host([2.0, 3.0])).sum().backward(), [lies(w.grad), w.grad.tolist()]][2]",
        [THERE, [2.0, 3.0]],
    ),
}


@pytest.fixture(scope="module")
def found():
    lines = [f"print('FOUND', {name!r}, '|', {code})" for name, (code, _) in CASES.items()]
    return dict(line.removeprefix("FOUND ").split(" | ") for line in run("\n".join(lines)) if line.startswith("FOUND"))


def run(code: str) -> list[str]:
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    program = PRELUDE + textwrap.dedent(code)
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", CASES)
def test_the_host_joins_the_accelerator(name, found):
    assert found[name] == str(CASES[name][1])


def test_moves_and_two_accelerators():
    said = run(
        """
        class Host(paddle.CPUPlace):
            kind = "host"  # unlike that of the other CPU
            device = host

        x = given(2, wants=True)
        y = x.to(Host())
        assert lies(y) == "host" and not y.is_leaf
        (y ** 2).sum().backward()
        print(lies(x.grad), x.grad.tolist())
        with paddle.no_grad():
            assert x.to(Host()).is_leaf
        places.is_accelerator = lambda device: True
        try:
            paddle.to_tensor([1.0], place=paddle.CPUPlace(0)) + on_host([1.0])
        except ValueError as e:
            print(e)
        """
    )
    assert said[0] == "accelerator [2.0, 2.0]"
    assert said[1].startswith("add(x=float32[1], y=float32[1]): x on ") and "move them to one device" in said[1]
