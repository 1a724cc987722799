"""The part of JSON Schema that describes requests: what is published is what is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]


def is_one_of(value: Any, values: Any) -> bool:
    """Return whether JSON has the value among others; true is not 1, but 1.0 is.

    Example:
        >>> is_one_of(1.0, [0, 1]), is_one_of(True, [0, 1])
        (True, False)
    """
    return any(value == other and (value.__class__ is bool) == (other.__class__ is bool) for other in values)


def is_number(value: Any) -> bool:
    """Return whether a value is a number of JSON."""
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "number": is_number,
    # Larger ones that are no integers of Python are rounded.
    "integer": lambda v: is_number(v) and (isinstance(v, int) or (v == v // 1 and abs(v) <= 1 << 53)),
}
_WORDS: dict[str, Callable[[Any, Any], bool]] = {
    "type": lambda v, name: _TYPES[name](v),
    "enum": is_one_of,
    "anyOf": lambda v, schemas: any(fits(v, s) for s in schemas),
    "minimum": lambda v, least: not is_number(v) or v >= least,
    "maximum": lambda v, most: not is_number(v) or v <= most,
    "exclusiveMinimum": lambda v, below: not is_number(v) or v > below,
    "minLength": lambda v, n: not isinstance(v, str) or len(v) >= n,
    "minItems": lambda v, n: not isinstance(v, list) or len(v) >= n,
    "maxItems": lambda v, n: not isinstance(v, list) or len(v) <= n,
    "items": lambda v, schema: not isinstance(v, list) or all(fits(item, schema) for item in v),
    "required": lambda v, names: not isinstance(v, dict) or all(name in v for name in names),
    "properties": lambda v, schemas: (
        not isinstance(v, dict) or all(fits(v[n], s) for n, s in schemas.items() if n in v)
    ),
}


def fits(value: Any, schema: Schema) -> bool:
    """Return whether a value of JSON is what a schema describes.

    Example:
        >>> fits([1, 2.0], {"type": "array", "items": {"type": "integer"}}), fits(1.5, {"type": "integer"})
        (True, False)
    """
    if schema.get("additionalProperties") is False and isinstance(value, dict):
        if value.keys() - schema["properties"].keys():
            return False
    return all(_WORDS[word](value, given) for word, given in schema.items() if word in _WORDS)


def closed(properties: dict[str, Schema], required: list[str]) -> Schema:
    """Return the schema of an object with these properties, and no others. Those that are not required may be null."""
    given = {n: s if n in required else {"anyOf": [s, {"type": "null"}]} for n, s in properties.items()}
    return {"type": "object", "required": required, "properties": given, "additionalProperties": False}
