"""The attacker is told to score without the work, and sees no value that a check expects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from support.agents.scripted_model import Says, Script, ScriptedModel
from support.tasks.small_suites import bells, write_suite

from arena_core.actions import Stop
from orchestrator.agents.builtin.attacker import ATTACKER, described
from orchestrator.agents.choice import make_agent
from orchestrator.agents.interface import AgentClass, Assignment, Reference
from orchestrator.browser.observation import Observation
from tasks.loader import load_suite, suite_names

StartModel = Callable[[Script], ScriptedModel]
Page = Callable[..., Observation]
NONE = Reference((), lambda page: page)


async def prompt_of(url: str, assignment: Assignment, page: Observation, **options: str) -> None:
    maker = make_agent("attacker", {"model": "scripted", "model_url": url, **options})
    await maker(assignment, NONE).decide(page)
    await maker.close()


def test_its_figures_are_a_baselines() -> None:
    assert ATTACKER.agent_class is AgentClass.BASELINE


async def test_without_sight_it_sees_no_check(
    assignment: Assignment, page: Page, scripted_model: StartModel
) -> None:
    model = scripted_model([Says.action(Stop())])
    await prompt_of(model.url, assignment, page('link "Kettles"'))
    [request] = model.requests
    assert "audit of the benchmark" in request.messages[0].content
    assert "These are its checks" not in request.prompt


async def test_with_sight_it_sees_where_checks_look_and_not_what_they_expect(
    assignment: Assignment, page: Page, scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model([Says.action(Stop())])
    suite = write_suite(tmp_path, bells(assignment.task))
    await prompt_of(model.url, assignment, page('link "Kettles"'), suite=str(suite))
    told = model.requests[0].messages[0].content
    assert 'bells (end): {"locate": {"by": "answer"}, "match": {"how": "number"}}' in told
    assert "47" not in told
    assert "wiki:/article/Bruges" not in told


def test_no_answer_of_a_shipped_suite_is_in_what_it_sees() -> None:
    for name in suite_names():
        if name.startswith("miniwob"):
            continue
        for task in load_suite(name).tasks:
            seen = described(task)
            for check in task.checks:
                if check.locate.model_dump().get("by") != "answer":
                    continue
                for one in check.match.whole_texts():
                    assert len(one.text) < 4 or f'"{one.text}"' not in seen, task.id
