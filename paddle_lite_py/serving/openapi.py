"""The server's API as OpenAPI, and as a page for people."""

from __future__ import annotations

import html
import json
import math
from typing import Any

import ml_dtypes
import numpy as np

from .language.engine import VERSION
from .language.requests import chat_schema, completion_schema, generate_schema
from .schemas import Schema
from .service import ServedVersion, Service
from .tensors import DTYPES, TensorSpec

_ERRORS = {
    "400": "the request is wrong",
    "401": "the token is missing or wrong",
    "404": "there is no such model",
    "413": "the request is too large",
    "429": "too many requests wait",
    "503": "the model is not ready",
    "504": "too late",
}
_FIXED = [
    ("get", "/v2/health/live", "Whether the server runs"),
    ("get", "/v2/health/ready", "Whether all models are loaded and compiled"),
    ("get", "/v2", "Name, version and extensions of the server"),
    ("post", "/v2/repository/index", "All models and versions, and their state"),
    ("get", "/metrics", "Counters in the text form of Prometheus"),
]
_OF_MODEL = [
    ("get", "", "What the model takes and gives"),
    ("get", "/ready", "Whether the model is loaded"),
    ("get", "/stats", "How many requests it has answered"),
]
_LANGUAGE = [
    ("/v1/completions", "Continue prompts, as in OpenAI's API", completion_schema),
    ("/v1/chat/completions", "Continue a conversation, as in OpenAI's API", chat_schema),
]
_GENERATE = [
    ("generate", "Continue a text", False),
    ("generate_stream", "Continue a text, as server-sent events", True),
]
_ROOM = "prompt and answer together have at most as many tokens as the model has room for"


def description(service: Service) -> dict[str, Any]:
    """Return the document, with entries for each model."""
    paths: dict[str, Any] = {path: {method: _operation(text)} for method, path, text in _FIXED}
    for served in service.all_versions():
        paths |= _of_model(served)
    if service.engines:
        paths |= _of_language_models(list(service.engines))
    meta = service.server_metadata()
    return {"openapi": "3.1.0", "info": {"title": meta["name"], "version": meta["version"]}, "paths": paths}


def _of_model(served: ServedVersion) -> dict[str, Any]:
    name, found = served.source.name, dict[str, Any]()
    for base in (f"/v2/models/{name}", f"/v2/models/{name}/versions/{served.source.version}"):
        found |= {base + path: {method: _operation(text)} for method, path, text in _OF_MODEL}
        found[f"{base}/infer"] = {"post": _inference(served)}
    for action in ("load", "unload"):
        found[f"/v2/repository/models/{name}/{action}"] = {"post": _operation(f"{action.title()} the model")}
    return found


def _of_language_models(names: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"/v1/models": {"get": _operation("Names of the language models")}}
    found |= {path: {"post": _generation(text, schema(names))} for path, text, schema in _LANGUAGE}
    for name in names:
        found[f"/v1/models/{name}"] = {"get": _operation("A language model")}
        for base in (f"/v2/models/{name}", f"/v2/models/{name}/versions/{VERSION}"):
            found |= {base + path: {method: _operation(text)} for method, path, text in _OF_MODEL if path != "/stats"}
            found |= {f"{base}/{path}": {"post": _generation(text, generate_schema(x))} for path, text, x in _GENERATE}
    return found


def _generation(text: str, schema: Schema) -> dict[str, Any]:
    content = {"application/json": {"schema": {**schema, "description": _ROOM}}}
    return _operation(text) | {"requestBody": {"required": True, "content": content}}


def _operation(text: str) -> dict[str, Any]:
    return {"summary": text, "responses": _responses("OK")}


def _responses(good: str) -> dict[str, Any]:
    return {"200": {"description": good}} | {k: {"description": v} for k, v in _ERRORS.items()}


def _inference(served: ServedVersion) -> dict[str, Any]:
    """Running a model. Its schema has requests that are answered; those of other sizes are so as well."""
    specs = served.info.inputs
    is_free = any(not isinstance(n, int) or n < 0 for s in specs for n in s.dims)
    bodies = [_body(served, n) for n in ((served.info.rows.sizes or (1, 2, 3))[:3] if is_free else (1,))]
    schema = {
        "oneOf": bodies,
        "description": "for some sizes of dimensions that may have any; numbers that overflow come as binary data only",
    }
    content = {"application/json": {"schema": schema if is_free else bodies[0], "example": example(served)}}
    body = {"required": True, "content": content}
    return {"summary": "Run the model", "requestBody": body, "responses": _responses("The outputs")}


