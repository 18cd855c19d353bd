"""Checks as an import writes them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

Written = dict[str, object]

UNTRANSLATED: Final = "untranslated"


@dataclass(frozen=True, slots=True)
class Untranslated:
    """What of a published task no check of Arena's says.

    Attributes:
        what: the field of the published task.
        why: the reason, without the field.
    """

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def end_check(name: str, locate: Written, match: Written, **more: object) -> Written:
    """Return a check at the end of an episode."""
    return {"name": name, "when": "end", "locate": locate, "match": match, **more}


def either(name: str, ways: Sequence[Written], **more: object) -> Written:
    """Return an end check that any of several ways meets, each with `locate` and `match`."""
    first, *others = ways
    check = {"name": name, "when": "end", **first, **more}
    return {**check, "any_of": others} if others else check


def key_node(name: str, locate: Written, match: Written, **more: object) -> Written:
    """Return a key node."""
    return {"name": name, "when": "step", "locate": locate, "match": match, **more}


def written_out(parts: Iterable[Written | Untranslated]) -> Iterator[Written]:
    """Yield checks, with one that nobody can look at for each part that is not translated."""
    number = 0
    for part in parts:
        if isinstance(part, Untranslated):
            number += 1
            yield end_check(
                f"{UNTRANSLATED}-{number}",
                {"by": UNTRANSLATED, "what": part.what, "why": part.why},
                {"how": "exact", "value": "translated"},
            )
        else:
            yield part
