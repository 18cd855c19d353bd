"""`arena diff` as a user calls it, on the kiosk alone."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator

import pytest
from mutations.subject import Accounts, Subject

from orchestrator.cli.entry import main
from orchestrator.engine.engine import Engine
from orchestrator.fleet.placements import place
from orchestrator.fleet.pool import UP
from orchestrator.reset.replica import start_replica
from sites.atlas import Atlas
from sites.manifest import Site

pytestmark = pytest.mark.docker

SLOT = 1000 + os.getpid()  # of its own, beside what else may be up


@pytest.fixture
def standing(kiosk: Site, atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A kiosk of `arena up`; its container's id."""
    monkeypatch.setattr("sites.atlas.load_atlas", lambda: atlas)

    async def start() -> str:
        async with await Engine.connect() as engine:
            replica = await start_replica(engine, await place(engine, kiosk, owner=UP, slot=SLOT))
            subject = Subject(engine, replica, Accounts())
            await subject.sql(
                "UPDATE note SET text = 'First' WHERE id = 1",
                "UPDATE account SET password = 'geheim' WHERE name = 'ada'",
            )
            return replica.container.id

    async def remove(container_id: str) -> None:
        async with await Engine.connect() as engine:
            await engine.remove(container_id)

    container_id = asyncio.run(start())
    yield container_id
    asyncio.run(remove(container_id))


def called(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *more: str) -> str:
    monkeypatch.setattr(sys, "argv", ["arena", "diff", "kiosk", "--slot", str(SLOT), *more])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert not leaving.value.code
    return capsys.readouterr().out


def test_what_changed_is_drawn_and_given_as_json_without_secrets(
    standing: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = called(capsys, monkeypatch)
    assert drawn == (
        "account\n  ~ name=ada: password (redacted)\nnote\n  ~ id=1: text 'first' -> 'First'\n"
    )
    text = called(capsys, monkeypatch, "--json")
    document = json.loads(text)
    assert document["changed"] is True
    assert [change["table"] for change in document["changes"]] == ["account", "note"]
    assert "geheim" not in text
    assert "lovelace" not in text
