"""A recorded step is played without a browser: a prompt, a reply, and a score."""

from __future__ import annotations

from typing import Any

import pytest

from arena_core.actions import Action, Scroll, ScrollDirection, Stop
from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.evidence import Ended
from orchestrator.episode.environment import AttemptSpec
from orchestrator.episode.recorded_episode import RecordedEpisode
from sites.registry import load_registry
from tasks.schema import Task

PROMPT = "< <a[SD]| Google> > … #Task: Sign up for Google ."


def recorded_task(**fields: Any) -> Task:
    return Task.model_validate(
        {
            "id": "step",
            "family": "navigation",
            "intent": "Recorded step of: Sign up",
            "recorded": "source",
            "sites": [],
            "start": [],
            "worlds": ["offline"],
            "checks": [
                {
                    "name": "command",
                    "when": "end",
                    "locate": {"by": "answer"},
                    "match": {"how": "command", "value": "click('SD')"},
                }
            ],
            "original": {
                "format": "autowebbench",
                "id": "0",
                "file_sha256": "0" * 64,
                "record": {"source": PROMPT, "target": "click('SD')"},
            },
            **fields,
        }
    )


def episode() -> RecordedEpisode:
    spec = AttemptSpec(suite="steps", task=recorded_task(), repeat=0, attempt=1, agent="recorded")
    return RecordedEpisode(spec, load_registry([]), World.OFFLINE)


@pytest.mark.parametrize(
    ("action", "outcome", "ended"),
    [
        (Stop(answer="click('SD')"), "success", Ended.STOPPED),
        (Stop(answer="click('SE')"), "failure", Ended.STOPPED),
        (Stop(), "failure", Ended.STOPPED),
        (Scroll(direction=ScrollDirection.DOWN), "failure", Ended.AGENT_GAVE_UP),
    ],
)
async def test_the_reply_is_what_is_scored(action: Action, outcome: str, ended: Ended) -> None:
    async with episode() as played:
        await played.reset()
        assert played.assignment.intent == PROMPT
        await played.step(action)
        assert str((await played.score()).outcome) == outcome
    evidence = played.evidence()
    assert evidence.ended is ended
    assert [step.index for step in evidence.steps] == [0, 1]


async def test_one_reply_is_all_there_is() -> None:
    async with episode() as played:
        with pytest.raises(UsageError, match="is not reset yet"):
            await played.step(Stop())
        await played.reset()
        await played.step(Stop())
        with pytest.raises(UsageError, match="is over"):
            await played.step(Stop())


def test_a_recorded_step_without_its_prompt_is_refused() -> None:
    with pytest.raises(ValueError, match="which is no text of"):
        recorded_task(recorded="sauce")


def test_any_other_task_is_somewhere() -> None:
    for field in ("sites", "start"):
        with pytest.raises(ValueError, match="must have at least 1 entry"):
            recorded_task(**{"recorded": None, "sites": ["shop"], "start": ["shop:/"], field: []})
