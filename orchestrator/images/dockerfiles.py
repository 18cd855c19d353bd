"""Where in a Dockerfile a build failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_ESCAPE: Final = re.compile(r"#\s*escape\s*=\s*(\S)", re.IGNORECASE)
_PARSING: Final = re.compile(r"dockerfile parse error (?:on )?line (\d+)", re.IGNORECASE)


def failed_line(dockerfile: str, step: int, failure: str) -> int:
    """Return the line, from 1, at which a build failed.

    Args:
        dockerfile: its text.
        step: how many steps had begun, the failed one included; 0 for none.
        failure: what the engine said: of a mistake in the file itself it names the line.
    """
    said = _PARSING.search(failure)
    if said is not None:
        return int(said[1])
    begun = list(_instructions(dockerfile))
    return begun[min(step, len(begun)) - 1] if begun and step else 1


def _instructions(dockerfile: str) -> Iterator[int]:
    """Yield the line on which each instruction begins: one step of a build each."""
    escape = _ESCAPE.match(dockerfile)
    mark = escape[1] if escape else "\\"
    goes_on = False
    for number, line in enumerate(dockerfile.splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue  # inside an instruction too
        if not goes_on:
            yield number
        goes_on = text.endswith(mark)
