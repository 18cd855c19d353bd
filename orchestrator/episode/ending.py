"""The look at the end: what the end checks find, and whether the world held until then."""

from __future__ import annotations

from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.episode.logins import dropped_login
from orchestrator.episode.record import EpisodeRecord
from orchestrator.episode.steps import StepPlayer
from orchestrator.episode.unseen_requests import with_unseen
from tasks.schema import Task


async def look_at_end(task: Task, record: EpisodeRecord, player: StepPlayer | None) -> None:
    """Write down what the end checks find; that the world did not hold, as a fault.

    Where the episode broke off or never started there is nothing to look at.

    Args:
        task: what was played.
        record: where it is written down.
        player: None for an episode that never started.

    Raises:
        BrowserError, SiteError, EngineError: the world broke while it was looked at.
    """
    environment = record.environment
    if player is not None:
        await record.keep_traces(player.opened.session)  # pages of checks are none of the agent's
    if player is not None and record.fault is None:
        network = await player.opened.session.network()
        if network is not None:
            exchanges = player.opened.journal.since(0)
            logical = environment.atlas.logical
            record.network = with_unseen(network, record.steps, exchanges, logical)
        record.located = await player.locators.at_end(player.looks)
        browsing = player.opened
        dropped = None
        if not record.changed_cookies:
            dropped = await dropped_login(task, environment, browsing.journal, browsing.session)
        if dropped is not None:
            record.break_off(EpisodeFault(reason=UnscoredReason.INFRA, message=dropped))
    if record.fault is None:
        lost = await environment.lease.lost()
        if lost is not None:
            record.break_off(EpisodeFault(reason=UnscoredReason.INFRA, message=lost))
