"""What judges replied on a run's episodes: `judgements.jsonl`, a line each, only ever added to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from arena_core.errors import StoreError
from evaluators.judgements import Judgement

JUDGEMENTS_FILE: Final = "judgements.jsonl"


def read_judgements(run: Path) -> tuple[Judgement, ...]:
    """Return the judgements of a run's folder, oldest first; none where nothing was judged.

    A last line without its end was being written when the machine went down: it is not there.

    Raises:
        StoreError: the file cannot be read, or a line is no judgement.
    """
    path = run / JUDGEMENTS_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as cause:
        message = f"{path}: cannot be read: {cause}"
        raise StoreError(message) from cause
    whole = text[: text.rfind("\n") + 1]
    found: list[Judgement] = []
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            found.append(Judgement.model_validate_json(line))
        except ValidationError as cause:
            message = f"{path}:{number}: is no judgement: {cause.errors()[0]['msg']}"
            hint = f"delete the line, then: arena judge run {run}"
            raise StoreError(message, hint=hint) from cause
    return tuple(found)


def add_judgements(run: Path, judgements: Iterable[Judgement]) -> None:
    """Write judgements behind those that are there.

    Raises:
        StoreError: the disk is full, or the folder read-only.
    """
    path = run / JUDGEMENTS_FILE
    lines = "".join(f"{one.model_dump_json()}\n" for one in judgements)
    try:
        with path.open("ab") as file:
            _cut_torn_line(path)
            file.write(lines.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as cause:
        message = f"{path}: cannot be written: {cause.strerror}"
        raise StoreError(message, hint="free some disk, then judge again") from cause


def _cut_torn_line(path: Path) -> None:
    """Take away a last line that was never written whole."""
    written = path.read_bytes()
    whole = written.rfind(b"\n") + 1
    if whole < len(written):
        os.truncate(path, whole)
