"""Steps and episodes of two worlds, for where they part."""

from __future__ import annotations

from typing import Any

from arena_core.actions import Action, Click, Stop
from arena_core.worlds import World
from evaluators.evidence import (
    ActedElement,
    ElementEvent,
    Ended,
    Evidence,
    StepEvidence,
    UnscoredReason,
)
from orchestrator.analysis.run_report.parting import Side

START = "shop:/"
KETTLE = "shop:/kettle"


def acted(name: str, role: str = "link", path: str = "a") -> ActedElement:
    return ActedElement(
        event=ElementEvent.CLICK,
        path=path,
        tag="a",
        role=role,
        name=name,
        text="",
        value=None,
        logical=START,
    )


def step(action: Action | None, page: str = START, **more: Any) -> StepEvidence:
    told = {"index": 0, "title": "Shop", "url": f"http://{page}", "logical": page, **more}
    return StepEvidence(action=action, **told)


def opened(**more: Any) -> StepEvidence:
    return step(None, **more)


def clicked(
    name: str = "Kettle", page: str = KETTLE, element: int = 7, **more: Any
) -> StepEvidence:
    return step(Click(element=element), page, acted=(acted(name),), **more)


def said(answer: str, page: str = KETTLE) -> StepEvidence:
    return step(Stop(answer=answer), page)


def episode(*steps: StepEvidence, reason: UnscoredReason | None = None, **more: Any) -> Side:
    told = {"ended": Ended.STOPPED, "started_at": "2026-11-26T00:00:00+00:00", "seconds": 1.0}
    evidence = Evidence(
        suite="s",
        task="t",
        world=World.OFFLINE,
        agent="a",
        repeat=0,
        attempt=1,
        steps=tuple(one.model_copy(update={"index": at}) for at, one in enumerate(steps)),
        **{**told, **more},
    )
    return Side(evidence, reason, "" if reason is None else "a wall asks for a captcha")
