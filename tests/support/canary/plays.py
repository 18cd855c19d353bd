"""Plays of a small task's reference, as they leave evidence behind."""

from __future__ import annotations

from typing import Any

from arena_core.actions import Action, Click, Stop
from arena_core.worlds import World
from evaluators.evidence import (
    ActedElement,
    ElementEvent,
    Ended,
    EpisodeFault,
    Evidence,
    StepEvidence,
    UrlVisit,
)
from evaluators.scores import score
from orchestrator.authoring.canary.findings import Play
from orchestrator.episode.page_view import PageView
from tasks.schema import Task

START = "https://en.wikipedia.org/wiki/Kettle"
GOAL = "https://en.wikipedia.org/wiki/Samovar"
KETTLE = PageView(
    START, "Kettle", 200, '[1] main\n  [2] heading "Kettle"\n  [3] link "Samovar"\n  [4] link "Tea"'
)
SAMOVAR = PageView(GOAL, "Samovar", 200, '[5] heading "Samovar"\n[6] paragraph "It has 47 parts."')


def make_task(**changes: Any) -> Task:
    """Make a task that goes from the kettle to the samovar, and answers."""
    return Task.model_validate(
        {
            "id": "samovar",
            "family": "navigation",
            "intent": "Open the samovar and count its parts.",
            "sites": ["wiki"],
            "start": ["wiki:/article/Kettle"],
            "checks": [
                {
                    "name": "open",
                    "when": "step",
                    "locate": {"by": "url"},
                    "match": {"how": "exact", "value": "wiki:/article/Samovar"},
                },
                {
                    "name": "parts",
                    "when": "end",
                    "locate": {"by": "answer"},
                    "match": {"how": "answer", "type": "number", "value": 47},
                },
            ],
            "reference": [
                {"do": "click", "role": "link", "name": "Samovar"},
                {"do": "stop", "answer": "47"},
            ],
        }
        | changes
    )


def make_step(
    index: int,
    url: str,
    *,
    action: Action | None = None,
    status: int | None = 200,
    error: str | None = None,
) -> StepEvidence:
    logical = "wiki:/article/" + url.rpartition("/")[2]
    visit = UrlVisit(tab=0, url=url, logical=logical, status=status)
    return StepEvidence(
        index=index,
        action=action,
        error=error,
        url=url,
        logical=logical,
        title="",
        status=status,
        visits=(visit,),
        acted=(
            ActedElement(
                event=ElementEvent.CLICK,
                path="a",
                tag="a",
                role="link",
                name="Samovar",
                text="Samovar",
                value=None,
                logical=logical,
            ),
        )
        if isinstance(action, Click)
        else (),
    )


def make_evidence(
    *steps: StepEvidence,
    world: World = World.ONLINE,
    ended: Ended | None = Ended.STOPPED,
    because: str | None = None,
    answer: str | None = "47",
    fault: EpisodeFault | None = None,
) -> Evidence:
    return Evidence(
        suite="small",
        task="samovar",
        world=world,
        agent="oracle",
        repeat=0,
        attempt=1,
        started_at="2026-01-01T00:00:00Z",
        seconds=1.0,
        answer=answer,
        ended=ended,
        ended_because=because,
        steps=steps,
        fault=fault,
    )


OPENED = make_step(0, START)
CLICKED = make_step(1, GOAL, action=Click(element=3))
STOPPED = make_step(2, GOAL, action=Stop(answer="47"))


def make_play(
    evidence: Evidence,
    *pages: PageView,
    task: Task | None = None,
    then: tuple[PageView, ...] = (),
) -> Play:
    """Make a play of these pages; it is scored as any episode is."""
    played = task or make_task()
    return Play(
        task=played,
        world=evidence.world,
        evidence=evidence,
        score=score(played.checks, evidence, played.requires),
        pages=pages,
        then=then,
    )


def right_play(*, task: Task | None = None, world: World = World.ONLINE) -> Play:
    """Make a play that meets everything."""
    evidence = make_evidence(OPENED, CLICKED, STOPPED, world=world)
    return make_play(evidence, KETTLE, SAMOVAR, task=task)


def gave_up(*, page: PageView = KETTLE, world: World = World.ONLINE, **changes: Any) -> Play:
    """Make a play that did not find its link on the page where it began."""
    evidence = make_evidence(
        make_step(0, page.url, status=page.status),
        world=world,
        ended=Ended.AGENT_GAVE_UP,
        because="finds no such element",
        answer=None,
    )
    return make_play(evidence, page, **changes)
