"""The schemas: made from the models, shipped as files, one version each."""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, create_model

from evaluators.evidence import Evidence
from evaluators.fields import Slug
from orchestrator.schemas.files import VERSIONS
from orchestrator.schemas.kinds import SchemaKind
from orchestrator.schemas.placeholders import type_templates
from orchestrator.store.lock import RunLock
from orchestrator.studies.study_file import StudyFile
from sites.manifest import Site
from tasks.importers import IMPORTERS
from tasks.schema import Split, Task
from tasks.templates import Template

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


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
    split: Split | None = None


def make_schema(kind: SchemaKind) -> dict[str, Any]:
    """Make a schema from the models, with what is plugged in here.

    Raises:
        PluginError: Arena's own locators and matchers are not registered.
    """
    made = _model(kind).model_json_schema(mode="validation")
    if kind is SchemaKind.SUITE:
        made = type_templates(made)
    head = {
        "$schema": _DIALECT,
        "$id": f"urn:arena:schema:{kind}:{VERSIONS[kind]}",
        "title": f"Arena {kind}, version {VERSIONS[kind]}",
    }
    return head | {name: value for name, value in made.items() if name != "title"}


def schema_text(kind: SchemaKind) -> str:
    """Return a schema as its file holds it."""
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
        case SchemaKind.STUDY:
            return StudyFile
        case SchemaKind.EVIDENCE:
            return Evidence
        case SchemaKind.LOCK:
            return RunLock
