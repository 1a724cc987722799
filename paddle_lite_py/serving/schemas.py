"""JSON Schemas of requests: what is published is what is checked."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

Schema = dict[str, Any]


def fits(value: Any, schema: Schema) -> bool:
    """Return whether a JSON value is valid under a schema.

    Example:
        >>> fits([1, 2.0], {"type": "array", "items": {"type": "integer"}}), fits(1.5, {"type": "integer"})
        (True, False)
        >>> fits(1.0, {"enum": [0, 1]}), fits(True, {"enum": [0, 1]})
        (True, False)
    """
    return Draft202012Validator(schema).is_valid(value)


def closed(properties: dict[str, Schema], required: list[str]) -> Schema:
    """Return the schema of an object with these properties, and no others. Those that are not required may be null."""
    given = {n: s if n in required else {"anyOf": [s, {"type": "null"}]} for n, s in properties.items()}
    return {"type": "object", "required": required, "properties": given, "additionalProperties": False}
