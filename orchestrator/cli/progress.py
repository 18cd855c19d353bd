"""What a run tells while it goes on, as lines for people."""

from __future__ import annotations

from evaluators.verdicts import OutcomeKind
from orchestrator.runner.events import AttemptBroke, ProgressNote, RunEvent, TrialEnded


def as_line(event: RunEvent) -> str:
    """Return one event as one line."""
    match event:
        case ProgressNote(text):
            return text
        case AttemptBroke():
            trial = event.trial
            return f"        {trial.world:<8}{trial.task}: broke off, again: {event.reason}"
        case TrialEnded():
            return _ended_line(event)


def _ended_line(event: TrialEnded) -> str:
    trial, score, evidence = event.trial, event.score, event.evidence
    width = len(str(event.total))
    done = f"[{event.done:>{width}}/{event.total}]"
    figures = f"{score.steps:>3} steps {evidence.seconds:5.1f} s"
    line = f"{done} {trial.world:<8}{trial.task:<34} {score.outcome!s:<20}{figures}"
    if score.outcome.kind is OutcomeKind.SUCCESS:
        return line
    gave_up = f"; {evidence.ended_because}" if evidence.ended_because else ""
    return f"{line}  {score.because}{gave_up}"
