"""The server's API as OpenAPI, and as a page for people."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

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
# Of each datatype, elements that any model of it takes.
_ELEMENTS: dict[str, dict[str, Any]] = {
    "BOOL": {"type": "boolean"},
    "BYTES": {"type": "string", "maxLength": 100},
    **{name: {"type": "number", "minimum": -1e4, "maximum": 1e4} for name in ("FP16", "BF16", "FP32", "FP64")},
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
    ("get", "/v1/models", "Names of the language models"),
    ("post", "/v1/completions", "Continue prompts, as in OpenAI's API"),
    ("post", "/v1/chat/completions", "Continue a conversation, as in OpenAI's API"),
    ("post", "/v2/models/{model}/generate", "Continue a text"),
    ("post", "/v2/models/{model}/generate_stream", "Continue a text, as server-sent events"),
]


def description(service: Service) -> dict[str, Any]:
    """Return the document, with an entry for each model."""
    fixed = [*_FIXED, *_LANGUAGE] if service.engines else _FIXED
    paths: dict[str, Any] = {path: {method: _operation(text)} for method, path, text in fixed}
    for served in service.all_versions():
        name, version = served.source.name, served.source.version
        for base in (f"/v2/models/{name}", f"/v2/models/{name}/versions/{version}"):
            for method, path, text in _OF_MODEL:
                paths[base + path] = {method: _operation(text)}
            paths[f"{base}/infer"] = {"post": _inference(served)}
        for action in ("load", "unload"):
            paths[f"/v2/repository/models/{name}/{action}"] = {"post": _operation(f"{action.title()} the model")}
    meta = service.server_metadata()
    return {"openapi": "3.1.0", "info": {"title": meta["name"], "version": meta["version"]}, "paths": paths}


def _operation(text: str) -> dict[str, Any]:
    return {"summary": text, "responses": _responses("OK")}


def _responses(good: str) -> dict[str, Any]:
    return {"200": {"description": good}} | {k: {"description": v} for k, v in _ERRORS.items()}


def _inference(served: ServedVersion) -> dict[str, Any]:
    """Running a model. Its schema has requests that are answered; those of other sizes are so as well."""
    specs = served.info.inputs
    is_free = any(not isinstance(n, int) or n < 0 for s in specs for n in s.dims)
    bodies = [_body(specs, n) for n in ((served.info.rows.sizes or (1, 2, 3))[:3] if is_free else (1,))]
    schema = {"oneOf": bodies, "description": "for some sizes of dimensions that may have any"}
    content = {"application/json": {"schema": schema if is_free else bodies[0], "example": example(served)}}
    body = {"required": True, "content": content}
    return {"summary": "Run the model", "requestBody": body, "responses": _responses("The outputs")}


def _body(specs: Sequence[TensorSpec], size: int) -> dict[str, Any]:
    """Return the schema of a request whose free dimensions have a size."""
    items = [_tensor(s, [n if isinstance(n, int) and n >= 0 else size for n in s.dims]) for s in specs]
    inputs = {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    properties = {"id": {"type": "string", "maxLength": 100}, "inputs": inputs}
    return {"type": "object", "required": ["inputs"], "properties": properties, "additionalProperties": False}


def _tensor(spec: TensorSpec, shape: list[int]) -> dict[str, Any]:
    element = _ELEMENTS.get(spec.datatype) or _of_integers(DTYPES[spec.datatype])
    count = math.prod(shape)
    properties = {
        "name": {"const": spec.name}, "datatype": {"const": spec.datatype}, "shape": {"const": shape},
        "data": {"type": "array", "items": element, "minItems": count, "maxItems": count},
    }  # fmt: skip
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}


def _of_integers(dtype: np.dtype) -> dict[str, Any]:
    limits = np.iinfo(dtype)
    return {"type": "integer", "minimum": int(limits.min), "maximum": int(limits.max)}


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
            shown = f"<pre>{html.escape(json.dumps(content['example'])[:500])}</pre>" if content else ""
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
