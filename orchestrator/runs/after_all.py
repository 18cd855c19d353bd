"""Finished episodes that turn out to say nothing of the agent: their task does not hold."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.runs.attempts import (
    AttemptRunner,
    FailedEpisode,
    Progress,
    Undone,
    ended_at,
    is_failed_online,
)
from orchestrator.runs.events import OnEvent
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder


def failed_online(folder: RunFolder) -> tuple[FailedEpisode, ...]:
    """Return the episodes of the online world that an agent played and failed."""
    return tuple(
        FailedEpisode(key=one.key, at=ended_at(one.outline))
        for one in rescore(folder)
        if is_failed_online(one.key, one.score.outcome)
    )


def unscore(
    folder: RunFolder, undone: Iterable[Undone], on_event: OnEvent
) -> tuple[EpisodeKey, ...]:
    """Give finished episodes a further attempt that is their last, broken off by a fault.

    Its evidence is that of the attempt before, with the fault; that attempt stays where it is.

    Args:
        folder: of the run, which nobody else writes.
        undone: what says nothing of the agent, and why.
        on_event: gets each episode's new end.

    Returns:
        Those that are unscored now.
    """
    wanted = {one.key: one for one in undone}
    if not wanted:
        return ()
    with folder.writing() as ledger:
        finished = ledger.finished()
        total = len(finished)
        runner = AttemptRunner(
            folder=folder,
            ledger=ledger,
            limit=1,
            progress=Progress(total=total, done=total),
            on_event=on_event,
        )
        chosen = [one for one in finished if one.key in wanted]
        for one in chosen:
            runner.end_after_all(one, wanted[one.key].task, wanted[one.key].fault)
    return tuple(one.key for one in chosen)
