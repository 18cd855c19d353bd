"""Checks a study's folder against its registration and seals, and its report against a new one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from arena_core.errors import ArenaError, InputError, StoreError, WorkerProcessError
from arena_core.names import counted
from arena_core.plugins import ARENA
from orchestrator.analysis.studies.registration import (
    REGISTRATION_FILE,
    REPORT,
    RUNS,
    Registration,
    Study,
    StudyFolder,
    sha256,
)
from orchestrator.analysis.studies.seals import REPORTED_BY, Seal, read_seals
from orchestrator.analysis.studies.study_file import parse_study_file
from orchestrator.analysis.studies.verified_run import AgentTally, Difference, Found, RunCheck
from orchestrator.gateway.variations import in_arm
from orchestrator.runs.store.digests import digest_of_folder, digests_of_folder
from orchestrator.runs.store.lock import RunLock

_DRAWN: Final = {".svg", ".pdf"}
_ALIKE: Final[dict[str, Callable[[RunLock], object]]] = {
    "repeats": lambda lock: lock.repeats,
    "attempts": lambda lock: lock.attempts,
    "resolved hosts": lambda lock: lock.resolve,
}
_SHORTEST: Final = 12


def check_report(
    folder: StudyFolder, seal: Seal | None, remake: Callable[[Path], object], found: Found
) -> None:
    """Compare the files of `report/` with the last seal and with what the runs give today.

    A figure's bytes depend on what draws it, and a page's on Arena: where the report was written by
    other versions, it is held to its seal alone, and a note says so.

    Args:
        seal: the last one; None where there is none.
        found: takes what differs.
    """
    if folder.report_path.is_symlink():
        found.differs(REPORT, "is a link")
        return
    if not folder.report_path.is_dir():
        return
    try:
        _check(folder, seal, remake, found)
    except StoreError as unreadable:
        found.differs(REPORT, unreadable.message)


def _check(
    folder: StudyFolder, seal: Seal | None, remake: Callable[[Path], object], found: Found
) -> None:
    if seal is None:
        found.notes.append(f"{REPORT}/ is not sealed and was not regenerated")
        return
    packages: Mapping[str, str] = {}
    if seal.report is None:
        found.differs(REPORT, "was not there at the last seal")
    else:
        packages = seal.report.packages
        if digest_of_folder(folder.report_path) != seal.report.sha256:
            found.differs(REPORT, "its files are not those of the last seal")
    here = {name: version(name) for name in REPORTED_BY}
    others = [name for name in REPORTED_BY if packages.get(name, here[name]) != here[name]]
    if ARENA in others:
        made_by = f"Arena {packages[ARENA]} wrote it, but this is {here[ARENA]}"
        found.notes.append(f"{REPORT}/ was not regenerated: {made_by}")
        return
    if others:
        found.notes.append(
            f"another version of {others[0]} drew the figures in {REPORT}/:"
            " only their seal was checked"
        )
    _compare(folder, remake, _DRAWN if others else set(), found)


def _compare(
    folder: StudyFolder, remake: Callable[[Path], object], unheld: set[str], found: Found
) -> None:
    with TemporaryDirectory(prefix="arena-verify-") as made:
        try:
            remake(Path(made))
        except ArenaError as cause:
            found.notes.append(f"{REPORT}/ cannot be regenerated: {cause.message}")
            return
        again = digests_of_folder(Path(made))
    there = digests_of_folder(folder.report_path)
    for name in sorted(again):
        if Path(name).suffix in unheld:
            continue
        if name not in there:
            found.differs(f"{REPORT}/{name}", "is missing")
        elif there[name] != again[name]:
            found.differs(f"{REPORT}/{name}", "differs from what the runs give today")
    for name in sorted(there.keys() - again.keys()):
        found.notes.append(f"{REPORT}/{name} is not part of the report")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a study's folder shows.

    Attributes:
        registered: SHA-256 that stands for what was registered before anything was played.
        current: the same with what was added since.
        head: SHA-256 that stands for all that was registered and played: of the last seal, or, of a
            study without seals, over each attempt's evidence and outcome as they were written down.
        agents: what there is of each agent's episodes.
    """

    registered: str
    current: str
    head: str
    agents: tuple[AgentTally, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    @property
    def refusal(self) -> str:
        """Why the folder does not verify, in one line; empty where it does."""
        said = [f"{one.agent}: {one.missing}" for one in self.agents if one.missing]
        if self.differences:
            said.insert(0, counted(len(self.differences), "difference"))
        first = f"; the first: {self.differences[0].where}" if self.differences else ""
        return "; ".join(said) + first


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Digests that were published, each in whole or its first 12 or more characters.

    Attributes:
        registered: what `--register` printed.
        head: of a seal, the last one or an earlier one.
    """

    registered: str | None = None
    head: str | None = None


def verify_study(
    folder: StudyFolder,
    published: Published | None = None,
    *,
    remake: Callable[[Path], object] | None = None,
) -> Verification:
    """Verify a study's folder.

    Args:
        folder: of the study; it may be a copy, on any machine.
        remake: writes the study's report into another folder; None leaves the report unread.
    """
    registration, found = folder.registration(), Found()
    study = _registration(folder, registration, found)
    locks: dict[str, RunLock] = {}
    for run in registration.all_runs:
        found.agent(run.label)
        try:
            kept = folder.run_folder(run.folder)
            locks[run.folder] = kept.lock()
            RunCheck(
                folder=kept,
                run=run,
                registration=registration,
                study=study,
                lock=locks[run.folder],
                found=found,
            ).check()
        except WorkerProcessError:
            raise  # it says nothing of the folder
        except ArenaError as unreadable:
            found.differs(f"{RUNS}/{run.folder}", unreadable.message)
    _strangers(folder, registration, found)
    _locks_alike(registration, locks, found)
    _shards(registration, locks, found)
    seals = _seals(folder, registration, found)
    head = seals[-1].digest if seals else _head_without_seals(registration, found)
    _published(published or Published(), registration, seals, head, found)
    if remake is not None:
        check_report(folder, seals[-1] if seals else None, remake, found)
    return Verification(
        registered=registration.registered_digest,
        current=registration.digest,
        head=head,
        agents=tuple(found.agents.values()),
        differences=tuple(found.differences),
        notes=tuple(found.notes),
    )


def _registration(folder: StudyFolder, registration: Registration, found: Found) -> Study | None:
    where = folder.registration_path.name
    link = registration.broken_link()
    if link is not None:
        found.differs(where, f"addition {link} does not match what came before it")
    own = folder.written_digest()
    if own != registration.digest:
        found.differs(where, f"its content has SHA-256 {registration.digest}, but it says {own}")
    name = folder.study_path.name
    try:
        text = folder.study_bytes()
        digest = sha256(text)
        if digest != registration.study_sha256:
            found.differs(
                name, f"has SHA-256 {digest}, but {registration.study_sha256} was registered"
            )
        file = parse_study_file(text.decode(), folder.study_path)
    except (StoreError, InputError) as unreadable:
        found.differs(name, unreadable.message)
    except UnicodeDecodeError:
        found.differs(name, "is not UTF-8 text")
    else:
        study = Study(file=file, registration=registration)
        _additions(study, where, found)
        _runs_of_all_agents(study, where, found)
        return study
    return None


def _additions(study: Study, where: str, found: Found) -> None:
    """Check that additions only add: they remove and replace nothing."""
    repeats, agents = study.file.repeats, set(study.file.agents)
    questions = {one.id for one in study.file.questions}
    for number, one in enumerate(study.registration.amendments, start=1):
        if one.repeats is not None and one.repeats <= repeats:
            what = f"addition {number} sets {one.repeats} repeats, but there were {repeats}"
            found.differs(where, what)
        asked = {question.id for question in one.questions}
        for name in sorted((agents & one.agents.keys()) | (questions & asked)):
            found.differs(where, f"addition {number} replaces '{name}'")
        repeats = repeats if one.repeats is None else one.repeats
        agents |= one.agents.keys()
        questions |= asked


def _runs_of_all_agents(study: Study, where: str, found: Found) -> None:
    """Check that there is one run for each agent on each suite, and one more in each arm."""
    there = [(run.label, run.suite) for run in study.runs]
    taken = {run.agent for run in study.runs if run.was_played}
    labels = {
        in_arm(agent, arm): agent for agent in study.agents for arm in ("", *study.file.variations)
    }
    for label, agent in labels.items():
        for suite in study.registration.suites:
            count = there.count((label, suite.label))
            if count > 1 or (not count and agent not in taken):
                found.agent(label)
                what = f"{count} runs of agent '{label}' on suite '{suite.label}', not one"
                found.differs(where, what)
    for label in sorted(dict(there).keys() - labels.keys()):
        found.differs(where, f"a run of agent '{label}', which the study does not name")
    ids = [run.run for run in study.runs]
    if len({*ids}) < len(ids):
        found.differs(where, "two runs have the same id")


def _shards(registration: Registration, locks: Mapping[str, RunLock], found: Found) -> None:
    """Check that a merged study is of shards registered alike, whose locks its runs name."""
    where, shards = REGISTRATION_FILE, registration.shards
    numbers = [one.shard for one in shards]
    if numbers != [f"{number + 1}/{len(shards)}" for number in range(len(shards))]:
        found.differs(where, f"it was merged from the shards {numbers}, which are not all of one")
    for one in shards:
        if (one.study_sha256, one.suites) != (registration.study_sha256, registration.suites):
            found.differs(where, f"shard {one.shard} was registered as another study")
    for at, run in enumerate(registration.runs):
        merged = locks[run.folder].merged if run.folder in locks else None
        if run.folder not in locks or (merged is None and not shards):
            continue
        its = [] if merged is None else [one.lock for one in merged.shards]
        if its != [one.runs[at].lock_sha256 for one in shards if at < len(one.runs)]:
            what = "it was not merged from the runs that the shards were registered with"
            found.differs(f"{RUNS}/{run.folder}/lock.json", what)


def _strangers(folder: StudyFolder, registration: Registration, found: Found) -> None:
    known = {run.folder for run in registration.all_runs}
    there = folder.runs_path.iterdir() if folder.runs_path.is_dir() else ()
    for path in sorted(there):
        if path.name not in known:
            found.differs(f"{RUNS}/{path.name}", "is not in the registration")


def _seals(folder: StudyFolder, registration: Registration, found: Found) -> tuple[Seal, ...]:
    where = folder.seals_path.name
    try:
        seals = read_seals(folder)
    except StoreError as unreadable:
        found.differs(where, unreadable.message)
        return ()
    if not seals:
        if not registration.is_sealed:
            found.notes.append(
                "an earlier Arena registered it without seals: nothing shows the order in which it"
                " was played, or that no attempt was removed"
            )
        elif found.journals:
            found.differs(where, "is missing")
        return ()
    before = registration.registered_digest
    for number, seal in enumerate(seals, start=1):
        _seal(f"{where}:{number}", seal, before, registration, found)
        before = seal.digest
    after = sum(
        len(journal.heads) - (seals[-1].runs[name].entries if name in seals[-1].runs else 0)
        for name, journal in found.journals.items()
    )
    if after > 0:
        found.notes.append(
            f"{after} entries of the ledgers are newer than the last seal, of {seals[-1].at}:"
            " the head does not cover them (arena study report seals them)"
        )
    return seals


def _seal(where: str, seal: Seal, before: str, registration: Registration, found: Found) -> None:
    if seal.previous != before:
        found.differs(where, "does not match what came before it")
    if seal.registration not in registration.digests:
        found.differs(
            where, f"names the registration {seal.registration}, which is not this study's"
        )
    for name, head in seal.runs.items():
        journal = found.journals.get(name)
        if journal is None and not head.entries:
            continue
        if journal is None or not journal.holds(head.head):
            what = f"run {name} had {head.entries} entries, the last with SHA-256 {head.sha256}"
            found.differs(where, f"{what}; its ledger has no such entry")


def _head_without_seals(registration: Registration, found: Found) -> str:
    lines = "".join(sorted(found.seals))
    return hashlib.sha256(f"{registration.digest}\n{lines}".encode()).hexdigest()


def _published(
    published: Published,
    registration: Registration,
    seals: tuple[Seal, ...],
    head: str,
    found: Found,
) -> None:
    registered, given = published.registered, published.head
    digests = (*registration.digests, *(one.registered_digest for one in registration.shards))
    if registered is not None and _known(registered, digests) is None:
        found.differs(
            "the published registration", f"{registered} is not a registration of this study"
        )
    if given is None:
        return
    number = _known(given, [seal.digest for seal in seals] or [head])
    if number is None:
        found.differs("the published head", f"{given} is not a head of this study")
    elif number + 1 < len(seals):
        found.notes.append(
            f"the published head is seal {number + 1} of {len(seals)}, of {seals[number].at}:"
            " it does not cover what was played later"
        )


def _known(given: str, digests: Iterable[str]) -> int | None:
    """Return the index of the digest that was given in full or as a prefix."""
    text = given.strip().lower()
    if len(text) < _SHORTEST:
        return None
    return next((at for at, one in enumerate(digests) if one.startswith(text)), None)


def _locks_alike(registration: Registration, locks: dict[str, RunLock], found: Found) -> None:
    """Check that the locks of all runs match the first one."""
    if not locks:
        return
    first_name, first = next(iter(locks.items()))
    images, packages, tapes = dict(first.images), dict(first.packages), first.taped
    upstreams = _upstreams(first)
    browsers: dict[str, str] = {}  # an agent may have one of its own
    for name, lock in locks.items():
        at = f"{RUNS}/{name}/lock.json"
        if not lock.vary and lock.worlds != first.worlds:
            found.differs(at, f"worlds: {lock.worlds}, but {first.worlds} in {first_name}")
        kind = "" if lock.browser_used is None else lock.browser_used.kind
        browser = browsers.setdefault(kind, lock.browser)
        if lock.browser != browser:
            found.differs(at, f"browser: {lock.browser}, but {browser} in {first_name}")
        for what, of in _ALIKE.items():
            if of(lock) != of(first):
                found.differs(at, f"{what}: {of(lock)}, but {of(first)} in {first_name}")
        _same_versions(at, "image", images, lock.images, found)
        _same_versions(at, "package", packages, lock.packages, found)
        _same_versions(at, "tape of", tapes, lock.taped, found)
        _same_versions(at, "answer for", upstreams, _upstreams(lock), found)
        if lock.host != first.host:
            found.notes.append(f"{name} ran on a different machine than {first_name}")
    for run in registration.all_runs:
        if run.was_played:
            found.notes.append(f"{run.folder} was played before it was added to the study")


def _same_versions(
    at: str, kind: str, seen: dict[str, str], said: Mapping[str, str], found: Found
) -> None:
    for key, value in said.items():
        if seen.setdefault(key, value) != value:
            found.differs(at, f"{kind} {key} is {value}, but {seen[key]} in other runs")


def _upstreams(lock: RunLock) -> dict[str, str]:
    """Return what answered for each site in each world; suites visit different ones."""
    return {
        f"{site} {world}": kind.value
        for world, sites in lock.upstreams.items()
        for site, kind in sites.items()
    }
