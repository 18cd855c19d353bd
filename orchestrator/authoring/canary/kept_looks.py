"""The looks of a run's canary, one JSON line each in the run's folder, and what they decide."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Final

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from arena_core.errors import StoreError
from arena_core.regular_files import MEGABYTE, read_regular
from orchestrator.authoring.canary.findings import CanaryStatus

LOOKS_FILE: Final = "looks.jsonl"
# A look answers for that long where a run names no other age, and then it is repeated.
FRESH: Final = timedelta(minutes=10)
# A look that begins later says nothing of a failure: the site may have changed since.
TOO_LATE: Final = timedelta(hours=1)
_LARGEST: Final = 64 * MEGABYTE


class When(StrEnum):
    """Why a task was looked at."""

    BEFORE = "before the agent played"
    AFTER = "after the agent had failed"


class KeptLook(BaseModel):
    """One look at one task of a run.

    Attributes:
        began: as this machine's clock said.
        status: `unknown` also where the look could not be made; `because` says why.
        evidence: the folder of the play; None where nothing was played.
        plays: how often the reference was played.
        pages: how many documents that loaded.
        retry_at: before when the site does not want to be asked again; None where it does not say.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    task: str
    began: AwareDatetime
    when: When
    status: CanaryStatus
    because: str
    evidence: str | None = None
    plays: int = Field(default=0, ge=0)
    pages: int = Field(default=0, ge=0)
    retry_at: AwareDatetime | None = None


class Answer(StrEnum):
    """What looks say of a failure."""

    STANDS = "stands"
    UNDONE = "undone"
    OPEN = "open"
    TOO_LATE = "too late"


def is_fresh(look: KeptLook | None, now: datetime, age: timedelta = FRESH) -> bool:
    """Whether a look still answers; one from the future does not: somebody set the clock.

    It does for `age`, and for as long as the site does not want to be asked again.
    """
    if look is None or now < look.began:
        return False
    until = look.began + age
    return now < (until if look.retry_at is None else max(until, look.retry_at))


def answer(
    failed_at: datetime, looks: Sequence[KeptLook], now: datetime, age: timedelta = FRESH
) -> tuple[Answer, KeptLook | None]:
    """Return what a task's looks say of a failure, and the one that decides.

    The first look after it decides. A look before it decides only where it was fresh then and found
    that the task did not hold. Looks of which nothing is known decide nothing.
    """
    known = [one for one in looks if one.status is not CanaryStatus.UNKNOWN]
    before = max(
        (one for one in known if one.began < failed_at), key=attrgetter("began"), default=None
    )
    if before is not None and before.status.is_bad and is_fresh(before, failed_at, age):
        return Answer.UNDONE, before
    after = min(
        (one for one in known if one.began >= failed_at), key=attrgetter("began"), default=None
    )
    if after is None:
        return (Answer.TOO_LATE if now - failed_at > TOO_LATE else Answer.OPEN), None
    if after.began - failed_at > TOO_LATE:
        return Answer.TOO_LATE, after
    return (Answer.UNDONE if after.status.is_bad else Answer.STANDS), after


def read_looks(run: Path) -> tuple[KeptLook, ...]:
    """Return the looks of a run, oldest first; none where it has no canary.

    A last line without its end was being written when the machine went down: it is not there.
    """
    path = run / LOOKS_FILE
    try:
        text = read_regular(path, most=_LARGEST).decode()
        lines = text[: text.rfind("\n") + 1].splitlines()
        return tuple(KeptLook.model_validate_json(line) for line in lines)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as cause:
        why = cause.errors()[0]["msg"] if isinstance(cause, ValidationError) else cause
        hint = "move it away: the canary then looks anew"
        raise StoreError(f"{path}: cannot be read: {why}", hint=hint) from cause


def add_looks(run: Path, looks: Sequence[KeptLook]) -> None:
    """Write looks down, before anything follows from them."""
    path = run / LOOKS_FILE
    lines = "".join(f"{one.model_dump_json()}\n" for one in looks)
    try:
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        with os.fdopen(handle, "r+b") as file:
            written = file.read()
            os.ftruncate(handle, written.rfind(b"\n") + 1)  # a line that was cut off
            file.write(lines.encode())
            file.flush()
            os.fsync(handle)
    except OSError as cause:
        message = f"{path}: cannot be written: {cause.strerror}"
        raise StoreError(message, hint="free some disk, then go on with --resume") from cause
