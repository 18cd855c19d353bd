"""What a report says of where pages came from: live hosts, and tapes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena_core.names import counted
from arena_core.worlds import World
from evaluators.evidence import HostUse
from evaluators.tape_misses import MissedBy
from orchestrator.analysis.run_report.run_report import RunReport

_DIGEST = 12
_IN_WORDS = {
    MissedBy.PAGE: "by pages that led there",
    MissedBy.DATA: "by scripts of pages",
    MissedBy.ADDRESS: "by addresses that the agent gave",
    MissedBy.PART: "for parts of pages and other hosts",
    MissedBy.CHECK: "by checks",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTotal:
    """What one live host got from a run.

    Attributes:
        used: all in all.
        attempts: in how many attempts it got anything.
    """

    used: HostUse
    attempts: int

    def document(self) -> dict[str, str | int]:
        """Return it as a JSON document."""
        return {**self.used.model_dump(mode="json"), "attempts": self.attempts}

    def __str__(self) -> str:
        used = self.used
        parts = [
            counted(used.requests, "request"),
            f"{used.bytes:,} bytes",
            f"{counted(used.writes_stopped, 'write')} stopped",
            f"{used.client_errors} answers 4xx ({used.rate_limited} of them 429)",
            f"{used.server_errors} answers 5xx",
        ]
        return f"{used.host}: {', '.join(parts)} in {counted(self.attempts, 'attempt')}"


def host_totals(report: RunReport) -> tuple[HostTotal, ...]:
    """Return what each live host got, the one with the most requests first.

    Of all attempts, those too that came to nothing.
    """
    found: defaultdict[str, list[HostUse]] = defaultdict(list)
    for used in report.folder.host_uses() if World.ONLINE in report.lock.worlds else ():
        found[used.host].append(used)
    totals = [HostTotal(used=_sum(uses), attempts=len(uses)) for uses in found.values()]
    return tuple(sorted(totals, key=lambda one: (-one.used.requests, one.used.host)))


def _sum(uses: Sequence[HostUse]) -> HostUse:
    return HostUse(
        host=uses[0].host,
        requests=sum(one.requests for one in uses),
        bytes=sum(one.bytes for one in uses),
        writes_stopped=sum(one.writes_stopped for one in uses),
        client_errors=sum(one.client_errors for one in uses),
        server_errors=sum(one.server_errors for one in uses),
        rate_limited=sum(one.rate_limited for one in uses),
    )


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
