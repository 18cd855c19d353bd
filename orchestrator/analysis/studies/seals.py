"""Chained records of a study: what its files were at each seal, and when its figures were seen."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from pydantic import Field, NonNegativeInt, ValidationError

from arena_core.errors import StoreError
from arena_core.plugins import ARENA
from orchestrator.analysis.stats.sequential import Spending
from orchestrator.analysis.studies.questions import Stage
from orchestrator.analysis.studies.registration import OWN_DIGEST, StudyFolder, now
from orchestrator.runs.store.digests import canonical_digest, digest_of_folder
from orchestrator.runs.store.evidence_files import append_lines, whole_lines
from orchestrator.runs.store.journal import Head
from orchestrator.runs.store.ledger import Ledger
from orchestrator.runs.store.lock import user
from orchestrator.runs.store.run_folder import locked
from sites.fields import Strict

# Whose versions a report's bytes depend on: its texts on the first alone.
REPORTED_BY: Final = (ARENA, "matplotlib", "numpy")
LOOKS_FILE: Final = "looks.jsonl"


class SealedHead(Strict):
    """Where the journal of a run stood, see `orchestrator.runs.store.journal.Head`."""

    entries: int
    sha256: str

    @property
    def head(self) -> Head:
        """The same, as journals compare it."""
        return Head(entries=self.entries, sha256=self.sha256)


class SealedReport(Strict):
    """The files of `report/` as they were written.

    Attributes:
        packages: the versions that wrote them.
    """

    sha256: str
    packages: dict[str, str]


class Seal(Strict):
    """Where a study stood.

    Attributes:
        at: UTC, to the second.
        previous: the digest of the seal before; of the first, that of what was registered.
        registration: the digest of the registration, additions included.
        runs: by the name of its folder.
        report: None where none was written.
    """

    at: str
    previous: str
    registration: str
    runs: dict[str, SealedHead] = Field(default_factory=dict)
    report: SealedReport | None = None

    @property
    def digest(self) -> str:
        """SHA-256 that stands for this and all before."""
        return canonical_digest(self)


def seal_study(folder: StudyFolder, *, with_report: bool = False) -> Seal:
    """Write down where a study stands, and return that; also while it is being played.

    Where nothing changed since the last seal, that one stands.
    """
    with locked(folder.seals_path):  # a report may be written while the study is played
        before = read_seals(folder)
        registration = folder.registration()
        last = before[-1] if before else None
        report = _report(folder) if with_report else last.report if last else None
        seal = Seal(
            at=now(),
            previous=last.digest if last else registration.registered_digest,
            registration=registration.digest,
            runs={
                run.folder: _head(folder.runs_path / run.folder) for run in registration.all_runs
            },
            report=report,
        )
        if last is not None and _same(last, seal):
            return last
        _append(folder, seal)
        return seal


def read_seals(folder: StudyFolder) -> tuple[Seal, ...]:
    """Return a study's seals in order; none where an earlier version of Arena made it."""
    path = folder.seals_path
    found: list[Seal] = []
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            document = json.loads(line)
            if isinstance(document, dict):
                document.pop(OWN_DIGEST, None)
            found.append(Seal.model_validate(document))
        except (ValidationError, ValueError, RecursionError) as cause:
            raise StoreError(f"{path}:{number}: is not a study's seal") from cause
    return tuple(found)


def _same(last: Seal, seal: Seal) -> bool:
    return last == seal.model_copy(update={"at": last.at, "previous": last.previous})


def _head(run: Path) -> SealedHead:
    path = run / "ledger.sqlite"
    if not path.is_file():
        return SealedHead(entries=0, sha256="")
    ledger = Ledger.open(path)
    try:
        head = ledger.head()
    finally:
        ledger.close()
    return SealedHead(entries=head.entries, sha256=head.sha256)


def _report(folder: StudyFolder) -> SealedReport:
    packages = {name: version(name) for name in REPORTED_BY}
    return SealedReport(sha256=digest_of_folder(folder.report_path), packages=packages)


def _append(folder: StudyFolder, seal: Seal) -> None:
    document = {**seal.model_dump(mode="json"), OWN_DIGEST: seal.digest}
    try:
        append_lines(folder.seals_path, f"{json.dumps(document)}\n")
    except OSError as cause:
        message = f"{folder.seals_path}: cannot be written: {cause.strerror}"
        raise StoreError(
            message, hint="free some disk space, then run: arena study report"
        ) from cause


class Look(Strict):
    """One report of a study that was not done.

    Attributes:
        at: UTC, to the second.
        by: the name of the user on that machine.
        previous: the digest of the look before, or of the registration.
        ended: by question, how many of its episodes had ended.
    """

    at: str
    by: str
    previous: str
    ended: dict[str, NonNegativeInt]


def read_looks(folder: Path, registered: str) -> tuple[Look, ...]:
    """Read the looks at a study."""
    path = folder / LOOKS_FILE
    try:
        return _chained(path, path.read_text(encoding="utf-8"), registered)
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as cause:
        raise StoreError(f"{path}: cannot be read: {cause}") from cause


def record_look(folder: Path, registered: str, stages: Mapping[str, Stage]) -> tuple[Look, ...]:
    """Write down that a study is looked at, and return all looks.

    A look at what was seen already is none, and neither is one at what is done.

    Args:
        folder: the study's.
        stages: of the questions that were registered, by their ids.
    """
    path = folder / LOOKS_FILE
    ended = {name: stage.ended for name, stage in stages.items()}
    seen = read_looks(folder, registered)
    if not any(stage.is_interim for stage in stages.values()) or _is_last(ended, seen):
        return seen
    try:
        with path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            looks = _chained(path, file.read(), registered)
            if _is_last(ended, looks):
                return looks
            previous = canonical_digest(looks[-1]) if looks else registered
            look = Look(at=now(), by=user(), previous=previous, ended=ended)
            file.write(look.model_dump_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
    except (OSError, UnicodeDecodeError) as cause:
        raise StoreError(f"{path}: the look cannot be recorded: {cause}") from cause
    return (*looks, look)


def _is_last(ended: Mapping[str, int], looks: Sequence[Look]) -> bool:
    return bool(looks) and looks[-1].ended == ended


def stages_with_looks(
    stages: Mapping[str, Stage], looks: Sequence[Look], spending: Spending
) -> Mapping[str, Stage]:
    """Return the stages of registered questions with the looks that count.

    Args:
        spending: how the registered design spends alpha.
    """
    return {
        name: stage.with_looks(spending, [one.ended.get(name, 0) for one in looks])
        for name, stage in stages.items()
    }


def _chained(path: Path, text: str, registered: str) -> tuple[Look, ...]:
    looks: list[Look] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            look = Look.model_validate_json(line)
        except ValidationError as cause:
            message = f"{path}: line {number} is not a valid look: {cause.errors()[0]['msg']}"
            raise StoreError(message) from cause
        if look.previous != (canonical_digest(looks[-1]) if looks else registered):
            message = f"{path}: line {number} does not match what came before it"
            raise StoreError(message, hint=f"arena study verify {path.parent}")
        looks.append(look)
    return tuple(looks)
