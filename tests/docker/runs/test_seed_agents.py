"""The agents of the seed systems through whole runs, with a scripted model behind an endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import ChatRequest, Says, Script, ScriptedModel
from support.runs.run_at import RunAt
from support.tasks.small_suites import BRUGES, bells, write_suite

from orchestrator.agents.interface import AgentClass, Hint

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]


def play(run: RunAt, folder: Path, model: ScriptedModel, agent: str, *options: str) -> str:
    """Play the task of the bells and return what was printed."""
    suite = write_suite(folder, bells("bells"))
    given = [part for option in options for part in ("--agent-option", option)]
    endpoint = ("--model", "scripted", "--model-url", model.url)
    played = run.play(suite, "--agent", agent, *endpoint, *given)
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "success")]
    assert run.evidence("bells").agent == f"{agent} (scripted)"
    return played.out


def named(request: ChatRequest, pattern: str) -> str | None:
    """Return the id of the link that the model was shown."""
    found = re.search(pattern, request.messages[-1].content)
    return found[1] if found else None


def solve_in_webarenas_action_space(request: ChatRequest) -> Says:
    if f"URL: {BRUGES}\n" in request.messages[-1].content:
        action = "stop [47]"
    elif link := named(request, r"\[(\d+)\] link 'Bruges'"):
        action = f"click [{link}]"
    else:
        action = "scroll [down]"
    return Says(f"In summary, the next action I will perform is ```{action}```")


def test_webarenas_agent_plays_a_task_in_its_own_action_space(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(solve_in_webarenas_action_space)
    play(run, tmp_path, model, "webarena")
    assert run.lock.agent.options["style"] == "cot"
    assert run.lock.agent.options["repeats"] == 3
    assert run.lock.agent.agent_class is AgentClass.CONTESTANT
    tabs, blank, first, *_ = model.requests[0].messages[-1].content.splitlines()[1:]
    assert tabs.startswith("Tab ")
    assert not blank
    assert re.match(r"\t*\[\d+\] \w+ '", first)


def solve_as_webcanvas(request: ChatRequest) -> Says:
    if request.messages[0].content.startswith("You judge"):
        return Says(json.dumps({"status": "doing", "description": "Give the answer."}))
    at_goal = f"The page now: {BRUGES}\n" in request.messages[-1].content
    link = named(request, r"\[(\d+)\] link 'Bruges'")
    planned: dict[str, object] = {"action": "goto", "action_input": BRUGES}
    if at_goal:
        planned = {"action": "get_final_answer", "action_input": "47"}
    elif link is not None:
        planned = {"action": "click", "element_id": link}
    return Says(json.dumps({"thought": "because", **planned}))


def test_webcanvas_agent_with_the_golden_reference_is_no_contestant_in_any_report(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(solve_as_webcanvas)
    out = play(run, tmp_path, model, "webcanvas", "reward=golden")
    assert run.lock.agent.agent_class is AgentClass.GUIDED
    assert run.lock.agent.hints == (Hint.KEY_NODES,)
    assert "guided agent, given the key nodes, not a contestant" in out
    assert "Guided agent" in (run.path / "report.html").read_text(encoding="utf-8")
    planning, judging, _ = model.requests
    assert f"article: the address of the page is '{BRUGES}'" in judging.prompt
    assert f"address of the page is '{BRUGES}'" not in planning.prompt


def solve_as_autowebglm(request: ChatRequest) -> Says:
    prompt = request.messages[0].content
    if "Bruges <-- current tab" in prompt:
        return Says('finish("47")  # as the page says')
    link = named(request, r"<a\[([A-Z]+)\]\| Bruges")
    return Says(f"click({link})" if link else "scroll_page('down')")


@SLOW
def test_autowebglms_agent_plays_a_task_by_its_calls(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(solve_as_autowebglm)
    play(run, tmp_path, model, "autowebglm")
    last = model.requests[-1].messages[0].content
    assert re.search(r"#Previous commands:\n(.*\n)*click\([A-Z]+\) #HTML Segment: <.*Bruges", last)


@SLOW
def test_webcanvas_agent_plays_by_what_it_sees(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(solve_as_webcanvas)
    play(run, tmp_path, model, "webcanvas", "mode=vision", "reward=self", "rules=code")
    assert run.lock.agent.hints == (Hint.LENGTH,)
    assert all(request.images for request in model.requests)
