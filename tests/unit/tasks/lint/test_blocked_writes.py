"""A task whose write is stopped online."""

from __future__ import annotations

from typing import Any

import pytest
from support.tasks.sound_task import ANSWER, DELTA, PAGE, ROW, Edit, content_of, findings, put

from evaluators.lint import Severity
from sites.registry import SiteRegistry

ORDER: dict[str, Any] = {
    "name": "ordered",
    "when": "end",
    "locate": {
        "by": "network",
        "url": "shop:/order",
        "method": "POST",
        "body": {"item": "kettle"},
        "blocked": True,
        "read": "found",
    },
    "match": {"how": "exact", "value": "true"},
}


def order(**locate: Any) -> dict[str, Any]:
    return {**ORDER, "locate": {**ORDER["locate"], **locate}}


def stopped(*checks: dict[str, Any], **more: Any) -> Edit:
    told = {"live_writes": False, "checks": [ROW, *(checks or (ORDER,)), DELTA], **more}
    return content_of(**told)


def test_a_content_task_may_have_its_write_stopped_online(registry: SiteRegistry) -> None:
    assert [str(one) for one in findings(stopped(), registry)] == []


@pytest.mark.parametrize(
    ("edit", "where", "says"),
    [
        (stopped(live_writes=True), "live_writes", "lets writes through, and check 'ordered'"),
        (stopped(ORDER, PAGE), "checks.2", "needs the effect of a write that check 'ordered'"),
        (
            stopped(ORDER, {**order(blocked=False), "name": "sent"}),
            "checks.2",
            "give it `worlds: [offline]`",
        ),
        (
            stopped({**ORDER, "worlds": ["offline"]}, {**PAGE, "worlds": ["online"]}),
            "checks.1.locate.blocked",
            "nothing is stopped offline",
        ),
        (
            put(sites=["shop", "board"], checks=[ANSWER, order(url="board:/order")]),
            "checks.1.locate.blocked",
            "nothing is stopped on 'board': there is no live origin",
        ),
    ],
)
def test_what_cannot_be_stopped_or_needs_the_effect_is_refused(
    edit: Edit, where: str, says: str, registry: SiteRegistry
) -> None:
    errors = [one for one in findings(edit, registry) if one.is_error]
    assert any(one.where == f"tasks.0.{where}" and says in one.message for one in errors), [
        str(one) for one in errors
    ]


def test_a_write_without_content_is_asked_to_be_looked_at_again(registry: SiteRegistry) -> None:
    [found] = findings(stopped(order(body={})), registry)
    assert found.severity is Severity.WARNING
    assert "an empty request would do" in found.message
