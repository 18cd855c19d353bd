"""Finished episodes that turn out to say nothing of the agent: their task does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arena_core.worlds import World
from evaluators.evidence import EpisodeFault
from evaluators.verdicts import OutcomeKind
from orchestrator.runs.attempts import AttemptRunner, Progress
from orchestrator.runs.events import OnEvent
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder


def failed_online(folder: RunFolder) -> tuple[EpisodeKey, ...]:
    """Return the episodes of the online world that an agent played and failed."""
    return tuple(
        one.key
        for one in rescore(folder)
        if one.key.world is World.ONLINE and one.score.outcome.kind is OutcomeKind.FAILURE
    )


def unscore(
    folder: RunFolder,
    keys: Iterable[EpisodeKey],
    faults: Mapping[str, EpisodeFault],
    on_event: OnEvent,
) -> tuple[EpisodeKey, ...]:
    """Give finished episodes a further attempt that is their last, broken off by a fault.

    Its evidence is that of the attempt before, with the fault; that attempt stays where it is.

    Args:
        folder: of the run, which nobody else writes.
        keys: episodes that are finished.
        faults: by task, why what was played says nothing of the agent; tasks that hold have none.
        on_event: gets each episode's new end.

    Returns:
        Those whose task has a fault.
    """
    wanted = {key for key in keys if key.task in faults}
    if not wanted:
        return ()
    tasks = {task.id: task for task in folder.suite().tasks}
    with folder.writing() as ledger:
        finished = [one for one in ledger.finished() if one.key in wanted]
        total = len(ledger.finished())
        runner = AttemptRunner(
            folder=folder,
            ledger=ledger,
            limit=1,
            progress=Progress(total=total, done=total - len(finished)),
            on_event=on_event,
        )
        for one in finished:
            runner.end_after_all(one, tasks[one.key.task], faults[one.key.task])
    return tuple(one.key for one in finished)
