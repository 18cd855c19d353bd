"""What an open Arena reports while it works, as lines for people."""

from __future__ import annotations

from typing import assert_never

from arena_core.names import counted
from arena_core.work_events import (
    WorkEnded,
    WorkLine,
    WorkOutput,
    WorkPlanned,
    WorkStep,
)
from evaluators.verdicts import OutcomeKind
from orchestrator.api.opened import ArenaEvent, RunBegan, SitesStarting, StudyBegan, WarningNote
from orchestrator.cli.console import Console
from orchestrator.runs.events import (
    AttemptBegan,
    AttemptBroke,
    EpisodeEnded,
    EpisodesPlanned,
    ProgressNote,
)
from orchestrator.sandbox.pool.pool_context import PoolEvent


def show_event(event: ArenaEvent, console: Console) -> None:
    """Write one event on stderr; what is only of interest to a display shows nothing."""
    match event:
        case WarningNote(text):
            console.warn(f"arena: {text}")
        case ProgressNote(text):
            console.note(text)
        case RunBegan():
            agent = f"{event.agent} ({event.agent_note})" if event.agent_note else event.agent
            console.note(f"run {event.folder}: {counted(event.episodes, 'episode')} of {agent}")
        case StudyBegan():
            agents = ", ".join(event.agents)
            console.note(f"study {event.folder}: {counted(event.episodes, 'episode')} of {agents}")
        case AttemptBroke():
            key = event.key
            whose = f" {event.agent}" if event.agent else ""
            line = f"        {key.world:<8}{key.task}{whose}: broke off, again: {event.reason}"
            console.note(line)
        case EpisodeEnded():
            console.note(_ended_line(event))
        case WorkLine(text):
            console.note(text)
        case PoolEvent() | SitesStarting() | EpisodesPlanned() | AttemptBegan():
            pass
        case WorkPlanned() | WorkStep() | WorkOutput() | WorkEnded():
            pass
        case _:
            assert_never(event)


def _ended_line(event: EpisodeEnded) -> str:
    key, score, evidence = event.key, event.score, event.evidence
    width = len(str(event.total))
    done = f"[{event.done:>{width}}/{event.total}]"
    figures = f"{score.steps:>3} steps {evidence.seconds:5.1f} s"
    whose = f"{event.agent:<12} " if event.agent else ""
    line = f"{done} {whose}{key.world:<8}{key.task:<34} {score.outcome!s:<20}{figures}"
    if score.outcome.kind is OutcomeKind.SUCCESS:
        return line
    gave_up = f"; {evidence.ended_because}" if evidence.ended_because else ""
    return f"{line}  {score.because}{gave_up}"
