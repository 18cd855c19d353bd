"""The files beside an attempt's evidence and in a run: requests, pictures, judges' replies."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from arena_core.errors import StoreError
from arena_core.foreign import first_fault
from arena_core.regular_files import MEGABYTE, read_regular
from evaluators.evidence import Evidence
from evaluators.judgements import Judgement
from evaluators.network import RequestRecord
from orchestrator.episode.jsonl_files import StepLines, read_lines

NETWORK_FILE: Final = "network.jsonl.gz"
KEPT_APART: Final = {"network"}
JUDGEMENTS_FILE: Final = "judgements.jsonl"
_ENDINGS: Final = frozenset({".png", ".webp", ".jpg", ".jpeg", ".gif"})
_LARGEST: Final = 64 * MEGABYTE


def network_files(evidence: Evidence) -> Mapping[str, bytes]:
    """Return the file that holds the requests, by name; nothing where none were recorded."""
    if evidence.network is None:
        return {}
    lines = StepLines()
    for one in evidence.network:
        lines.add(one.model_dump(mode="json"))
    return {NETWORK_FILE: lines.packed()}


def with_network(evidence: Evidence, folder: Path) -> Evidence:
    path = folder / NETWORK_FILE
    if not path.exists():
        return evidence
    try:
        requests = tuple(RequestRecord.model_validate(line) for line in read_lines(path))
    except StoreError as cause:
        raise StoreError(cause.message, hint="the episode's requests are there alone") from cause
    except ValidationError as cause:
        message = f"{path}: is not what this version of Arena writes: {first_fault(cause)}"
        raise StoreError(message) from cause
    return evidence.model_copy(update={"network": requests})


def read_judgements(run: Path) -> tuple[Judgement, ...]:
    """Return the judgements of a run's folder, oldest first; none where nothing was judged."""
    path = run / JUDGEMENTS_FILE
    found: list[Judgement] = []
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            found.append(Judgement.model_validate_json(line))
        except ValidationError as cause:
            message = f"{path}:{number}: is not a judgement: {cause.errors()[0]['msg']}"
            hint = f"delete the line, then: arena judge run {run}"
            raise StoreError(message, hint=hint) from cause
    return tuple(found)


def add_judgements(run: Path, judgements: Iterable[Judgement]) -> None:
    path = run / JUDGEMENTS_FILE
    lines = "".join(f"{one.model_dump_json()}\n" for one in judgements)
    try:
        append_lines(path, lines)
    except OSError as cause:
        message = f"{path}: cannot be written: {cause.strerror}"
        raise StoreError(message, hint="free some disk, then judge again") from cause


def whole_lines(path: Path) -> list[str]:
    """Return the lines of a file that only ever grows; none where there is no such file.

    A last line without its end was being written when the machine went down: it is not there.
    """
    try:
        text = read_regular(path).decode()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as cause:
        why = (isinstance(cause, OSError) and cause.strerror) or cause
        raise StoreError(f"{path}: cannot be read: {why}") from cause
    return text[: text.rfind("\n") + 1].split("\n")[:-1]


def append_lines(path: Path, lines: str) -> None:
    """Write whole lines to the disk, in place of a last one that was never written whole."""
    with path.open("ab") as file:
        written = path.read_bytes()
        whole = written.rfind(b"\n") + 1
        if whole < len(written):
            os.truncate(path, whole)
        file.write(lines.encode())
        file.flush()
        os.fsync(file.fileno())


def picture_path(folder: Path, name: str | None) -> Path | None:
    """Return where a picture lies; None if there is none.

    Evidence may be somebody else's: a name with a folder in it, one that is not a picture's, and a
    link are refused.
    """
    if name is None or Path(name).name != name or "\\" in name:
        return None
    path = folder / name
    is_picture = path.suffix.lower() in _ENDINGS
    return path if is_picture and path.is_file() and not path.is_symlink() else None


def read_picture(folder: Path, name: str | None) -> bytes | None:
    """Return what a picture holds; None if it cannot be read."""
    path = picture_path(folder, name)
    try:
        return None if path is None else read_regular(path, most=_LARGEST)
    except OSError:
        return None


def picture_uri(folder: Path, name: str | None) -> str | None:
    """Return a picture as a data URI; None if it cannot be read."""
    content = read_picture(folder, name)
    if name is None or content is None:
        return None
    encoded = base64.b64encode(content).decode("ascii")
    return f"data:image/{Path(name).suffix.removeprefix('.')};base64,{encoded}"
