"""`arena diff` and `arena reset --verify` as a user calls them, on the kiosk alone."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator

import pytest
import yaml
from mutations.subject import Accounts, Subject
from quick_cases import SLOW

from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.matchers.delta import DeltaMatcher
from orchestrator.cli.entry import main
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.pool.slot_pool import UP
from orchestrator.sandbox.reset.replica import start_replica
from sites.manifest import Site
from sites.registry import SiteRegistry

pytestmark = [pytest.mark.docker]

SLOT = 1000 + os.getpid()  # of its own, beside what else may be up


@pytest.fixture
def standing(
    kiosk: Site, registry: SiteRegistry, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A kiosk of `arena up`, changed by hand."""
    monkeypatch.setattr("sites.registry.load_registry", lambda *_: registry)

    async def start() -> None:
        async with await Engine.connect() as engine:
            replica = await start_replica(engine, await place(engine, kiosk, owner=UP, slot=SLOT))
            subject = Subject(engine, replica, Accounts())
            await subject.sql(
                "UPDATE note SET text = 'First' WHERE id = 1",
                "UPDATE account SET password = 'geheim' WHERE name = 'ada'",
            )

    async def remove() -> None:
        async with await Engine.connect() as engine:
            for one in await engine.containers({Labels.OWNER: UP, Labels.SLOT: str(SLOT)}):
                await engine.remove(one.id)

    asyncio.run(start())
    yield
    asyncio.run(remove())


@pytest.fixture
def arena(
    standing: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Call a command on that kiosk and return what it printed."""

    def called(command: str, *options: str) -> str:
        words = ["arena", command, "kiosk", "--slot", str(SLOT), *options]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as leaving:
            main()
        assert not leaving.value.code
        return capsys.readouterr().out

    return called


def test_what_changed_is_drawn_and_given_as_json_without_secrets(arena: Callable[..., str]) -> None:
    assert arena("diff") == (
        "account\n  ~ name=ada: password (redacted)\nnote\n  ~ id=1: text 'first' -> 'First'\n"
    )
    text = arena("diff", "--json")
    document = json.loads(text)
    assert document["changed"] is True
    assert [change["table"] for change in document["changes"]] == ["account", "note"]
    assert "geheim" not in text
    assert "lovelace" not in text


@SLOW
def test_a_row_changed_by_hand_is_named_by_a_verified_reset_and_gone_after_it(
    arena: Callable[..., str],
) -> None:
    told = arena("reset", "--verify").splitlines()
    assert "kiosk: table note, row id=1: text 'first' -> 'First'" in told
    assert "kiosk: table account, row name=ada: password (redacted)" in told
    assert arena("diff") == "kiosk: nothing changed\n"


@SLOW
def test_what_changed_is_printed_as_a_check_that_it_meets(arena: Callable[..., str]) -> None:
    [written] = yaml.safe_load(arena("diff", "--as-check"))
    check = Check.model_validate(written)
    assert written["match"]["changes"] == [
        {"table": "account", "kind": "changed", "columns": {"name": "ada"}, "also": ["password"]},
        {"table": "note", "kind": "changed", "columns": {"id": "1", "text": "First"}},
    ]
    assert isinstance(check.match, DeltaMatcher)
    changes = json.loads(arena("diff", "--json"))["changes"]
    assert check.match.match([json.dumps(change) for change in changes], World.OFFLINE).met
