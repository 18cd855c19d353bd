"""One action a line: read as agents write it, and never evaluated."""

from __future__ import annotations

import pytest

from arena_core.actions import Action, Click, Select, Stop, Type
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.authoring.recorder.terminal import read_line
from orchestrator.browser.observation import AXTREE, AxTree, Node, Observation

NODES = (Node(id=7, depth=0, role="textbox", name="Search"),)
SEEN = Observation(step=0, url="", title="", tabs=(), parts={AXTREE: AxTree(NODES)})


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("click [7]\n", Click(element=7)),
        ("type [7] [red kettle] [1]", Type(element=7, text="red kettle", submit=True, clear=False)),
        (
            '{"kind": "select", "element": 7, "option": "Red"}',
            Select(element=7, option="Red"),
        ),
        ("stop", Stop()),
        ("stop [Tula]", Stop(answer="Tula")),
    ],
)
def test_a_line_is_an_action(line: str, action: Action) -> None:
    assert read_line(line, SEEN) == action


@pytest.mark.parametrize(
    "line", ["", "click", "click [8]", "__import__('os')", '{"kind": "select"', "x" * 50_000]
)
def test_what_is_none_is_said_in_one_line(line: str) -> None:
    found = read_line(line, SEEN)
    assert isinstance(found, Misread)
    assert "\n" not in found.why
