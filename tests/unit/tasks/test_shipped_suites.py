"""The suites that travel with Arena: nothing without content passes, and right answers do."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from quick_cases import SLOW

from arena_core.actions import Infeasible, Stop
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.evidence import ActedElement, Evidence, UrlVisit
from evaluators.locators.base import LookingLocator, Subject
from evaluators.locators.element import ElementLocator
from evaluators.scores import score
from sites.registry import load_registry
from tasks.instances import CANARY
from tasks.lint.blind_answers import attacked, reason_of
from tasks.lint.reference_rules import ended_at_once
from tasks.lint.wording_rules import wording_faults
from tasks.loader import load_source, rows_to_ask
from tasks.needs import Tier
from tasks.schema import Family, Task
from tasks.sources import SuiteSource

SHIPPED = Path("tasks/suites").resolve()
LEAST = {
    "arena-120": 3,
    "arena-broad": 3,
    "arena-hard": 3,
    "demo": 2,
}  # wordings of each answer or reason, each way
UNDOABLE = {"arena-120": 8, "demo": 1}  # how many tasks cannot be done; of arena-hard, some


@cache
def source_of(suite: str) -> SuiteSource:
    """Read a suite once for all tests: long ones take half a second."""
    return load_source(suite)


def reads_an_answer(task: Task) -> bool:
    return any(one.locate.subject is Subject.ANSWER for one in task.checks)


def test_every_shipped_file_of_tasks_bears_the_canary_string() -> None:
    files = sorted(SHIPPED.rglob("*.yaml"))
    assert len(files) > 40
    assert [one.name for one in files if CANARY not in one.read_text(encoding="utf-8")[:300]] == []


def test_arena_500_is_its_three_tiers_task_for_task() -> None:
    core, *others = (
        source_of(name).suite.tasks for name in ("arena-120", "arena-broad", "arena-hard")
    )
    named = [one.model_copy(update={"tier": Tier.CORE}) for one in core]
    assert source_of("arena-500").suite.tasks == (*named, *(one for part in others for one in part))
    assert all(one.tier is not None for part in others for one in part)


@pytest.mark.parametrize("suite", LEAST)
def test_every_answer_is_worded_rightly_and_wrongly(suite: str) -> None:
    for task in source_of(suite).suite.tasks:
        wanted = LEAST[suite] if reads_an_answer(task) else 0
        assert min(len(task.says), len(task.says_not)) >= wanted, task.id


@SLOW
@pytest.mark.parametrize("suite", LEAST)
def test_the_checks_tell_right_wordings_from_wrong_ones(suite: str) -> None:
    registry = load_registry()
    tasks = source_of(suite).suite.tasks
    assert [(one.id, str(fault)) for one in tasks for fault in wording_faults(one, registry)] == []


@SLOW
@pytest.mark.parametrize(
    "suite",
    [*LEAST, "arena-safety", "hub", "miniwob", "miniwob-56", "smoke"],
)
def test_no_answer_without_content_passes(suite: str) -> None:
    source = source_of(suite)
    assert [str(one) for one in attacked(source.suite, source)] == []


@pytest.mark.parametrize("suite", LEAST)
def test_every_answer_is_read_as_a_type(suite: str) -> None:
    for task in source_of(suite).suite.tasks:
        for check in task.checks:
            if check.locate.subject is Subject.ANSWER and task.family is not Family.UNACHIEVABLE:
                assert check.match.how == "answer", task.id


@pytest.mark.parametrize("suite", LEAST)
def test_what_cannot_be_done_is_asked_like_what_can(suite: str) -> None:
    words = re.compile(r"N/A|cannot|not possible|does not say", re.IGNORECASE)
    tasks = [one for one in source_of(suite).suite.tasks if one.family is Family.UNACHIEVABLE]
    assert len(tasks) == UNDOABLE.get(suite, len(tasks)) > 0
    for task in tasks:
        assert words.search(task.intent) is None, task.id


def test_a_hard_suite_says_what_makes_each_of_its_tasks_hard() -> None:
    for task in source_of("arena-hard").suite.tasks:
        assert task.dimensions, task.id
        assert task.tier is Tier.HARD or task.family is Family.UNACHIEVABLE, task.id


def test_the_broad_suite_is_what_its_templates_draw() -> None:
    tasks = source_of("arena-broad").suite.tasks
    drawn_from = rows_to_ask("templates/arena-broad")
    assert {task.id.rpartition("-s0-")[0] for task in tasks} >= set(drawn_from)
    assert {task.tier for task in tasks} == {Tier.BROAD}
    undoable = sum(one.family is Family.UNACHIEVABLE for one in tasks)
    assert 6 <= len(tasks) / undoable <= 9  # about one in eight cannot be done


def test_what_cannot_be_done_is_asked_for_in_the_words_of_what_can() -> None:
    files = sorted((SHIPPED / "templates" / "arena-broad").glob("*.yaml"))
    told = [one for file in files for one in yaml.safe_load(file.read_text()).get("templates", ())]
    asked = {one["id"]: re.sub(r"\{\w+\}", "{}", one["task"]["intent"]) for one in told}
    twins = {one["id"]: one["twin_of"] for one in told if "twin_of" in one}
    undoable = {one["id"] for one in told if one["task"]["family"] == Family.UNACHIEVABLE}
    assert twins.keys() == undoable
    assert [name for name, twin in twins.items() if asked[name] != asked[twin]] == []


def test_no_two_instances_of_the_broad_suite_have_one_answer() -> None:
    keys = [
        (one.template, check.name, str(getattr(check.match, "value", "")))
        for one in source_of("arena-broad").suite.tasks
        for check in one.checks
        if check.computed is not None
    ]
    assert len(set(keys)) == len(keys) > 0


def gives_up(suite: str) -> list[tuple[Task, str]]:
    reasons = ((one, reason_of(one, World.OFFLINE)) for one in source_of(suite).suite.tasks)
    return [(task, reason) for task, reason in reasons if reason is not None]


def outcome(task: Task, evidence: Evidence) -> str:
    """Score what is judged from the path and the ending; nothing else was looked at here."""
    reading = [one for one in task.checks if not isinstance(one.locate, LookingLocator)]
    return str(score(reading, evidence).outcome)


def looks(
    task: Task, required: list[Check]
) -> tuple[tuple[ActedElement, ...], tuple[UrlVisit, ...]]:
    """What the watcher saw of an agent that clicked, or went, where it had to."""
    clicks, visits = [], []
    for one in required:
        seen = str(getattr(one.match, "value", ""))
        if isinstance(one.locate, ElementLocator):
            claim = {"event": one.locate.event, "role": one.locate.role or "generic", "name": seen}
            rest = {"path": "a", "tag": "a", "text": seen, "value": None}
            page = f"{task.sites[0]}:/"
            clicks.append(ActedElement.model_validate({**claim, **rest, "logical": page}))
        else:
            visits.append(UrlVisit(tab=0, url="", logical=seen, status=200))
    return tuple(clicks), tuple(visits)


@pytest.mark.parametrize("suite", LEAST)
def test_what_cannot_be_done_passes_who_looked_and_says_why(suite: str) -> None:
    for task, reason in gives_up(suite):
        required = [one for one in task.key_nodes if one.required]
        assert required, task.id
        clicks, visits = looks(task, required)
        for ending, passes in (
            (Infeasible(reason=reason), "success"),
            (Stop(answer=f"N/A: {reason}"), "success"),
            (Stop(answer="N/A"), "failure"),
            (Stop(answer=reason), "failure"),
        ):
            left = ended_at_once(task, World.OFFLINE, ending)
            last = left.steps[1].model_copy(update={"visits": visits, "acted": clicks})
            looked = left.model_copy(update={"steps": (left.steps[0], last)})
            assert outcome(task, looked) == passes, (task.id, ending)
            assert outcome(task, left) == "failure", (task.id, ending)
