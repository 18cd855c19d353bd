"""Holds a study's folder to itself: registration, locks, digests, and every episode scored again.

It needs no containers, no browser and no key, and reads alone. What it shows is that the parts fit
each other, and a digest that was published before; see docs/run-a-study.md for what it cannot show.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from arena_core.errors import ArenaError, StoreError, WorkerProcessError
from evaluators.evidence import Evidence
from orchestrator.store.digests import digest_of_folder
from orchestrator.store.formats import own_version
from orchestrator.store.ledger import Attempt, AttemptState, Ledger, is_damaged
from orchestrator.store.lock import RunLock, hash_suite
from orchestrator.store.rescoring import ScoredTrial, each_rescored
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.scoring import score_task
from orchestrator.studies.registration import RegisteredRun, Registration, lock_digest
from orchestrator.studies.study_folder import RUNS, StudyFolder, sha256

_ALIKE: Final[dict[str, Callable[[RunLock], object]]] = {
    "worlds": lambda lock: lock.worlds,
    "repeats": lambda lock: lock.repeats,
    "attempts": lambda lock: lock.attempts,
    "resolved hosts": lambda lock: lock.resolves,
    "browser": lambda lock: lock.browser,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that is not as it was written down.

    Attributes:
        where: file, below the study's folder, or run and episode.
        what: the difference, with what was to be and what is.
    """

    where: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a study's folder shows.

    Attributes:
        registered: SHA-256 that stands for what was registered before anything was played.
        current: the same with what was added since.
        seal: SHA-256 over that, and each attempt's evidence and outcome as they were written down.
        episodes: how many were scored again.
        unproven: attempts of whose evidence no digest was written down when it was saved.
        judged: episodes whose outcome differs only by what judges replied later.
        open: episodes that are not finished.
        notes: what is worth knowing, and no difference.
    """

    registered: str
    current: str
    seal: str
    episodes: int
    unproven: int
    judged: int
    open: int
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seals: list[str] = field(default_factory=list)
    episodes: int = 0
    unproven: int = 0
    judged: int = 0
    open: int = 0

    def differs(self, where: str, what: str) -> None:
        self.differences.append(Difference(where=where, what=what))


def verify_study(
    folder: StudyFolder,
    published: str | None = None,
    on_run: Callable[[str], None] = lambda _: None,
) -> Verification:
    """Verify a study's folder.

    Args:
        folder: of the study; it may be a copy, on any machine.
        published: a digest that was published, in whole or its first 12 or more characters.
        on_run: called with each run before it is looked at.

    Raises:
        StoreError: it is no study's folder, or its registration cannot be read.
        WorkerProcessError: a process that scored died.
    """
    registration, found = folder.registration(), _Found()
    _registration(folder, registration, found)
    locks: dict[str, RunLock] = {}
    for run in registration.all_runs:
        on_run(run.folder)
        try:
            kept = folder.run_folder(run.folder)
            locks[run.folder] = kept.lock()
            _run(kept, run, registration, found)
        except WorkerProcessError:
            raise  # it says nothing of the folder
        except ArenaError as unreadable:
            found.differs(f"{RUNS}/{run.folder}", unreadable.message)
    _strangers(folder, registration, found)
    _locks_alike(registration, locks, found)
    lines = "".join(sorted(found.seals))
    seal = hashlib.sha256(f"{registration.digest}\n{lines}".encode()).hexdigest()
    if published is not None:
        _published(published, (registration.registered_digest, registration.digest, seal), found)
    return Verification(
        registered=registration.registered_digest,
        current=registration.digest,
        seal=seal,
        episodes=found.episodes,
        unproven=found.unproven,
        judged=found.judged,
        open=found.open,
        differences=tuple(found.differences),
        notes=tuple(found.notes),
    )


def _registration(folder: StudyFolder, registration: Registration, found: _Found) -> None:
    name = folder.study_path.name
    try:
        digest = sha256(folder.study_bytes())
    except StoreError as gone:
        found.differs(name, gone.message)
    else:
        if digest != registration.study_sha256:
            found.differs(name, f"SHA-256 {digest}, registered was {registration.study_sha256}")
    where = folder.registration_path.name
    link = registration.broken_link()
    if link is not None:
        found.differs(where, f"addition {link} does not fit what stood before it")
    own = folder.written_digest()
    if own != registration.digest:
        found.differs(where, f"its content has SHA-256 {registration.digest}, it says {own}")


def _published(given: str, known: Iterable[str], found: _Found) -> None:
    text = given.strip().lower()
    if len(text) < _SHORTEST or not any(one.startswith(text) for one in known):
        found.differs("the published digest", f"{given} is none of this study's")


_SHORTEST: Final = 12


def _strangers(folder: StudyFolder, registration: Registration, found: _Found) -> None:
    known = {run.folder for run in registration.all_runs}
    there = folder.runs_path.iterdir() if folder.runs_path.is_dir() else ()
    for path in sorted(there):
        if path.name not in known:
            found.differs(f"{RUNS}/{path.name}", "is not in the registration")


def _run(kept: RunFolder, run: RegisteredRun, registration: Registration, found: _Found) -> None:
    where, lock = f"{RUNS}/{run.folder}", kept.lock()
    if lock_digest(lock) != run.lock_sha256:
        found.differs(f"{where}/lock.json", "is not the lock that was registered")
    if lock.run != run.run:
        found.differs(f"{where}/lock.json", f"is of run {lock.run}, registered was {run.run}")
    suite = next((one for one in registration.suites if one.label == run.suite), None)
    if suite is None or (lock.suite_hash, lock.tasks) != (suite.sha256, suite.tasks):
        found.differs(f"{where}/lock.json", f"its tasks are not those of suite '{run.suite}'")
    if (digest := hash_suite(kept.suite())) != lock.suite_hash:
        made_by = lock.packages.get("arena-orchestrator", "?")
        what = f"SHA-256 {digest}, the lock says {lock.suite_hash}"
        if made_by != own_version():
            what += f" (made by Arena {made_by}, this is {own_version()})"
        found.differs(f"{where}/suite.json", what)
    if not kept.ledger_path.is_file() or is_damaged(kept.ledger_path):
        if kept.evidence_names():
            found.differs(f"{where}/ledger.sqlite", "is missing or damaged")
            return
        found.open += _asked(kept, lock)
        return
    _ledger(kept, lock, where, found)
    finished = 0
    for scored in each_rescored(kept):
        finished += 1
        _episode(kept, lock, scored, where, None if run.was_played else registration, found)
    found.episodes += finished
    found.open += max(0, _asked(kept, lock) - finished)


def _asked(kept: RunFolder, lock: RunLock) -> int:
    chosen = [task for task in kept.suite().tasks if task.id in set(lock.tasks)]
    return sum(world in task.worlds for task in chosen for world in lock.worlds) * lock.repeats


def _ledger(kept: RunFolder, lock: RunLock, where: str, found: _Found) -> None:
    ledger = Ledger.open(kept.ledger_path)
    try:
        attempts, digests = ledger.attempts(), ledger.evidence_digests()
    finally:
        ledger.close()
    there = set(kept.evidence_names())
    for one in attempts:
        at = f"{where}/evidence/{one.folder}"
        found.seals.append(f"{at} {one.state} {one.outcome} {digests.get(one.folder)}\n")
        _attempt(kept, lock, one, digests.get(one.folder), at, found)
    for name in sorted(there - {one.folder for one in attempts}):
        found.differs(f"{where}/evidence/{name}", "the ledger does not know this attempt")


def _attempt(  # noqa: PLR0917 - the parts of `_ledger`
    kept: RunFolder, lock: RunLock, one: Attempt, digest: str | None, at: str, found: _Found
) -> None:
    trial = one.trial
    is_asked = trial.task in lock.tasks and trial.world in lock.worlds
    if not (is_asked and 0 <= trial.repeat < lock.repeats):
        found.differs(at, "the run was not asked to play this trial")
    if not kept.evidence_folder(one.folder).is_dir():
        if one.state is AttemptState.FINISHED or digest is not None:
            found.differs(at, "the evidence is missing")
        return
    if digest is None:
        found.unproven += one.state is not AttemptState.STARTED
        return
    now = digest_of_folder(kept.evidence_folder(one.folder))
    if now != digest:
        found.differs(at, f"its files have SHA-256 {now}, saved were {digest}")


def _episode(  # noqa: PLR0917 - the parts of `_run`
    kept: RunFolder,
    lock: RunLock,
    scored: ScoredTrial,
    where: str,
    registration: Registration | None,
    found: _Found,
) -> None:
    at = f"{where}/evidence/{scored.folder}"
    if not scored.is_same:
        if _is_judged_later(kept, scored):
            found.judged += 1
        else:
            now = f"{scored.score.outcome} ({scored.score.because})"
            found.differs(at, f"scores {now}, the ledger says {scored.was}")
    if scored.is_unreadable:
        return
    for what in _misattributed(scored, lock, scored.outline):
        found.differs(at, what)
    if registration is not None and _began_before(scored.outline, registration):
        began = scored.outline.started_at
        found.differs(at, f"began at {began}, registered was at {registration.registered_at}")


def _is_judged_later(kept: RunFolder, scored: ScoredTrial) -> bool:
    if not kept.judgements():
        return False
    unjudged = scored.evidence.model_copy(update={"judgements": ()})
    return str(score_task(scored.task, unjudged).outcome) == scored.was


def _misattributed(scored: ScoredTrial, lock: RunLock, outline: Evidence) -> Iterator[str]:
    trial = scored.trial
    for name, is_said, is_right in (
        ("task", outline.task, trial.task),
        ("world", outline.world, trial.world),
        ("repeat", outline.repeat, trial.repeat),
        ("agent", outline.agent, lock.agent.name),
    ):
        if is_said != is_right:
            yield f"its evidence is of {name} {is_said}, and not {is_right}"


def _began_before(outline: Evidence, registration: Registration) -> bool:
    if outline.fault is not None and not outline.steps and not outline.seconds:
        return False  # nothing was played: it has the moment of its run
    try:
        began = datetime.fromisoformat(outline.started_at)
        return began < datetime.fromisoformat(registration.registered_at)
    except (ValueError, TypeError):
        return True


def _locks_alike(registration: Registration, locks: dict[str, RunLock], found: _Found) -> None:
    """Hold the locks of all runs to that of the first."""
    if not locks:
        return
    first_name, first = next(iter(locks.items()))
    images, packages = dict(first.images), dict(first.packages)
    upstreams = _upstreams(first)
    for name, lock in locks.items():
        at = f"{RUNS}/{name}/lock.json"
        for what, of in _ALIKE.items():
            if of(lock) != of(first):
                found.differs(at, f"{what}: {of(lock)}, in {first_name}: {of(first)}")
        _same_versions(at, "image", images, lock.images, found)
        _same_versions(at, "package", packages, lock.packages, found)
        _same_versions(at, "answer for", upstreams, _upstreams(lock), found)
        if lock.host != first.host:
            found.notes.append(f"{name} was made on another machine than {first_name}")
    for run in registration.all_runs:
        if run.was_played:
            found.notes.append(f"{run.folder} was played before it came into the study")


def _same_versions(
    at: str, kind: str, seen: dict[str, str], said: Mapping[str, str], found: _Found
) -> None:
    for key, value in said.items():
        if seen.setdefault(key, value) != value:
            found.differs(at, f"{kind} {key} is {value}, in other runs {seen[key]}")


def _upstreams(lock: RunLock) -> dict[str, str]:
    """Return what answered for each site in each world; suites visit different ones."""
    return {
        f"{site} {world}": kind.value
        for world, sites in lock.upstreams.items()
        for site, kind in sites.items()
    }
