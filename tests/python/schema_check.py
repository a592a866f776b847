"""As much of JSON Schema as Heddle's schemas use. What a schema says beyond that is an error of the test."""

from __future__ import annotations

import re
from typing import Any

_TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
_SAYS_NOTHING = {"$schema", "title", "description", "x-unit", "x-group", "x-power-of-two", "$defs"}


def problems(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, at: str = "") -> list[str]:
    """What is wrong with a value, each with its place."""
    root = schema if root is None else root
    found: list[str] = []
    for word, said in schema.items():
        if word in _SAYS_NOTHING or word in ("additionalProperties", "patternProperties"):
            continue
        if word == "$ref":
            definition = root["$defs"][said.removeprefix("#/$defs/")]
            found += problems(value, definition, root, at)
        elif word == "type":
            names = said if isinstance(said, list) else [said]
            if not any(_is(value, name) for name in names):
                found.append(f"{at}: {value!r} is no {' or '.join(names)}")
                return found
        elif word == "enum":
            if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in said):
                found.append(f"{at}: {value!r} is none of {said}")
        elif word == "anyOf":
            if all(problems(value, one, root, at) for one in said):
                found.append(f"{at}: {value!r} fits nothing")
        elif word == "minimum":
            if value < said:
                found.append(f"{at}: {value} is below {said}")
        elif word == "maximum":
            if value > said:
                found.append(f"{at}: {value} is above {said}")
        elif word in ("minItems", "maxItems"):
            if len(value) < said if word == "minItems" else len(value) > said:
                found.append(f"{at}: has {len(value)} items")
        elif word == "uniqueItems":
            if len({repr(one) for one in value}) != len(value):
                found.append(f"{at}: has an item twice")
        elif word == "items":
            for place, one in enumerate(value):
                found += problems(one, said, root, f"{at}[{place}]")
        elif word == "required":
            found += [f"{at}: lacks '{name}'" for name in said if name not in value]
        elif word == "properties":
            for name, one in said.items():
                if name in value:
                    found += problems(value[name], one, root, f"{at}.{name}")
        else:
            raise AssertionError(f"the check does not know '{word}'")
    if isinstance(value, dict):
        found += _others(value, schema, root, at)
    return found


def _others(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str) -> list[str]:
    found: list[str] = []
    for name, one in value.items():
        fitting = [said for pattern, said in schema.get("patternProperties", {}).items() if re.search(pattern, name)]
        for said in fitting:
            found += problems(one, said, root, f"{at}.{name}")
        if name in schema.get("properties", {}) or fitting:
            continue
        rest = schema.get("additionalProperties", True)
        if rest is False:
            found.append(f"{at}: '{name}' is not known")
        elif isinstance(rest, dict):
            found += problems(one, rest, root, f"{at}.{name}")
    return found


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return False
    return isinstance(value, _TYPES[name])
