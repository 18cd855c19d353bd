"""What a caller sets for one episode: what it changes of the task, and what is written down."""

from __future__ import annotations

from typing import Any

import pytest
from support.worlds.fake_world import browsing_task

from arena_core.errors import UsageError
from orchestrator.runs.single_episode import EpisodeTerms, with_task
from orchestrator.runs.spec import read_asked
from tasks.schema import MiniWobStart, Suite


def read(**asked: Any) -> EpisodeTerms:
    return read_asked(EpisodeTerms, **asked)


def test_what_is_not_asked_for_is_as_the_task_says() -> None:
    task = browsing_task()
    assert read().applied_to(task) is task
    assert read(seed=7).applied_to(task) is task  # nothing of it is drawn
    assert read().options == {}


def test_limits_stand_in_place_of_the_tasks() -> None:
    task = browsing_task(limits={"steps": 9, "seconds": 60})
    assert read(max_steps=3).applied_to(task).limits.model_dump() == {"steps": 3, "seconds": 60.0}
    both = read(max_steps=30, max_seconds=600.0)
    assert both.applied_to(task).limits.model_dump() == {"steps": 30, "seconds": 600.0}
    assert both.options == {"max_steps": 30, "max_seconds": 600.0}


def test_a_page_of_miniwob_draws_its_problem_from_the_seed() -> None:
    task = browsing_task(miniwob=MiniWobStart(page="click-test", seed=1), sites=["miniwob"])
    drawn = read(seed=7).applied_to(task).miniwob
    assert drawn == MiniWobStart(page="click-test", seed=7)
    assert read(seed=7, viewport=(800, 600)).options == {"seed": 7, "viewport": "800x600"}


def test_the_suite_that_is_kept_has_the_task_as_it_was_played() -> None:
    task = browsing_task()
    suite = Suite(suite="tiny", title="Tiny", version=1, tasks=(task, browsing_task(id="other")))
    played = read(max_steps=3).applied_to(task)
    assert [one.limits.steps for one in with_task(suite, played).tasks] == [3, 20]


@pytest.mark.parametrize(
    "asked",
    [
        {"seed": -1},
        {"seed": 2**31},
        {"max_steps": 0},
        {"max_steps": 501},
        {"max_seconds": 0.0},
        {"max_seconds": float("nan")},
        {"max_seconds": float("inf")},
        {"max_seconds": 7201.0},
        {"viewport": (1280,)},
        {"viewport": (1280, 720, 1)},
        {"viewport": (1280, 99)},
        {"viewport": (4097, 720)},
    ],
    ids=str,
)
def test_what_is_out_of_its_bounds_is_refused_by_name(asked: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(asked))):
        read(**asked)
