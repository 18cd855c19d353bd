"""A leaderboard: one static page of studies that verify, with the evidence of every row beside it.

Studies share a table only where they measured the same: one suite, word for word, on the same
images. Nothing else is put together; what differs stands in a table of its own, and says in what.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from arena_core.errors import StoreError, UsageError, VerificationError
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis import html_page
from orchestrator.analysis.figures.writing import write_figures
from orchestrator.analysis.run_report.run_report import read_run
from orchestrator.analysis.run_report.safety import SafetyArmFigures, safety_reports
from orchestrator.analysis.stats.rates import Rate, clustered_rate
from orchestrator.analysis.stats.results import Compared, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.comparison import browsers_apart, own_questions
from orchestrator.analysis.studies.findings import CellFigures, StudyAnalysis
from orchestrator.analysis.studies.questions import Question
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.analysis.studies.sentences import decision_said
from orchestrator.analysis.studies.study_runs import StudyRun
from orchestrator.analysis.studies.verification import Verification, verify_study
from orchestrator.analysis.study_report.reporting import read_rows, write_report
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.run_folder import write_atomically

_PAGE: Final = "index.html"
_DATA: Final = "leaderboard.json"
_STUDIES: Final = "studies"
_BOARDS: Final = "boards"
_NO_TIER: Final = "no tier"
_TOLD: Final = {AgentClass.REFERENCE, AgentClass.GUIDED}


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Leaderboard:
    """A leaderboard as it was written.

    Attributes:
        page: the path of its `index.html`.
        boards: what each of its tables shows; studies share one where they measured the same.
        heads: by study, as the page calls it, the digest of all that was registered and played.
    """

    page: Path
    boards: tuple[StudyAnalysis, ...]
    heads: Mapping[str, str]

    def __repr__(self) -> str:
        return f"<Leaderboard {self.page}: {', '.join(self.heads)}>"

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        boards = [one.document() for one in self.boards]
        return {"studies": dict(self.heads), "boards": boards}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verified:
    """A study that verifies, and what the page calls it."""

    name: str
    title: str
    folder: StudyFolder
    verification: Verification

    @property
    def link(self) -> str:
        return f"{_STUDIES}/{quote(self.name)}/{_PAGE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """What must be the same in two runs of a table; the order is that in which it is named."""

    suite_hash: str
    tasks: tuple[str, ...]
    images: tuple[tuple[str, str], ...]
    staged: tuple[str, ...]
    tapes: tuple[tuple[str, str], ...]
    arm: str

    @classmethod
    def of(cls, lock: RunLock) -> _Measured:
        return cls(
            suite_hash=lock.suite_hash,
            tasks=tuple(sorted(lock.tasks)),
            images=tuple(sorted(lock.images.items())),
            staged=tuple(sorted(lock.staged)),
            tapes=tuple(sorted(lock.taped.items())),
            arm=lock.arm or "",
        )

    def apart_from(self, other: _Measured) -> str:
        """Say in what it differs from another."""
        found = [
            what for name, what in _SAID.items() if getattr(self, name) != getattr(other, name)
        ]
        return " and ".join(found)


_SAID: Final = {
    "suite_hash": "the suite’s content",
    "tasks": "the chosen tasks",
    "images": "the sites’ images",
    "staged": "the staged sites",
    "tapes": "the tapes",
    "arm": "the arm",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A run of a study as a table takes it; `label` is of its agent, unlike any other's there."""

    study: _Verified
    run: StudyRun
    rows: tuple[EpisodeResult, ...]
    label: str

    @property
    def episodes(self) -> str:
        """The link to its episodes in its study's page, to which `&world=` is added."""
        asked = urlencode({"agent": self.run.label, "suite": self.run.suite}, quote_via=quote)
        return f"{self.study.link}#{asked}"

    @property
    def as_run(self) -> StudyRun:
        suite = self.run.lock.suite
        return replace(self.run, label=self.label, suite=suite, name=self._name, arm=None)

    @property
    def as_rows(self) -> Iterable[EpisodeResult]:
        suite = self.run.lock.suite
        for row in self.rows:
            yield replace(row, agent=self.label, suite=suite, run=self._name, arm=None)

    @property
    def _name(self) -> str:
        return f"{self.study.name}/{self.run.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfPart:
    """An agent's figures over a part of the tasks, in one world."""

    label: str
    world: str
    world_label: str
    part: str
    found: Rate | SafetyArmFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class _Board:
    """A table of the page, with all that belongs to it."""

    title: str
    lock: RunLock
    apart: str
    analysis: StudyAnalysis
    entries: Mapping[str, _Entry]
    cells: tuple[CellFigures, ...]
    tiers: tuple[_OfPart, ...]
    safety: tuple[_OfPart, ...]
    notes: tuple[str, ...]
    pictures: Mapping[str, str]


