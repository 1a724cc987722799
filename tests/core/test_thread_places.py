"""On two CPUs OpenMP's threads do not meet their callers, and all others go where they like."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from paddle_lite_py.core import onednn, thread_places

# Prints on which CPUs each thread may run.
PROGRAM = """
import json, os, sys
CPUS = set(json.loads(sys.argv[1]))
os.sched_setaffinity(0, CPUS)
import paddle_lite_py as paddle
from paddle_lite_py.core import convolution_choice, onednn
onednn.MIN_PRODUCTS_SHARED = 0
for name in ("MIN_PRODUCTS", "MIN_PRODUCTS_SUMMED", "MIN_WINDOWS", "MIN_CHANNELS"):
    setattr(convolution_choice, name, 0)
layers = paddle.nn.Sequential(*[paddle.nn.Conv2D(16, 16, 3, padding=1) for _ in range(8)])
static = paddle.jit.to_static(lambda x: layers(x).sum())
x = paddle.ones([4, 16, 16, 16])
for _ in range(20):
    static(x).backward()
    float(layers[0].weight.grad.sum())
    layers.clear_gradients()
threads = [int(t) for t in os.listdir("/proc/self/task")]
print(json.dumps([sorted(os.sched_getaffinity(0)), *[sorted(os.sched_getaffinity(t)) for t in threads]]))
"""

pytestmark = pytest.mark.skipif(
    onednn.loaded() is None or len(thread_places.cpus()) < 2,
    reason="the extra `onednn` is not installed, or not for this machine, or there is one CPU only",
)


def test_who_helps_a_caller_has_a_cpu():
    """The program's own threads, and what it starts, have both."""
    both = list(thread_places.cpus()[:2])
    free = {k: v for k, v in os.environ.items() if k not in thread_places.CHOICES}
    command = [sys.executable, "-c", PROGRAM, json.dumps(both)]
    done = subprocess.run(command, capture_output=True, text=True, env=free)
    assert done.returncode == 0, done.stderr
    own, *threads = json.loads(done.stdout)
    assert own == both
    assert 1 <= sum(len(cpus) == 1 for cpus in threads) < len(threads) / 2


@pytest.mark.parametrize("choice", [{"OMP_NUM_THREADS": "2"}, {"GOMP_CPU_AFFINITY": "0-1"}])
def test_who_has_chosen_keeps_the_choice(choice):
    """No function is made then."""
    two = set(thread_places.cpus()[:2])
    code = f"import os; os.sched_setaffinity(0, {two}); from paddle_lite_py.core import onednn; "
    code += "print(onednn.loaded().places.settle)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | choice)
    assert done.stdout.split() == ["0"], done.stderr


def test_on_more_cpus_they_are_left_alone(monkeypatch):
    """There Linux finds idle ones."""
    monkeypatch.setattr(thread_places, "cpus", lambda: (0, 1, 2, 3))
    assert thread_places.ThreadPlaces(onednn.loaded().c, onednn.compiler()).settle == 0
