"""A site that keeps its rows in SQLite is asked, compared and reset like the others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from quick_cases import SLOW
from support.agents.arena_process import arena

from arena_core.errors import DatabaseError
from arena_core.worlds import World
from evaluators.changes import change_as_text, said
from evaluators.checks import Check
from evaluators.locators.db import DbDeltaLocator
from evaluators.matchers.delta import DeltaMatcher
from orchestrator import Arena
from orchestrator.authoring.proof.site_data import known_tables
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.delta.delta import NextId, delta_of
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import origin_session
from orchestrator.sandbox.logins import replica_client
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.pool.slot_pool import UP
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.watch import Watch
from sites.registry import SiteRegistry
from tasks.schema import Suite

pytestmark = [pytest.mark.docker]

OWN_SITES = Path(__file__).parents[2] / "own_sites"
FILE = "/srv/site/state/data/ledger.db"
SLOT = 1000 + os.getpid()
_SCRIPT = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as ledger:
    for statement in sys.argv[2:]:
        ledger.execute(statement)
"""


async def run(engine: Engine, replica: Replica, *statements: str) -> None:
    words = ["python3", "-c", _SCRIPT, FILE, *statements]
    done = await engine.execute(replica.container.id, words)
    assert done.exit_code == 0, done.stderr


def visit(replica: Replica, method: str, path: str, role: str | None = None) -> None:
    cookies = {"session": f"session-of-{role}"} if role else {}
    client = replica_client(replica.site, replica.endpoint)
    with origin_session(client) as session:
        data = {"text": "Milk"} if method == "POST" else None
        answer = session.request(method, client.url(path), data=data, cookies=cookies, timeout=10)
        assert answer.status_code == requests.codes.ok


async def test_rows_are_asked_for_and_never_written(replica: Replica) -> None:
    answer = await ask(replica, "SELECT text, amount FROM entry ORDER BY id")
    assert answer.rows == (("Coal", 12.5), ("Rope", 0.1))
    with pytest.raises(DatabaseError, match="not authorized"):
        await ask(replica, "DELETE FROM entry")


async def test_every_row_that_differs_is_reported(engine: Engine, replica: Replica) -> None:
    assert (await delta_of(engine, replica)).is_empty
    await run(
        engine,
        replica,
        "UPDATE entry SET amount = 12.75, receipt = NULL WHERE id = 1",
        "INSERT INTO line (entry_id, text) VALUES (2, 'é')",
        "UPDATE account SET last_seen = 'x', password = 'y' WHERE name = 'ada'",
        "INSERT INTO visit VALUES ('/x', 1)",
    )
    found = await delta_of(engine, replica)
    assert [said(change) for change in found.changes] == [
        "table account, row name=ada: password (redacted)",
        "table entry, row id=1: amount 12.5 -> 12.75, receipt '0x00ff' -> NULL",
        "table line, row id=2 added: entry_id 2, text 'é'",
    ]
    assert found.next_ids == (NextId("line", 2, 3),)


@SLOW
async def test_tables_that_are_defined_otherwise_are_reported(
    engine: Engine, replica: Replica
) -> None:
    await run(
        engine,
        replica,
        "ALTER TABLE line ADD COLUMN note TEXT",
        "UPDATE line SET text = 'Three sacks'",
        "DROP VIEW open_entry",
        "CREATE TABLE extra (x)",
    )
    lines = [said(change) for change in (await delta_of(engine, replica)).changes]
    assert lines[0] == "table extra added: 0 rows"
    assert lines[1].startswith("table line: ")
    assert "with note TEXT" in lines[1]
    assert lines[2:] == [
        "table line, row id=1: text 'Two sacks' -> 'Three sacks'",
        "view open_entry: removed",
    ]


async def test_clean_rests_on_the_file_and_a_write_is_rewound(
    engine: Engine, replica: Replica
) -> None:
    watch = Watch.over(engine, replica, new=True)
    assert (await watch.prove()).digest == replica.golden
    visit(replica, "GET", "/health")
    kept = await reset_replica(engine, watch, wrote=False)
    assert (kept.receipt.strategy, kept.receipt.proven) == ("clean", True)
    visit(replica, "GET", "/")  # counts the visit: a GET that writes
    assert await kept.watch.moved() == "a stateful or scratch file was changed"
    visit(replica, "POST", "/", "ada")
    done = await reset_replica(engine, kept.watch, wrote=False)
    assert (done.receipt.strategy, done.receipt.proven) == ("rewind", True)
    assert (await ask(done.replica, "SELECT COUNT(*) FROM entry")).rows == ((2,),)
    await done.watch.close()


@SLOW
async def test_its_tables_are_known_to_the_linter(replica: Replica, ledger: SiteRegistry) -> None:
    check = {
        "name": "nothing",
        "when": "end",
        "locate": {"by": "db_delta", "site": "ledger"},
        "match": {"how": "delta", "changes": []},
    }
    task = {
        "id": "look",
        "family": "navigation",
        "intent": "Look at the ledger.",
        "sites": ["ledger"],
        "worlds": ["offline"],
        "start": ["ledger:/"],
        "checks": [check],
        "reference": [{"do": "stop"}],
    }
    suite = Suite.model_validate({"suite": "s", "version": 1, "title": "S", "tasks": [task]})
    known = (await known_tables(suite.tasks, ledger))["ledger"]
    assert known.state.keys() == {"account", "entry", "line"}
    assert list(known.state["account"]) == ["name", "password"]


@SLOW
async def test_the_check_ignores_what_visits_change_and_asks_for_what_was_done(
    engine: Engine, open_ledger: SiteRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sites.registry.load_registry", lambda *_: open_ledger)
    placement = await place(engine, open_ledger.site("ledger"), owner=UP, slot=SLOT)
    replica = await start_replica(engine, placement)
    try:
        visit(replica, "GET", "/")
        visit(replica, "POST", "/", "ada")
        async with Arena() as arena:
            document: dict[str, Any] = await arena.sites.diff_as_check("ledger", slot=SLOT)
        check = Check.model_validate(yaml.safe_load(yaml.safe_dump(document)))
        assert document["locate"]["ignore"] == {
            "tables": ["visit"],
            "columns": {"account": ["last_seen"]},
        }
        assert document["match"]["changes"] == [
            {
                "table": "entry",
                "kind": "added",
                "columns": {
                    "author": "ada",
                    "text": "Milk",
                    "amount": None,
                    "receipt": None,
                    "settled": "0",
                },
            },
            {"table": "line", "kind": "added", "columns": {"text": "Milk"}},
        ]
        again = await start_replica(engine, placement)
        await run(
            engine, again, "INSERT INTO entry (author, text, written_at) VALUES ('x', 'y', 'z')"
        )
        await run(engine, again, "DELETE FROM entry WHERE author = 'x'")
        visit(again, "POST", "/", "ada")  # later, and with other ids
        assert isinstance(check.match, DeltaMatcher)
        assert isinstance(check.locate, DbDeltaLocator)
        found = await delta_of(engine, again, ignored=check.locate.ignore)
        changes = found.changes
        assert check.match.match([change_as_text(one) for one in changes], World.OFFLINE).met
    finally:
        for one in await engine.containers({Labels.OWNER: UP, Labels.SLOT: str(SLOT)}):
            await engine.remove(one.id)


@pytest.mark.slow(minutes=2)
def test_it_keeps_the_contract_of_all_sites(tmp_path: Path) -> None:
    done = arena("site", "check", "ledger", cwd=tmp_path, env={"ARENA_SITES": str(OWN_SITES)})
    assert done.code == 0, done.out + done.err
