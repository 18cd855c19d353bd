"""Words that ask for the nearest of a kind: "nearest pharmacy", "pubs near me"."""

from __future__ import annotations

import re

_ASKED = re.compile(
    r"^(?:(?:where is )?(?:the )?(?:nearest|closest|nearby) (?P<after>.+)"
    r"|(?P<before>.+?) (?:near me|nearby|near here|around here|close by))$",
    re.IGNORECASE,
)


def nearest_of(words: str) -> str | None:
    """Return what the nearest is asked for; None where words ask for something else."""
    found = _ASKED.match(" ".join(words.split()).rstrip("?"))
    return (found["after"] or found["before"]) if found else None
