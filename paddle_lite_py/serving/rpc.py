"""The Open Inference Protocol over gRPC: one call and one answer, and a stream of them."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import numpy as np
from google.protobuf.message import DecodeError

from .errors import ServingError
from .language.rpc_stream import text_responses
from .messages import MESSAGES
from .payloads import chosen
from .service import Service
from .tensors import DATATYPES, Arrays, as_datatype, as_shape, from_bytes, to_bytes

UNDER_WAY = 64  # requests of a stream
SERVICE = "inference.GRPCInferenceService"
# The field of an input that is not sent as bytes.
_CONTENTS = {
    "BOOL": "bool", "INT8": "int", "INT16": "int", "INT32": "int", "INT64": "int64", "UINT8": "uint", "UINT16": "uint",
    "UINT32": "uint", "UINT64": "uint64", "FP32": "fp32", "FP64": "fp64", "BYTES": "bytes",
}  # fmt: skip


def grpc_server(service: Service, token: str = "") -> grpc.aio.Server:
    """The server's gRPC side, before it is bound to a port.

    Arguments:
        token: what calls must bring as a bearer token, health apart; "": nothing.
    """
    limit = service.limits.body
    options = [
        ("grpc.max_receive_message_length", limit),
        ("grpc.max_send_message_length", -1),
        ("grpc.so_reuseport", 0),
    ]
    server = grpc.aio.server(options=options)
    server.add_generic_rpc_handlers([_Rpc(service, token).handlers()])
    return server


class _Rpc:
    """One method for each call."""

    def __init__(self, service: Service, token: str) -> None:
        self._service, self._expected = service, f"Bearer {token}" if token else ""

    def handlers(self) -> Any:
        """Return all of them, as grpc takes them."""
        unary = {n: getattr(self, n) for n in MESSAGES_OF_CALLS}
        made = {name: self._unary(name, method) for name, method in unary.items()}
        write = MESSAGES["ModelStreamInferResponse"].SerializeToString
        made["ModelStreamInfer"] = grpc.stream_stream_rpc_method_handler(self.stream, None, write)
        return grpc.method_handlers_generic_handler(SERVICE, made)

    def _unary(self, name: str, method: Callable[[Any], Awaitable[Any]]) -> Any:
        async def call(data: bytes, context: Any) -> Any:
            try:
                self._admit(context, name)
                return await method(_decoded(f"{name}Request", data))
            except ServingError as e:
                await context.abort(grpc.StatusCode[e.grpc], e.text)

        # Without a decoder: who has no token has nothing decoded.
        return grpc.unary_unary_rpc_method_handler(call, None, MESSAGES[f"{name}Response"].SerializeToString)

    def _admit(self, context: Any, name: str) -> None:
        if not self._expected or name in ("ServerLive", "ServerReady"):
            return
        given = str(dict(context.invocation_metadata() or ()).get("authorization", ""))
        if not hmac.compare_digest(given.encode(), self._expected.encode()):
            raise ServingError(
                "unauthorized", "this server requires a bearer token: send the metadata authorization: Bearer TOKEN"
            )

    # -- health and metadata ---------------------------------------------------------------------------------------
    async def ServerLive(self, _request: Any) -> Any:
        return MESSAGES["ServerLiveResponse"](live=True)

    async def ServerReady(self, _request: Any) -> Any:
        return MESSAGES["ServerReadyResponse"](ready=self._service.answers)

    async def ServerMetadata(self, _request: Any) -> Any:
        return MESSAGES["ServerMetadataResponse"](**self._service.server_metadata())

    async def ModelReady(self, request: Any) -> Any:
        try:
            self._service.require(request.name, request.version)
        except ServingError:
            return MESSAGES["ModelReadyResponse"](ready=False)
        return MESSAGES["ModelReadyResponse"](ready=True)

    async def ModelMetadata(self, request: Any) -> Any:
        return MESSAGES["ModelMetadataResponse"](**self._service.model_metadata(request.name, request.version))

    # -- repository ------------------------------------------------------------------------------------------------
    async def RepositoryIndex(self, request: Any) -> Any:
        return MESSAGES["RepositoryIndexResponse"](models=self._service.index(request.ready))

    async def RepositoryModelLoad(self, request: Any) -> Any:
        await self._service.load(request.model_name)
        return MESSAGES["RepositoryModelLoadResponse"]()

    async def RepositoryModelUnload(self, request: Any) -> Any:
        await self._service.unload(request.model_name)
        return MESSAGES["RepositoryModelUnloadResponse"]()

    # -- inference -------------------------------------------------------------------------------------------------
    async def ModelInfer(self, request: Any) -> Any:
        service = self._service
        service.version(request.model_name, request.model_version)
        arrays = read_inputs(request)
        served, found = await service.infer(request.model_name, request.model_version, arrays)
        wanted = {o.name: True for o in request.outputs}
        found = chosen(served.info.outputs, found, wanted)
        response = MESSAGES["ModelInferResponse"](
            model_name=request.model_name, model_version=served.source.version, id=request.id
        )
        for name, array in found.items():
            response.outputs.add(name=name, datatype=DATATYPES[array.dtype], shape=array.shape)
            response.raw_output_contents.append(to_bytes(array))
        return response

    async def stream(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        """Yield answers in the order of the requests, and texts of language models piece by piece as they come.

        Some requests are under way at a time, so that they can be joined. A client that goes cancels all of them.
        """
        try:
            self._admit(context, "ModelStreamInfer")
        except ServingError as e:
            await context.abort(grpc.StatusCode[e.grpc], e.text)
        found: asyncio.Queue[Any] = asyncio.Queue(UNDER_WAY)
        working = asyncio.ensure_future(self._work(requests, found))
        try:
            while (response := await found.get()) is not None:
                yield response
            await working  # raises what failed
        finally:
            working.cancel()

    async def _work(self, requests: AsyncIterator[Any], found: asyncio.Queue[Any]) -> None:
        """Answer requests until there are no more; the last of what is found is None."""
        free, last = asyncio.Semaphore(UNDER_WAY), None
        try:
            async with asyncio.TaskGroup() as tasks:
                async for data in requests:
                    await free.acquire()
                    request = _read(data)
                    if getattr(request, "model_name", "") in self._service.engines:
                        task = tasks.create_task(self._put_text(request, found))
                    else:
                        task = last = tasks.create_task(self._put_answer(request, found, last))
                    task.add_done_callback(lambda _: free.release())
        except Exception:  # a fault of ours; stream() raises it
            await found.put(None)
            raise
        await found.put(None)

    async def _put_text(self, request: Any, found: asyncio.Queue[Any]) -> None:
        try:
            async with contextlib.aclosing(text_responses(self._service, request, read_inputs(request))) as responses:
                async for response in responses:
                    await found.put(response)
        except ServingError as e:
            await found.put(_error(e, request.id))

    async def _put_answer(self, request: Any, found: asyncio.Queue[Any], last: asyncio.Task[None] | None) -> None:
        """Answer one request, after the answer to the last one."""
        try:
            if isinstance(request, ServingError):
                raise request
            response = MESSAGES["ModelStreamInferResponse"](infer_response=await self.ModelInfer(request))
        except ServingError as e:
            response = _error(e, getattr(request, "id", ""))
        if last is not None:
            await asyncio.wait([last])
        await found.put(response)


def _read(data: bytes) -> Any:
    """Return a request, or what is wrong with it."""
    try:
        return _decoded("ModelInferRequest", data)
    except ServingError as e:
        return e


def _error(error: ServingError, request_id: str) -> Any:
    found = MESSAGES["ModelStreamInferResponse"](error_message=f"{error.grpc}: {error.text}")
    found.infer_response.id = request_id
    return found


MESSAGES_OF_CALLS = [
    "ServerLive", "ServerReady", "ServerMetadata", "ModelReady", "ModelMetadata", "ModelInfer",
    "RepositoryIndex", "RepositoryModelLoad", "RepositoryModelUnload",
]  # fmt: skip


def _decoded(name: str, data: bytes) -> Any:
    try:
        return MESSAGES[name].FromString(data)
    except DecodeError:
        raise ServingError("invalid", f"the message is no {name} of the protocol") from None


def read_inputs(request: Any) -> Arrays:
    """Return the inputs of a request.

    Raises:
        ServingError: saying what is wrong with them.
    """
    raw = request.raw_input_contents
    if raw and len(raw) != len(request.inputs):
        raise ServingError("invalid", f"{len(request.inputs)} inputs, and {len(raw)} raw_input_contents")
    arrays: Arrays = {}
    for i, given in enumerate(request.inputs):
        if given.name in arrays:
            raise ServingError("invalid", f"input `{given.name[:256]}` is there twice")
        shape, dtype = as_shape(list(given.shape), given.name), as_datatype(given.datatype, given.name)
        arrays[given.name] = from_bytes(raw[i], dtype, shape, given.name) if raw else _contents(given, dtype, shape)
    return arrays


def _contents(given: Any, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Return an input whose elements are numbers of the message."""
    kind = _CONTENTS.get(given.datatype)
    if kind is None:
        raise ServingError("invalid", f"input `{given.name}`: {given.datatype} comes as raw_input_contents")
    found = getattr(given.contents, f"{kind}_contents")
    if len(found) != math.prod(shape):
        said = f"input `{given.name}`: {kind}_contents has {len(found)} elements"
        text = f"{said}; shape {list(shape)} takes {math.prod(shape)}"
        raise ServingError("invalid", text)
    array = np.array(found, object if dtype.hasobject else None)
    if dtype.kind in "iu" and array.size:
        limits = np.iinfo(dtype)
        if array.min() < limits.min or array.max() > limits.max:
            raise ServingError("invalid", f"input `{given.name}` holds numbers out of the range of {given.datatype}")
    return array.astype(dtype).reshape(shape)
