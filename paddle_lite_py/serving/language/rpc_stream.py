"""Texts of language models as streams of the Open Inference Protocol over gRPC."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import numpy as np

from ..errors import ServingError
from ..messages import MESSAGES
from ..service import Service
from ..tensors import Arrays, to_bytes
from .answers import Answer, engine_of
from .engine import VERSION
from .requests import object_of, read_generate

_FINAL, _ASKS_FOR_FINAL = "triton_final_response", "triton_enable_empty_final_response"


async def text_responses(service: Service, request: Any, arrays: Arrays) -> AsyncGenerator[Any, None]:
    """Yield the pieces of a text as responses; the last one says that it is, and why the text ended.

    Arguments:
        request: a ModelInferRequest; its parameters are settings of /v1/completions.
        arrays: its inputs: text_input, and as of Triton's vLLM backend sampling_parameters (settings as JSON) and
            stream (False: one response).

    Raises:
        ServingError: The request is invalid, the model failed, or it took too long.

    Source: Triton Inference Server, decoupled models.
    """
    engine = engine_of(service, request.model_name)
    service.require(request.model_name, request.model_version)
    unknown = sorted(arrays.keys() - {"text_input", "sampling_parameters", "stream"})
    if unknown:
        raise ServingError(
            "invalid", f"there is no input {unknown[0][:80]!r}; there are text_input, sampling_parameters, stream"
        )
    is_stream = bool(_only(arrays, "stream")) if "stream" in arrays else True
    settings = {name: _value(p) for name, p in request.parameters.items() if name != _ASKS_FOR_FINAL}
    if "sampling_parameters" in arrays:
        settings |= object_of(_only(arrays, "sampling_parameters"))
    data = {"text_input": _text(arrays), "parameters": settings}
    asked = read_generate(data, request.model_name, True, engine.language.tokenizer)
    whole = ""
    with contextlib.closing(Answer(asked, service)) as answer:
        async with contextlib.aclosing(answer.parts()) as parts:
            async for _, piece, reason in parts:
                whole += piece
                if is_stream:
                    yield _response(request, piece, reason)
        if not is_stream:
            yield _response(request, whole, reason)


def _only(arrays: Arrays, name: str) -> Any:
    """Return the element of an input."""
    if arrays[name].size != 1:
        raise ServingError("invalid", f"input `{name}` has {arrays[name].size} elements; expected one")
    return arrays[name].reshape(-1)[0]


def _text(arrays: Arrays) -> str:
    if "text_input" not in arrays:
        raise ServingError("invalid", "the request lacks text_input")
    data = _only(arrays, "text_input")
    try:
        return data.decode()
    except (AttributeError, UnicodeDecodeError):
        raise ServingError("invalid", "input `text_input` must be BYTES of a text in UTF-8") from None


def _value(parameter: Any) -> Any:
    kind = parameter.WhichOneof("parameter_choice")
    return None if kind is None else getattr(parameter, kind)


def _response(request: Any, text: str, reason: str | None) -> Any:
    found = MESSAGES["ModelInferResponse"](model_name=request.model_name, model_version=VERSION, id=request.id)
    found.outputs.add(name="text_output", datatype="BYTES", shape=[1])
    found.raw_output_contents.append(to_bytes(np.array([text.encode()], object)))
    found.parameters[_FINAL].bool_param = reason is not None
    if reason is not None:
        found.parameters["finish_reason"].string_param = reason
    return MESSAGES["ModelStreamInferResponse"](infer_response=found)
