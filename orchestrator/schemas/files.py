"""The schemas that travel with Arena, as files: of Arena's own locators, matchers and importers."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from orchestrator.schemas.kinds import SchemaKind
from orchestrator.store import formats

# Raised where a file that was valid is no more; a run's files have the version of their format.
VERSIONS: Final = {
    SchemaKind.SUITE: 1,
    SchemaKind.SITE: 1,
    SchemaKind.STUDY: 1,
    SchemaKind.EVIDENCE: formats.EVIDENCE.version,
    SchemaKind.LOCK: formats.LOCK.version,
}


def file_name(kind: SchemaKind) -> str:
    """Return the name of a schema's file: `suite-1.json`."""
    return f"{kind}-{VERSIONS[kind]}.json"


def shipped_text(kind: SchemaKind) -> str:
    """Return the schema that travels with Arena."""
    return (files("orchestrator.schemas") / file_name(kind)).read_text(encoding="utf-8")
