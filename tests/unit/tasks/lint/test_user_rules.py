"""What the linter says about a task's user."""

from __future__ import annotations

from typing import Any

import pytest

from sites.registry import SiteRegistry
from tasks.lint.linter import lint_suite
from tasks.schema import Suite

WHICH: dict[str, Any] = {
    "type": "text",
    "says": ["which", "do you mean"],
    "value": "the green one",
    "asks": ["Which one?", "Do you mean the green kettle?"],
}
SIZE: dict[str, Any] = {
    "type": "number",
    "says": ["how large", "size"],
    "value": 3,
    "asks": ["How large?", "Of what size?"],
}
PRICE = {
    "name": "price",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "number", "value": 49},
}


def asked_for(slot: str = "which", value: str = "first") -> dict[str, Any]:
    return {
        "name": "asked",
        "when": "end",
        "locate": {"by": "user", "slot": slot},
        "match": {"how": "exact", "value": value},
    }


def findings(registry: SiteRegistry, user: dict[str, Any], **fields: Any) -> list[str]:
    task = {
        "id": "kettle",
        "family": "information",
        "intent": "Say what the kettle costs.",
        "sites": ["shop"],
        "start": ["shop:/"],
        "worlds": ["offline"],
        "user": user,
        "checks": [PRICE, asked_for()],
        "reference": [{"do": "ask", "question": "Which one?"}, {"do": "stop", "answer": "49"}],
        **fields,
    }
    suite = {"suite": "mine", "version": 1, "title": "Mine", "tasks": [task]}
    found = lint_suite(Suite.model_validate(suite), registry)
    return [one.message for one in found if one.severity == "error"]


def test_a_user_who_is_found_by_those_who_ask_is_no_finding(registry: SiteRegistry) -> None:
    assert findings(registry, {"which": WHICH, "size": SIZE}) == []


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ({"which": WHICH}, "has one slot"),
        ({"which": {**WHICH, "asks": ["Which one?", "The red?"]}, "size": SIZE}, "is not answered"),
        (
            {"which": {**WHICH, "asks": ["Which one?", "Which size?"]}, "size": SIZE},
            "names 'size' as well",
        ),
        ({"which": {**WHICH, "says": [*WHICH["says"], "tell"]}, "size": SIZE}, "'Tell me all.'"),
        (
            {"which": {**WHICH, "says": [*WHICH["says"], "kettle costs"]}, "size": SIZE},
            "'Say what the kettle costs.' asks for everything",
        ),
        ({"which": WHICH, "size": {**SIZE, "value": 49}}, "the user's own answer for 'size'"),
    ],
)
def test_a_user_who_gives_away_or_misses_something_is_a_finding(
    registry: SiteRegistry, user: dict[str, Any], said: str
) -> None:
    assert any(said in one for one in findings(registry, user))


def test_a_check_asks_for_a_slot_that_there_is(registry: SiteRegistry) -> None:
    user = {"which": WHICH, "size": SIZE}
    [message] = findings(registry, user, checks=[PRICE, asked_for("colour")])
    assert message.startswith("no slot 'colour'")
    [message] = findings(registry, user, checks=[PRICE, asked_for(value="before")])
    assert message.startswith("`by: user` finds one of first, late and never")
    found = findings(registry, {}, checks=[PRICE])
    assert found == ["asks, and the task has no `user`: nobody answers"]


def test_input_is_needed_only_where_nobody_can_give_it(registry: SiteRegistry) -> None:
    status = {
        "name": "status",
        "when": "end",
        "locate": {"by": "answer", "part": "status"},
        "match": {"how": "exact", "value": "needs_input"},
    }
    reason = "the user does not know which"
    reference = [
        {"do": "ask", "question": "Which one?"},
        {"do": "stop", "status": "needs_input", "reason": reason},
    ]
    fields = {"checks": [status, asked_for()], "reference": reference}
    known = findings(registry, {"which": WHICH, "size": SIZE}, **fields)
    unknown = findings(registry, {"which": {**WHICH, "value": None}, "size": SIZE}, **fields)
    assert [one.startswith("wants `needs_input`") for one in known] == [True]
    assert unknown == []
