"""What the linter says about checks of everything that an episode changed."""

from __future__ import annotations

from typing import Any

import pytest

from sites.manifest import FingerprintProbes
from sites.registry import SiteRegistry
from tasks.lint.linter import lint_suite
from tasks.lint.sql import SiteTables
from tasks.schema import Suite

TABLES = {
    "shop": SiteTables(
        {"line": ("id", "product_id", "quantity"), "analytics_user": ("id", "visits")}
    ),
}


def delta(**fields: Any) -> dict[str, Any]:
    return {
        "name": "nothing-else",
        "when": "end",
        "worlds": ["offline"],
        "locate": {"by": "db_delta", "site": "shop"},
        "match": {"how": "delta", "changes": []},
        **fields,
    }


def locate(**fields: Any) -> dict[str, Any]:
    return {"locate": {"by": "db_delta", "site": "shop", **fields}}


def match(*changes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"match": {"how": "delta", "changes": list(changes), **fields}}


ROW = {
    "name": "row",
    "when": "end",
    "worlds": ["offline"],
    "locate": {"by": "db", "site": "shop", "sql": "SELECT quantity FROM line"},
    "match": {"how": "exact", "value": "1"},
}
ADDED = {"table": "line", "kind": "added", "columns": {"quantity": 1}}


def findings(
    registry: SiteRegistry, check: dict[str, Any], *, known: bool = True, **task: Any
) -> list[tuple[str, str]]:
    fields: dict[str, Any] = {
        "id": "put",
        "family": "content",
        "intent": "Put it into the basket.",
        "sites": ["shop"],
        "worlds": ["offline"],
        "start": ["shop:/"],
        "checks": [check, ROW],
        "reference": [{"do": "stop"}],
        **task,
    }
    suite = Suite.model_validate({"suite": "mine", "version": 1, "title": "M", "tasks": [fields]})
    found = lint_suite(suite, registry, tables=TABLES if known else None)
    return [(one.where.removeprefix("tasks.0."), one.message) for one in found]


@pytest.mark.parametrize(
    "check",
    [
        delta(),
        delta(**match(ADDED)),
        delta(**locate(ignore={"tables": ["analytics_*"], "columns": {"line": ["id"]}})),
        delta(
            **match(
                {"table": "line", "kind": "changed", "columns": {"id": 1}, "also": ["quant*"]},
                {"file": "/srv/*", "kind": "removed"},
                allow={"tables": ["analytics_user"], "files": ["/srv/cache/*"]},
            )
        ),
    ],
)
def test_a_sound_delta_check_proves_a_change_and_has_no_findings(
    registry: SiteRegistry, check: dict[str, Any]
) -> None:
    assert findings(registry, check) == []


@pytest.mark.parametrize(
    ("check", "where", "says"),
    [
        (delta(worlds=["offline", "online"]), "checks.0", "give check 'nothing-else' `worlds: [of"),
        (delta(**locate(site="mall")), "checks.0.locate.site", "unknown site 'mall'"),
        (delta(**locate(site="wiki")), "checks.0.locate.site", "not one of the task's sites"),
        (
            delta(**locate(ignore={"tables": ["li*"]}), **match(ADDED)),
            "checks.0.match.changes.0.table",
            "table 'line' is ignored by the locator",
        ),
        (
            delta(**locate(ignore={"columns": {"line": ["quantity"]}}), **match(ADDED)),
            "checks.0.match.changes.0",
            "column 'quantity' is ignored by the locator",
        ),
        (
            delta(**match({**ADDED, "table": "lines"})),
            "checks.0.match.changes.0",
            "no table 'lines'; did you mean 'line'? there are: ",
        ),
        (
            delta(**match({**ADDED, "columns": {"product": 1}})),
            "checks.0.match.changes.0",
            "table 'line' has no column 'product'; did you mean 'product_id'? there are: ",
        ),
        (
            delta(**locate(ignore={"tables": ["analytic*_x"]})),
            "checks.0.locate.ignore.tables.0",
            "no table 'analytic*_x'; did you mean 'analytics_user'? there are: ",
        ),
        (
            delta(**match(allow={"tables": ["basket"]})),
            "checks.0.match.allow.tables.0",
            "no table 'basket'; there are: analytics_user, line",
        ),
    ],
)
def test_a_mistake_is_named_with_its_field(
    registry: SiteRegistry, check: dict[str, Any], where: str, says: str
) -> None:
    worlds = ["offline", "online"] if "online" in check["worlds"] else ["offline"]
    more: dict[str, Any] = {"worlds": worlds, "live_writes": True} if len(worlds) > 1 else {}
    found = findings(registry, check, **more)
    assert [one for one in found if one[0] == where and says in one[1]], found


def test_a_site_without_database_has_files_only(registry: SiteRegistry) -> None:
    files = FingerprintProbes(files=("/srv/forum",))
    forum = registry.site("forum").model_copy(update={"fingerprint": files})
    registry = SiteRegistry({**registry.sites, "forum": forum})
    task: dict[str, Any] = {"sites": ["forum"], "start": ["forum:/"]}
    nothing, added = (delta(**locate(site="forum"), **match(*changes)) for changes in ([], [ADDED]))
    assert findings(registry, nothing, **task, checks=[nothing]) == []
    [(where, message)] = findings(registry, added, **task, checks=[added])
    assert (where, message) == ("checks.0.match.changes.0.table", "site 'forum' has no database")


def test_nothing_has_changed_before_the_agent_starts(registry: SiteRegistry) -> None:
    [(where, message)] = findings(registry, delta(), requires=[delta(name="before")])
    assert where == "requires.0.locate"
    assert "nothing has changed" in message


def test_tables_that_are_not_known_are_passed(registry: SiteRegistry) -> None:
    assert findings(registry, delta(**match({**ADDED, "table": "lines"})), known=False) == []
