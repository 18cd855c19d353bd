"""What each live host got from a run: of all attempts, those too that came to nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from arena_core.names import counted
from arena_core.worlds import World
from evaluators.evidence import HostUse
from orchestrator.analysis.run_report.run_report import RunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTotal:
    """What one host got.

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
    """Return what each live host got, the one with the most requests first."""
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
