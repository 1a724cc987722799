"""The Open Inference Protocol over gRPC, asked by tritonclient: one by one, asynchronously and as a stream."""

from __future__ import annotations

import asyncio
import queue

import numpy as np
import pytest

import paddle_lite_py as paddle

grpc = pytest.importorskip("tritonclient.grpc", exc_type=ImportError)
X = np.arange(6, dtype="float32").reshape(2, 3) / 6


def inputs(x=X, name="x", datatype="FP32"):
    made = grpc.InferInput(name, list(x.shape), datatype)
    made.set_data_from_numpy(x)
    return [made]


@pytest.fixture
def asked(served):
    with grpc.InferenceServerClient(served.grpc) as client:
        yield client


@pytest.fixture
def close_to(saved):
    want = saved[1]["mlp"](paddle.to_tensor(X)).numpy()
    return lambda found: np.testing.assert_allclose(found.as_numpy("out0"), want, rtol=1e-5, atol=1e-6)


def test_health_metadata_and_repository(asked):
    assert asked.is_server_live() and asked.is_server_ready() and asked.is_model_ready("mlp")
    assert not asked.is_model_ready("none")
    assert "binary_tensor_data" in asked.get_server_metadata().extensions
    found = asked.get_model_metadata("mlp")
    assert (found.inputs[0].name, list(found.inputs[0].shape)) == ("x", [-1, 3])
    assert {m.name for m in asked.get_model_repository_index().models} == {"mlp", "mixing", "two"}


def test_one_by_one_and_asynchronously(asked, close_to):
    found = asked.infer("mlp", inputs(), request_id="one", outputs=[grpc.InferRequestedOutput("out0")])
    assert found.get_response().id == "one"
    close_to(found)
    done: queue.Queue = queue.Queue()
    for _ in range(5):
        asked.async_infer("mlp", inputs(), callback=lambda result, error: done.put((result, error)))
    for _ in range(5):
        result, error = done.get(timeout=20)
        assert error is None
        close_to(result)


def test_a_stream_answers_in_order_and_goes_on_after_an_error(asked, close_to):
    done: queue.Queue = queue.Queue()
    asked.start_stream(callback=lambda result, error: done.put((result, error)))
    for i in range(6):
        asked.async_stream_infer("mlp" if i != 3 else "none", inputs(), request_id=str(i))
    for i in range(6):
        result, error = done.get(timeout=20)
        if i == 3:
            assert "there is no model `none`" in str(error)
            continue
        assert result.get_response().id == str(i)
        close_to(result)
    asked.stop_stream()


def test_asyncio(served, close_to):
    aio = pytest.importorskip("tritonclient.grpc.aio")

    async def ask():
        async with aio.InferenceServerClient(served.grpc) as client:
            return await asyncio.gather(*[client.infer("mlp", inputs()) for _ in range(4)])

    for found in asyncio.run(ask()):
        close_to(found)


@pytest.mark.parametrize(("model", "given", "status", "text"), [
    ("none", inputs(), "NOT_FOUND", "there is no model"),
    ("mlp", inputs(X.astype("int32"), datatype="INT32"), "INVALID_ARGUMENT", "`x` is INT32; the model takes FP32"),
    ("mlp", inputs(X[0]), "INVALID_ARGUMENT", "has shape"),
    ("mlp", inputs(name="y"), "INVALID_ARGUMENT", "takes the inputs x; the request has y"),
])  # fmt: skip
def test_errors_have_their_status(asked, model, given, status, text):
    with pytest.raises(Exception, match=text) as error:
        asked.infer(model, given)
    assert status in str(error.value.status())


def test_numbers_of_the_message(served, saved):
    """Elements that are no raw bytes; tritonclient never sends those."""
    import grpc as plain

    from paddle_lite_py.serving.messages import MESSAGES

    request = MESSAGES["ModelInferRequest"](model_name="two", id="n")
    for name in "ab":
        tensor = request.inputs.add(name=name, datatype="INT32", shape=[2, 2])
        tensor.contents.int_contents.extend([1, 2, 3, 4])
    with plain.insecure_channel(served.grpc) as channel:
        call = channel.unary_unary(
            "/inference.GRPCInferenceService/ModelInfer", MESSAGES["ModelInferRequest"].SerializeToString,
            MESSAGES["ModelInferResponse"].FromString,
        )  # fmt: skip
        found = call(request)
        assert np.frombuffer(found.raw_output_contents[0], "int32").tolist() == [2, 4, 6, 8]
        request.inputs[0].contents.int_contents.append(5)
        with pytest.raises(plain.RpcError, match="int_contents has 5 elements; shape \\[2, 2\\] takes 4"):
            call(request)
