"""Golds of published task sets that are wrong: which, why, and what they should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final, Self

from pydantic import Field, JsonValue, model_validator

from arena_core.errors import TaskError, UnknownNameError
from arena_core.names import offered
from sites.documents import open_document, validated
from sites.fields import Strict
from tasks.imports.formats import Entry

FILE: Final = Path(__file__).with_suffix(".yaml")


class ErratumEffect(StrEnum):
    """What taking a published gold literally does: to an honest episode, or to an idle one."""

    REFUSES_RIGHT = "refuses-right"
    ACCEPTS_IDLE = "accepts-idle"


class Erratum(Strict):
    """A mistake in a published task.

    Attributes:
        task: the set's own id.
        field: where in the record `published` stands, names joined by dots; lists are searched.
        published: the text that is wrong, a part of the field's text.
        corrected: what it should be; None where no correction is known.
    """

    task: str
    effect: ErratumEffect
    field: str | None = None
    published: str | None = None
    corrected: str | None = None
    reason: str
    evidence: str

    @model_validator(mode="after")
    def _says_what_it_corrects(self) -> Self:
        if len({self.field is None, self.published is None, self.corrected is None}) > 1:
            raise ValueError("`field`, `published` and `corrected` stand together or not at all")
        return self


class _Set(Strict):
    id: str
    errata: tuple[Erratum, ...]


class _Errata(Strict):
    version: int = Field(ge=1, le=1)
    sets: dict[str, _Set]


@cache
def _sets() -> Mapping[str, _Set]:
    return validated(open_document(FILE, TaskError), _Errata, TaskError).sets


def errata_of(format_name: str | None = None) -> dict[str, tuple[Erratum, ...]]:
    """Return the known mistakes, by the name of the published set.

    Raises:
        UnknownNameError: of that set none are known; names those of which some are.
    """
    sets = _sets()
    if format_name is not None and format_name not in sets:
        message = f"no errata of '{format_name}' are known; {offered(format_name, sets)}"
        raise UnknownNameError(message)
    return {
        name: one.errata for name, one in sets.items() if format_name is None or name == format_name
    }


def corrected(entry: Entry, format_name: str) -> Entry:
    """Return an entry with its known mistakes corrected, the published record kept beside.

    A record in which the wrong text does not stand (another edition of the set) stays as it is.
    """
    found = _sets().get(format_name)
    if found is None or found.id not in entry.record:
        return entry
    name = str(entry.record[found.id])
    record: JsonValue = entry.record
    applied: list[str] = []
    for one in found.errata:
        if one.task != name or one.field is None:
            continue
        changed = _replaced(record, one.field.split("."), one.published or "", one.corrected or "")
        if changed != record:
            record = changed
            applied.append(f"{one.field}: '{one.published}' is '{one.corrected}'. {one.reason}")
    if not applied or not isinstance(record, dict):
        return entry
    return replace(entry, record=record, published=entry.record, errata=tuple(applied))


def _replaced(found: JsonValue, path: list[str], old: str, new: str) -> JsonValue:
    """Return a value with text replaced in every text below a path; a whole copy of what differs.

    A text that holds the correction already is not corrected twice.
    """
    match found:
        case dict():
            return {
                key: _replaced(value, path[1:], old, new) if not path or key == path[0] else value
                for key, value in found.items()
            }
        case list():
            return [_replaced(one, path, old, new) for one in found]
        case str() if not path and (old not in new or new not in found):
            return found.replace(old, new)
        case _:
            return found
