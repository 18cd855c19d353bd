"""`registration.json`: what a study was before it was played, and what was added later.

The parts are chained: each addition holds the digest of all that stood before it, and the digest of
the last one stands for the whole. Whoever published that digest before playing can show later that
nothing was registered otherwise; who did not can only show that the parts fit each other.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Final

from pydantic import BaseModel, Field

from arena_core.worlds import World
from evaluators.fields import Slug
from orchestrator.store.lock import ChangedLimits, RunLock, SpendingLimits
from orchestrator.studies.study_file import AgentEntry, QuestionEntry
from sites.fields import Strict

REGISTRATION_FILE: Final = "registration.json"


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
    """The run of one agent on one suite, in all worlds.

    Attributes:
        folder: its name in the study's folder `runs`.
        run: its id.
        agent, suite: labels.
        tasks: how many of the suite's chosen tasks run in each world.
        lock_sha256: over its lock as it began, see `lock_digest`.
        was_played: it was played before it came into the study.
    """

    folder: str
    run: str
    agent: str
    suite: str
    tasks: dict[World, int]
    lock_sha256: str
    was_played: bool = False


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
    agents: dict[Slug, AgentEntry] = Field(default_factory=dict)
    questions: tuple[QuestionEntry, ...] = ()
    runs: tuple[RegisteredRun, ...] = ()


class Registration(Strict):
    """A study as it was registered, and what was added since.

    Attributes:
        study: its id: labels its containers.
        registered_at: UTC, to the second.
        by: the name of the user on that machine.
        study_sha256: over the bytes of `study.yaml`.
        budget: what the whole study may spend on models.
        packages: the versions it was registered with.
        amendments: in the order in which they came.
    """

    version: int = 1
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


def canonical_digest(model: BaseModel) -> str:
    """Return SHA-256 over a model's content, whatever the layout of its file.

    What is empty is left out: a field that a later Arena adds, and that says nothing here, changes
    no digest.
    """
    content = _without_empty(model.model_dump(mode="json"))
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()


def _without_empty(content: object) -> object:
    if isinstance(content, dict):
        kept = {name: _without_empty(value) for name, value in content.items()}
        return {name: value for name, value in kept.items() if not _is_empty(value)}
    if isinstance(content, list):
        return [_without_empty(value) for value in content]
    return content


def _is_empty(value: object) -> bool:
    return value is None or value is False or (isinstance(value, str | list | dict) and not value)


def lock_digest(lock: RunLock) -> str:
    """Return SHA-256 over a run's lock as it began: without the limits and repeats given later."""
    before = lock.added_repeats[0].before if lock.added_repeats else lock.repeats
    began = lock.model_copy(update={"changed_limits": (), "added_repeats": (), "repeats": before})
    return canonical_digest(began)


def now() -> str:
    """Return this moment, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
