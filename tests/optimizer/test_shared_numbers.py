"""Parameters that are always updated together share their numbers, and give what numbers of their own give."""

from __future__ import annotations

import re

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core.interpreter import layer_version
from paddle_lite_py.cpu_compiler import updates
from paddle_lite_py.optimizer.shared_numbers import Alike, SharedNumbers

MAKERS = {
    "adam": lambda params: paddle.optimizer.Adam(0.1, parameters=params),
    "adamw": lambda params: paddle.optimizer.AdamW(0.1, parameters=params),
    "adamax": lambda params: paddle.optimizer.Adamax(0.1, parameters=params),
    "lamb": lambda params: paddle.optimizer.Lamb(0.1, parameters=params),
    "radam": lambda params: paddle.optimizer.RAdam(0.1, parameters=params),
}
# What is called, and where the state is saved and loaded.
SEQUENCES = (
    "all all all",
    "some all all",
    "all some all some",
    "two two all",
    "all save all load all",
    "all zeroed all",
)
USED = {"all": [(0, 1, 2)], "some": [(0, 1)], "two": [(0, 1, 2), (1,)]}


def trained(maker, sequence, static, alone=False):
    """Parameters after a sequence of steps; `alone`: each has an optimizer of its own."""
    params = [paddle.create_parameter([2], "float32") for _ in range(3)]
    for i, p in enumerate(params):
        p.set_value(np.array([1.0 + i, -2.0 - i], "float32"))
    opts = [MAKERS[maker]([p]) for p in params] if alone else [MAKERS[maker](params)]

    def step(x, parts):
        for used in parts:
            sum(((params[i] * x + i) ** 2).sum() for i in used).backward()
            for opt in opts:
                opt.step()
                opt.clear_grad(False)

    functions = {}
    for name, parts in USED.items():
        fn = lambda x, parts=parts: step(x, parts)  # noqa: E731
        functions[name] = paddle.jit.to_static(fn) if static else fn
    saved = []
    for n, name in enumerate(sequence.split()):
        if name == "save":
            saved = [{k: v.numpy() for k, v in opt.state_dict().items()} for opt in opts]
        elif name == "load":
            for opt, state in zip(opts, saved, strict=True):
                opt.set_state_dict(state)
        elif name == "zeroed":  # one parameter goes on from other numbers than the rest
            for opt in opts:
                found = {k: v.numpy() for k, v in opt.state_dict().items() if k.startswith(params[1].name)}
                opt.set_state_dict({k: v * 0.5 for k, v in found.items()})
        else:
            functions[name](paddle.to_tensor([1.0 + n, 0.5]))
    return [p.numpy() for p in params], functions


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_shared_numbers_give_what_numbers_of_their_own_give(maker, sequence):
    expected, _ = trained(maker, sequence, static=False, alone=True)
    for static in (False, True):
        found, _ = trained(maker, sequence, static)
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


def test_a_program_is_made_again_once_its_parameters_have_parted():
    _, functions = trained("adam", "all all some all some all all some", static=True)
    assert len(functions["all"].program_cache) == 2
    assert len(functions["some"].program_cache) == 1


def test_classes_part_for_good_and_meet_when_loaded():
    shared = SharedNumbers(4)
    alike = Alike(shared, (0, 1), "Adam")
    before = layer_version.number
    shared.updated([0, 1, 2, 3])
    assert shared.single and layer_version.number == before
    shared.updated([1, 3])
    assert shared.same([1, 3]) and shared.same([0, 2]) and not alike.holds() and layer_version.number > before
    shared.updated([0, 1, 2, 3])
    assert not shared.same([0, 1])
    shared.updated([3])
    assert not shared.same([1, 3])
    shared.compare([np.array([1.0, 1.0, 1.0, 1.0]), np.array([2.0, 2.0, 2.0, 3.0])])
    assert alike.holds() and not shared.single and shared.same([0, 1, 2]) and not shared.same([2, 3])
    shared.compare([np.ones(4)])
    assert shared.single


def test_one_kernel_serves_all_parameters_of_a_shape(monkeypatch):
    """XLA compiles equal kernels once; with numbers of their own no two would be equal."""
    monkeypatch.setattr(updates, "serves", lambda: False)
    params = [paddle.create_parameter([3, 5], "float32") for _ in range(6)]
    opt = paddle.optimizer.Adam(0.1, parameters=params)

    @paddle.jit.to_static
    def step(x):
        sum((p * x).sum() for p in params).backward()
        opt.step()
        opt.clear_grad()

    x = paddle.ones([3, 5])
    step(x)
    text = step.program_cache[0].executable.lower([x._payload], False).compile().as_text()
    bodies = [
        re.sub(r"%[\w.\-]+|, metadata=\{.*?\}", "", b) for b in re.findall(r"\n%fused.*?\{\n(.*?)\n\}", text, re.S)
    ]
    kernels = [b for b in bodies if "f32[3,5]" in b and "sqrt" in b]
    assert len(kernels) == 6
    assert len(set(kernels)) < 3
