"""What Python and libraries call by themselves, and what they change: a static function does it in each call."""

from __future__ import annotations

import re
import warnings

import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
import protocol_cases

INPUTS = [[1.0, 2.0], [3.0, 4.0], [-5.0, 1.0], [2.0, 2.0]]
# What no program can do again, and nothing notes: with full_graph it may be refused.
REFUSED = {
    "ContextVar",
    "ExitStack callback",
    "StringIO",
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
FORMS = [
    *[("plain", True), ("condition", True), ("local", False), ("local", True), ("plain", False), ("condition", False)],
    *[(form, full) for form in ("tried", "looped") for full in (True, False)],
]
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
    expected = outcomes(*protocol_cases.compiled(case, form))
    f, state = protocol_cases.compiled(case, form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = outcomes(to_static(f, full_graph=full), state)
        except TypeError as e:  # it is refused, and nothing has changed
            assert full and (case.name in REFUSED or form == "looped"), e
            assert re.search(r"<protocol .*>:\d|leave `file` out|<unknown>", str(e)), e
            assert repr(state()) == repr(protocol_cases.compiled(case, form)[1]())
        else:
            assert found == expected
