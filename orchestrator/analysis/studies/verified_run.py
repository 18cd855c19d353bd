"""One run of a study, held to its registration, its journal and its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

from arena_core.errors import StoreError
from arena_core.worlds import World
from evaluators.evidence import Evidence
from orchestrator.analysis.studies.registration import RUNS, RegisteredRun, Registration, Study
from orchestrator.analysis.studies.study_file import StudyFile
from orchestrator.gateway.tapes.named import NamedTape
from orchestrator.gateway.variations import arm_label
from orchestrator.runs.shard import Shard
from orchestrator.runs.spec import RunTerms
from orchestrator.runs.store.digests import digest_of_folder
from orchestrator.runs.store.journal import Journal, Key, Row
from orchestrator.runs.store.ledger import (
    Attempt,
    AttemptState,
    EpisodeKey,
    Ledger,
    attempt_of,
    is_damaged,
)
from orchestrator.runs.store.lock import RunLock, lock_digest
from orchestrator.runs.store.recovery import broke_off, is_whole
from orchestrator.runs.store.rescoring import ScoredEpisode, each_rescored
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task

_UNSCORED: Final = "unscored"
_UNCOUNTED: Final = (AttemptState.RETRIED, AttemptState.ABANDONED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that is not as it was written down.

    Attributes:
        where: file, below the study's folder, or run and episode.
        what: the difference, with what was to be and what is.
    """

    where: str
    what: str


@dataclass(slots=True)
class AgentTally:
    """What there is of one agent's episodes.

    Attributes:
        asked: episodes that the study asks for.
        scored: those that were scored again.
        open: those that are not finished.
        lost: finished ones whose evidence cannot be read.
        unproven: attempts of whose evidence no digest was written down when it was saved.
        judged: episodes whose outcome differs only by what judges replied later.
        retried, abandoned: attempts that count for nothing.
    """

    agent: str
    asked: int = 0
    scored: int = 0
    open: int = 0
    lost: int = 0
    unproven: int = 0
    judged: int = 0
    retried: int = 0
    abandoned: int = 0

    @property
    def missing(self) -> str:
        """What cannot be shown of it, in words; empty where nothing is missing."""
        said = (
            (self.open, "not played"),
            (self.lost, "lost"),
            (self.unproven, "without a digest"),
        )
        return ", ".join(f"{count} {what}" for count, what in said if count)


