"""The schemas, made from the models; run as a program, it writes the shipped files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, create_model

from arena_core.errors import UsageError
from arena_core.names import offered
from evaluators.evidence import Evidence
from evaluators.fields import Slug
from orchestrator.analysis.studies.study_file import StudyFile
from orchestrator.authoring.schemas.kinds import VERSIONS, SchemaKind, file_name
from orchestrator.runs.spec import RunSpec
from orchestrator.runs.store.lock import RunLock
from sites.manifest import Site
from tasks.cases import Case
from tasks.given import GivenSteps
from tasks.needs import Tier
from tasks.schema import Split, Task
from tasks.sources import IMPORTERS
from tasks.templates import Template

_SUFFIX: Final = "InTemplate"
_DEFS: Final = "#/$defs/"
_PLACEHOLDER: Final = {"type": "string", "pattern": r"\{[a-z][a-z0-9_]*\}"}
# An instance takes its id from the template.
_TAKEN: Final = ("id", "template")
# What holds schemas, by how: one, a list of them, or by name.
_ONE: Final = ("items", "additionalProperties")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def type_templates(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a suite's schema in which the task of a template or case is no free object."""
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
    for model in (Template, Case):
        holder = dict(definitions[model.__name__])
        holder["properties"] = holder["properties"] | {"task": _ref(Task.__name__)}
        definitions[model.__name__] = holder
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


class _SuiteFile(BaseModel):
    """A suite, or one file of a suite's folder: only the file that names it has the first three."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "dependentRequired": {
                "suite": ["version", "title"],
                "version": ["suite"],
                "title": ["suite"],
            }
        },
    )

    suite: Slug = ""
    version: int = Field(default=1, ge=1)
    title: str = ""
    tasks: tuple[Task, ...] = ()
    templates: tuple[Template, ...] = ()
    cases: tuple[Case, ...] = ()
    split: Split | None = None
    tier: Tier | None = None
    given: dict[str, GivenSteps] = Field(default_factory=dict)
    contents: dict[str, dict[str, GivenSteps]] = Field(default_factory=dict)
    labels: dict[str, dict[str, str]] = Field(default_factory=dict)


def make_schema(kind: SchemaKind) -> dict[str, Any]:
    made = _model(kind).model_json_schema(mode="validation")
    if kind is SchemaKind.SUITE:
        made = type_templates(made)
    head = {
        "$schema": _DIALECT,
        "$id": f"urn:arena:schema:{kind}:{VERSIONS[kind]}",
        "title": f"Arena {kind}, version {VERSIONS[kind]}",
    }
    return head | {name: value for name, value in made.items() if name != "title"}


def schema_named(kind: str) -> str:
    """Return the schema of a kind of file as text."""
    if kind not in set(SchemaKind):
        hint = offered(kind, list(SchemaKind), intro="schemas")
        raise UsageError(f"there is no schema '{kind}'", hint=hint)
    return schema_text(SchemaKind(kind))


def schema_text(kind: SchemaKind) -> str:
    return json.dumps(make_schema(kind), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _model(kind: SchemaKind) -> type[BaseModel]:
    match kind:
        case SchemaKind.SUITE:
            usable, _ = IMPORTERS.load_all()
            fields: dict[str, Any] = {
                key: (tuple.__class_getitem__((one, ...)), ()) for key, one in usable.items()
            }
            return create_model("SuiteFile", __base__=_SuiteFile, **fields)
        case SchemaKind.SITE:
            return Site
        case SchemaKind.RUN:
            return RunSpec
        case SchemaKind.STUDY:
            return StudyFile
        case SchemaKind.EVIDENCE:
            return Evidence
        case SchemaKind.LOCK:
            return RunLock


def write_all(folder: Path) -> None:
    for kind in SchemaKind:
        (folder / file_name(kind)).write_text(schema_text(kind), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(__file__).parent)
