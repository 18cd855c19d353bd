"""Episodes as the turns of an agent: what it thought and did, and what the page was then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import JsonValue

from arena_core.errors import UsageError
from evaluators.evidence import Evidence, StepEvidence
from orchestrator.analysis.run_report.tables import as_time
from orchestrator.runs.store.rescoring import ScoredEpisode

_EPOCH: Final = "1970-01-01T00:00:00+00:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One step of an agent.

    Attributes:
        index: of the step, from 1.
        call: an id for the action that no other turn of the episode has.
        action: its kind; `arguments` are its fields.
        seen: where the current tab was afterwards, in words.
        error: why the action could not be done.
        at: when the agent began to decide, from the times of the steps before.
        seconds: from then until the page had been observed.
        screenshot: file in the episode's folder.
    """

    index: int
    call: str
    thought: str | None
    action: str
    arguments: dict[str, JsonValue]
    seen: str
    error: str | None
    at: datetime
    seconds: float
    screenshot: str | None


def began_at(evidence: Evidence) -> datetime:
    """Return when an episode began; the epoch where its evidence does not say it."""
    found = as_time(evidence.started_at) or as_time(_EPOCH)
    if found is None:  # pragma: no cover - the epoch is a time
        raise ValueError(_EPOCH)
    return found


def intent_of(episode: ScoredEpisode) -> str:
    miniwob = episode.outline.miniwob
    return episode.task.intent if miniwob is None else miniwob.utterance


def opening_of(evidence: Evidence) -> StepEvidence | None:
    """Return the opening of the start pages; None if they never opened."""
    return next((step for step in evidence.steps if step.action is None), None)


def turns_of(evidence: Evidence) -> Iterator[Turn]:
    elapsed = 0.0
    began = began_at(evidence)
    for step in evidence.steps:
        times = step.timings
        before, after = times.decide_ms, times.act_ms + times.settle_ms
        seconds = (before + after + times.locate_ms + times.observe_ms) / 1000
        if step.action is not None:
            fields = step.action.model_dump(mode="json", exclude={"kind"}, exclude_none=True)
            yield Turn(
                index=step.index,
                call=f"step-{step.index}",
                thought=step.thought,
                action=step.action.kind,
                arguments=fields,
                seen=page_in_words(step),
                error=step.error,
                at=began + timedelta(seconds=elapsed),
                seconds=seconds,
                screenshot=step.screenshot,
            )
        elapsed += seconds


def page_in_words(step: StepEvidence) -> str:
    """Say where the current tab is."""
    status = "" if step.status is None else f" (HTTP {step.status})"
    return f"{step.title}\n{step.url}{status}"


def no_pictures() -> UsageError:
    """Return the error of an export that was asked for screenshots that do not exist."""
    message = "--option images=true has no effect: no episode has a screenshot"
    return UsageError(message, hint="leave it out, or play the run with --screenshots")
