"""The report as one self-contained HTML file: no script, no font, no image from elsewhere."""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from arena_core.actions import Action, Stop
from arena_core.errors import StoreError
from arena_core.worlds import World
from evaluators.evidence import StepEvidence
from evaluators.responses import answer_of
from orchestrator.report.exchanges import exchanges_by_step
from orchestrator.report.resets import fallbacks, reset_figures
from orchestrator.report.run_report import RunReport, TaskRow
from orchestrator.report.seen_texts import SeenTexts
from orchestrator.report.wording import action_in_words, duration, interval, money, percent
from orchestrator.store.reading_scores import ReadTrial
from orchestrator.store.rescoring import ScoredTrial


def write_html(report: RunReport, path: Path) -> None:
    """Write the report as one HTML file.

    Raises:
        StoreError: the file cannot be written.
    """
    try:
        path.write_text(render_html(report), encoding="utf-8")
    except OSError as cause:
        message = f"{path}: the report cannot be written: {cause.strerror}"
        raise StoreError(message) from cause


class HtmlReport:
    """The report as `arena.reports` knows it."""

    suffix = "html"

    def write(self, report: RunReport, path: Path) -> None:
        """Write the report as one HTML file.

        Raises:
            StoreError: the file cannot be written.
        """
        write_html(report, path)


HTML: Final = HtmlReport()


def render_html(report: RunReport) -> str:
    """Return the report as HTML."""
    environment = Environment(
        loader=PackageLoader("orchestrator.report", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": percent,
        "interval": interval,
        "duration": duration,
        "money": money,
    }
    return environment.get_template("report.html").render(
        report=report,
        worlds=report.lock.worlds,
        world_name=report.lock.label,
        divergence_rows=[row for row in report.rows if row.diverges],
        resets=reset_figures(report.receipts),
        fallbacks=fallbacks(report.receipts),
        broken=Counter(str(attempt.state) for attempt in report.attempts),
        played_by=_played_by,
        action=_action,
        asked=lambda trial: exchanges_by_step(report.folder.evidence_folder(trial.folder)),
        picture=lambda trial, step: _picture(report, trial, step),
        seen=SeenTexts(report.folder).text,
        read_as=_by_folder(report),
        has_both=set(report.lock.worlds) == set(World),
    )


def _by_folder(report: RunReport) -> Mapping[str, Mapping[str, ReadTrial]]:
    """Return what the readings say of each trial, by its folder and the reading's name."""
    found: defaultdict[str, dict[str, ReadTrial]] = defaultdict(dict)
    for reading in report.readings:
        for one in reading.trials:
            found[one.scored.folder][reading.name] = one
    return found


def _played_by(row: TaskRow, world: World) -> tuple[ScoredTrial, ...]:
    return row.trials.get(world, ())


def _action(action: Action | None, step: StepEvidence) -> str:
    if action is None:
        return "opened the start page"
    if isinstance(action, Stop):
        answer = answer_of(action)
        return action_in_words(action, step) if answer is None else f"answered: {answer}"
    return action_in_words(action, step)


def _picture(report: RunReport, trial: ScoredTrial, step: StepEvidence) -> str | None:
    """Return a step's screenshot as a data URI; None where none was kept."""
    if step.screenshot is None:
        return None
    path = report.folder.evidence_folder(trial.folder) / step.screenshot
    if not path.is_file():
        return None
    encoded = base64.b64encode(path.read_bytes()).decode("ascii")
    return f"data:image/{path.suffix.removeprefix('.')};base64,{encoded}"
