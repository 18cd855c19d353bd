"""The kinds of file that have a schema, and the schemas that Arena ships, each with its version."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files
from typing import Final

from orchestrator.runs.store import formats


class SchemaKind(StrEnum):
    """A file that people write (`suite`, `site`, `run`, `study`), or that a run leaves."""

    SUITE = "suite"
    SITE = "site"
    RUN = "run"
    STUDY = "study"
    EVIDENCE = "evidence"
    LOCK = "lock"


# Raised when a valid file becomes invalid; a run's files have the version of their format.
VERSIONS: Final = {
    SchemaKind.SUITE: 1,
    SchemaKind.SITE: 1,
    SchemaKind.STUDY: 1,
    SchemaKind.RUN: 1,
    SchemaKind.EVIDENCE: formats.EVIDENCE.version,
    SchemaKind.LOCK: formats.LOCK.version,
}


def file_name(kind: SchemaKind) -> str:
    """Return the name of a schema's file: `suite-1.json`."""
    return f"{kind}-{VERSIONS[kind]}.json"


def shipped_text(kind: SchemaKind) -> str:
    return (files("orchestrator.authoring.schemas") / file_name(kind)).read_text(encoding="utf-8")
