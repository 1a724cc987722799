"""Language models behind OpenAI's API: the answers of generate(), whole and as streams, and what goes wrong."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import http.client
import json
import queue
import re
import socket
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import paddle_lite_py as paddle
from decoders import compilations
from paddle_lite_py.serving import LanguageModel, Limits, Server, ServerSettings, ServingError
from paddle_lite_py.serving.command import main
from paddle_lite_py.serving.language.tokenizers import ByteTokenizer, TextStream
from paddle_lite_py.serving.rest import application
from paddle_lite_py.text.generation import generate
from paddle_lite_py.text.models import CausalLM, tiny_config
from served import eventually

CONTEXT, BYTES = 96, ByteTokenizer()


@pytest.fixture(scope="module")
def model():
    paddle.seed(0)
    made = CausalLM(tiny_config(num_hidden_layers=1, hidden_size=16))
    made.eval()
    return made


@pytest.fixture(scope="module")
def server(model):
    settings = ServerSettings(port=0, grpc_port=0, slots=2, limits=Limits(queue=4, seconds=20, body=1 << 16), watch=0)
    with Server({"lm": LanguageModel(model, context=CONTEXT)}, settings=settings) as running:
        yield running


def ask(server, path, data=None):
    """Status and JSON of an answer."""
    body = data if data is None or isinstance(data, bytes) else json.dumps(data).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{server.url}/v1{path}", body), timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


def complete(server, **fields):
    status, found = ask(server, "/completions", {"model": "lm", "prompt": "ab", "temperature": 0, **fields})
    assert status == 200, found
    return found


def events(server, path, **fields):
    """The events of a stream."""
    body = json.dumps({"model": "lm", "temperature": 0, "stream": True, **fields}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{server.url}/v1{path}", body), timeout=60) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in answer.read().decode().split("\n\n") if line]
    assert all(line.startswith("data: ") for line in lines) and lines[-1] == "data: [DONE]"
    return [json.loads(line[6:]) for line in lines[:-1]]


def wanted(model, prompt, count, **settings):
    tokens = generate(model, [BYTES.encode(prompt)], max_new_tokens=count, **settings)[0]
    return BYTES.decode(tokens[0].tolist())


def test_completions_are_those_of_generate(server, model):
    found = complete(server, prompt="Hello", max_tokens=6)
    assert found["choices"] == [
        {"index": 0, "text": wanted(model, "Hello", 6), "logprobs": None, "finish_reason": "length"}
    ]
    assert found["object"] == "text_completion" and found["model"] == "lm" and found["id"].startswith("cmpl-")
    assert found["usage"] == {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}
    many = complete(server, prompt=["a", [98, 99]], n=2, max_tokens=3)
    assert [c["text"] for c in many["choices"]] == [wanted(model, p, 3) for p in ("a", "a", "bc", "bc")]
    drawn = {"temperature": 0.7, "top_k": 9, "top_p": 0.9, "seed": 4, "max_tokens": 5}
    settings = {"decode_strategy": "sampling", "temperature": 0.7, "top_k": 9, "top_p": 0.9, "seed": 4}
    assert complete(server, **drawn)["choices"][0]["text"] == wanted(model, "ab", 5, **settings)
    assert complete(server, **drawn, n=2)["choices"][1]["text"] == wanted(model, "ab", 5, **{**settings, "seed": 5})


def test_a_conversation(server, model):
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    fields = {"model": "lm", "messages": messages, "temperature": 0, "max_tokens": 4}
    status, found = ask(server, "/chat/completions", fields)
    text = wanted(model, "system: s\nuser: hi\nassistant:", 4)
    assert status == 200 and found["choices"][0]["message"] == {"role": "assistant", "content": text}
    parts = events(server, "/chat/completions", messages=messages, max_tokens=4, stream_options={"include_usage": True})
    assert parts[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(p["choices"][0]["delta"].get("content", "") for p in parts[:-1]) == text
    assert parts[-2]["choices"][0]["finish_reason"] == "length" and parts[-1]["choices"] == []
    assert parts[-1]["usage"]["completion_tokens"] == 4


def test_the_generate_extension(server, model):
    def post(address, **fields):
        body = json.dumps({"text_input": "Hello", **fields}).encode()
        request = urllib.request.Request(f"{server.url}/v2/models/lm{address}", body)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()

    text, head = wanted(model, "Hello", 6), {"model_name": "lm", "model_version": "1"}
    settings = {"temperature": 0, "max_tokens": 6}
    for address, fields in (
        ("/generate", {"parameters": {**settings, "stream": False}}), ("/versions/1/generate", settings)
    ):  # fmt: skip
        status, found = post(address, **fields)
        assert status == 200 and json.loads(found) == {
            **head, "text_output": text, "details": {"finish_reason": "length"}
        }  # fmt: skip
    status, found = post("/generate_stream", parameters=settings)
    parts = [json.loads(line.removeprefix("data: ")) for line in found.split("\n\n") if line]
    assert "".join(part["text_output"] for part in parts) == text and len(parts) > 2
    assert [part.get("details") for part in parts] == [None] * (len(parts) - 1) + [{"finish_reason": "length"}]
    for address, fields, code, words in (
        ("/generate", {"text_input": 3}, 400, "text_input must be a string"),
        ("/generate", {"text_input": None}, 400, "lacks text_input"),
        ("/generate", {"parameters": [1]}, 400, "parameters must be a JSON object"),
        ("/generate", {"parameters": {"stream": True}}, 400, "stream is True; expected false, or /generate_stream"),
        ("/generate_stream", {"n": 2}, 400, "there is no field 'n'"),
        ("/generate_stream", {"max_tokens": 999}, 400, "room for 96"),
        ("/versions/2/generate", {}, 404, "no version '2'; it has 1"),
    ):  # fmt: skip
        status, found = post(address, **fields)
        assert status == code and words in json.loads(found)["error"], found
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{server.url}/v2/models/other/generate", b"{}", timeout=60)


@contextlib.contextmanager
def streaming(server):
    """A stream of gRPC: a function that sends a request, and the queue of what comes back."""
    grpc = pytest.importorskip("tritonclient.grpc", exc_type=ImportError)
    came: queue.Queue = queue.Queue()

    def send(text=b"Hello", name="text_input", **fields):
        given = grpc.InferInput(name, [1], "BYTES")
        given.set_data_from_numpy(np.array([text], object))
        inputs = [given, *fields.pop("inputs", [])]
        fields = {"model_name": "lm", "parameters": {"temperature": 0, "max_tokens": 6}, **fields}
        client.async_stream_infer(inputs=inputs, **fields)

    with grpc.InferenceServerClient(f"127.0.0.1:{server.grpc_port}") as client:
        client.start_stream(callback=lambda result, error: came.put(error or result))
        yield send, came, client


def streamed(came, count):
    """Texts, numbers of responses and last parameters by request, once so many have ended."""
    found = {}
    while sum(final.get("triton_final_response", False) for *_, final in found.values()) < count:
        response = came.get(timeout=60)
        head = response.get_response()
        text, number, _ = found.get(head.id, ("", 0, None))
        last = {key: getattr(p, p.WhichOneof("parameter_choice")) for key, p in head.parameters.items()}
        found[head.id] = text + response.as_numpy("text_output")[0].decode(), number + 1, last
    return found


def test_texts_as_streams_of_grpc(server, model):
    grpc = pytest.importorskip("tritonclient.grpc", exc_type=ImportError)
    whole, settings = grpc.InferInput("stream", [1], "BOOL"), grpc.InferInput("sampling_parameters", [1], "BYTES")
    whole.set_data_from_numpy(np.array([False]))
    settings.set_data_from_numpy(np.array([json.dumps({"temperature": 0, "stop": ["\0"]}).encode()], object))
    with streaming(server) as (send, came, _):
        send(request_id="a", enable_empty_final_response=True)
        send(b"ab", request_id="b", parameters={"max_tokens": 4}, inputs=[settings])
        send(request_id="c", inputs=[whole])
        found = streamed(came, 3)
    assert [found[i][0] for i in "abc"] == [
        wanted(model, "Hello", 6),
        wanted(model, "ab", 4),
        wanted(model, "Hello", 6),
    ]
    assert found["a"][1] > 2 and found["c"][1] == 1
    assert found["a"][2] == {"triton_final_response": True, "finish_reason": "length"}


def test_errors_in_streams_of_grpc(server, model):
    with streaming(server) as (send, came, _):
        for fields, words in (
            ({"parameters": {"max_tokens": 999}}, "INVALID_ARGUMENT: .*room for 96"),
            ({"parameters": {"temprature": 1}}, "there is no field 'temprature'"),
            ({"name": "text"}, "there is no input 'text'; there are text_input"),
            ({"text": b"\xff"}, "UTF-8"),
            ({"model_version": "2"}, "no version '2'; it has 1"),
            ({"model_name": "other"}, "NOT_FOUND: .*no model `other`"),
        ):
            send(**fields)
            assert re.search(words, str(came.get(timeout=60)))
        send(request_id="a")
        assert streamed(came, 1)["a"][0] == wanted(model, "Hello", 6)


def test_a_client_of_grpc_that_goes_frees_its_slots(server):
    engine = server.service.engines["lm"]
    with slowed(engine, 0.1):
        with streaming(server) as (send, came, client):
            for _ in range(3):
                send(parameters={"max_tokens": 90})
            assert eventually(lambda: len(engine._running) == 2)
            client.stop_stream(cancel_requests=True)
        assert eventually(lambda: not engine._running and not engine._waiting, 8)


def test_the_open_inference_protocol_knows_language_models(server):
    def get(address, data=None):
        with urllib.request.urlopen(f"{server.url}/v2{address}", data, timeout=60) as answer:
            return json.load(answer)

    assert get("/models/lm/ready") == get("/models/lm/versions/1/ready") == {"name": "lm", "ready": True}
    texts = [[{"name": name, "datatype": "BYTES", "shape": [1]}] for name in ("text_input", "text_output")]
    found = get("/models/lm")
    assert [found["inputs"], found["outputs"]] == texts and found["versions"] == ["1"]
    assert {"name": "lm", "version": "1", "state": "READY", "reason": ""} in get("/repository/index", b"{}")
    with pytest.raises(urllib.error.HTTPError, match="400"):
        get("/models/lm/infer", b"{}")
    for address in ("/models/lm/versions/2/ready", "/models/lm/versions/2", "/models/other/ready"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(address)


def test_a_stream_of_several_choices(server, model):
    found = {0: "", 1: ""}
    for event in events(server, "/completions", prompt=["x", "yz"], max_tokens=5):
        choice = event["choices"][0]
        found[choice["index"]] += choice["text"]
    assert found == {0: wanted(model, "x", 5), 1: wanted(model, "yz", 5)}


def test_a_stop_string_and_an_end_token(server, model):
    text = wanted(model, "Hello", 20)
    stop = text[5:7]
    found = complete(server, prompt="Hello", max_tokens=20, stop=[stop, "\0\0"])["choices"][0]
    assert found["text"] == text[: text.index(stop)] and found["finish_reason"] == "stop"
    parts = [e["choices"][0] for e in events(server, "/completions", prompt="Hello", max_tokens=20, stop=stop)]
    assert "".join(p["text"] for p in parts) == found["text"] and parts[-1]["finish_reason"] == "stop"


def test_nothing_is_compiled_after_the_server_is_ready(server, model):
    prompts = ["p" * n for n in (1, 2, 17, 40, 70)]
    answers = {p: wanted(model, p, 8) for p in prompts}
    with compilations() as count, concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda p: complete(server, prompt=p, max_tokens=8)["choices"][0]["text"], prompts))
        complete(server, temperature=1, max_tokens=2), complete(server, temperature=1, top_p=0.5, max_tokens=2)
    assert found == [answers[p] for p in prompts] and count == [0]


def test_models_and_metrics(server):
    assert [m["id"] for m in ask(server, "/models")[1]["data"]] == ["lm"]
    assert ask(server, "/models/lm")[1]["object"] == "model" and ask(server, "/models/other")[0] == 404
    with urllib.request.urlopen(f"{server.url}/openapi.json") as answer:
        assert {"/v1/completions", "/v1/chat/completions", "/v1/models"} <= json.load(answer)["paths"].keys()
    for _ in range(2):
        complete(server, prompt="a prompt of two blocks, and some more", max_tokens=3)
    with urllib.request.urlopen(f"{server.url}/metrics") as answer:
        text = answer.read().decode()
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("paddle_serving"))
    label = '{model="lm"}'
    assert float(numbers[f"paddle_serving_generated_tokens_total{label}"]) >= 3
    assert float(numbers[f"paddle_serving_prompt_tokens_total{label}"]) >= 2
    assert float(numbers[f"paddle_serving_prefix_hit_tokens_total{label}"]) >= 32
    assert float(numbers[f"paddle_serving_time_to_first_token_seconds_count{label}"]) >= 1
    assert numbers[f"paddle_serving_generation_slots_used{label}"] == "0.0"
    assert numbers[f"paddle_serving_cache_use_ratio{label}"] == "0.0"


BAD = [
    ("{", "not valid JSON"),
    ("[]", "must be a JSON object"),
    ({"prompt": "a"}, "lacks model"),
    ({"model": "lm"}, "lacks prompt"),
    ({"model": 3, "prompt": "a"}, "model must be a string"),
    ({"prompt": ""}, "has no tokens"),
    ({"prompt": []}, "has no tokens"),
    ({"prompt": {"a": 1}}, "prompt must be a string"),
    ({"prompt": [1.5]}, "prompt must be a string"),
    ({"prompt": [256]}, "token 256 is out of range; the model has 256"),
    ({"prompt": "\ud800"}, "not valid"),
    ({"prompt": "a" * 96}, "has 96 tokens and 16 are to be generated; this model has room for 96"),
    ({"max_tokens": 96}, "room for 96"),
    ({"max_tokens": 0}, "max_tokens is 0; expected an integer of at least 1"),
    ({"max_tokens": True}, "max_tokens is True"),
    ({"temperature": -1}, "temperature is -1; expected a number from 0 to 2"),
    ({"temperature": "hot"}, "temperature is hot"),
    ({"top_p": 0}, "top_p is 0"),
    ({"top_k": -1}, "top_k is -1"),
    ({"n": 1000}, "n is 1000"),
    ({"n": 100, "prompt": ["a", "b"]}, "more than 128 answers"),
    ({"stop": [""]}, "stop is"),
    ({"stop": 3}, "stop is 3"),
    ({"stream": "yes"}, "stream is yes"),
    ({"stream_options": {"x": 1}}, "stream_options is"),
    ({"seed": 1.5}, "seed is 1.5"),
    ({"logit_bias": {"50256": -100}}, "logit_bias is not supported"),
    ({"presence_penalty": 1}, "presence_penalty is not supported"),
    ({"temprature": 1}, "there is no field 'temprature'"),
]


@pytest.mark.parametrize(("fields", "text"), BAD)
def test_bad_requests(server, fields, text):
    if isinstance(fields, dict) and "prompt" not in fields and fields != {"model": "lm"}:
        fields = {"model": "lm", "prompt": "a", **fields}
    elif isinstance(fields, dict) and "model" not in fields and fields != {"prompt": "a"}:
        fields = {"model": "lm", **fields}
    status, found = ask(server, "/completions", fields.encode() if isinstance(fields, str) else fields)
    assert status == 400 and text in found["error"]["message"], found
    assert found["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    "messages", [[], "hi", [{"role": "user"}], [{"content": "a"}], ["a"], [{"role": 1, "content": ""}]]
)
def test_bad_messages(server, messages):
    status, found = ask(server, "/chat/completions", {"model": "lm", "messages": messages})
    assert status == 400 and "messages" in found["error"]["message"]


def test_an_unknown_model(server):
    status, found = ask(server, "/completions", {"model": "gpt-9", "prompt": "a"})
    assert status == 404 and "there are lm" in found["error"]["message"]


@contextlib.contextmanager
def slowed(engine, seconds):
    """Each step of an engine takes longer."""
    step = engine._batch.step
    engine._batch.step = lambda: time.sleep(seconds) or step()
    yield
    del engine._batch.step


def test_a_client_that_goes_frees_its_slot(server, model):
    engine = server.service.engines["lm"]
    for stream in (True, False):
        body = json.dumps({"model": "lm", "prompt": "a", "max_tokens": 90, "temperature": 0, "stream": stream}).encode()
        head = f"POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        before = engine._metrics._generated._value.get()
        with slowed(engine, 0.1):
            with socket.create_connection(("127.0.0.1", server.port)) as client:
                client.sendall(head + body)
                assert eventually(lambda: engine._running)
            assert eventually(lambda: not engine._running, 8)
        assert engine._metrics._generated._value.get() - before < 90
    assert complete(server, prompt="Hello", max_tokens=6)["choices"][0]["text"] == wanted(model, "Hello", 6)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/v1/completions", {"model": "lm", "prompt": "a", "stream": True}),
        ("/v1/completions", {"model": "lm", "prompt": "a"}),
        ("/v2/models/lm/generate_stream", {"text_input": "a"}),
        ("/v2/models/lm/generate", {"text_input": "a"}),
    ],
)
def test_a_client_that_goes_before_the_first_byte_stops_the_generation(server, path, fields):
    engine, fields = server.service.engines["lm"], {**fields, "max_tokens": 90, "temperature": 0}
    came = [{"type": "http.request", "body": json.dumps(fields).encode(), "more_body": False}]
    scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b""}
    scope["asgi"] = {"spec_version": "2.4"}  # of servers that need not be asked whether a client has gone

    async def receive():
        return came.pop() if came else {"type": "http.disconnect"}

    async def send(message):
        pass

    before = engine._metrics._generated._value.get()
    with slowed(engine, 0.02):
        asyncio.run(application(server.service)(scope, receive, send))
        assert eventually(lambda: not engine._running and not engine._waiting, 10)
    assert engine._metrics._generated._value.get() - before < 20


def test_a_client_that_reads_slowly_does_not_delay_others(server, model):
    slow = http.client.HTTPConnection("127.0.0.1", server.port)
    slow.request(
        "POST", "/v1/completions", json.dumps({"model": "lm", "prompt": "a", "max_tokens": 80, "stream": True})
    )
    assert complete(server, prompt="Hello", max_tokens=6)["choices"][0]["text"] == wanted(model, "Hello", 6)
    assert slow.getresponse().read().endswith(b"data: [DONE]\n\n")
    slow.close()


def test_too_many_requests_and_too_little_time(model):
    settings = ServerSettings(port=0, grpc_port=None, slots=1, limits=Limits(queue=1, seconds=0.5), watch=0)
    with Server({"lm": LanguageModel(model, context=64)}, settings=settings) as server:
        with slowed(server.service.engines["lm"], 0.1), concurrent.futures.ThreadPoolExecutor(4) as pool:
            fields = {"model": "lm", "prompt": "a", "max_tokens": 60}
            found = [status for status, _ in pool.map(lambda _: ask(server, "/completions", fields), range(4))]
        assert set(found) == {429, 504}
        assert ask(server, "/completions", {**fields, "max_tokens": 2})[0] == 200


def test_requests_wait_for_room_in_the_cache(model):
    settings = ServerSettings(port=0, grpc_port=None, slots=2, watch=0)
    with Server({"lm": LanguageModel(model, context=64, cache_tokens=64)}, settings=settings) as server:
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda p: complete(server, prompt=p, max_tokens=40), ("a", "b", "c")))
        assert [f["choices"][0]["text"] for f in found] == [wanted(model, p, 40) for p in ("a", "b", "c")]
        status, answer = ask(server, "/completions", {"model": "lm", "prompt": "a", "max_tokens": 64})
        assert status == 400 and "room for 64" in answer["error"]["message"]


def test_a_model_that_fails_answers_the_next_request(model):
    settings = ServerSettings(port=0, grpc_port=None, slots=1, watch=0)
    with Server({"lm": LanguageModel(model, context=64)}, settings=settings) as server:
        batch = server.service.engines["lm"]._batch
        batch.step = lambda: 1 / 0
        status, found = ask(server, "/completions", {"model": "lm", "prompt": "a"})
        assert status == 500 and "ZeroDivisionError" in found["error"]["message"]
        del batch.step
        assert complete(server, prompt="Hello", max_tokens=6)["choices"][0]["text"] == wanted(model, "Hello", 6)


def test_text_of_tokens_that_come_one_by_one():
    text = "aé€\U0001f600b"
    stream = TextStream(BYTES, [])
    assert "".join(stream.push(t) for t in text.encode()) + stream.finish() == text
    stream = TextStream(BYTES, ["stop", "top!"])
    found = "".join(stream.push(t) for t in b"no sto st stop it" if not stream.is_stopped)
    assert found + stream.finish() == "no sto st " and stream.is_stopped
    stream = TextStream(BYTES, ["xyz"])
    assert "".join(stream.push(t) for t in "xy\xe9".encode()[:3]) + stream.finish() == "xy\ufffd"


def test_from_the_command_line(tmp_path, model, capsys):
    from served import Served

    model.save_pretrained(tmp_path / "lm")
    server = Served(str(tmp_path / "lm"), "--task", "generate", "--slots", "1", "--context", "32")
    try:
        body = {"model": "lm", "prompt": "Hello", "max_tokens": 6, "temperature": 0}
        status, found = server.ask("/v1/completions", body)
        assert status == 200 and found["choices"][0]["text"] == wanted(model, "Hello", 6)
    finally:
        server.stop()
    for arguments, text in (
        (["--workers", "2"], "no --workers"), (["--context", "999"], "at most 256"), (["--slots", "0"], "at least 1"),
        (["--cache-tokens", "0"], "at least 1"),
    ):  # fmt: skip
        with pytest.raises(SystemExit, match=text):
            main([str(tmp_path / "lm"), "--task", "generate", *arguments])
    with pytest.raises(SystemExit, match=r"config\.json"):
        main([str(tmp_path), "--task", "generate"])


def test_a_model_without_a_tokenizer_that_fits(tmp_path):
    CausalLM(tiny_config(vocab_size=100, num_hidden_layers=1)).save_pretrained(tmp_path)
    with pytest.raises(ServingError, match="bytes has 256 tokens, and the model 100"):
        LanguageModel.load(str(tmp_path))
