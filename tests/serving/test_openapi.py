"""The description of the server: what it accepts the server accepts, and what it does not the server refuses.

`make fuzz-serving` tries more of both, and lets schemathesis look for more.
"""

from __future__ import annotations

import os
import random
import subprocess

import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.serving.schemas import closed, fits
from paddle_lite_py.text.models import CausalLM, tiny_config
from schema_cases import instance, violation
from served import Served

COUNT = max(3, int(os.environ.get("BAD_REQUESTS", "400")) // 100)
SCHEMATHESIS = os.environ.get("SCHEMATHESIS", "")
# With languages, a request may be longer than a model has room for, which no schema says.
CHECKS = {"nets": [], "language": ["--exclude-checks", "positive_data_acceptance"]}


class Kinds(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rows = nn.Embedding(10, 2)

    def forward(self, flags, halves, small, ids):
        return paddle.where(flags, halves, halves / 2), small.astype("int32") + 1, self.rows(ids)


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    """A server of inputs of many datatypes, with indices among them, and of a net that nothing overflows in."""
    folder, spec = tmp_path_factory.mktemp("kinds"), paddle.static.InputSpec
    given = [spec([None, 2], "bool", "flags"), spec([None, 2], "float16", "halves"), spec([None, 2], "uint8", "small")]
    paddle.jit.save(Kinds(), str(folder / "kinds"), input_spec=[*given, spec([None, 3], "int64", "ids")])
    net = nn.Sequential(nn.Hardtanh(-1e4, 1e4), nn.Linear(3, 2))
    paddle.jit.save(net, str(folder / "net"), input_spec=[spec(["batch", 3], "float32", "x")])
    server = Served(str(folder / "kinds"), str(folder / "net"), "--max-batch", "4")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("language") / "lm")
    CausalLM(tiny_config(num_hidden_layers=1, hidden_size=16)).save_pretrained(folder)
    server = Served(folder, "--task", "generate", "--context", "256", "--slots", "2")
    yield server
    server.stop()


def operations(server):
    """Path, method, the schema of the body or None, and the statuses of each operation."""
    for path, methods in server.ask("/openapi.json")[1]["paths"].items():
        for method, said in methods.items():
            body = said.get("requestBody", {}).get("content", {}).get("application/json")
            yield path, method, body and body["schema"], said["responses"]


def test_what_is_described_is_answered(nets):
    rng, tried = random.Random(11), 0
    for path, method, schema, statuses in operations(nets):
        for _ in range(COUNT if schema else 0 if path.endswith("/unload") else 1):
            data = instance(schema, rng) if schema else b"" if method == "post" else None
            status, found = nets.ask(path, data, method.upper())
            assert status == 200 and str(status) in statuses, (method, path, data, found)
            tried += 1
    assert tried > 25


def test_requests_of_language_models_that_are_described_are_answered(language):
    rng, tried = random.Random(12), set()
    for path, method, schema, _ in operations(language):
        for _ in range(COUNT if schema else 0):
            data = instance(schema, rng)
            for settings in (data, data.get("parameters") or {}):
                settings |= {n: 2 for n in settings if n in ("max_tokens", "max_completion_tokens", "n")}
            if isinstance(data.get("prompt"), list):  # of tokens, perhaps, that the tokenizer has not
                data["prompt"] = "a"
            status, found = language.ask(path, {"max_tokens": 2, **data}, method.upper())
            assert status == 200, (path, data, found)
            tried.add(path)
    assert len(tried) == 6


@pytest.mark.parametrize("kind", ["nets", "language"])
def test_what_is_not_described_is_refused(kind, request):
    server, rng, tried = request.getfixturevalue(kind), random.Random(13), 0
    for path, method, schema, statuses in operations(server):
        schemas = schema["oneOf"] if schema and "oneOf" in schema else [schema]
        for _ in range(3 * COUNT if schema else 0):
            chosen = rng.choice(schemas)
            data = violation(chosen, instance(chosen, rng), rng)
            status, found = server.ask(path, data, method.upper())
            assert 400 <= status < 500 and str(status) in statuses, (path, data, status, found)
            tried += 1
    assert tried > 30


@pytest.mark.skipif(not SCHEMATHESIS, reason="SCHEMATHESIS names no command")
@pytest.mark.parametrize("kind", ["nets", "language"])
def test_schemathesis_finds_nothing(kind, request, tmp_path):
    address = f"http://{request.getfixturevalue(kind).http}/openapi.json"
    command = [SCHEMATHESIS, "run", address, "--no-color", "--max-time", "100", "--exclude-path-regex", "unload"]
    done = subprocess.run([*command, *CHECKS[kind]], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-8000:]
    print(done.stdout[-400:])


def test_the_words_of_schemas():
    count = {"type": "integer", "minimum": 1, "maximum": 3}
    schema = closed({"n": count, "t": {"anyOf": [{"type": "string", "minLength": 1}, {"enum": [0, False]}]}}, ["n"])
    for good in ({"n": 1}, {"n": 3.0, "t": None}, {"n": 2, "t": "x"}, {"n": 2, "t": 0.0}, {"n": 2, "t": False}):
        assert fits(good, schema)
    for bad in (
        {},
        {"n": None},
        {"n": True},
        {"n": 4},
        {"n": 1.5},
        {"n": 1, "t": ""},
        {"n": 1, "t": 1},
        {"n": 1, "x": 1},
    ):
        assert not fits(bad, schema)
    items = {"type": "array", "items": count, "minItems": 1, "maxItems": 2}
    assert fits([1, 2], items) and not any(fits(x, items) for x in ([], [1, 2, 3], [9], {}))
    assert not fits(0, {"enum": [False]}) and not fits(True, {"enum": [1]})
