"""Requests of OpenAI's API and of the generate extension, checked."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from ...text.generation.slots import Sampling
from ..errors import ServingError
from ..schemas import Schema, closed, fits
from .tokenizers import Tokenizer

MOST_CHOICES = 128  # prompts times n of one request


class CompletionRequest(NamedTuple):
    """A completion request."""

    model: str
    prompts: list[list[int]]
    n: int
    most: int | None
    sampling: Sampling
    stops: list[str]
    is_stream: bool
    has_usage: bool  # in a stream

    def sampling_of(self, choice: int) -> Sampling:
        """How a choice is drawn: each with a seed of its own."""
        return self.sampling._replace(seed=(self.sampling.seed + choice) % (1 << 31))


_TEXT: Schema = {"type": "string", "minLength": 1}
_COUNT: Schema = {"type": "integer", "minimum": 1, "maximum": 1 << 24}
_INT64: Schema = {"type": "integer", "minimum": -(1 << 63), "maximum": (1 << 63) - 1}
_FLAG: Schema = {"type": "boolean"}
_OPTIONS: Schema = {"type": "object", "properties": {"include_usage": _FLAG}, "additionalProperties": False}
# Fields: their schema, and what is expected. null is the default everywhere.
_SHARED: dict[str, tuple[Schema, str]] = {
    "max_tokens": (_COUNT, "an integer of at least 1"),
    "temperature": ({"type": "number", "minimum": 0, "maximum": 2}, "a number from 0 to 2"),
    "top_p": ({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, "a number above 0 and at most 1"),
    "top_k": ({"type": "integer", "minimum": 0, "maximum": 1 << 24}, "an integer of at least 0"),
    "n": ({"type": "integer", "minimum": 1, "maximum": MOST_CHOICES}, f"an integer from 1 to {MOST_CHOICES}"),
    "seed": (_INT64, "an integer"),
    "stop": (
        {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "maxItems": 16}]},
        "a string, or a list of at most 16 strings, none of them empty",
    ),
    "stream": (_FLAG, "true or false"),
    "stream_options": (_OPTIONS, '{"include_usage": true}'),
}
_CHAT = {**_SHARED, "max_completion_tokens": _SHARED["max_tokens"]}
# Fields that would change the answer and are not implemented: the values that change nothing.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "presence_penalty": (0,), "frequency_penalty": (0,), "repetition_penalty": (1,), "logit_bias": ({},),
    "logprobs": (False,), "top_logprobs": (0,), "best_of": (1,), "echo": (False,), "suffix": ("",), "tools": ([],),
    "tool_choice": ("none", "auto"), "functions": ([],), "response_format": ({"type": "text"},),
    "modalities": (["text"],), "parallel_tool_calls": (True, False),
}  # fmt: skip
# Fields that do not concern the answer.
_OTHER = {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key"}
_TOKEN: Schema = {"type": "integer", "minimum": 0, "maximum": (1 << 31) - 1}
_INTEGERS: Schema = {"type": "array", "items": {"type": "integer"}}
_TOKENS: Schema = {"type": "array", "items": _TOKEN, "minItems": 1}
_PROMPTS: Schema = {"type": "array", "items": {"anyOf": [_TEXT, _TOKENS]}, "minItems": 1}
_PROMPT: Schema = {"anyOf": [_TEXT, _TOKENS, _PROMPTS]}
_PARTS: Schema = {
    "type": "array", "items": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
}  # fmt: skip
_MESSAGE: Schema = {
    "type": "object", "required": ["role", "content"],
    "properties": {"role": {"type": "string"}, "content": {"anyOf": [{"type": "string"}, _PARTS]}},
}  # fmt: skip


def completion_schema(models: list[str]) -> Schema:
    """Return the schema of a request to /v1/completions."""
    return _schema({"model": {"enum": models}, "prompt": _PROMPT}, _SHARED)


def chat_schema(models: list[str]) -> Schema:
    """Return the schema of a request to /v1/chat/completions."""
    messages = {"type": "array", "items": _MESSAGE, "minItems": 1}
    return _schema({"model": {"enum": models}, "messages": messages}, _CHAT)


def generate_schema(is_stream: bool) -> Schema:
    """Return the schema of a request of the generate extension."""
    fields = _generate_fields(is_stream)
    found = _schema({"text_input": _TEXT}, fields)
    parameters = _schema({}, fields)
    found["properties"]["parameters"] = {"anyOf": [parameters, {"type": "null"}]}
    return found


def _schema(required: dict[str, Schema], fields: dict[str, tuple[Schema, str]]) -> Schema:
    neutral: dict[str, Schema] = {name: {"enum": list(values)} for name, values in _NEUTRAL.items()}
    others: dict[str, Schema] = dict.fromkeys(sorted(_OTHER), {})
    found = {name: schema for name, (schema, _) in fields.items()}
    return closed({**required, **found, **neutral, **others}, list(required))


def _generate_fields(is_stream: bool) -> dict[str, tuple[Schema, str]]:
    fields = {name: field for name, field in _SHARED.items() if name not in ("n", "stream_options")}
    expected = "true, or /generate" if is_stream else "false, or /generate_stream"
    return {**fields, "stream": ({"enum": [is_stream]}, expected)}


def read_completion(body: bytes, tokenizer_of: Callable[[str], Tokenizer]) -> CompletionRequest:
    """Read a request to /v1/completions.

    Raises:
        ServingError: It is invalid, or there is no such model.
    """
    data = _read(body, {"model", "prompt"}, _SHARED)
    tokenizer = tokenizer_of(data["model"])
    prompts = _prompts(data["prompt"], tokenizer)
    return _request(data, prompts, data.get("max_tokens", 16))


def read_chat(body: bytes, tokenizer_of: Callable[[str], Tokenizer]) -> CompletionRequest:
    """Read a request to /v1/chat/completions.

    Raises:
        ServingError: It is invalid, or there is no such model.
    """
    data = _read(body, {"model", "messages"}, _CHAT)
    tokenizer = tokenizer_of(data["model"])
    messages = data["messages"]
    if not isinstance(messages, list) or not messages:
        raise ServingError("invalid", "messages must be a list of at least one message")
    prompt = tokenizer.chat([_message(m, i) for i, m in enumerate(messages)])
    return _request(data, [prompt], data.get("max_completion_tokens", data.get("max_tokens")))


def read_generate(data: dict[str, Any], model: str, is_stream: bool, tokenizer: Tokenizer) -> CompletionRequest:
    """Read a request of the generate extension; settings are in `parameters`, or next to it.

    Raises:
        ServingError: It is invalid.
    """
    settings = data.pop("parameters", None)
    settings = {} if settings is None else settings
    if not isinstance(settings, dict):
        raise ServingError("invalid", "parameters must be a JSON object")
    fields = _generate_fields(is_stream)
    _checked(settings, set(), fields)
    data = _checked({**data, **settings}, {"text_input"}, fields)
    if not isinstance(data["text_input"], str):
        raise ServingError("invalid", "text_input must be a string")
    prompt = tokenizer.encode(_plain(data["text_input"], "text_input"))
    return _request({**data, "model": model, "stream": is_stream}, [prompt], data.get("max_tokens", 16))


def _read(body: bytes, required: set[str], fields: dict[str, tuple[Schema, str]]) -> dict[str, Any]:
    data = _checked(object_of(body), required, fields)
    if not isinstance(data["model"], str):
        raise ServingError("invalid", "model must be a string")
    return data


def object_of(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a request.

    Raises:
        ServingError: It is none.
    """
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as e:
        raise ServingError("invalid", f"the request is not valid JSON: {e}") from None
    if not isinstance(data, dict):
        raise ServingError("invalid", "the request must be a JSON object")
    return data


