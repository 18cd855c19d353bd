"""Drawn tasks of which only rows are asked share replicas, and each gets its own answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from arena_core.errors import DatabaseError, TaskError
from orchestrator.api.drawn_suites import AskedSites, reads_only_rows
from orchestrator.api.opened import OpenArena
from orchestrator.authoring.proof.prover import Prover
from tasks.schema import Suite, Task

BY_ROWS = {"site": "shop", "sql": "SELECT 42"}
BY_PAGE = {"site": "shop", "page": "/orders", "selector": "h1"}


def make_task(name: str, computed: dict[str, Any] = BY_ROWS, **changes: object) -> Task:
    check = {
        "name": "total",
        "when": "end",
        "locate": {"by": "answer"},
        "match": {"how": "answer", "type": "number", "value": 42},
        "computed": computed,
    }
    task: dict[str, object] = {
        "id": name,
        "family": "information",
        "intent": "What is the total?",
        "sites": ["shop"],
        "start": ["shop:/"],
        "checks": [check],
        "worlds": ["offline"],
        "reference": [{"do": "press", "keys": "Tab"}, {"do": "stop", "answer": "42"}],
    }
    return Task.model_validate({**task, **changes})


class Sites:
    """Stands in for replicas and the prover; each query answers with its own text."""

    def __init__(self) -> None:
        self.leased: list[tuple[str, ...]] = []
        self.set_up: list[str] = []

    @asynccontextmanager
    async def leases(self, task: Task, _: object) -> AsyncIterator[object]:
        self.leased.append(task.sites)
        yield SimpleNamespace(database=self)

    async def query(self, site: str, sql: str) -> tuple[tuple[str, ...], ...]:
        if "missing" in sql:
            raise DatabaseError("no such column: missing")
        return ((site, sql),)

    async def compute(self, _: Suite, tasks: tuple[Task, ...]) -> dict[tuple[str, str], list[str]]:
        self.set_up += [task.id for task in tasks]
        return {(task.id, "total"): ["set up"] for task in tasks}

    async def ask(self, *tasks: Task) -> dict[tuple[str, str], object]:
        asked = AskedSites(
            opened=cast("OpenArena", SimpleNamespace(on_event=lambda _: None)),
            prover=cast("Prover", self),
            leases=cast("Any", self.leases),
        )
        suite = Suite.model_validate(
            {"suite": "drawn", "version": 1, "title": "Drawn", "tasks": list(tasks)}
        )
        return {**await asked.ask(suite, tasks)}


async def test_tasks_on_the_same_sites_share_replicas_and_each_gets_its_own_answer() -> None:
    sites = Sites()
    other = make_task("c", {"site": "wiki", "sql": "SELECT 1"}, sites=["wiki"], start=["wiki:/"])
    found = await sites.ask(make_task("a"), other, make_task("b", BY_ROWS | {"sql": "SELECT 7"}))
    assert found == {
        ("a", "total"): ("shop | SELECT 42",),
        ("b", "total"): ("shop | SELECT 7",),
        ("c", "total"): ("wiki | SELECT 1",),
    }
    assert (sites.leased, sites.set_up) == ([("shop",), ("wiki",)], [])


async def test_a_world_is_set_up_for_what_sets_something_up_and_for_what_opens_a_page() -> None:
    sites = Sites()
    given = make_task("given", given={"shop": [{"sql": "UPDATE orders SET total = 1"}]})
    page = make_task("page", BY_PAGE)
    assert [reads_only_rows(one) for one in (given, page, make_task("a"))] == [False, False, True]
    found = await sites.ask(given, make_task("a"), page)
    assert sites.set_up == ["given", "page"]
    assert found["given", "total"] == found["page", "total"] == ["set up"]
    assert found["a", "total"] == ("shop | SELECT 42",)


async def test_what_cannot_be_asked_is_refused_by_the_name_of_its_task() -> None:
    wrong = make_task("b", BY_ROWS | {"sql": "SELECT missing"})
    with pytest.raises(TaskError, match="'b', check 'total' cannot be computed: no such column"):
        await Sites().ask(make_task("a"), wrong)
