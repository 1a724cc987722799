"""What Python and libraries call by themselves, and what they change: a static function does it in each call."""

from __future__ import annotations

import warnings

import protocol_cases
import pytest
from paddle_lite_py.jit import to_static
from paddle_lite_py.jit.errors import StagingError

import paddle_lite_py as paddle

INPUTS = [[1.0, 2.0], [3.0, 4.0], [-5.0, 1.0], [2.0, 2.0]]
# What no program can do again, and nothing notes.
REFUSED = {
    "ContextVar",
    "ExitStack callback",
    "WeakKeyDictionary",
    "class body",
    "default_factory of a field",
    "for over iterator",
    "generator",
    "generator send",
    "islice",
    "iterator attribute",
    "itertools.count",
    "itertools.cycle",
    "library class",
    "list iterator",
    "lru_cache",
    "memoryview",
    "ndarray +=",
    "np.add.at",
    "print to object",
    "queue",
    "zip over iterator",
}
FORMS = [("plain", True), ("condition", True), ("local", False), ("local", True), ("plain", False), ("condition", False)]
EACH = [
    pytest.param(case, form, full, id=f"{case.name} {form} {full}", marks=[pytest.mark.repeat] * (i > 2))
    for case in protocol_cases.CASES
    for i, (form, full) in enumerate(FORMS)
]


def outcomes(f, state):
    found = []
    for values in INPUTS:
        y = f(paddle.to_tensor(values))
        found.append((y.tolist(), repr(state())))
    return found


@pytest.mark.parametrize(("case", "form", "full"), EACH)
def test_static_is_eager(case, form, full):
    f, state = protocol_cases.compiled(case, form)
    static = to_static(f, full_graph=full)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if full and case.name in REFUSED:
            reads = not case.state.startswith(("next(", "o.send("))  # that moves no iterator on
            before = repr(state()) if reads else None
            with pytest.raises(StagingError, match=r"<protocol .*>:\d|leave `file` out|<unknown>"):
                static(paddle.to_tensor(INPUTS[0]))
            assert before is None or repr(state()) == before
        else:
            assert outcomes(static, state) == outcomes(*protocol_cases.compiled(case, form))