def write_leaderboard(studies: Sequence[Path], folder: Path) -> Leaderboard:
    """Write a leaderboard of studies; errors are those of `arena.studies.leaderboard`."""
    if not studies:
        raise UsageError("a leaderboard needs a study")
    verified = _verified(studies)
    _make_room(folder)
    try:
        entries = [one for study in verified for one in _entries(study)]
        for study in verified:
            into = folder / _STUDIES / study.name
            write_report(study.folder, into, place=into)
        boards = _boards(entries, folder)
        found = Leaderboard(
            page=folder / _PAGE,
            boards=tuple(one.analysis for one in boards),
            heads={one.name: one.verification.head for one in verified},
        )
        write_atomically(folder / _PAGE, _render(verified, boards))
        write_atomically(folder / _DATA, json.dumps(found.document(), indent=1))
    except OSError as cause:
        message = f"{folder}: the leaderboard cannot be written: {cause.strerror or cause}"
        raise StoreError(message) from cause
    return found


def _verified(paths: Sequence[Path]) -> list[_Verified]:
    """Verify each study before anything is written, and refuse by name all that do not."""
    found: list[_Verified] = []
    refused: list[str] = []
    names = Counter[str]()
    for path in paths:
        try:
            folder = StudyFolder.open(path)
            verification = verify_study(folder, remake=partial(write_report, folder))
            file = folder.study().file if not verification.refusal else None
        except (StoreError, VerificationError) as unreadable:
            refused.append(unreadable.message)
            continue
        if file is None:
            refused.append(f"{path}: {verification.refusal}")
            continue
        names[file.name] += 1
        name = file.name if names[file.name] == 1 else f"{file.name}-{names[file.name]}"
        title = file.title or file.name
        study = _Verified(name=name, title=title, folder=folder, verification=verification)
        found.append(study)
    if refused:
        some = refused[0] if len(refused) == 1 else "; ".join(refused)
        hint = "a leaderboard takes studies that verify, and no others: arena study verify DIR"
        raise VerificationError(some, hint=hint)
    _refuse_twins(found)
    return found


def _refuse_twins(studies: Sequence[_Verified]) -> None:
    known: dict[str, _Verified] = {}
    for one in studies:
        earlier = known.setdefault(one.verification.registered, one)
        if earlier is not one:
            message = f"{one.folder.path}: is the same study as {earlier.folder.path}"
            raise UsageError(message)


def _make_room(folder: Path) -> None:
    """Remove what an earlier leaderboard wrote; a folder that holds anything else is refused."""
    try:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise UsageError(f"{folder}: is no folder of its own")
        is_ours = (folder / _DATA).is_file()
        if not is_ours and folder.is_dir() and any(folder.iterdir()):
            message = f"{folder}: holds other files; a leaderboard needs a folder of its own"
            raise UsageError(message)
        for name in (_STUDIES, _BOARDS) if is_ours else ():
            if (folder / name).exists():
                shutil.rmtree(folder / name)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        message = f"{folder}: the leaderboard cannot be written: {cause.strerror or cause}"
        raise StoreError(message) from cause


def _entries(study: _Verified) -> Iterable[_Entry]:
    read = read_rows(study.folder, study.folder.study())
    for run in read.runs:
        rows = tuple(row for row in read.rows if row.run == run.name)
        yield _Entry(study=study, run=run, rows=rows, label=run.player)


def _boards(entries: Iterable[_Entry], folder: Path) -> list[_Board]:
    groups: dict[_Measured, dict[str, _Entry]] = {}
    twice: dict[_Measured, list[str]] = {}
    for one in entries:
        measured = _Measured.of(one.run.lock)
        earlier = groups.setdefault(measured, {}).setdefault(one.run.lock.run, one)
        if earlier is not one:
            twice.setdefault(measured, []).append(
                f"{earlier.label} of {one.study.name} is the run that {earlier.study.name} has,"
                " and is shown once."
            )
    firsts: dict[str, _Measured] = {}
    boards = []
    for number, (measured, kept) in enumerate(groups.items(), start=1):
        found = _named(list(kept.values()))
        suite = found[0].run.lock.suite
        first = firsts.setdefault(suite, measured)
        apart = "" if first is measured else measured.apart_from(first)
        notes = twice.get(measured, [])
        boards.append(_board(found, apart, notes, folder, number))
    return boards