def _checked(data: dict[str, Any], required: set[str], fields: dict[str, tuple[Schema, str]]) -> dict[str, Any]:
    """Return the fields that are not null; 3.0 as 3 where an integer is expected."""
    data = {name: value for name, value in data.items() if value is not None}
    if missing := sorted(required - data.keys()):
        raise ServingError("invalid", f"the request lacks {', '.join(missing)}")
    for name, value in data.items():
        _check_field(name, value, required, fields)
        if name in fields and fields[name][0].get("type") == "integer":
            data[name] = int(value)
    return data


def _check_field(name: str, value: Any, required: set[str], fields: dict[str, tuple[Schema, str]]) -> None:
    if name in required or name in _OTHER:
        return
    if name in _NEUTRAL:
        if not fits(value, {"enum": [*_NEUTRAL[name]]}):
            raise ServingError("invalid", f"{name} is not supported by this server; leave it out")
    elif name not in fields:
        raise ServingError("invalid", f"there is no field {name[:80]!r}; the fields are {', '.join(sorted(fields))}")
    elif not fits(value, fields[name][0]):
        raise ServingError("invalid", f"{name} is {str(value)[:80]}; expected {fields[name][1]}")


def _prompts(prompt: Any, tokenizer: Tokenizer) -> list[list[int]]:
    many = prompt if isinstance(prompt, list) and prompt and isinstance(prompt[0], list | str) else [prompt]
    return [_tokens(p, tokenizer) for p in many]


def _tokens(prompt: Any, tokenizer: Tokenizer) -> list[int]:
    if isinstance(prompt, str):
        return tokenizer.encode(_plain(prompt, "prompt"))
    if not fits(prompt, _INTEGERS):
        raise ServingError("invalid", "prompt must be a string, a list of tokens, or a list of these")
    if wrong := [t for t in prompt if not 0 <= t < tokenizer.size]:
        raise ServingError("invalid", f"prompt: token {wrong[0]} is out of range; the model has {tokenizer.size}")
    return [int(t) for t in prompt]


def _plain(text: str, what: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ServingError("invalid", f"{what} is not valid Unicode: it has half of a surrogate pair") from None
    return text


def _message(message: Any, i: int) -> dict[str, str]:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list) and all(isinstance(p, dict) and isinstance(p.get("text"), str) for p in content):
        content = "".join(p["text"] for p in content)
    if not isinstance(content, str) or not isinstance(message.get("role"), str):
        raise ServingError("invalid", f'messages[{i}] must be {{"role": "user", "content": "a text"}}')
    return {"role": message["role"], "content": _plain(content, f"messages[{i}]")}


def _request(data: dict[str, Any], prompts: list[list[int]], most: int | None) -> CompletionRequest:
    n, stop, seed = data.get("n", 1), data.get("stop", []), data.get("seed")
    if len(prompts) * n > MOST_CHOICES:
        raise ServingError("invalid", f"{len(prompts)} prompts with n={n} are more than {MOST_CHOICES} answers")
    sampling = Sampling(
        float(data.get("temperature", 1.0)), data.get("top_k", 0), float(data.get("top_p", 1.0)),
        secrets.randbits(31) if seed is None else seed % (1 << 31),
    )  # fmt: skip
    has_usage = data.get("stream_options", {}).get("include_usage", False)
    stops = [stop] if isinstance(stop, str) else stop
    return CompletionRequest(
        data["model"], prompts, n, most, sampling, stops, data.get("stream", False), has_usage
    )  # fmt: skip
