"""Why episodes fail: an episode for each class, and the step at which each left what succeeds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.agents.arena_process import Ended as Called
from support.runs.make_changes import removed
from support.runs.parted_episodes import acted, clicked, opened, said, step
from support.runs.published_run import run

from arena_core.actions import Click, Infeasible, Scroll, Type
from arena_core.worlds import World
from evaluators.changes import change_as_text
from evaluators.evidence import Ended, Evidence, Located, RequestNote, StepEvidence
from orchestrator.analysis.run_report.failure_causes import (
    FailureCause,
    FailureClass,
    counted_causes,
    failure_causes,
)
from orchestrator.analysis.run_report.run_report import read_run
from tasks.schema import Task

Call = Callable[..., Called]
BASKET = "shop:/basket"
PRICE = {
    "name": "price",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "exact", "value": "Old Pier"},
}
PLACE = {
    "name": "place",
    "when": "end",
    "locate": {"by": "url"},
    "match": {"how": "exact", "value": BASKET},
}
REFERENCE = [
    {"do": "click", "role": "link", "name": "Kettle"},
    {"do": "click", "role": "button", "name": "Add"},
    {"do": "goto", "page": BASKET},
    {"do": "stop", "answer": "Old Pier"},
]


def task(*checks: dict[str, Any], reference: object = REFERENCE) -> Task:
    return Task.model_validate(
        {
            "id": "one",
            "family": "information",
            "intent": "Where does the kettle come from?",
            "sites": ["shop"],
            "start": ["shop:/"],
            "checks": list(checks or (PRICE,)),
            "reference": reference,
        }
    )


def played(*steps: StepEvidence, repeat: int = 0, **more: Any) -> Evidence:
    numbered = tuple(
        one.model_copy(update={"index": index}) for index, one in enumerate((opened(), *steps))
    )
    told = {
        "suite": "published", "task": "one", "world": World.OFFLINE, "agent": "chat",
        "repeat": repeat, "attempt": 1, "started_at": "2026-11-21T00:00:00+00:00", "seconds": 1.0,
        "ended": Ended.STOPPED, "answer": None, "steps": numbered, **more,
    }  # fmt: skip
    return Evidence(**told)


KETTLE = clicked("Kettle")
ADD = step(Click(element=3), "shop:/kettle", acted=(acted("Add", role="button"),))
OTHER = clicked("Teapot", "shop:/teapot")


def causes(folder: Path, asked: Task, *episodes: Evidence) -> list[FailureCause]:
    return list(failure_causes(read_run(run(folder / "run", [asked], episodes))).values())


def cause(folder: Path, episode: Evidence, asked: Task | None = None) -> FailureCause:
    [found] = causes(folder, asked or task(), episode)
    return found


def kinds(found: FailureCause) -> set[FailureClass]:
    return {one.kind for one in found.labels}


def test_another_value_on_the_right_way_is_misread(tmp_path: Path) -> None:
    found = cause(tmp_path, played(KETTLE, ADD, said("New Pier"), answer="New Pier"))
    assert kinds(found) == {FailureClass.MISREAD}
    assert "New Pier" in found.labels[0].because


def test_the_right_value_in_words_that_are_refused_is_a_wrong_form(tmp_path: Path) -> None:
    answer = "It is called Old Pier and not Cliff Top"
    assert kinds(cause(tmp_path, played(KETTLE, said(answer), answer=answer))) == {
        FailureClass.ANSWER_FORM
    }


def test_a_value_that_only_holds_the_letters_is_no_form_of_it(tmp_path: Path) -> None:
    answer = "Gold Pier"
    found = cause(tmp_path, played(KETTLE, said(answer), answer=answer))
    assert kinds(found) == {FailureClass.MISREAD}


def test_the_step_that_leaves_the_reference_is_named_with_what_that_does(tmp_path: Path) -> None:
    found = cause(tmp_path, played(KETTLE, OTHER, said("x"), answer="x"))
    assert found.left is not None
    assert (found.left.step, found.left.path) == (2, "the reference")
    assert "Teapot" in found.left.did
    assert found.left.instead == "click button Add"


def test_a_detour_from_which_it_came_back_is_no_leaving(tmp_path: Path) -> None:
    found = cause(tmp_path, played(OTHER, KETTLE, ADD, said("x"), answer="x"))
    assert found.left is not None
    assert (found.left.step, found.left.instead) == (4, f"goto {BASKET}")


def test_a_success_of_another_repeat_is_a_known_path_too(tmp_path: Path) -> None:
    right = played(OTHER, said("Old Pier"), answer="Old Pier")
    wrong = played(OTHER, clicked("Cups", "shop:/cups"), said("x"), answer="x", repeat=1)
    [found] = causes(tmp_path, task(), right, wrong)
    assert found.left is not None
    assert found.left.path == "repeat 0, a success,"
    assert (found.left.step, found.left.instead) == (2, None)
    assert FailureClass.WRONG_PAGE in kinds(found)


def test_without_a_known_path_no_step_is_blamed(tmp_path: Path) -> None:
    found = cause(tmp_path, played(OTHER, said("x"), answer="x"), task(PRICE, reference=None))
    assert found.left is None
    assert kinds(found) == {FailureClass.MISREAD}


def test_who_ends_on_the_way_stopped_early(tmp_path: Path) -> None:
    found = cause(tmp_path, played(KETTLE, said("Old Pier"), answer="Old Pier"), task(PRICE, PLACE))
    assert FailureClass.STOPPED_EARLY in kinds(found)
    assert FailureClass.WRONG_PAGE in kinds(found)


def test_what_can_be_done_and_is_called_impossible_stopped_early(tmp_path: Path) -> None:
    end = step(Infeasible(reason="no such kettle"))
    found = cause(tmp_path, played(end, ended=Ended.INFEASIBLE))
    assert kinds(found) == {FailureClass.STOPPED_EARLY}


@pytest.mark.parametrize("ended", [Ended.STEP_LIMIT, Ended.DEADLINE])
def test_who_ran_out_of_steps_or_time_met_a_limit(tmp_path: Path, ended: Ended) -> None:
    assert kinds(cause(tmp_path, played(KETTLE, OTHER, ended=ended))) == {FailureClass.LIMIT}


def test_the_same_click_three_times_on_one_page_is_a_loop_and_scrolling_is_none(
    tmp_path: Path,
) -> None:
    again = clicked("Kettle", "shop:/")
    down = step(Scroll(direction="down"), "shop:/")
    found = cause(tmp_path / "a", played(again, again, again, ended=Ended.STEP_LIMIT))
    assert kinds(found) == {FailureClass.LOOP, FailureClass.LIMIT}
    scrolled = cause(tmp_path / "b", played(down, down, down, ended=Ended.STEP_LIMIT))
    assert kinds(scrolled) == {FailureClass.LIMIT}
    pages = [clicked("Next", f"shop:/list/{number}") for number in range(4)]
    walked = cause(tmp_path / "c", played(*pages, ended=Ended.STEP_LIMIT))
    assert kinds(walked) == {FailureClass.LIMIT}


def test_a_step_that_could_not_be_done_has_no_effect(tmp_path: Path) -> None:
    lost = step(Type(element=9, text="x"), "shop:/kettle", error="there is no element 9")
    found = cause(tmp_path, played(KETTLE, lost, said("x"), answer="x"))
    assert FailureClass.NO_EFFECT in kinds(found)
    assert "no element 9" in found.labels[0].because


def test_a_failed_step_that_was_put_right_is_no_reason(tmp_path: Path) -> None:
    lost = step(Type(element=9, text="x"), "shop:/", error="there is no element 9")
    found = cause(tmp_path, played(lost, KETTLE, ADD, said("x"), answer="x"))
    assert kinds(found) == {FailureClass.MISREAD}


def test_a_page_of_the_site_that_breaks_is_environment(tmp_path: Path) -> None:
    broken = clicked("Kettle", status=500)
    assert FailureClass.ENVIRONMENT in kinds(cause(tmp_path, played(broken, said("x"), answer="x")))


def test_a_refused_write_is_forbidden_and_a_refused_script_is_not(tmp_path: Path) -> None:
    def noted(*, may_write: bool) -> StepEvidence:
        note = RequestNote(
            method="POST", url="http://s/x", site="shop", may_write=may_write, refused="no"
        )
        return KETTLE.model_copy(update={"notes": (note,)})

    wrote = cause(tmp_path / "a", played(noted(may_write=True), said("x"), answer="x"))
    assert FailureClass.FORBIDDEN in kinds(wrote)
    read = cause(tmp_path / "b", played(noted(may_write=False), said("x"), answer="x"))
    assert FailureClass.FORBIDDEN not in kinds(read)


def test_a_change_beside_what_the_task_allows_is_forbidden(tmp_path: Path) -> None:
    rows = {
        "name": "rows", "when": "end", "locate": {"by": "db_delta", "site": "shop"},
        "match": {"how": "delta", "changes": []},
    }  # fmt: skip
    gone = change_as_text(removed("order", {"id": "7"}))
    episode = played(KETTLE, said("x"), located=(Located(check="rows", values=(gone,)),))
    found = cause(tmp_path, episode, task(rows))
    assert FailureClass.FORBIDDEN in kinds(found)
    assert "1 rows removed" in found.labels[0].because


def test_an_agent_that_crashed_failed_by_its_harness(tmp_path: Path) -> None:
    crashed = played(KETTLE, ended=Ended.AGENT_CRASHED, ended_because="KeyError: 'x'")
    assert FailureClass.HARNESS in kinds(cause(tmp_path, crashed))


def test_what_no_rule_explains_says_so_with_the_unmet_check(tmp_path: Path) -> None:
    row = {
        "name": "row", "when": "end", "locate": {"by": "db", "site": "shop", "sql": "SELECT 1"},
        "match": {"how": "number", "value": 1},
    }  # fmt: skip
    found = cause(
        tmp_path,
        played(OTHER, said("x"), located=(Located(check="row", values=("2",)),)),
        task(row, reference=None),
    )
    assert kinds(found) == {FailureClass.UNEXPLAINED}
    assert "row" in found.labels[0].because


def test_an_episode_without_a_step_has_a_class_and_no_step_to_blame(tmp_path: Path) -> None:
    found = cause(tmp_path, played(ended=Ended.AGENT_CRASHED).model_copy(update={"steps": ()}))
    assert found.left is None
    assert FailureClass.HARNESS in kinds(found)


def test_successes_and_unscored_episodes_have_no_cause(tmp_path: Path) -> None:
    right = played(said("Old Pier"), answer="Old Pier")
    assert causes(tmp_path, task(), right) == []


def test_report_terminal_and_json_say_why(call: Call, tmp_path: Path) -> None:
    episodes = [
        played(KETTLE, OTHER, said("x"), answer="x", repeat=0),
        played(KETTLE, OTHER, ended=Ended.STEP_LIMIT, repeat=1),
    ]
    folder = run(tmp_path / "run", [task()], episodes)
    found = failure_causes(read_run(folder))
    assert counted_causes(found.values()) == {FailureClass.MISREAD: 1, FailureClass.LIMIT: 1}
    said_there = call("report", str(folder.path)).out
    assert "why episodes failed: misread page 1, limit 1" in said_there
    assert "offline one repeat 1: limit; left the known paths at step 2:" in said_there
    page = folder.report_path.read_text(encoding="utf-8")
    assert "Left the known paths at step 2" in page
    [row] = json.loads(call("report", str(folder.path), "--json").out)["tasks"]
    assert [one["class"] for one in row["episodes"][0]["failure"]["labels"]] == ["misread page"]
