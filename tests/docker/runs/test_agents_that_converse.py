"""Agents that call functions, see marks, or name places: a run of `arena eval` with a real page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
from PIL import Image
from quick_cases import quick_first
from support.agents.scripted_model import Calls, ChatRequest, Script, ScriptedModel
from support.runs.run_at import RunAt
from support.tasks.small_suites import BRUGES, bells, current_url, write_suite

from arena_core.actions import Action, Goto, MouseClick, MouseWheel, Stop

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]
MARK: Final = r"\[(\d+)\] link ['\"]Bruges['\"]"
BATCH: Final = [
    {"type": "click", "x": 5, "y": 5},
    {"type": "screenshot"},
    {"type": "scroll", "x": 5, "y": 5, "scroll_y": 100},
]


def by_numbers(request: ChatRequest) -> Calls:
    """Find the link among what has a number, scrolling as long as it is not there."""
    if current_url(request) == BRUGES:
        return Calls.one("stop", answer="47")
    link = re.search(MARK, request.messages[-1].content)
    if link is None:
        return Calls.one("scroll", direction="down")
    return Calls.one("click", element=int(link[1]))


def by_places(request: ChatRequest) -> Calls:
    """Click and scroll at a place, and open the page by its address."""
    if current_url(request) == BRUGES:
        return Calls.one("stop", answer="47")
    if len(request.images) == 1:
        return Calls((("computer", json.dumps({"actions": BATCH})),))
    return Calls.one("goto", url=BRUGES)


@dataclass(frozen=True)
class Case:
    agent: str
    model: Callable[[ChatRequest], Calls]
    options: tuple[str, ...] = ()
    pictures: frozenset[tuple[int, int]] = frozenset()
    ends_with: tuple[Action, ...] = (Stop(answer="47"),)


CASES = (
    Case("tools", by_numbers),
    Case("vision", by_numbers, pictures=frozenset({(1280, 720)})),
    Case(
        "computer",
        by_places,
        ("action_space=openai", "picture=640x640"),
        frozenset({(640, 360)}),
        (
            MouseClick(x=10, y=10),
            MouseWheel(x=10, y=10, dy=200),
            Goto(url=BRUGES),
            Stop(answer="47"),
        ),
    ),
)


@pytest.mark.parametrize("case", quick_first(CASES), ids=[case.agent for case in CASES])
def test_a_model_solves_a_task_end_to_end(
    run: RunAt, tmp_path: Path, scripted_model: StartModel, case: Case
) -> None:
    endpoint = scripted_model(case.model)
    options = [word for one in case.options for word in ("--agent-option", one)]
    asked = ("--agent", case.agent, "--model", "scripted", "--model-url", endpoint.url, *options)
    played = run.play(write_suite(tmp_path, bells("bells")), *asked)
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "success")]
    evidence = run.evidence("bells")
    assert evidence.agent == f"{case.agent} (scripted)"
    assert evidence.input_tokens == 100 * len(endpoint.requests)
    acted = tuple(step.action for step in evidence.steps if step.action is not None)
    assert acted[-len(case.ends_with) :] == case.ends_with
    assert all(step.error is None for step in evidence.steps)
    sizes = {Image.open(BytesIO(image)).size for one in endpoint.requests for image in one.images}
    assert sizes == case.pictures
