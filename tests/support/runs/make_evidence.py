"""Checks and evidence in as few words as a test needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena_core.actions import Action, Scroll, ScrollDirection, Stop
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.evidence import (
    ActedElement,
    ElementEvent,
    Ended,
    EpisodeFault,
    Evidence,
    Located,
    StepEvidence,
    UrlVisit,
)

ANSWER: Mapping[str, object] = {"by": "answer"}
URL: Mapping[str, object] = {"by": "url"}
PAGE: Mapping[str, object] = {"by": "page", "selector": "h1"}
DB: Mapping[str, object] = {"by": "db", "site": "shop", "sql": "SELECT 1"}
API: Mapping[str, object] = {"by": "api", "site": "shop", "path": "/api/basket/"}
SCROLL = Scroll(direction=ScrollDirection.DOWN)


def make_check(
    locate: Mapping[str, object],
    value: object,
    *,
    name: str = "check",
    when: str = "end",
    how: str = "exact",
    worlds: Sequence[World] = tuple(World),
    **options: object,
) -> Check:
    """Make a check; `options` are the matcher's."""
    return Check.model_validate(
        {
            "name": name,
            "when": when,
            "locate": dict(locate),
            "match": {"how": how, "value": value, **options},
            "worlds": list(worlds),
        }
    )


def key_node(
    value: object,
    *,
    name: str = "node",
    locate: Mapping[str, object] = URL,
    how: str = "exact",
    required: bool = False,
) -> Check:
    """Make a key node that asks for a logical URL, unless `locate` says otherwise."""
    node = make_check(locate, value, name=name, when="step", how=how)
    return node.model_copy(update={"required": required})


def make_step(
    index: int,
    *visited: str | None,
    action: Action | None = SCROLL,
    acted: Sequence[ActedElement] = (),
    located: Sequence[Located] = (),
    at: str | None = None,
) -> StepEvidence:
    """Make a step that visited these logical URLs and ended on the last, or on `at`."""
    return StepEvidence(
        index=index,
        action=None if index == 0 else action,
        url="",
        logical=visited[-1] if visited else at,
        title="",
        visits=tuple(UrlVisit(tab=0, url="", logical=logical) for logical in visited),
        acted=tuple(acted),
        located=tuple(located),
    )


def stop_step(index: int, answer: str | None = None) -> StepEvidence:
    """Make the step of an agent that stops."""
    return make_step(index, action=Stop(answer=answer))


def make_acted(
    event: ElementEvent = ElementEvent.CLICK,
    *,
    path: str = "#buy",
    role: str = "button",
    name: str = "Add to basket",
    text: str = "",
    value: str | None = None,
    page: str | None = "shop:/product/kettle",
) -> ActedElement:
    """Make one trusted event."""
    return ActedElement(
        event=event, path=path, tag="x", role=role, name=name, text=text, value=value, logical=page
    )


def make_evidence(
    *steps: StepEvidence,
    answer: str | None = None,
    world: World = World.OFFLINE,
    ended: Ended | None = Ended.STOPPED,
    located: Sequence[Located] = (),
    required: Sequence[Located] = (),
    fault: EpisodeFault | None = None,
) -> Evidence:
    """Make what an episode left behind; it stopped by itself unless `ended` says otherwise."""
    return Evidence(
        suite="demo",
        task="task",
        world=world,
        agent="oracle",
        repeat=0,
        attempt=1,
        started_at="2026-01-01T00:00:00Z",
        seconds=1.0,
        answer=answer,
        ended=ended,
        steps=steps,
        located=tuple(located),
        required=tuple(required),
        fault=fault,
    )
