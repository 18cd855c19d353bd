"""The report as one self-contained HTML file: no script, no font, no image from elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.analysis.html_page import render_page
from orchestrator.analysis.run_report.evidence import (
    SeenTexts,
    exchanges_by_step,
    fallbacks,
    reset_figures,
)
from orchestrator.analysis.run_report.failure_causes import causes_in_words, failure_causes
from orchestrator.analysis.run_report.page_sources import host_totals, tape_lines
from orchestrator.analysis.run_report.parting import causes_said, partings
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow
from orchestrator.analysis.run_report.safety import (
    changes_in_words,
    episode_in_words,
    measure_in_words,
    safety_reports,
)
from orchestrator.analysis.wording import step_in_words
from orchestrator.runs.store.evidence_files import picture_uri
from orchestrator.runs.store.rescoring import ScoredEpisode
from orchestrator.runs.store.scorer_reports import ScorerEpisode


def write_html(report: RunReport, path: Path) -> None:
    """Write the report as one HTML file."""
    try:
        path.write_text(render_html(report), encoding="utf-8")
    except OSError as cause:
        raise StoreError(f"{path}: the report cannot be written: {cause.strerror}") from cause


class HtmlReport:
    """The report as `arena.reports` knows it."""

    suffix = "html"

    def write(self, report: RunReport, path: Path) -> None:
        """Write the report as one HTML file."""
        write_html(report, path)


HTML: Final = HtmlReport()


def render_html(report: RunReport) -> str:
    parted = partings(report)
    failed = failure_causes(report)
    originals = [row.task.original for row in report.rows]
    return render_page(
        __package__,
        "report.html",
        style="report.css",
        images="data:",
        report=report,
        worlds=report.lock.worlds,
        world_name=report.lock.label,
        tape_lines=tuple(tape_lines(report)),
        divergence_rows=[row for row in report.rows if row.diverges],
        parted=parted,
        causes=causes_said(parted.values()),
        failed=failed,
        failed_by=causes_in_words(failed.values()),
        hosts=host_totals(report),
        corrected_golds=sum(bool(one and one.errata) for one in originals),
        safety=safety_reports(report),
        safety_word=measure_in_words,
        safety_changes=changes_in_words,
        safety_said=episode_in_words,
        resets=reset_figures(report.receipts),
        fallbacks=fallbacks(report.receipts),
        broken=Counter(str(attempt.state) for attempt in report.attempts),
        played_by=_played_by,
        deed=step_in_words,
        asked=lambda episode: exchanges_by_step(report.folder.evidence_folder(episode.folder)),
        picture=lambda episode, step: picture_uri(
            report.folder.evidence_folder(episode.folder), step.screenshot
        ),
        seen=SeenTexts(report.folder).text,
        read_as=_by_folder(report),
        has_both=set(report.lock.worlds) == set(World),
    )


def _by_folder(report: RunReport) -> Mapping[str, Mapping[str, ScorerEpisode]]:
    """Return what the scorers say of each episode, by its folder and the scorer's name."""
    found: defaultdict[str, dict[str, ScorerEpisode]] = defaultdict(dict)
    for scorer in report.scorers:
        for one in scorer.episodes:
            found[one.scored.folder][scorer.name] = one
    return found


def _played_by(row: TaskRow, world: World) -> tuple[ScoredEpisode, ...]:
    return row.episodes.get(world, ())
