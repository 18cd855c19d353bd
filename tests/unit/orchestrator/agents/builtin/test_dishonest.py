"""Baselines that try to score without the work: what they do, and what they cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena_core.actions import Action, Click, Goto, Stop
from arena_core.errors import UsageError
from orchestrator.agents.builtin.baselines import BLIND_NA, BLIND_REPLAY, SHOTGUN
from orchestrator.agents.interface import Assignment
from orchestrator.browser.observation import Observation

Page = Callable[..., Observation]
SHOP = {"shop": "http://shop.test/"}


def suite(folder: Path, seed: int, *answers: str, **fields: Any) -> str:
    """A suite of instances as they are written out, each with its own page and answer."""
    tasks = [
        {
            "id": f"price-of-s{seed}-{number}",
            "template": "price-of",
            "family": "information",
            "intent": "What does it cost?",
            "sites": ["shop"],
            "start": ["shop:/"],
            "checks": [
                {
                    "name": "price",
                    "when": "end",
                    "locate": {"by": "answer"},
                    "match": {"how": "number", "value": 1},
                }
            ],
            "reference": [
                {"do": "goto", "page": f"shop:/product/{answer}"},
                {"do": "click", "role": "link", "name": "Only there"},
                {"do": "click", "role": "link", "name": "Kettles"},
                {"do": "stop", "answer": answer},
            ],
            **fields,
        }
        for number, answer in enumerate(answers, start=1)
    ]
    path = folder / f"prices-s{seed}.yaml"
    path.write_text(
        yaml.safe_dump(
            {"suite": f"prices-s{seed}", "version": 1, "title": "Prices", "tasks": tasks}
        )
    )
    return str(path)


def twins(folder: Path) -> str:
    """A suite whose second task shares its words with the first, and has another name."""
    path = Path(suite(folder, 8, "12", "13"))
    path.write_text(path.read_text().replace("id: price-of-s8-2", "id: no-price-of-s8-2"))
    return str(path)


async def played(suite: str, task: str, assignment: Assignment, page: Observation) -> list[Action]:
    agents = BLIND_REPLAY.open(suite=suite)
    agent = agents.make(replace(assignment, task=task, site_urls=SHOP))
    done: list[Action] = []
    while not done or not isinstance(done[-1], Stop):
        done.append((await agent.decide(page)).action)
    return done


async def test_a_replay_does_what_solves_another_seeds_instance_and_leaves_out_what_is_not_there(
    tmp_path: Path, assignment: Assignment, page: Page
) -> None:
    other = suite(tmp_path, 8, "12")
    there = page('link "Kettles"')
    assert await played(other, "price-of-s7-2", assignment, there) == [
        Goto(url="http://shop.test/product/12"),
        Click(element=1),
        Stop(answer="12"),
    ]


async def test_a_replay_never_plays_the_tasks_own_reference(
    tmp_path: Path, assignment: Assignment, page: Page
) -> None:
    own = suite(tmp_path, 7, "12", "13")
    for task, answer in (("price-of-s7-1", "13"), ("price-of-s7-2", "12")):
        done = await played(own, task, assignment, page(""))
        assert done == [Goto(url=f"http://shop.test/product/{answer}"), Stop(answer=answer)]


async def test_a_replay_cannot_tell_twins_apart(
    tmp_path: Path, assignment: Assignment, page: Page
) -> None:
    both = twins(tmp_path)
    done = await played(both, "no-price-of-s8-2", assignment, page(""))
    assert done == [Goto(url="http://shop.test/product/12"), Stop(answer="12")]
    ends = [
        (await played(both, f"no-price-of-s7-{number}", assignment, page("")))[-1]
        for number in range(1, 21)
    ]
    assert {one.answer for one in ends if isinstance(one, Stop)} == {"12", "13"}


async def test_a_task_without_another_instance_is_stopped_at_once(
    tmp_path: Path, assignment: Assignment, page: Page
) -> None:
    own = suite(tmp_path, 7, "12")
    assert await played(own, "price-of-s7-1", assignment, page("")) == [Stop()]
    assert await played(own, "another", assignment, page("")) == [Stop()]


def test_a_suite_with_nothing_to_replay_is_refused(tmp_path: Path) -> None:
    written = suite(tmp_path, 7, "12", template=None)
    with pytest.raises(UsageError, match="has no instance of a template"):
        BLIND_REPLAY.open(suite=written)


async def test_a_blind_refusal_looks_at_nothing(assignment: Assignment, page: Page) -> None:
    assert not BLIND_NA.observations
    decided = await BLIND_NA.open().make(assignment).decide(page("heading 'x'"))
    assert decided.action == Stop(answer="N/A")


async def test_a_shotgun_answers_with_all_that_the_start_page_says(
    assignment: Assignment, page: Page
) -> None:
    shown = page('link "Kettles"\ntextbox ""\nlink "42"\nlink "Kettles"')
    decided = await SHOTGUN.open().make(assignment).decide(shown)
    assert decided.action == Stop(answer="Kettles, 42")
