"""Writes the schemas that travel with Arena anew: `python -m orchestrator.schemas.writing`."""

from __future__ import annotations

from pathlib import Path

from orchestrator.schemas.documents import schema_text
from orchestrator.schemas.files import file_name
from orchestrator.schemas.kinds import SchemaKind


def write_all(folder: Path) -> None:
    """Write one file for each kind."""
    for kind in SchemaKind:
        (folder / file_name(kind)).write_text(schema_text(kind), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(__file__).parent)
