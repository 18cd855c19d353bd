"""What Inspect is told of a suite, and what it is handed as a score."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import inspect_ai
import pytest
from inspect_ai.model import ModelName
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolDef, computer
from inspect_ai.tool._tool_info import parse_tool_info
from inspect_ai.tool._tools._computer import is_computer_tool_info

from arena_core.errors import UnknownNameError, UsageError
from orchestrator.serve import inspect_task
from orchestrator.serve.inspect_task import DISPLAY, arena, verdict
from orchestrator.serve.mcp_tools import TOOLS
from tasks.loader import load_suite


def test_samples_are_the_tasks_of_the_world_without_golds() -> None:
    made = arena("demo", tasks="wiki-*")
    tasks = [one for one in load_suite("demo").tasks if one.id.startswith("wiki-")]
    samples = list(made.dataset)
    assert [(one.id, one.input) for one in samples] == [(one.id, one.intent) for one in tasks]
    assert {one.target for one in samples} == {""}
    assert {tuple(one.metadata or ()) for one in samples} == {("task", "world", "sites")}


def test_repeats_are_epochs_and_a_pattern_may_be_a_list() -> None:
    made = arena("demo", tasks=["wiki-samovar", "wiki-bells-*"], repeats=3)
    assert (len(made.dataset), made.epochs) == (2, 3)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"suite": "nosuch"}, UnknownNameError),
        ({"tasks": "nosuch-*"}, UnknownNameError),
        ({"world": "nowhere"}, UsageError),
        ({"tools": "hammer"}, UsageError),
    ],
)
def test_a_mistake_is_told_before_anything_starts(
    asked: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        arena(**asked)


def test_providers_take_the_computer_for_their_own() -> None:
    """Inspect hands a model its vendor's tool only for a tool with exactly these parameters."""
    made = inspect_task._computer(_nobody())
    ours, theirs = ToolDef(made), ToolDef(computer())
    assert is_computer_tool_info(parse_tool_info(made))
    assert (ours.name, ours.parameters, ours.description) == (
        theirs.name,
        theirs.parameters,
        theirs.description,
    )
    assert ours.model_input is not None  # older screenshots are left out


def test_the_screen_is_as_large_as_providers_tell_models() -> None:
    source = Path(inspect_ai.__file__).parent / "model" / "_providers" / "anthropic.py"
    told = re.findall(r"display_(width|height)_px=(\d+)", source.read_text())
    assert set(told) == {("width", str(DISPLAY[0])), ("height", str(DISPLAY[1]))}


@pytest.mark.parametrize("name", TOOLS)
def test_a_browser_tool_has_what_inspect_requires(name: str) -> None:
    made = ToolDef(inspect_task._browser_tool(_nobody(), name))
    fields = TOOLS[name].model_json_schema()["properties"]
    assert made.name == name
    assert made.parameters.properties.keys() == fields.keys()


RESULT: dict[str, Any] = {
    "outcome": "failure",
    "reason": None,
    "because": "1 of 1 checks not met: bells",
    "reward": 0.0,
    "ended": "stopped",
    "truncated": False,
    "steps": 1,
    "key_nodes": {"met": 0, "of": 1},
    "checks": [{"id": "bells", "kind": "end", "met": False, "step": None}],
    "receipts": [],
    "folder": None,
}


async def scored(found: dict[str, Any] | None) -> Score:
    """Score a sample of a log, which is over."""
    state = TaskState(ModelName("mockllm/model"), "wiki-bells", 1, "How many?", [], completed=True)
    state.store.set("arena", found)
    score = await verdict()(state, Target(""))
    assert score is not None
    return score


async def test_a_log_is_scored_as_it_was() -> None:
    assert (await scored(RESULT)).value == 0.0
    assert (await scored({**RESULT, "outcome": "success", "reward": 1.0})).value == 1.0


async def test_unscored_is_no_score_and_never_zero() -> None:
    lost = await scored({**RESULT, "outcome": "unscored", "reason": "infra", "reward": None})
    assert isinstance(lost.value, float)
    assert (math.isnan(lost.value), lost.reason) == (True, "infra")


async def test_a_sample_that_never_began_is_no_score() -> None:
    never = await scored(None)
    assert isinstance(never.value, float)
    assert (math.isnan(never.value), never.reason) == (True, "no_verdict")


def _nobody() -> inspect_task._Playing:
    state = TaskState(ModelName("mockllm/model"), "wiki-bells", 1, "How many?", [])
    return inspect_task._Playing(state, "browser")
