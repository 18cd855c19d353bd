"""A tape as an option, a file or a lock names it, and which tasks of a suite it carries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, ValidationError

from arena_core.errors import UsageError
from arena_core.names import counted
from sites.fields import Strict

_MOST_BYTES: Final = 4 * 1024 * 1024
_NAMED: Final = re.compile(r"(?P<site>[a-z][a-z0-9_-]*)=(?P<file>.+?)(?P<frozen>@frozen)?")


@dataclass(frozen=True, slots=True)
class NamedTape:
    """The file of a site's tape.

    Attributes:
        is_frozen: the clock of its pages begins when they were recorded, and what they draw by
            chance is the same each time.
    """

    site: str
    path: Path
    is_frozen: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `SITE=FILE` or `SITE=FILE@frozen`."""
        found = _NAMED.fullmatch(text)
        if found is None:
            message = f"--tape {text!r}: expected SITE=FILE or SITE=FILE@frozen"
            raise UsageError(message, hint="for example wiki=kettles.wacz")
        return cls(found["site"], Path(found["file"]), found["frozen"] is not None)

    def __str__(self) -> str:
        return f"{self.site}={self.path}{'@frozen' if self.is_frozen else ''}"


def tapes_beside(named: Sequence[str], file: Path) -> tuple[str, ...]:
    """Return tapes with their paths as seen from here, where a file names them from its folder."""
    found: list[str] = []
    for tape in map(NamedTape.parse, named):
        beside = file.parent / tape.path
        found.append(str(replace(tape, path=beside) if beside.exists() else tape))
    return tuple(found)


def known_tape(text: str) -> str:
    """Return a text that names a tape; UsageError for any other."""
    NamedTape.parse(text)
    return text


class Fidelity(Strict):
    """The share of references that play on a tape.

    Attributes:
        played: ids of tasks whose reference succeeds; `failed`: of the others, with why.
    """

    suite: str
    suite_hash: str
    tape_sha256: str
    at: str
    played: tuple[str, ...] = ()
    failed: dict[str, Annotated[str, Field(max_length=400)]] = Field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of references that play, of those that were tried."""
        tried = len(self.played) + len(self.failed)
        return len(self.played) / tried if tried else 0.0

    @property
    def in_words(self) -> str:
        """Say it in a few words."""
        tried = len(self.played) + len(self.failed)
        return f"{len(self.played)} of {tried} references play ({self.share:.0%})"


class TapeLock(Strict):
    """A tape: its file's name and digest, and what was known of its fidelity to the suite.

    Attributes:
        fidelity: None where nobody verified this tape with this suite.
        untried: tasks of the run on this tape whose references were not among those that were.
    """

    file: str
    sha256: str
    fidelity: Fidelity | None = None
    untried: int = Field(default=0, exclude_if=lambda value: not value)

    @property
    def fidelity_in_words(self) -> str:
        """Say how far the tape carries the suite."""
        if self.fidelity is None:
            return "fidelity unknown: nobody ran arena tape verify with this suite"
        beside = f", {counted(self.untried, 'task')} here not tried" if self.untried else ""
        return f"fidelity: {self.fidelity.in_words}{beside}"


def fidelity_path(tape: Path) -> Path:
    """Return where the last verification of a tape is kept."""
    return tape.with_name(f"{tape.name}.verified.json")


def keep_fidelity(tape: Path, found: Fidelity) -> None:
    fidelity_path(tape).write_text(f"{found.model_dump_json(indent=2)}\n", encoding="utf-8")


def known_fidelity(tape: Path, sha256: str, suite_hash: str) -> Fidelity | None:
    """Return what is known of a tape and a suite; None where either was another one then."""
    path = fidelity_path(tape)
    try:
        with path.open("rb") as stream:
            found = Fidelity.model_validate_json(stream.read(_MOST_BYTES))
    except (OSError, ValidationError):
        return None
    return found if (found.tape_sha256, found.suite_hash) == (sha256, suite_hash) else None
