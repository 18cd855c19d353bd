"""What a report says of the tapes that a run was played on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from arena_core.names import counted
from evaluators.missed_by import MissedBy
from orchestrator.analysis.run_report.run_report import RunReport

_DIGEST = 12
_IN_WORDS = {
    MissedBy.PAGE: "by pages that led there",
    MissedBy.DATA: "by scripts of pages",
    MissedBy.ADDRESS: "by addresses that the agent gave",
    MissedBy.PART: "for parts of pages and other hosts",
    MissedBy.CHECK: "by checks",
}


def tape_lines(report: RunReport) -> Iterator[str]:
    """Yield a line for each tape: what it is, how far it carries the suite, what it lacked."""
    missed = _missed(report)
    for site, tape in report.lock.tapes.items():
        counts = {by: missed[site, by] for by in MissedBy if missed[site, by]}
        lacked = ", ".join(f"{count} {_IN_WORDS[by]}" for by, count in counts.items())
        total = counted(sum(counts.values()), "request")
        said = f"{total} had no answer: {lacked}" if counts else "no request went without an answer"
        named = f"tape of {site}: {tape.file} (SHA-256 {tape.sha256[:_DIGEST]}…)"
        yield f"{named}; {tape.fidelity_in_words}; {said}"
    matched = match_line(report)
    if matched is not None:
        yield matched


def tape_documents(report: RunReport) -> dict[str, dict[str, str | float | dict[str, int] | None]]:
    """Return the same for programs, by site."""
    missed = _missed(report)
    return {
        site: {
            "file": tape.file,
            "sha256": tape.sha256,
            "fidelity": None if tape.fidelity is None else tape.fidelity.share,
            "misses": {str(by): missed[site, by] for by in MissedBy},
        }
        for site, tape in report.lock.tapes.items()
    }


def match_line(report: RunReport) -> str | None:
    """Say how exactly the answers of all tapes matched; None where none answered."""
    counts = Counter[str]()
    for row in report.rows:
        for episodes in row.episodes.values():
            for episode in episodes:
                counts.update(episode.outline.tape_answers)
    if not counts:
        return None
    return "answers of tapes by match: " + ", ".join(
        f"{count} {name}" for name, count in sorted(counts.items())
    )


def _missed(report: RunReport) -> Counter[tuple[str, MissedBy]]:
    return Counter(
        (miss.site, miss.by)
        for row in report.rows
        for episodes in row.episodes.values()
        for episode in episodes
        for miss in episode.outline.tape_misses
    )