def _body(served: ServedVersion, size: int) -> Schema:
    """Return the schema of a request whose free dimensions have a size."""
    specs = served.info.inputs
    items = [_tensor(s, [n if isinstance(n, int) and n >= 0 else size for n in s.dims]) for s in specs]
    named = {"name": {"enum": [s.name for s in served.info.outputs]}, "parameters": {"type": ["object", "null"]}}
    output = {"type": "object", "required": ["name"], "properties": named}
    properties = {
        "id": {"type": ["string", "null"]},
        "inputs": {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)},
        "outputs": {"type": ["array", "null"], "items": output},
        "parameters": {"type": ["object", "null"]},
    }
    return {"type": "object", "required": ["inputs"], "properties": properties}


def _tensor(spec: TensorSpec, shape: list[int]) -> Schema:
    element = _element(DTYPES[spec.datatype], spec.limits)
    nested = element
    for n in reversed(shape):
        nested = _list_of(nested, n)
    flat = _list_of(element, math.prod(shape))
    properties = {
        "name": {"const": spec.name}, "datatype": {"const": spec.datatype}, "shape": {"const": shape},
        "data": flat if len(shape) < 2 else {"anyOf": [flat, nested]},
        "parameters": {"type": ["object", "null"], "properties": {"binary_data_size": {"type": "null"}}},
    }  # fmt: skip
    return {"type": "object", "required": ["name", "datatype", "shape", "data"], "properties": properties}


def _list_of(element: Schema, count: int) -> Schema:
    return {"type": "array", "items": element, "minItems": count, "maxItems": count}


def _element(dtype: np.dtype, limits: tuple[int, int] | None) -> Schema:
    """Return the schema of an element."""
    if dtype.kind in "iu":
        least, most = limits or (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        return {"type": "integer", "minimum": least, "maximum": most}
    if dtype.kind in "bO":
        return {"type": "boolean" if dtype.kind == "b" else "string"}
    found = ml_dtypes.finfo(dtype)
    if dtype.itemsize == 8:
        return {"type": "number", "minimum": float(found.min), "maximum": float(found.max)}
    end = 2.0 ** (found.maxexp - 1) * (2 - 2.0 ** -(found.nmant + 1))  # rounded to infinity
    return {"type": "number", "exclusiveMinimum": -end, "exclusiveMaximum": end}


def example(served: ServedVersion) -> dict[str, Any]:
    """Return a request that the model can answer, where its sizes are small."""
    inputs = []
    for spec in served.info.inputs:
        shape = [n if isinstance(n, int) and n >= 0 else 1 for n in spec.dims]
        size = 1
        for n in shape:
            size *= n
        zero: Any = {"BOOL": False, "BYTES": ""}.get(spec.datatype, 0)
        data = [zero] * min(size, 1000)
        inputs.append({"name": spec.name, "shape": shape, "datatype": spec.datatype, "data": data})
    return {"inputs": inputs}


def page(service: Service) -> str:
    """Return the document as a page without anything from elsewhere."""
    rows = []
    for path, methods in description(service)["paths"].items():
        for method, said in methods.items():
            content = said.get("requestBody", {}).get("content", {}).get("application/json", {})
            shown = f"<pre>{html.escape(json.dumps(content['example'])[:500])}</pre>" if "example" in content else ""
            rows.append(f"<tr><td>{method.upper()}</td><td><code>{html.escape(path)}</code></td>"
                        f"<td>{html.escape(said['summary'])}{shown}</td></tr>")  # fmt: skip
    return document("API", f"<table><tr><th></th><th>address</th><th>what it gives</th></tr>{''.join(rows)}</table>")


def document(title: str, body: str, refresh: int = 0) -> str:
    """A page in the look of the server."""
    again = f'<meta http-equiv="refresh" content="{refresh}">' if refresh else ""
    style = (
        "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;color:#1b1f24}"
        "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .8rem;"
        "border-bottom:1px solid #d8dee4;vertical-align:top}"
        "th{color:#57606a;font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums}"
        "pre{margin:.3rem 0;white-space:pre-wrap;word-break:break-all;color:#57606a;font-size:12px}"
        ".ok{color:#1a7f37}.bad{color:#cf222e}nav a{margin-right:1rem}"
    )
    pages = {"/": "status", "/docs": "API", "/openapi.json": "OpenAPI", "/metrics": "metrics"}
    links = "<nav>" + "".join(f'<a href="{at}">{name}</a>' for at, name in pages.items()) + "</nav>"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{again}<title>{html.escape(title)}</title>'
        f"<style>{style}</style></head><body>{links}<h1>{html.escape(title)}</h1>{body}</body></html>"
    )
