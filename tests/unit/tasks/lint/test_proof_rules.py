"""What the linter says about keys that are not computed and changes that are not proven."""

from __future__ import annotations

from typing import Any

import pytest

from evaluators.lint import Severity
from sites.registry import SiteRegistry
from tasks.lint.linter import lint_suite
from tasks.schema import Suite

SQL = {"site": "shop", "sql": "SELECT price FROM products"}
ANSWER: dict[str, Any] = {
    "name": "price",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "number", "value": 49},
    "computed": SQL,
}
ROW: dict[str, Any] = {
    "name": "row",
    "when": "end",
    "locate": {"by": "db", "site": "shop", "sql": "SELECT quantity FROM line"},
    "match": {"how": "exact", "value": "1"},
}
DELTA: dict[str, Any] = {
    "name": "delta",
    "when": "end",
    "locate": {"by": "db_delta", "site": "shop"},
    "match": {"how": "delta", "changes": [{"table": "line", "kind": "added"}]},
}


def make_task(*checks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "price",
        "family": "information",
        "intent": "Say what the kettle costs.",
        "sites": ["shop"],
        "start": ["shop:/"],
        "worlds": ["offline"],
        "checks": list(checks),
        "reference": [{"do": "stop", "answer": "49"}],
        **fields,
    }


def findings(registry: SiteRegistry, *tasks: dict[str, Any]) -> list[tuple[str, Severity, str]]:
    suite = Suite.model_validate(
        {"suite": "mine", "version": 1, "title": "Mine", "tasks": list(tasks)}
    )
    return [(one.where, one.severity, one.message) for one in lint_suite(suite, registry)]


def computed(**fields: str) -> dict[str, Any]:
    return {**ANSWER, "computed": fields}


def test_a_key_that_is_computed_is_sound(registry: SiteRegistry) -> None:
    assert findings(registry, make_task(ANSWER)) == []


def test_a_key_that_nothing_computes_is_a_warning(registry: SiteRegistry) -> None:
    bare = {**ANSWER, "computed": None}
    [(where, severity, message)] = findings(registry, make_task(bare))
    assert (where, severity) == ("tasks.0.checks.0", Severity.WARNING)
    assert "check 'price' has a key that nothing computes" in message


def test_what_cannot_be_done_has_no_key_to_compute(registry: SiteRegistry) -> None:
    bare = {**ANSWER, "computed": None}
    task = make_task(bare, family="unachievable", why="it is not sold")
    assert findings(registry, task) == []


@pytest.mark.parametrize(
    ("check", "where", "says"),
    [
        (computed(site="board", sql="SELECT 1"), "computed.site", "not one of the task's sites"),
        (computed(site="shop", sql="DELETE FROM x"), "computed.sql", "must be a SELECT"),
        (
            {**ANSWER, "worlds": ["online"]},
            "computed",
            "the check does not apply in the offline world",
        ),
    ],
)
def test_a_key_that_cannot_be_computed_is_an_error(
    registry: SiteRegistry, check: dict[str, Any], where: str, says: str
) -> None:
    task = make_task(check, {**ANSWER, "name": "sound"}, worlds=["offline", "online"])
    found = findings(registry, task)
    assert any(
        at == f"tasks.0.checks.0.{where}" and severity is Severity.ERROR and says in message
        for at, severity, message in found
    ), found


def test_a_site_without_database_computes_nothing_by_sql(registry: SiteRegistry) -> None:
    task = make_task(computed(site="forum", sql="SELECT 1"), sites=["forum"], start=["forum:/"])
    [(where, _, message)] = findings(registry, task)
    assert where == "tasks.0.checks.0.computed.site"
    assert message == "site 'forum' has no database"


@pytest.mark.parametrize(
    ("checks", "says"),
    [
        ((ROW, DELTA), None),
        ((ROW,), "no end check by db_delta"),
        ((DELTA,), "no end check by db in"),
        ((ROW, {**DELTA, "worlds": ["online"]}), "no end check by db_delta"),
    ],
)
def test_a_change_is_proven_by_its_row_and_as_a_whole(
    registry: SiteRegistry, checks: tuple[dict[str, Any], ...], says: str | None
) -> None:
    task = make_task(*checks, family="content", reference=[{"do": "stop"}])
    told = [message for _, severity, message in findings(registry, task) if severity == "warning"]
    assert [says in one for one in told if says] == ([True] if says else [])
    assert bool(told) is (says is not None)


def test_a_template_needs_siblings(registry: SiteRegistry) -> None:
    alone = make_task(ANSWER, template="price-of")
    [(where, severity, message)] = findings(registry, alone)
    assert (where, severity) == ("tasks.0.template", Severity.WARNING)
    assert "template 'price-of' has one instance" in message
    assert findings(registry, alone, {**alone, "id": "other"}) == []


WRONG = {"name": "first-row", "site": "shop", "sql": "SELECT 2"}


def test_near_misses_and_a_margin_are_sound(registry: SiteRegistry) -> None:
    check = {**ANSWER, "wrong_keys": [WRONG, {**WRONG, "name": "old", "sql": "SELECT 3"}]}
    assert findings(registry, make_task({**check, "margin": SQL})) == []


@pytest.mark.parametrize(
    ("fields", "where", "says"),
    [
        ({"wrong_keys": [{**WRONG, "sql": "DROP x"}]}, "wrong_keys.0.sql", "must be a SELECT"),
        ({"wrong_keys": [{**WRONG, "site": "board"}]}, "wrong_keys.0.site", "not one of the"),
        ({"wrong_keys": [WRONG, {**WRONG, "sql": "SELECT 3"}]}, "wrong_keys.1.name", "two wrong"),
        (
            {"wrong_keys": [{**WRONG, "sql": "SELECT  price\nFROM products"}]},
            "wrong_keys.0",
            "is asked for just like the key",
        ),
        (
            {"wrong_keys": [WRONG, {**WRONG, "name": "other"}]},
            "wrong_keys.1",
            "is asked for just like wrong key 'first-row'",
        ),
        ({"margin": SQL}, "margin", "a key with a margin has a wrong key 'first-row'"),
        ({"margin": {**SQL, "sql": "DROP x"}, "wrong_keys": [WRONG]}, "margin.sql", "a SELECT"),
    ],
)
def test_near_misses_that_cannot_prove_a_thing_are_errors(
    registry: SiteRegistry, fields: dict[str, Any], where: str, says: str
) -> None:
    [(at, severity, message)] = findings(registry, make_task({**ANSWER, **fields}))
    assert (at, severity) == (f"tasks.0.checks.0.{where}", Severity.ERROR)
    assert says in message
