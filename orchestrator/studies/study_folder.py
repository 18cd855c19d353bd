"""A study on disk: what was registered, the runs, the report; one process plays it at a time."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from pydantic import ValidationError

from arena_core.errors import FormatError, InputError, StoreError
from orchestrator.stats.results import Compared
from orchestrator.store.formats import own_version
from orchestrator.store.lock import SpendingLimits
from orchestrator.store.run_folder import RunFolder
from orchestrator.studies.questions import WITH_ADDED, Question
from orchestrator.studies.registration import (
    REGISTRATION_FILE,
    RegisteredRun,
    Registration,
)
from orchestrator.studies.study_file import (
    STUDY_FILE,
    AgentEntry,
    QuestionEntry,
    StudyFile,
    parse_study_file,
)

RUNS: Final = "runs"
REPORT: Final = "report"
WRITER: Final = ".writer"
LOG: Final = "arena.log"
_VERSION: Final = 1
_OWN_DIGEST: Final = "sha256"
_PARTIAL: Final = ".partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study as it stands now: what was registered, with all that was added.

    Attributes:
        file: as it was registered.
    """

    file: StudyFile
    registration: Registration

    @property
    def agents(self) -> Mapping[str, AgentEntry]:
        """Every agent by its label, those added last."""
        found = dict(self.file.agents)
        for one in self.registration.amendments:
            found |= one.agents
        return found

    @property
    def repeats(self) -> int:
        """How often each agent plays each task in each world."""
        given = [one.repeats for one in self.registration.amendments if one.repeats is not None]
        return given[-1] if given else self.file.repeats

    @property
    def limits(self) -> SpendingLimits:
        """What the whole study may spend on models."""
        given = [one.budget.limits for one in self.registration.amendments if one.budget]
        return given[-1] if given else self.registration.budget

    @property
    def question_entries(self) -> tuple[QuestionEntry, ...]:
        """Every question as it was written, those that were registered first."""
        later = (one for each in self.registration.amendments for one in each.questions)
        return (*self.file.questions, *later)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Every question, told apart by whether it was registered.

        A registered question is answered of what was registered: its agents, its repeats. Where
        more was played for it, it is asked once more of all, as one that was not registered.
        """
        registered = tuple(self._as_registered(one) for one in self.file.questions)
        later = self.question_entries[len(registered) :]
        return (
            *registered,
            *(
                replace(one, id=f"{one.id}{WITH_ADDED}", registered=False, agents=(), repeats=None)
                for one in registered
                if one.agents or one.repeats is not None
            ),
            *(one.asked(registered=False) for one in later),
        )

    def _as_registered(self, entry: QuestionEntry) -> Question:
        asked = entry.asked(registered=True)
        has_more_repeats = self.repeats > self.file.repeats
        takes_new_agents = (
            asked.of is Compared.WORLDS
            and asked.agent is None
            and len(self.agents) > len(self.file.agents)
        )
        return replace(
            asked,
            agents=tuple(self.file.agents) if takes_new_agents else (),
            repeats=self.file.repeats if has_more_repeats else None,
        )

    @property
    def runs(self) -> tuple[RegisteredRun, ...]:
        """Every run, those added last."""
        return self.registration.all_runs

    def whole_file(self) -> StudyFile:
        """Return the study's file as if all that was added had stood in it."""
        return self.file.model_copy(
            update={
                "agents": dict(self.agents),
                "repeats": self.repeats,
                "questions": self.question_entries,
            }
        )


