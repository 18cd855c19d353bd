"""Visits without work, and work undone, made from plays by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.runs.make_evidence import (
    ANSWER,
    DB,
    key_node,
    make_check,
    make_evidence,
    make_step,
    stop_step,
)

from evaluators.changes import ChangeKind, RowChange, change_as_text
from evaluators.checks import Check
from evaluators.evidence import Evidence, Located
from evaluators.scores import score
from orchestrator.authoring.proof.attacks import attacks_fail
from orchestrator.authoring.proof.rules import START_PAGE, Played
from orchestrator.episode.snapshot import EpisodeSnapshot
from tasks.schema import Task

THANKS = key_node("shop:/thanks", name="thanks", required=True)
HERE = make_check({"by": "url"}, "shop:/thanks", name="here")
ROW = make_check(DB, "1", name="row")
SAID = make_check(ANSWER, "42", name="said", how="include")
LINE = RowChange(
    table="line",
    kind=ChangeKind.ADDED,
    key={"id": "7"},
    after={"id": "7", "product_id": "12", "quantity": "1"},
)


def changes(*expected: dict[str, Any]) -> Check:
    return Check.model_validate(
        {
            "name": "changes",
            "when": "end",
            "locate": {"by": "db_delta", "site": "shop"},
            "match": {"how": "delta", "changes": list(expected)},
        }
    )


EXACT = changes({"table": "line", "kind": "added", "columns": {"product_id": 12}})
LOOSE = changes({"table": "line", "kind": "added", "columns": {"quantity": 1}})
STORED = Located(check="row", values=("1",))
CHANGED = Located(check="changes", values=(change_as_text(LINE),))
UNTOUCHED = (Located(check="row"), Located(check="changes"))


def make_task(*checks: Check, family: str = "content") -> Task:
    return Task.model_validate(
        {
            "id": "task",
            "family": family,
            "intent": "Put one into my basket.",
            "sites": ["shop"],
            "start": ["shop:/"],
            "checks": list(checks),
            "reference": [{"do": "press", "keys": "Tab"}, {"do": "stop"}],
        }
    )


def done(located: Sequence[Located], *, end: str = "shop:/thanks") -> Evidence:
    steps = (make_step(0, at="shop:/"), make_step(1, end), stop_step(2))
    last = steps[2].model_copy(update={"logical": end})
    return make_evidence(*steps[:2], last, located=located, answer="42")


def passing(
    task: Task, evidence: Evidence, untouched: Sequence[Located], page: str | None = None
) -> list[str]:
    asked = () if page is None else (Located(check=START_PAGE.name, values=(page,)),)
    snapshot = EpisodeSnapshot(step=1, located=tuple(untouched), asked=asked, moved={})
    played = Played(
        task=task,
        world=evidence.world,
        evidence=evidence,
        score=score(task.checks, evidence),
        untouched=snapshot,
        before_last=None,
    )
    assert str(played.score.outcome) == "success"
    return [one.message.partition(" passes")[0] for one in attacks_fail(played)]


def test_work_that_is_proven_in_the_state_and_whole_is_not_gamed() -> None:
    assert passing(make_task(THANKS, ROW, EXACT), done([STORED, CHANGED]), UNTOUCHED) == []


def test_a_page_that_thanks_is_no_work() -> None:
    assert passing(make_task(THANKS), done([]), ()) == [
        "pages opened and left",
        "the change made and taken back",
        "the form failed with a redirect",
    ]


def test_what_is_only_left_open_is_taken_back_and_redirected_to_as_well() -> None:
    found = passing(make_task(HERE), done([]), ())
    assert found == ["the change made and taken back", "the form failed with a redirect"]


def test_a_change_of_any_object_is_no_change_of_this_one() -> None:
    found = passing(make_task(LOOSE), done([CHANGED]), UNTOUCHED[1:])
    assert found == ["the change made on a sibling's object"]
    assert passing(make_task(EXACT), done([CHANGED]), UNTOUCHED[1:]) == []


def test_a_change_of_another_object_as_well_is_found_where_nothing_asks_for_the_whole() -> None:
    allowing = Check.model_validate(
        {
            **EXACT.model_dump(mode="json", exclude_none=True),
            "match": {
                "how": "delta",
                "changes": [{"table": "line", "kind": "added", "columns": {"product_id": 12}}],
                "allow": {"tables": ["line"]},
            },
        }
    )
    found = passing(make_task(ROW, allowing), done([STORED, CHANGED]), UNTOUCHED)
    assert found == ["the change made on a sibling's object as well"]


@pytest.mark.parametrize(("page", "count"), [("one of 42 and 47", 1), ("nothing", 0)])
def test_an_answer_that_only_lists_the_start_page_must_not_pass(page: str, count: int) -> None:
    task = make_task(SAID, family="information")
    found = passing(task, done([]), (), page)
    assert len([one for one in found if one == "all numbers of the start page"]) == count


def test_an_error_page_at_the_right_url_is_not_the_page() -> None:
    task = make_task(HERE, family="navigation")
    assert passing(task, done([]), ()) == []
    careless = HERE.model_copy(update={"locate": HERE.locate.model_copy(update={"status": "any"})})
    found = passing(make_task(careless, family="navigation"), done([]), ())
    assert found == ["the right URL with an error status"]
