"""The schema of a template's task: a task's, in which a placeholder may stand for any value."""

from __future__ import annotations

import re
from typing import Any, Final

from tasks.schema import Task
from tasks.templates import Template

_SUFFIX: Final = "InTemplate"
_DEFS: Final = "#/$defs/"
_PLACEHOLDER: Final = {"type": "string", "pattern": r"\{[a-z][a-z0-9_]*\}"}
# An instance takes its id from the template.
_TAKEN: Final = ("id", "template")
# What holds schemas, by how: one, a list of them, or by name.
_ONE: Final = ("items", "additionalProperties")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")


def type_templates(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a suite's schema in which the task of a template is one, and no free object."""
    definitions = dict(schema["$defs"])
    waiting, made = [Task.__name__], dict[str, Any]()
    while waiting:
        name = waiting.pop()
        if name not in made:
            made[name] = _with_placeholders(definitions[name])
            waiting += re.findall(rf"{re.escape(_DEFS)}(\w+){_SUFFIX}\b", str(made[name]))
    task = made[Task.__name__]
    task["properties"] = {key: one for key, one in task["properties"].items() if key not in _TAKEN}
    task["required"] = [key for key in task["required"] if key not in _TAKEN]
    definitions |= {f"{name}{_SUFFIX}": one for name, one in made.items()}
    template = dict(definitions[Template.__name__])
    template["properties"] = template["properties"] | {"task": _ref(Task.__name__)}
    definitions[Template.__name__] = template
    return schema | {"$defs": definitions}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"{_DEFS}{name}{_SUFFIX}"}


def _with_placeholders(node: dict[str, Any]) -> dict[str, Any]:
    """Copy a schema; the values inside of what it describes may be placeholders."""
    made = {key: value for key, value in node.items() if key != "propertyNames"}
    if "$ref" in made:
        made["$ref"] += _SUFFIX
    if "discriminator" in made:
        mapping = made["discriminator"]["mapping"]
        mapping = {key: f"{ref}{_SUFFIX}" for key, ref in mapping.items()}
        made["discriminator"] = made["discriminator"] | {"mapping": mapping}
    for key in _ONE:
        if isinstance(made.get(key), dict):
            made[key] = _or_placeholder(made[key])
    for key in _LISTS:
        if key in made:
            made[key] = [_with_placeholders(one) for one in made[key]]
    if "properties" in made:
        made["properties"] = {key: _or_placeholder(one) for key, one in made["properties"].items()}
    return made


def _or_placeholder(node: dict[str, Any]) -> dict[str, Any]:
    if "const" in node:  # by this the union that it is in is told apart
        return dict(node)
    kept = {key: node[key] for key in ("default", "description", "title") if key in node}
    inner = {key: value for key, value in node.items() if key not in kept}
    return kept | {"anyOf": [_with_placeholders(inner), _PLACEHOLDER]}
