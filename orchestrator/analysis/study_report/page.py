"""A study's page: one HTML file, and the files of its episodes, loaded on demand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from arena_core.errors import StoreError
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis import html_page
from orchestrator.analysis.figures.style import signed_points
from orchestrator.analysis.figures.tables import BREAKDOWNS
from orchestrator.analysis.run_report.evidence import fallbacks, reset_figures
from orchestrator.analysis.studies.findings import StudyAnalysis
from orchestrator.analysis.studies.sentences import decision_said
from orchestrator.analysis.study_report import times
from orchestrator.analysis.study_report.episodes import EpisodeIndex, Screenshots, episode_document
from orchestrator.analysis.wording import duration
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.rescoring import ScoredEpisode, each_rescored
from orchestrator.runs.store.run_folder import RunFolder, write_atomically

_SPECIAL: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_SCRIPTS: Final = ("study.js", "filmstrip.js")
_INDEX: Final = "index.html"
EPISODES: Final = "episodes"


def as_json(document: Any) -> str:
    """Return compact JSON of ASCII letters, without `<`, `>` and `&`.

    It may stand in a script of HTML, whatever its texts say: they can neither end the script nor
    open a comment in it, and line separators that JavaScript knows (U+2028) are escaped.
    """
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.translate(_SPECIAL)


def as_call(function: str, name: str, document: Any) -> str:
    """Return a script that calls a function of the page with a name and a document.

    A page that was opened from a disk may load scripts, and may fetch nothing. The document is
    handed over as text for `JSON.parse`: no key of it can mean something to JavaScript.
    """
    return f"{function}({as_json(name)},{as_json(as_json(document))});\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """A run, and what its agent and its suite are called on the page.

    `suite`: empty for the name that its lock says.
    """

    label: str
    folder: RunFolder
    suite: str = ""


@dataclass(slots=True)
class PageData:
    """What the page holds beside what was analysed.

    Attributes:
        pending: episodes that are still to be played.
        folders: of each run, as the page names it.
        written: how many episodes have a file to load.
    """

    index: EpisodeIndex = field(default_factory=EpisodeIndex)
    times: times.StudyTimes = field(default_factory=times.StudyTimes)
    locks: list[tuple[str, RunLock]] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    pending: int = 0
    unreadable: int = 0
    written: int = 0
    kinds: Counter[OutcomeKind] = field(default_factory=Counter)

    @property
    def episodes(self) -> int:
        """How many episodes ended."""
        return len(self.index.rows)


def write_study_report(
    analysis: StudyAnalysis,
    runs: Sequence[ReportedRun],
    folder: Path,
    *,
    place: Path | None = None,
    beside: Sequence[Path] = (),
) -> Path:
    """Write a study's page, `index.html`, and a file for each episode in `episodes` beside it.

    Runs are read and scored again from their evidence, one episode at a time. The page opens from a
    disk as from a server, and loads an episode when it is looked at. Screenshots of runs below the
    folder that holds `folder` stay where they are; those of others are linked or copied beside.

    Args:
        runs: finished or not; their figures are those of `analysis`.
        folder: it is made where it is missing, and what it holds is overwritten.
        place: the folder that it is written for, where that is another one: links to screenshots
            are those of a page there.
        beside: figures and tables that the page shows or links to, below `folder`.

    Returns:
        Where the page is.
    """
    data = PageData()
    try:
        for number, run in enumerate(runs):
            _add_run(data, number, run, folder, place or folder)
        text = render_page(analysis, data, links=[_link(path, folder) for path in beside])
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / _INDEX, text)
        return folder / _INDEX
    except OSError as cause:
        raise StoreError(f"{folder}: the report cannot be written: {cause.strerror}") from cause


def render_page(
    analysis: StudyAnalysis, data: PageData, links: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the page as HTML.

    Its policy lets nothing run but its own script and what that loads, by the script's hash.
    """
    phases = data.times.phase_rows()
    return html_page.render_page(
        __package__,
        "study.html",
        style="study.css",
        images="'self' file:",
        scripts=_SCRIPTS,
        filters={"long_time": _long_time, "points": _points, "decision": decision_said},
        analysis=analysis,
        data=data,
        index=Markup(as_json(data.index.document())),  # noqa: S704 - nothing in it ends a script
        links=links,
        answers=(
            (
                "Registered questions",
                [one for one in analysis.answers if one.question.registered],
            ),
            ("Exploratory", [one for one in analysis.answers if not one.question.registered]),
        ),
        pictures={name.removesuffix(".svg"): path for path, name in links if name.endswith(".svg")},
        breakdowns=BREAKDOWNS,
        slices=_slices(analysis),
        lanes=data.times.lanes(),
        phases=phases,
        phase_names=times.PHASES,
        longest_step=times.longest_step(phases),
        resets=reset_figures(data.times.receipts),
        fallbacks=fallbacks(data.times.receipts),
        reset_lanes=data.times.reset_lanes(),
        unscored=[cell for cell in analysis.cells if cell.unscored],
    )


def _add_run(data: PageData, number: int, run: ReportedRun, folder: Path, page: Path) -> None:
    lock, suite = run.folder.lock(), run.folder.suite()
    label = run.suite or lock.suite
    tasks = [task for task in suite.tasks if task.id in set(lock.tasks)]
    wanted = sum(world in task.worlds for world in lock.worlds for task in tasks) * lock.repeats
    before = data.episodes
    data.locks.append((run.label, lock))
    data.folders.append(run.folder.path.name)
    shots = Screenshots(run.folder.path, page, folder / EPISODES / str(number) / "screenshots")
    target = folder / EPISODES / str(number)
    target.mkdir(parents=True, exist_ok=True)
    if run.folder.is_begun:
        for scored in each_rescored(run.folder, with_evidence=True):
            data.index.add(run=number, agent=run.label, suite=label, scored=scored)
            data.times.add(run.label, label, scored)
            data.kinds[scored.score.outcome.kind] += 1
            data.unreadable += scored.is_unreadable
            _write_episode(run, scored, shots, target, f"{number}/{scored.folder}")
    data.pending += wanted - (data.episodes - before)


def _write_episode(
    run: ReportedRun, scored: ScoredEpisode, shots: Screenshots, target: Path, name: str
) -> None:
    named = [step.screenshot for step in scored.evidence.steps if step.screenshot is not None]
    there = {one: shots.there(scored.folder, one) for one in named}
    evidence = run.folder.evidence_folder(scored.folder)
    document = episode_document(scored, there, evidence)
    document["shots"] = shots.base(scored.folder, tuple(one for one in there.values() if one))
    text = as_call("arenaEpisode", name, document)
    (target / f"{scored.folder}.js").write_text(text, encoding="ascii")


def _long_time(seconds: float) -> str:
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return duration(seconds)


def _points(share: float) -> str:
    return signed_points(share, digits=1)


def _link(path: Path, folder: Path) -> tuple[str, str]:
    relative = path.relative_to(folder) if path.is_relative_to(folder) else path
    return relative.as_posix(), relative.name


def _slices(analysis: StudyAnalysis) -> Mapping[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for one in analysis.slices:
        found.setdefault(one.by.value, []).append(one)
    return found
