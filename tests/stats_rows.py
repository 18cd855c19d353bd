"""Episodes' rows, and tasks of outcomes, for statistics."""

from __future__ import annotations

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.stats.results import EpisodeResult


def row(
    task: str,
    *,
    success: bool | None = True,
    repeat: int = 0,
    agent: str = "A",
    suite: str = "s",
    world: World = World.OFFLINE,
    template: str | None = None,
    sites: tuple[str, ...] = ("shop",),
    reason: UnscoredReason | None = None,
    usd: float | None = 0.5,
    seconds: float = 10.0,
    started_at: str = "2026-01-01T00:00:00+00:00",
    run: str = "run",
) -> EpisodeResult:
    """Make a row: success, unless it says otherwise; unscored ones are infra."""
    return EpisodeResult(
        agent=agent,
        suite=suite,
        world=world,
        task=task,
        repeat=repeat,
        template=template or task,
        sites=sites,
        family="content",
        success=success,
        reason=reason or (UnscoredReason.INFRA if success is None else None),
        completion=None,
        key_nodes_met=0,
        key_nodes=0,
        alignment=None,
        steps=1,
        seconds=seconds,
        usd=usd,
        tokens=100,
        started_at=started_at,
        run=run,
        folder=f"{task}-{repeat}",
    )
