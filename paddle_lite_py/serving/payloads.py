"""Requests and answers of the protocol over REST: JSON, and tensors as bytes behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from .errors import ServingError
from .tensors import DATATYPES, Arrays, TensorSpec, as_datatype, as_shape, from_bytes, from_list, to_bytes, to_list

HEADER = "inference-header-content-length"


class InferRequest(NamedTuple):
    """An inference request."""

    id: str
    arrays: Arrays
    outputs: dict[str, bool] | None  # the requested names, and whether as bytes; None: all of them
    binary: bool  # for outputs that do not say


def read_request(body: bytes, header: str | None) -> InferRequest:
    """Return a request.

    Arguments:
        body: JSON, or JSON and bytes.
        header: the header that says how long the JSON is, if there are bytes.

    Raises:
        ServingError: saying what is wrong with it.
    """
    text, rest = _cut(body, header)
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError as e:
        raise ServingError("invalid", f"the request is no JSON: {e}") from None
    if not isinstance(data, dict) or not isinstance(data.get("inputs"), list):
        raise ServingError("invalid", "the request must be an object with a list of `inputs`")
    arrays, at = {}, 0
    for given in data["inputs"]:
        name, array, at = _input(given, rest, at)
        if name in arrays:
            raise ServingError("invalid", f"input `{name}` is there twice")
        arrays[name] = array
    if at != len(rest):
        raise ServingError("invalid", f"{len(rest)} bytes follow the JSON; the inputs account for {at} of them")
    given_id, parameters = data.get("id"), _parameters(data)
    if not isinstance(given_id, str | None):
        raise ServingError("invalid", "`id` must be a string")
    binary = parameters.get("binary_data_output") is True
    return InferRequest((given_id or "")[:256], arrays, _outputs(data.get("outputs"), binary), binary)


def _cut(body: bytes, header: str | None) -> tuple[memoryview, memoryview]:
    view = memoryview(body)
    if header is None:
        return view, view[len(view) :]
    length = int(header[:40]) if header.isdecimal() and len(header) <= 40 else -1
    if not 0 <= length <= len(view):
        expected = f"expected the length of the JSON, at most that of the body ({len(view)})"
        text = f"header {HEADER} is {header[:40]!r}; {expected}"
        raise ServingError("invalid", text)
    return view[:length], view[length:]


def _parameters(data: Mapping[str, Any]) -> dict[str, Any]:
    found = data.get("parameters")
    if not isinstance(found, dict | None):
        raise ServingError("invalid", "`parameters` must be an object")
    return found or {}


def _input(given: Any, rest: memoryview, at: int) -> tuple[str, Any, int]:
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise ServingError("invalid", "each input must be an object with a `name`")
    name = given["name"][:256]
    shape, dtype = as_shape(given.get("shape"), name), as_datatype(given.get("datatype"), name)
    size = _parameters(given).get("binary_data_size")
    if size is None:
        if "data" not in given:
            raise ServingError("invalid", f"input `{name}` has neither data nor the parameter binary_data_size")
        return name, from_list(given["data"], dtype, shape, name), at
    if type(size) is not int or not 0 <= size <= len(rest) - at:
        left = len(rest) - at
        raise ServingError(
            "invalid", f"input `{name}`: binary_data_size is {str(size)[:40]}; {left} bytes are left of the body"
        )
    return name, from_bytes(rest[at : at + size], dtype, shape, name), at + size


def _outputs(given: Any, binary: bool) -> dict[str, bool] | None:
    if given is None or given == []:
        return None
    if not isinstance(given, list) or not all(isinstance(o, dict) and isinstance(o.get("name"), str) for o in given):
        raise ServingError("invalid", "`outputs` must be a list of objects with a `name`")
    return {o["name"]: _parameters(o).get("binary_data", binary) is True for o in given}


def chosen(outputs: list[TensorSpec], found: Arrays, wanted: Mapping[str, Any] | None) -> Arrays:
    """Return the outputs that a request wants.

    Raises:
        ServingError: if there is none of a name.
    """
    if not wanted:
        return found
    if absent := [n for n in wanted if n not in found]:
        have = ", ".join(s.name for s in outputs)
        raise ServingError("invalid", f"there is no output `{absent[0][:80]}`; the model has {have}")
    return {n: found[n] for n in wanted}


def write_answer(head: dict[str, Any], found: Arrays, request: InferRequest) -> tuple[bytes, int | None]:
    """Return the body of an answer, and the length of its JSON if bytes follow."""
    outputs, blobs = [], []
    for name, array in found.items():
        said: dict[str, Any] = {"name": name, "datatype": DATATYPES[array.dtype], "shape": list(array.shape)}
        if request.outputs[name] if request.outputs else request.binary:
            blobs.append(to_bytes(array))
            outputs.append(said | {"parameters": {"binary_data_size": len(blobs[-1])}})
        else:
            outputs.append(said | {"data": to_list(array, name)})
    text = orjson.dumps(head | {"outputs": outputs}, option=orjson.OPT_SERIALIZE_NUMPY)
    return b"".join([text, *blobs]), len(text) if blobs else None
