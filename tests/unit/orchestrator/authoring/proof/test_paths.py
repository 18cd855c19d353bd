"""Other right ways and detours, as tasks of their own."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.runs.make_evidence import ANSWER, make_check, make_evidence, stop_step

from arena_core.worlds import World
from evaluators.scores import score
from orchestrator.authoring.proof.paths import path_fails, path_suite, path_tasks, unproved
from orchestrator.authoring.proof.rules import Played
from tasks.schema import Suite, Task
from tasks.sources import SuiteSource

STOP = {"do": "stop", "answer": "42"}
BY_SEARCH = {"name": "by-search", "reference": [{"do": "press", "keys": "/"}, STOP]}
BY_LINK = {"name": "by-link", "reference": [{"do": "press", "keys": "Tab"}, STOP]}
DETOUR = [{"do": "goto", "page": "shop:/about"}, {"do": "back"}]


def make_task(**fields: Any) -> Task:
    return Task.model_validate(
        {
            "id": "task",
            "family": "information",
            "intent": "What does it cost?",
            "sites": ["shop"],
            "start": ["shop:/sale"],
            "checks": [make_check(ANSWER, "42", name="price")],
            "reference": [STOP],
            **fields,
        }
    )


def played(*tasks: Task) -> list[list[str]]:
    return [[action.do for action in one.task.reference_actions] for one in path_tasks(tasks)]


def test_every_other_path_is_played_and_the_first_after_the_detour() -> None:
    task = make_task(other_paths=[BY_SEARCH, BY_LINK], detour=DETOUR)
    assert played(task) == [["goto", "back", "press", "stop"], ["press", "stop"]]


@pytest.mark.parametrize("name", ["joins_at", "then_from"])
def test_a_path_that_joins_the_reference_goes_on_with_it(name: str) -> None:
    """`then_from` is the former name; digests of suites go by it."""
    short = {"name": "short", "reference": [{"do": "press", "keys": "/"}], name: 1}
    task = make_task(other_paths=[short], reference=[{"do": "back"}, STOP], detour=DETOUR)
    assert played(task) == [["goto", "back", "press", "stop"]]
    assert task.model_dump()["other_paths"][0]["then_from"] == 1


def test_without_another_path_the_reference_is_played_after_a_look_around() -> None:
    [actions] = played(make_task())
    assert actions == ["new_tab", "goto", "close_tab", "focus_tab", "stop"]
    [path] = path_tasks([make_task()])
    assert path.task.limits.steps == 24
    assert path.what == "the reference, after the look around,"


def test_it_is_played_in_one_world_and_must_succeed_there() -> None:
    diverges = {"outcome": "failure", "at": "price", "why": "it costs more"}
    [path] = path_tasks([make_task(expected_divergence=diverges)])
    assert path.task.worlds == (World.OFFLINE,)
    assert path.task.expected_divergence is None
    [online] = path_tasks([make_task(worlds=["online"])])
    assert online.task.worlds == (World.ONLINE,)


def test_what_has_no_reference_or_is_a_miniwob_page_has_no_further_play() -> None:
    wob = make_task(wob={"page": "click-test", "seed": 1})
    assert played(make_task(reference=None), wob) == []


def test_the_suite_of_the_further_plays_can_be_kept_and_read() -> None:
    task = make_task(other_paths=[BY_SEARCH, BY_LINK])
    suite = Suite(suite="mine", version=1, title="Mine", tasks=(task,))
    own = path_suite(suite, path_tasks([task, make_task(id="other")]))
    assert [one.id for one in own.tasks] == ["path-0-0", "path-0-1", "path-1-0"]
    again = Suite.model_validate_json(own.model_dump_json(exclude_unset=True))
    assert again.tasks == own.tasks


def test_a_path_that_fails_is_a_finding_at_its_place() -> None:
    [path] = path_tasks([make_task(other_paths=[BY_SEARCH])])
    for answer, count in (("42", 0), ("43", 1)):
        evidence = make_evidence(stop_step(1), answer=answer)
        play = Played(
            task=path.task,
            world=World.OFFLINE,
            evidence=evidence,
            score=score(path.task.checks, evidence),
            untouched=None,
            before_last=None,
        )
        faults = list(path_fails(path, play))
        assert len(faults) == count
        assert all(one.at == ("other_paths", 0) for one in faults)
        assert all("'by-search', after the look around, must succeed" in f.message for f in faults)


def test_a_task_that_says_why_it_has_one_way_is_not_noted_for_it() -> None:
    tasks = (
        make_task(),
        make_task(id="other", only_way="The shop shows a price on one page."),
    )
    notes = unproved(SuiteSource(Suite(suite="mine", version=1, title="Mine", tasks=tasks)), tasks)
    assert [(one.task, one.message[:13]) for one in notes] == [
        ("task", "no second rig"),
        ("task", "no written de"),
        ("other", "no written de"),
    ]


def test_a_task_with_another_path_has_no_only_way() -> None:
    with pytest.raises(ValidationError, match="`only_way` says why"):
        make_task(other_paths=[BY_SEARCH], only_way="The shop shows a price on one page.")


def test_a_task_that_cannot_be_done_is_noted_where_its_sites_are_not_asked() -> None:
    asked = make_check({"by": "db", "site": "shop", "sql": "SELECT 1"}, "1", name="sold-out")
    impossible = {"family": "unachievable", "why": "It is sold out.", "detour": DETOUR}
    tasks = (
        make_task(other_paths=[BY_LINK], **impossible),
        make_task(id="other", other_paths=[BY_LINK], requires=[asked], **impossible),
    )
    notes = unproved(SuiteSource(Suite(suite="mine", version=1, title="Mine", tasks=tasks)), tasks)
    assert [(one.task, one.message[:13]) for one in notes] == [("task", "no `requires`")]