@dataclass(slots=True)
class Found:
    """What was found so far.

    Attributes:
        journals: by the folder of a run, where it has one.
        seals: a line an attempt: what stands for a study without seals.
    """

    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    agents: dict[str, AgentTally] = field(default_factory=dict)
    journals: dict[str, Journal] = field(default_factory=dict)
    seals: list[str] = field(default_factory=list)

    def differs(self, where: str, what: str) -> None:
        """Add a difference."""
        self.differences.append(Difference(where=where, what=what))

    def agent(self, label: str) -> AgentTally:
        return self.agents.setdefault(label, AgentTally(agent=label))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck:
    """A run that is verified.

    Attributes:
        study: None where the study's file cannot be read: then the lock says how often.
        found: takes what is found.
    """

    folder: RunFolder
    run: RegisteredRun
    registration: Registration
    study: Study | None
    lock: RunLock
    found: Found

    @property
    def at(self) -> str:
        """Where it is, below the study's folder."""
        return f"{RUNS}/{self.run.folder}"

    @property
    def tally(self) -> AgentTally:
        return self.found.agent(self.run.label)

    @property
    def must_be_chained(self) -> bool:
        """Whether all of it was played since the study was registered, with a journal."""
        return self.registration.is_sealed and not self.run.was_played

    def check(self) -> None:
        """Add what differs, and what there is."""
        self._lock()
        self._suite()
        asked = self._asked()
        self.tally.asked += len(asked)
        path = self.folder.ledger_path
        if not path.is_file() or is_damaged(path):
            if self.folder.evidence_names():
                self.found.differs(f"{self.at}/ledger.sqlite", "is missing or damaged")
            self.tally.open += len(asked)
            return
        attempts = self._ledger()
        finished = {one.key for one in attempts if one.state is AttemptState.FINISHED}
        self.tally.open += len(asked - finished)
        known = {one.folder for one in attempts}
        for attempt in attempts:
            if attempt.key not in asked:
                where = f"{self.at}/evidence/{attempt.folder}"
                self.found.differs(where, "the study does not ask the run for this episode")
        for scored in each_rescored(self.folder):
            if scored.folder in known:
                self._episode(scored)

    def _lock(self) -> None:
        lock, where = self.lock, f"{self.at}/lock.json"
        if lock_digest(lock) != self.run.lock_sha256:
            self.found.differs(where, "is not the lock that was registered")
        if lock.run != self.run.run:
            self.found.differs(
                where, f"belongs to run {lock.run}, but {self.run.run} was registered"
            )
        if self.study is None:
            return
        file: StudyFile = self.study.file
        vary, worlds = self._in_arm(self.study)
        for what, is_said, wanted in (
            ("repeats", lock.repeats, self.study.repeats),
            ("attempts", lock.attempts, file.attempts),
            ("worlds", _names(lock.worlds), _names(worlds)),
            ("tapes", _tapes_in_words(lock), _tapes_in_words(file)),
            ("shard", lock.shard or "none", self.registration.shard or "none"),
            ("arm", arm_label(lock.vary) or "clean", arm_label(vary) or "clean"),
        ):
            if is_said != wanted:
                self.found.differs(where, f"{what}: {is_said}, but {wanted} registered")

    def _in_arm(self, study: Study) -> tuple[tuple[str, ...], tuple[World, ...]]:
        """Return what the study varies in its arm, and where; an unknown arm is named elsewhere."""
        is_known = self.run.arm in {"", *study.file.variations}
        return study.file.in_arm(self.run.arm) if is_known else (self.lock.vary, self.lock.worlds)

    def _suite(self) -> None:
        lock, run = self.lock, self.run
        suite = next((one for one in self.registration.suites if one.label == run.suite), None)
        if suite is None or (lock.suite_hash, lock.tasks) != (suite.sha256, suite.tasks):
            what = f"its tasks are not those of suite '{run.suite}'"
            self.found.differs(f"{self.at}/lock.json", what)

    def _asked(self) -> frozenset[EpisodeKey]:
        """Return the episodes that the study asks for, whatever repeats the lock says."""
        named = self.registration.shard
        shard = None if named is None else Shard.parse(named)
        repeats = self.lock.repeats if self.study is None else self.study.repeats
        worlds = self.lock.worlds if self.study is None else self._in_arm(self.study)[1]
        tasks = [task for task in self.folder.suite().tasks if task.id in set(self.lock.tasks)]
        counted = {world: sum(world in task.worlds for task in tasks) for world in worlds}
        registered = {World(world): count for world, count in self.run.tasks.items()}
        if {world: count for world, count in counted.items() if count} != {
            world: count for world, count in registered.items() if count
        }:
            what = "its tasks in each world are not those of the registration"
            self.found.differs(f"{self.at}/suite.json", what)
        return frozenset(
            EpisodeKey(task.id, world, repeat)
            for task in tasks
            for world in worlds
            if world in task.worlds
            for repeat in range(repeats)
            if shard is None or shard.has(EpisodeKey(task.id, world, repeat).name)
        )

    def _ledger(self) -> tuple[Attempt, ...]:
        ledger = Ledger.open(self.folder.ledger_path)
        try:
            attempts, digests = ledger.attempts(), ledger.evidence_digests()
            journal = ledger.read_journal()
            rows = {} if journal is None else ledger.rows()
        finally:
            ledger.close()
        self._journal(journal, rows)
        for one in attempts:
            where = f"{self.at}/evidence/{one.folder}"
            digest = digests.get(one.folder)
            self.found.seals.append(f"{where} {one.state} {one.outcome} {digest}\n")
            self.tally.retried += one.state is AttemptState.RETRIED
            self.tally.abandoned += one.state is AttemptState.ABANDONED
            self._attempt(one, digest, where)
        for name in sorted({*self.folder.evidence_names()} - {one.folder for one in attempts}):
            where = f"{self.at}/evidence/{name}"
            self.found.differs(where, "the ledger does not know this attempt")
        return attempts

    def _journal(self, journal: Journal | None, rows: Mapping[Key, Row]) -> None:
        where = f"{self.at}/ledger.sqlite"
        if journal is None:
            if self.must_be_chained:
                self.found.differs(where, "has no journal of its attempts")
            else:
                self.found.notes.append(
                    f"{self.run.folder}: an earlier Arena wrote its ledger without a journal:"
                    " nothing shows that no attempt was removed from it"
                )
            return
        self.found.journals[self.run.folder] = journal
        if journal.broken is not None:
            what = f"entry {journal.broken} of its journal does not match what came before it"
            self.found.differs(where, what)
        if (journal.run, journal.lock) != (self.run.run, self.run.lock_sha256):
            self.found.differs(where, "its journal belongs to another run or lock")
        for key in sorted({*rows, *journal.rows}, key=str):
            self._history(key, journal.rows.get(key, ()), rows.get(key))

    def _history(self, key: Key, noted: Sequence[Row], row: Row | None) -> None:
        *episode, attempt = key
        where = f"{self.at}/evidence/{EpisodeKey(*episode).folder(attempt)}"
        if row is None:
            self.found.differs(where, "the journal knows this attempt, the ledger does not")
        elif not noted:
            self.found.differs(where, "the ledger knows this attempt, its journal does not")
        elif (changed := _changed(noted[-1], row)) is not None:
            name, was, now = changed
            self.found.differs(where, f"{name} is {now} in the ledger, but {was} in its journal")
        if noted and noted[0].get("state") != AttemptState.STARTED and self.must_be_chained:
            self.found.differs(where, "was added to the journal after it was played")
        for before, after in pairwise(noted):
            if before.get("state") in {AttemptState.STARTED, after.get("state")}:
                continue
            outcome = str(before.get("outcome"))
            if not outcome.startswith(_UNSCORED):
                now = f"{before.get('state')} ({outcome})"
                self.found.differs(where, f"was {now}, then changed to {after.get('state')}")

    def _attempt(self, one: Attempt, digest: str | None, where: str) -> None:
        folder = self.folder.evidence_folder(one.folder)
        if not folder.is_dir():
            if one.state is AttemptState.FINISHED or digest is not None:
                self.found.differs(where, "the evidence is missing")
            return
        if digest is None:
            self.tally.unproven += one.state is not AttemptState.STARTED
        else:
            self._files(folder, digest, where)
        if one.state in _UNCOUNTED:
            self._uncounted(one, where)

    def _files(self, folder: Path, digest: str, where: str) -> None:
        try:
            now = digest_of_folder(folder)
        except StoreError as unreadable:
            self.found.differs(where, unreadable.message)
            return
        if now != digest:
            self.found.differs(where, f"its files have SHA-256 {now}, but {digest} was saved")

    def _uncounted(self, one: Attempt, where: str) -> None:
        """Check from its evidence that an attempt rightly does not count."""
        if not self.folder.has_evidence(one.folder):
            return
        try:
            evidence = self.folder.evidence(one.folder)
        except StoreError:
            return  # that is why it does not count
        for what in self._misattributed(evidence, one.key, one.number):
            self.found.differs(where, what)
        is_scored = evidence.fault is None and is_whole(evidence)
        if is_scored or (one.state is AttemptState.RETRIED and not broke_off(evidence)):
            what = f"its evidence is complete ({evidence.ended}), but the ledger says {one.state}"
            self.found.differs(where, what)

    def _episode(self, scored: ScoredEpisode) -> None:
        where = f"{self.at}/evidence/{scored.folder}"
        self.tally.scored += not scored.is_unreadable
        self.tally.lost += scored.is_unreadable
        if not scored.is_same:
            if self._is_judged_later(scored):
                self.tally.judged += 1
            else:
                now = f"{scored.score.outcome} ({scored.score.because})"
                self.found.differs(where, f"scores {now}, but the ledger says {scored.was}")
        if scored.is_unreadable:
            return
        told = attempt_of(scored.folder)
        for what in self._misattributed(scored.outline, scored.key, told[1] if told else 0):
            self.found.differs(where, what)
        if not self.run.was_played and _began_before(scored.outline, self.registration):
            began, registered = scored.outline.started_at, self.registration.registered_at
            self.found.differs(where, f"began at {began}, before the registration at {registered}")

    def _is_judged_later(self, scored: ScoredEpisode) -> bool:
        if not self.folder.judgements():
            return False
        unjudged = scored.evidence.model_copy(update={"judgements": ()})
        return str(score_task(scored.task, unjudged).outcome) == scored.was

    def _misattributed(self, evidence: Evidence, key: EpisodeKey, attempt: int) -> Iterator[str]:
        if evidence.run is None and self.must_be_chained:
            yield "its evidence does not name its run"
        run = evidence.run or self.lock.run
        of_this = run in self.lock.recorded_by(key)
        for name, is_said, is_right in (
            ("run", run, run if of_this else self.lock.run),
            ("task", evidence.task, key.task),
            ("world", evidence.world, key.world),
            ("repeat", evidence.repeat, key.repeat),
            ("attempt", evidence.attempt, attempt),
            ("agent", evidence.agent, self.lock.agent.name),
        ):
            if is_said != is_right:
                yield f"its evidence names {name} {is_said}, not {is_right}"


def _tapes_in_words(terms: RunTerms) -> str:
    """Name the tapes, wherever their files lie."""
    tapes = map(NamedTape.parse, terms.tape)
    return ", ".join(str(replace(one, path=Path(one.path.name))) for one in tapes) or "none"


def _names(worlds: tuple[World, ...]) -> str:
    return ", ".join(worlds)


def _changed(noted: Row, row: Row) -> tuple[str, object, object] | None:
    """Return the first column in which ledger and journal differ, with both values."""
    for name, value in row.items():
        if noted.get(name) != value:
            return name, noted.get(name), value
    return None


def _began_before(outline: Evidence, registration: Registration) -> bool:
    if outline.fault is not None and not outline.steps and outline.seconds <= 0:
        return False  # nothing was played: it has the moment of its run
    try:
        began = datetime.fromisoformat(outline.started_at)
        return began < datetime.fromisoformat(registration.registered_at)
    except (ValueError, TypeError):
        return True