class StudyFolder:
    """A study's folder: study.yaml, registration.json, runs/RUN/, report/, arena.log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.study_path = path / STUDY_FILE
        self.registration_path = path / REGISTRATION_FILE
        self.runs_path = path / RUNS
        self.report_path = path / REPORT
        self.log_path = path / LOG

    @classmethod
    @contextmanager
    def creating(cls, path: Path) -> Iterator[Self]:
        """Give a folder to be filled that becomes the study's when the block ends well.

        Raises:
            StoreError: there is something already, or it cannot be made.
        """
        partial = path.with_name(path.name + _PARTIAL)
        if path.exists():
            message = f"{path}: exists already"
            raise StoreError(message, hint="choose another folder with --out")
        try:
            shutil.rmtree(partial, ignore_errors=True)
            (partial / RUNS).mkdir(parents=True)
            yield cls(partial)
            partial.rename(path)
        except OSError as cause:
            message = f"{path}: a study's folder cannot be made there: {cause.strerror}"
            raise StoreError(message) from cause
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a study's folder.

        Raises:
            StoreError: it is none.
        """
        folder = cls(path)
        if not folder.registration_path.is_file():
            message = f"{path}: is not a study's folder (it has no {REGISTRATION_FILE})"
            raise StoreError(message, hint="`arena study run FILE` makes one")
        return folder

    def register(self, text: bytes, registration: Registration) -> None:
        """Write down what the study is; its runs are there already."""
        self.study_path.write_bytes(text)
        self._write_registration(registration)

    def amend(self, registration: Registration) -> None:
        """Write down what was added.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            self._write_registration(registration)
        except OSError as cause:
            message = f"{self.registration_path}: cannot be written: {cause.strerror}"
            raise StoreError(message) from cause

    def registration(self) -> Registration:
        """Read what was registered and added.

        Raises:
            FormatError: a newer Arena wrote it.
            StoreError: it cannot be read.
        """
        path = self.registration_path
        try:
            document = json.loads(path.read_bytes())
            version = document.get("version") if isinstance(document, dict) else None
            if isinstance(version, int) and version > _VERSION:
                message = f"{path}: is of format {version}; this is Arena {own_version()}"
                raise FormatError(message, hint="pip install --upgrade arena-orchestrator")
            if isinstance(document, dict):
                document.pop(_OWN_DIGEST, None)
            return Registration.model_validate_json(json.dumps(document))
        except OSError as cause:
            message = f"{path}: cannot be read: {cause.strerror}"
            raise StoreError(message) from cause
        except ValidationError as cause:
            first = cause.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            message = f"{path}: is no registration: {where}: {first['msg']}"
            raise StoreError(message) from cause
        except ValueError as cause:
            message = f"{path}: is no registration: no JSON: {cause}"
            raise StoreError(message) from cause

    def written_digest(self) -> str | None:
        """Return the digest of itself that the registration holds; None where it has none."""
        try:
            document = json.loads(self.registration_path.read_bytes())
        except (OSError, ValueError):
            return None
        found = document.get(_OWN_DIGEST) if isinstance(document, dict) else None
        return found if isinstance(found, str) else None

    def study_bytes(self) -> bytes:
        """Read the study's file.

        Raises:
            StoreError: it cannot be read.
        """
        try:
            return self.study_path.read_bytes()
        except OSError as cause:
            message = f"{self.study_path}: cannot be read: {cause.strerror}"
            raise StoreError(message) from cause

    def study(self) -> Study:
        """Read the study as it stands now.

        Raises:
            StoreError: it cannot be read, or its file is not what was registered.
        """
        registration, text = self.registration(), self.study_bytes()
        if sha256(text) != registration.study_sha256:
            raise changed(self.study_path, registration)
        link = registration.broken_link()
        if link is not None:
            message = f"{self.registration_path}: addition {link} does not fit what stood before it"
            raise StoreError(message, hint=f"arena study verify {self.path}")
        try:
            file = parse_study_file(text.decode(), self.study_path)
        except (UnicodeDecodeError, InputError) as cause:
            message = f"{self.study_path}: cannot be read any more: {cause}"
            raise StoreError(message) from cause
        return Study(file=file, registration=registration)

    def run_folder(self, name: str) -> RunFolder:
        """Open one of its runs.

        Raises:
            StoreError: it is not there, or no run folder.
        """
        return RunFolder.open(self.runs_path / name)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the study for writing: one process at a time.

        Raises:
            StoreError: another process holds it, or the folder cannot be written.
        """
        try:
            handle = os.open(self.path / WRITER, os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as cause:
            message = f"{self.path}: cannot be written: {cause.strerror}"
            raise StoreError(message) from cause
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as cause:
                message = f"{self.path}: another `arena study` is writing this study"
                raise StoreError(message, hint="wait for it, or end it") from cause
            yield
        finally:
            os.close(handle)

    def _write_registration(self, registration: Registration) -> None:
        path = self.registration_path
        partial = path.with_name(path.name + _PARTIAL)
        document = {**registration.model_dump(mode="json"), _OWN_DIGEST: registration.digest}
        partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)


def sha256(content: bytes) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(content).hexdigest()


def changed(path: Path, registration: Registration) -> StoreError:
    """Return the error of a study's file that is not what was registered."""
    message = (
        f"{path}: is not what was registered at {registration.registered_at} as"
        f" '{registration.name}' (SHA-256 {registration.study_sha256[:12]}…)"
    )
    hint = "undo the change; `arena study add` adds repeats, agents and questions, and says when"
    return StoreError(message, hint=hint)
