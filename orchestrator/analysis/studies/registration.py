"""A study on disk: what was registered, what was added later, its runs; one process plays it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from pydantic import Field, ValidationError

from arena_core.errors import FormatError, InputError, StoreError
from arena_core.regular_files import read_regular
from arena_core.worlds import World
from evaluators.fields import Slug
from orchestrator.analysis.run_report.tables import StudyPart
from orchestrator.analysis.stats.results import Compared
from orchestrator.analysis.studies.questions import WITH_ADDED, Question
from orchestrator.analysis.studies.secondary import Secondary
from orchestrator.analysis.studies.study_file import (
    STUDY_FILE,
    QuestionEntry,
    StudyAgent,
    StudyFile,
    parse_study_file,
)
from orchestrator.gateway.variations import in_arm
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store.digests import canonical_digest
from orchestrator.runs.store.formats import own_version
from orchestrator.runs.store.lock import ChangedLimits
from orchestrator.runs.store.run_folder import WRITER, RunFolder, locked, write_atomically
from sites.fields import Strict

REGISTRATION_FILE: Final = "registration.json"
RUNS: Final = "runs"
REPORT: Final = "report"
LOG: Final = "arena.log"
SEALS: Final = "seals.jsonl"
# 1: the ledgers have no journal, and the folder no seals.
_VERSION: Final = 2
OWN_DIGEST: Final = "sha256"
_PARTIAL: Final = ".partial"


class RegisteredSuite(Strict):
    """A suite as it is played.

    Attributes:
        label: what the study calls it.
        suite, version: what its file says.
        sha256: over its content, as `suite_hash` of a run's lock.
        tasks: those chosen, in order.
    """

    label: str
    suite: str
    version: int
    sha256: str
    tasks: tuple[str, ...]


class RegisteredRun(Strict):
    """The run of one agent on one suite, in one arm and all worlds of that.

    Attributes:
        folder: its name in the study's folder `runs`.
        run: its id.
        agent, suite: labels.
        arm: its name in the study's file; empty for the clean one.
        tasks: how many of the suite's chosen tasks run in each world.
        lock_sha256: over its lock as it began, see `lock_digest`.
        was_played: it was played before it came into the study.
        own_episodes: of a shard of a study, how many episodes of each world are its own.
    """

    folder: str
    run: str
    agent: str
    suite: str
    tasks: dict[World, int]
    lock_sha256: str
    was_played: bool = False
    arm: str = Field(default="", exclude_if=lambda arm: not arm)
    own_episodes: dict[World, int] | None = Field(default=None, exclude_if=lambda own: own is None)

    @property
    def label(self) -> str:
        """What reports call its agent in its arm."""
        return in_arm(self.agent, self.arm)


class Amendment(Strict):
    """What was added to a study after it was registered.

    Attributes:
        at: UTC, to the second.
        by: the name of the user on that machine.
        previous: the digest of all that stood before.
        repeats: how often each agent plays each task from now on; None where that stayed.
        budget: what the whole study may spend from now on; None where that stayed.
        agents, questions, runs: those that are new.
    """

    at: str
    by: str
    previous: str
    repeats: int | None = Field(default=None, ge=1)
    budget: ChangedLimits | None = None
    agents: dict[Slug, StudyAgent] = Field(default_factory=dict)
    questions: tuple[QuestionEntry, ...] = ()
    runs: tuple[RegisteredRun, ...] = ()


class Registration(Strict):
    """A study as it was registered, and what was added since.

    Attributes:
        version: of the format; 1 where ledgers have no journal, and the study no seals.
        study: its id: labels its containers.
        registered_at: UTC, to the second.
        by: the name of the user on that machine.
        study_sha256: over the bytes of `study.yaml`.
        budget: what the whole study may spend on models.
        packages: the versions it was registered with.
        amendments: in the order in which they came.
        shard: `I/N`, where only this share of its trials is played.
        shards: what it was merged from, as each was registered, in their order.
    """

    version: int = 2
    study: str
    name: str
    registered_at: str
    by: str
    study_sha256: str
    budget: SpendingLimits = SpendingLimits()
    packages: dict[str, str]
    suites: tuple[RegisteredSuite, ...]
    runs: tuple[RegisteredRun, ...]
    amendments: tuple[Amendment, ...] = ()
    shard: str | None = Field(default=None, exclude_if=lambda shard: shard is None)
    shards: tuple[Registration, ...] = Field(default=(), exclude_if=lambda shards: not shards)

    @property
    def all_runs(self) -> tuple[RegisteredRun, ...]:
        """The runs registered, and those added."""
        return (*self.runs, *(run for one in self.amendments for run in one.runs))

    @property
    def registered_digest(self) -> str:
        """SHA-256 over what was registered, additions left out."""
        return canonical_digest(self.model_copy(update={"amendments": ()}))

    @property
    def digest(self) -> str:
        """SHA-256 that stands for all of it, additions included."""
        return canonical_digest(self.amendments[-1]) if self.amendments else self.registered_digest

    @property
    def is_sealed(self) -> bool:
        """Whether its runs' ledgers keep a journal, and the study seals of these."""
        return self.version > 1

    @property
    def digests(self) -> tuple[str, ...]:
        """The digest as it was registered, and after each addition."""
        return (self.registered_digest, *(canonical_digest(one) for one in self.amendments))

    def broken_link(self) -> int | None:
        """Return the number (from 1) of the first addition that does not fit what stood before."""
        before = self.registered_digest
        for number, one in enumerate(self.amendments, start=1):
            if one.previous != before:
                return number
            before = canonical_digest(one)
        return None

    def amended(self, amendment: Amendment) -> Registration:
        """Return this with one addition more."""
        return self.model_copy(update={"amendments": (*self.amendments, amendment)})


