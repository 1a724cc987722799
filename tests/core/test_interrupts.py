"""Ctrl-C in first calls and in the collector of garbage, by a real SIGINT; errors of other handlers."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time

import pytest

from paddle_lite_py.core import interrupts

SCRIPT = """
import gc, os, signal, sys, threading, time
import paddle_lite_py as paddle

CALLS = {
    "eager": lambda n: paddle.logsumexp(paddle.ones([n + 3, 7]), axis=1),
    "static": lambda n: paddle.jit.to_static(lambda x: paddle.tanh(x @ x) * n)(paddle.ones([4, 4])),
}
signal.signal(signal.SIGINT, signal.default_int_handler)  # where the tests run in the background it is ignored
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
call = CALLS[sys.argv[1]]
call(0)
end = time.time() + 20
def press_until_heeded():  # JAX has a bare `except:` around a part of its compiler, and people press again
    while True:
        time.sleep(0.2)
        interrupt()
n, sent = 0, []
if sys.argv[2] == "collector":  # where Python can but report it
    gc.disable()  # but for the one below
    gc.callbacks.append(lambda phase, info: sent or (sent.append(1), interrupt()))
else:
    threading.Thread(target=press_until_heeded, daemon=True).start()
try:
    while time.time() < end:
        call(n := n + 1)
        if sys.argv[2] == "collector":
            gc.collect()
            time.sleep(1)
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("interrupted")
"""


@pytest.mark.parametrize("within", ["call", "collector"])
@pytest.mark.parametrize("kind", ["eager", "static"])
def test_an_interrupt_arrives(kind: str, within: str):
    run = [sys.executable, "-W", "ignore", "-c", SCRIPT, kind, within]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == "interrupted", (done.returncode, done.stderr)


def wait():
    for _ in range(1000):  # a signal may come to another thread, which ends no sleep of this one
        time.sleep(0.01)


def test_an_interrupt_that_comes_while_its_timer_starts_is_not_lost(monkeypatch):
    """On a busy machine the timer may be over before its start() returns."""
    start, starts = threading.Timer.start, []

    def slow(timer):
        start(timer)
        starts.append(timer)
        if len(starts) == 1:
            wait()  # until the signal comes

    monkeypatch.setattr(threading.Timer, "start", slow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupts._again(signal.SIGINT)
            wait()
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(starts) == 2


def test_a_time_limit_is_not_lost_in_the_collector():
    def too_late(*_):
        raise TimeoutError

    def on_collection(phase, _):
        if phase == "start" and not sent:
            sent.append(1)
            signal.raise_signal(signal.SIGALRM)

    sent: list[int] = []
    before = signal.signal(signal.SIGALRM, too_late)
    hook = sys.unraisablehook
    gc.callbacks.append(on_collection)
    try:
        sys.unraisablehook = lambda _: None  # pytest's, which would report it
        interrupts.install()
        with pytest.raises(TimeoutError):
            gc.collect()
            wait()
    finally:
        gc.callbacks.remove(on_collection)
        sys.unraisablehook = hook
        signal.signal(signal.SIGALRM, before)
    assert sent
