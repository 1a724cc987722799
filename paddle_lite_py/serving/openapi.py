"""What the server answers to, as OpenAPI, and as a page for people."""

from __future__ import annotations

import html
import json
from typing import Any

from .service import ServedVersion, Service
from .tensors import DTYPES

_ERRORS = {
    "400": "the request is wrong",
    "404": "there is no such model",
    "429": "too many requests wait",
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


def description(service: Service) -> dict[str, Any]:
    """The document, with an entry for each model."""
    paths: dict[str, Any] = {path: {method: _operation(text)} for method, path, text in _FIXED}
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
    return {"summary": text, "responses": {"200": {"description": "OK"}}}


def _inference(served: ServedVersion) -> dict[str, Any]:
    tensor = {
        "type": "object", "required": ["name", "shape", "datatype"],
        "properties": {
            "name": {"type": "string", "enum": [s.name for s in served.info.inputs]},
            "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "datatype": {"type": "string", "enum": list(DTYPES)},
            "data": {"type": "array"}, "parameters": {"type": "object"},
        },
    }  # fmt: skip
    body = {"type": "object", "required": ["inputs"], "properties": {"inputs": {"type": "array", "items": tensor}}}
    content = {"application/json": {"schema": body, "example": example(served)}}
    responses = {"200": {"description": "The outputs"}} | {k: {"description": v} for k, v in _ERRORS.items()}
    return {"summary": "Run the model", "requestBody": {"required": True, "content": content}, "responses": responses}


def example(served: ServedVersion) -> dict[str, Any]:
    """A request that the model can answer, where its sizes are small."""
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
    """The document as a page without anything from elsewhere."""
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
