"""On two CPUs threads that compute convolutions do not meet, and the program's own go where they like."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from paddle_lite_py.core import onednn, thread_places

# Prints on which CPUs each thread may run that has worked, those of Python's first.
PROGRAM = """
import json, os, sys, threading
CPUS = set(json.loads(sys.argv[1]))
os.sched_setaffinity(0, CPUS)
import numpy as np
import paddle_lite_py as paddle
from paddle_lite_py.core import convolution_choice
for name in ("MIN_PRODUCTS", "MIN_PRODUCTS_SUMMED", "MIN_WINDOWS", "MIN_CHANNELS"):
    setattr(convolution_choice, name, 0)
layers = paddle.nn.Sequential(*[paddle.nn.Conv2D(16, 16, 3, padding=1) for _ in range(8)])
static = paddle.jit.to_static(lambda x: layers(x).sum())
x = paddle.ones([4, 16, 16, 16])
for _ in range(20):
    static(x).backward()
    float(layers[0].weight.grad.sum())
    layers.clear_gradients()
python = [t.native_id for t in threading.enumerate()]
threads = [int(t) for t in os.listdir("/proc/self/task")]
print(json.dumps([
    [sorted(os.sched_getaffinity(t)) for t in python],
    [sorted(os.sched_getaffinity(t)) for t in threads if t not in python],
]))
"""

pytestmark = pytest.mark.skipif(
    onednn.loaded() is None or len(thread_places.cpus()) < 2,
    reason="the extra `onednn` is not installed, or not for this machine, or there is one CPU only",
)


def places(**environment):
    """Where threads of Python's may run, and others."""
    two = thread_places.cpus()[:2]
    kept = {k: v for k, v in os.environ.items() if k not in thread_places.CHOICES}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(two)], capture_output=True, text=True, env=kept | environment
    )
    assert done.returncode == 0, done.stderr
    return [list(two), *json.loads(done.stdout)]


def test_each_thread_of_a_team_has_a_cpu():
    """As many on the one as on the other."""
    both, python, others = places()
    assert python == [both] * len(python)
    first, second = (others.count([cpu]) for cpu in both)
    assert first == second > 0


@pytest.mark.parametrize("choice", [{"OMP_NUM_THREADS": "2"}, {"GOMP_CPU_AFFINITY": "0-1"}])
def test_who_has_chosen_keeps_the_choice(choice):
    """No function is made then."""
    code = "from paddle_lite_py.core import onednn; print(onednn.loaded().places.settle)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | choice)
    assert done.stdout.split() == ["0"], done.stderr


def test_on_more_cpus_they_are_left_alone(monkeypatch):
    """There Linux finds idle ones."""
    monkeypatch.setattr(thread_places, "cpus", lambda: (0, 1, 2, 3))
    assert thread_places.ThreadPlaces(onednn.loaded().c, onednn.compiler()).settle == 0