def now() -> str:
    """Return this moment, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study as it stands now: what was registered, with all that was added.

    Attributes:
        file: as it was registered.
    """

    file: StudyFile
    registration: Registration

    @property
    def agents(self) -> Mapping[str, StudyAgent]:
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
        registered = tuple(
            self._as_registered(one.asked(registered=True)) for one in self.file.questions
        )
        later = self.question_entries[len(registered) :]
        return (
            *registered,
            *(again for one in registered for again in self._of_all(one)),
            *(self._of_players(one.asked(registered=False)) for one in later),
        )

    @property
    def secondary(self) -> tuple[Secondary, ...]:
        """The registered secondary outcomes, of what was registered."""
        asked = (one.asked() for one in self.file.secondary)
        return tuple(replace(one, question=self._as_registered(one.question)) for one in asked)

    @property
    def armless_agents(self) -> tuple[str, ...]:
        """Agents that came with a run of the clean arm, and are played in no other."""
        if not self.file.variations:
            return ()
        played = {run.agent for run in self.runs if run.arm}
        return tuple(label for label in self.agents if label not in played)

    def _players(self, asked: Question) -> tuple[str, ...]:
        """Return the agents that can stand on both sides of a question about worlds or arms."""
        left_out = self.armless_agents if asked.of is Compared.ARMS else ()
        return tuple(label for label in self.agents if label not in left_out)

    def _of_all(self, asked: Question) -> Iterator[Question]:
        """Yield a registered question once more, where more was played for it."""
        if asked.repeats is not None or asked.agents not in {(), self._players(asked)}:
            again = replace(asked, id=f"{asked.id}{WITH_ADDED}", registered=False, repeats=None)
            yield self._of_players(again)

    def _of_players(self, asked: Question) -> Question:
        """Return a question that was not registered, of all agents that can stand on its sides."""
        players = self._players(asked)
        is_of_some = asked.agent is None and len(players) < len(self.agents)
        return replace(asked, agents=players if is_of_some else ())

    def _as_registered(self, asked: Question) -> Question:
        has_more_repeats = self.repeats > self.file.repeats
        takes_new_agents = (
            asked.of is not Compared.AGENTS
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
    """study.yaml, registration.json, seals.jsonl, runs/RUN/, report/, arena.log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.study_path = path / STUDY_FILE
        self.registration_path = path / REGISTRATION_FILE
        self.runs_path = path / RUNS
        self.report_path = path / REPORT
        self.log_path = path / LOG
        self.seals_path = path / SEALS

    @classmethod
    @contextmanager
    def creating(cls, path: Path) -> Iterator[Self]:
        """Give a folder to be filled that becomes the study's when the block ends well."""
        partial = path.with_name(path.name + _PARTIAL)
        if path.exists():
            raise StoreError(f"{path}: exists already", hint="choose another folder with --out")
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
        """Open a study's folder."""
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
        """Write down what was added."""
        try:
            self._write_registration(registration)
        except OSError as cause:
            message = f"{self.registration_path}: cannot be written: {cause.strerror}"
            raise StoreError(message) from cause

    def registration(self) -> Registration:
        """Read what was registered and added."""
        path = self.registration_path
        try:
            document = json.loads(read_regular(path))
            version = document.get("version") if isinstance(document, dict) else None
            if isinstance(version, int) and version > _VERSION:
                message = f"{path}: is of format {version}; this is Arena {own_version()}"
                raise FormatError(message, hint="pip install --upgrade arena-orchestrator")
            if isinstance(document, dict):
                document.pop(OWN_DIGEST, None)
            return Registration.model_validate_json(json.dumps(document))
        except OSError as cause:
            raise StoreError(f"{path}: cannot be read: {cause.strerror}") from cause
        except ValidationError as cause:
            first = cause.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise StoreError(
                f"{path}: is not a valid registration: {where}: {first['msg']}"
            ) from cause
        except (ValueError, RecursionError) as cause:
            raise StoreError(
                f"{path}: is not a valid registration: invalid JSON: {cause}"
            ) from cause

    def written_digest(self) -> str | None:
        """Return the digest of itself that the registration holds; None where it has none."""
        try:
            document = json.loads(read_regular(self.registration_path))
        except (OSError, ValueError, RecursionError):
            return None
        found = document.get(OWN_DIGEST) if isinstance(document, dict) else None
        return found if isinstance(found, str) else None

    def study_bytes(self) -> bytes:
        """Read the study's file."""
        try:
            return read_regular(self.study_path)
        except OSError as cause:
            raise StoreError(f"{self.study_path}: cannot be read: {cause.strerror}") from cause

    def study(self) -> Study:
        """Read the study as it stands now."""
        registration, text = self.registration(), self.study_bytes()
        if sha256(text) != registration.study_sha256:
            raise changed(self.study_path, registration)
        link = registration.broken_link()
        if link is not None:
            message = (
                f"{self.registration_path}: addition {link} does not match what came before it"
            )
            raise StoreError(message, hint=f"arena study verify {self.path}")
        try:
            file = parse_study_file(text.decode(), self.study_path)
        except (UnicodeDecodeError, InputError) as cause:
            raise StoreError(f"{self.study_path}: cannot be read any more: {cause}") from cause
        for run in registration.all_runs:
            if run.arm not in {"", *file.variations}:
                message = (
                    f"run {run.folder} is of the arm '{run.arm}', which the study does not name"
                )
                hint = f"arena study verify {self.path}"
                raise StoreError(f"{self.registration_path}: {message}", hint=hint)
        return Study(file=file, registration=registration)

    def run_folder(self, name: str) -> RunFolder:
        """Open one of its runs."""
        path = self.runs_path / name
        if name != path.name or path.is_symlink() or self.runs_path.is_symlink():
            raise StoreError(f"{path}: is not in the study's folder", hint="copy the run there")
        return RunFolder.open(self.runs_path / name)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the study for writing: one process at a time."""
        taken = f"{self.path}: another `arena study` is writing this study"
        with locked(self.path / WRITER, taken):
            yield

    def _write_registration(self, registration: Registration) -> None:
        document = {**registration.model_dump(mode="json"), OWN_DIGEST: registration.digest}
        write_atomically(self.registration_path, json.dumps(document, indent=1) + "\n")


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


def part_of(run: RunFolder) -> StudyPart | None:
    """Return what a run is in its study; None where its folder stands in none."""
    path = run.path.resolve()
    folder = StudyFolder(path.parent.parent)
    if path.parent.name != RUNS or not folder.registration_path.is_file():
        return None
    study = folder.study()
    registered = {one.folder for one in study.registration.runs}
    for one in study.runs:
        if one.folder == path.name:
            repeats = study.file.repeats if one.folder in registered else 0
            return StudyPart(study=study.file.name, label=one.label, registered_repeats=repeats)
    return None
