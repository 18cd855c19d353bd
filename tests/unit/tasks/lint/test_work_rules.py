"""A task is hard where it shows how much work it is, by numbers that its own ways do not refute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import ValidationError
from support.tasks.sound_task import ANSWER, DELTA, NODE, ROW, Edit, findings, make_suite, put

from sites.registry import SiteRegistry
from tasks.needs import Need
from tasks.work import need_lookups, work_faults

ROWS = {"what": "rows", "site": "shop", "sql": "SELECT count(*) FROM orders"}
WRONG = {"name": "first-row", "site": "shop", "sql": "SELECT 1"}
KEY = {**ANSWER, "wrong_keys": [WRONG]}
BEST = {**KEY, "margin": {"site": "shop", "sql": "SELECT total FROM orders ORDER BY 1 LIMIT 2"}}
WALK = [{"do": "goto", "page": "shop:/product/12/kettle"}] * 4
END = {"do": "stop", "answer": "49"}


def hard(*needs: Mapping[str, Any], **fields: Any) -> Edit:
    sound = {"tier": "hard", "checks": [NODE, KEY], "reference": [*WALK, END]}
    return put(**{**sound, "needs": list(needs), **fields})


def said(edit: Edit, registry: SiteRegistry) -> str:
    return "; ".join(str(one) for one in findings(edit, registry))


def proven(edit: Edit, *found: Sequence[str]) -> str:
    """Return the faults of the work that replicas found."""
    (task,) = make_suite(edit).tasks
    names = [one.name for one in need_lookups(task)]
    values = dict(zip(names, found, strict=True))
    return "; ".join(message for _, message in work_faults(task, values))


@pytest.mark.parametrize(
    "edit",
    [
        hard(ROWS),
        hard({"what": "pages", "count": 3}),
        hard({"what": "pages", "count": 2}, {"what": "pages", "count": 1}),
        hard({"what": "lookups", "count": 5}),
        hard({"what": "rows", "count": 39}, ROWS),
        hard(ROWS, intent="Which order cost most?", checks=[NODE, BEST]),
        hard(ROWS, intent="Which orders cost at most five pounds?"),
        put(intent="Which order cost most?"),
        put(needs=[{"what": "pages", "count": 1}], tier="broad"),
    ],
)
def test_enough_work_is_no_finding(edit: Edit, registry: SiteRegistry) -> None:
    assert said(edit, registry) == ""


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (hard(), "too little work for `tier: hard`: its `needs` come to nothing"),
        (hard({"what": "rows", "count": 39}), "come to 39 rows; wanted is one of 40 rows"),
        (hard({"what": "pages", "count": 2}), "come to 2 pages"),
        (hard({"what": "lookups", "count": 6}), "but the reference takes 5 actions"),
        (hard(ROWS, checks=[NODE, ANSWER]), "check 'said' of a hard task has no `wrong_keys`"),
        (hard(ROWS, intent="Which order cost most?"), "asks for the 'most' has no check with"),
        (hard({**ROWS, "sql": "DROP TABLE orders"}), "SELECT"),
        (hard({**ROWS, "site": "wiki"}), "is not one of the task's sites"),
        (
            hard({"what": "writes", "count": 3}, checks=[NODE, KEY, ROW, DELTA]),
            "3 writes are needed, but 1 changes expected",
        ),
        (
            hard(
                {"what": "pages", "count": 4},
                other_paths=[{"name": "one-list", "reference": [WALK[0], END]}],
            ),
            "4 pages are needed, but path 'one-list' takes 2 actions",
        ),
    ],
)
def test_what_a_hard_task_does_not_show_is_found(
    edit: Edit, says: str, registry: SiteRegistry
) -> None:
    assert says in said(edit, registry)


def test_three_sites_are_enough_work() -> None:
    assert proven(hard(sites=["shop", "wiki", "map"])) == ""
    assert "nothing" in proven(hard(sites=["shop", "wiki", "wiki"]))


def test_what_a_replica_says_counts_once_it_was_asked() -> None:
    assert proven(hard(ROWS), ["40"]) == ""
    assert "come to 39 rows" in proven(hard(ROWS), ["39"])
    assert proven(hard(ROWS, {**ROWS, "sql": "SELECT 2"}), ["39"], ["1"]) == ""
    assert "finds one whole number, found" in proven(hard(ROWS), ["40", "41"])
    assert "found nothing" in proven(hard(ROWS), [])
    assert "9 pages are needed" in proven(hard({**ROWS, "what": "pages"}), ["9"])


@pytest.mark.parametrize(
    "need",
    [
        {"what": "rows"},
        {"what": "rows", "site": "shop"},
        {"what": "rows", "sql": "SELECT 1"},
        {**ROWS, "count": 3},
        {"what": "rows", "count": 0},
        {"what": "clicks", "count": 3},
    ],
)
def test_a_need_is_counted_or_asked(need: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Need.model_validate(need)
