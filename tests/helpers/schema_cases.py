"""Values that a schema of requests describes, and values that it does not."""

from __future__ import annotations

import json

MODERATE = 1e4  # numbers are no larger: a model may overflow


def instance(schema, rng):
    """Something that a schema of ours describes."""
    for word in ("oneOf", "anyOf", "enum"):
        if word in schema:
            found = rng.choice(schema[word])
            return found if word == "enum" else instance(found, rng)
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type", "null")
    match kind if isinstance(kind, str) else rng.choice(kind):
        case "null":
            return None
        case "object":
            given = schema.get("properties", {})
            return {n: instance(given[n], rng) for n in given if n in schema.get("required", ()) or rng.random() < 0.3}
        case "array" if "prefixItems" in schema:
            return [instance(s, rng) for s in schema["prefixItems"]]
        case "array":
            least = schema.get("minItems", 0)
            count = rng.randint(least, min(schema.get("maxItems", least + 2), least + 2))
            return [instance(schema["items"], rng) for _ in range(count)]
        case "boolean":
            return rng.random() < 0.5
        case "string":
            return "".join(chr(rng.randrange(0xD000)) for _ in range(rng.randint(schema.get("minLength", 0), 8)))
        case "integer":
            low, high = schema["minimum"], schema["maximum"]
            number = rng.choice([low, high, rng.randint(low, high)])
            return float(number) if abs(number) < 2**53 and rng.random() < 0.3 else number
    low = max(schema.get("minimum", schema.get("exclusiveMinimum")), -MODERATE)
    high = min(schema.get("maximum", schema.get("exclusiveMaximum")), MODERATE)
    return rng.choice([high, rng.uniform(low, high)])


def violation(schema, value, rng):
    """What an instance of an object becomes when one place is altered so that the schema describes it no more."""
    value = json.loads(json.dumps(value))
    places = [(value, schema, n) for n in schema["required"]]
    for tensor, described in zip(value.get("inputs", ()), _tensors(schema), strict=False):
        places += [(tensor, described, n) for n in described["required"]]
    holder, described, name = rng.choice(places)
    kind = rng.randrange(3)
    if kind == 0:
        del holder[name]
    elif kind == 1 or not isinstance(holder[name], list):
        holder[name] = rng.choice([None, True, {}, {"x": 1}, 3.5, -1, [None], [{}], [[]]])
    else:
        holder[name] = rng.choice([[*holder[name], None], [{}, *holder[name][1:]]])
    return value


def _tensors(schema):
    inputs = schema["properties"].get("inputs", {})
    return inputs.get("prefixItems", ())