def _named(entries: Sequence[_Entry]) -> list[_Entry]:
    """Give each entry a label of its own: with its study's name where two agents share theirs."""
    found = list(entries)
    for more in (lambda one: one.study.name, lambda one: f"{one.study.name}/{one.run.name}"):
        counts = Counter(one.label for one in found)
        found = [
            replace(one, label=f"{one.run.player} ({more(one)})") if counts[one.label] > 1 else one
            for one in found
        ]
    return found


def _board(
    entries: Sequence[_Entry], apart: str, notes: Sequence[str], folder: Path, number: int
) -> _Board:
    lock, place = entries[0].run.lock, f"{_BOARDS}/{number}"
    runs = [one.as_run for one in entries]
    table = EpisodeTable(row for one in entries for row in one.as_rows)
    title = f"{lock.suite}, version {lock.suite_version}"
    title = f"{title}, {lock.arm}" if lock.arm else title
    title = f"{title} (table {number})" if apart and not lock.arm else title
    more = [*notes, *browsers_apart(runs)]
    analysis = analyse(_questions(runs), table, runs, title=title, notes=more)
    figures = write_figures(analysis, folder / place)
    cells = _best_first(analysis.cells, {one.label: one for one in entries})
    pictures = [path for path in figures if path.suffix == ".svg"]
    return _Board(
        title=title,
        lock=lock,
        apart=apart,
        analysis=analysis,
        entries={one.label: one for one in entries},
        cells=cells,
        tiers=tuple(_tiers(entries, cells, 1 - analysis.alpha)),
        safety=tuple(_safety(entries)),
        notes=analysis.notes,
        pictures={path.stem: f"{place}/{path.name}" for path in pictures},
    )


def _questions(runs: Sequence[StudyRun]) -> list[Question]:
    """Ask of every pair but those with an agent that knows the solution: they cost p of others."""
    told = {run.label for run in runs if run.lock.agent.agent_class in _TOLD}
    return [
        one
        for one in own_questions(runs)
        if one.of is not Compared.AGENTS or not told & set(one.sides)
    ]


def _best_first(
    cells: Iterable[CellFigures], entries: Mapping[str, _Entry]
) -> tuple[CellFigures, ...]:
    """Order rows by world and success; who is no contestant stands below those who are."""

    def place(one: CellFigures) -> tuple[str, bool, float, str]:
        who = entries[one.cell.agent].run.lock.agent.agent_class
        success = -1.0 if one.success is None else one.success
        return one.cell.world, who is not AgentClass.CONTESTANT, -success, one.cell.agent

    return tuple(sorted(cells, key=place))


def _tiers(
    entries: Sequence[_Entry], cells: Iterable[CellFigures], confidence: float
) -> Iterable[_OfPart]:
    """Yield each agent's success by tier; nothing where no task says its tier."""
    suite = next(one.run.folder for one in entries if one.run.folder is not None).suite()
    tiers = {task.id: task.tier.value for task in suite.tasks if task.tier is not None}
    if not tiers.keys() & set(entries[0].run.lock.tasks):
        return
    rows = {one.label: EpisodeTable(one.as_rows) for one in entries}
    for cell in cells:
        mine = rows[cell.cell.agent].cells.get(cell.cell, EpisodeTable())
        parts = mine.by(lambda row: tiers.get(row.task, _NO_TIER))
        for part, found in sorted(parts.items()):
            yield _OfPart(
                label=cell.cell.agent,
                world=cell.cell.world.value,
                world_label=cell.world_label,
                part=part,
                found=clustered_rate(found.tasks, confidence).as_rate,
            )


def _safety(entries: Sequence[_Entry]) -> Iterable[_OfPart]:
    """Yield utility and harm of each agent in each arm of the cases of safety."""
    for one in entries:
        if one.run.folder is None or not any(
            task.safety is not None for task in one.run.folder.suite().tasks
        ):
            continue
        for report in safety_reports(read_run(one.run.folder)):
            for arm in report.arms:
                yield _OfPart(
                    label=one.label,
                    world=report.world.value,
                    world_label=one.run.lock.label(report.world),
                    part=arm.arm.value,
                    found=arm,
                )


def _render(studies: Sequence[_Verified], boards: Sequence[_Board]) -> str:
    return html_page.render_page(
        __package__,
        "leaderboard.html",
        style="study.css",
        images="'self' file:",
        filters={"decision": decision_said},
        studies=studies,
        boards=boards,
    )
