"""The kinds of file that have a schema."""

from __future__ import annotations

from enum import StrEnum


class SchemaKind(StrEnum):
    """A file that people write (`suite`, `site`, `study`), or that a run leaves."""

    SUITE = "suite"
    SITE = "site"
    STUDY = "study"
    EVIDENCE = "evidence"
    LOCK = "lock"
