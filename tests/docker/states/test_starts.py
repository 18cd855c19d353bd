"""Starts of episodes: set up once on a real site, gone to with a proof, and kept for later runs."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arena_core.errors import GivenError, UnknownNameError, UsageError
from evaluators.changes import IgnoredChanges, RowChange
from orchestrator import Arena
from orchestrator.runs.starts import Starts
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.slot import Slot
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.states import derived_states, store
from orchestrator.sandbox.states.state_file import SavedState
from sites.registry import SiteRegistry, load_registry
from tasks.given import DoAs
from tasks.schema import Task

pytestmark = pytest.mark.docker

TITLE = "SELECT title FROM desk_note WHERE id = 36"
RENAMED = {"sql": "UPDATE desk_note SET title = 'Rope walk' WHERE id = 36"}
CLIENT = "mariadb --socket=/run/tools/mariadb.sock tools --execute"


async def no_browser(task: Task, site: str, step: DoAs, slot: Slot) -> None:
    pytest.fail(f"nothing is done in a browser: {task} {site} {step} {slot}")


def task(*steps: object, site: str = "tools") -> Task:
    check = {
        "name": "said",
        "when": "end",
        "locate": {"by": "answer"},
        "match": {"how": "exact", "value": "done"},
    }
    given: dict[str, Any] = {
        "id": "rope",
        "family": "content",
        "intent": "Say what the note on the rope says.",
        "sites": [site],
        "start": [f"{site}:/"],
        "worlds": ["offline"],
        "checks": [check],
        "given": {site: list(steps)},
    }
    return Task.model_validate(given)


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with await Engine.connect() as connected:
        yield connected


@pytest.fixture(scope="module")
def registry() -> SiteRegistry:
    return load_registry()


@pytest.fixture
async def pool(
    engine: Engine, registry: SiteRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SlotPool]:
    """A pool of one replica of the tools, on a machine that never saw a start."""
    monkeypatch.setattr(derived_states, "starts_folder", lambda: tmp_path / "starts")
    owner = f"starts-{os.getpid()}"
    async with SlotPool.open(engine, registry, ["tools"], owner, spares=0) as opened:
        yield opened


async def test_a_start_is_made_once_proven_kept_and_left_again(
    engine: Engine, registry: SiteRegistry, pool: SlotPool
) -> None:
    notes: list[str] = []
    starts = Starts(engine, registry, pool, notes.append)
    renamed = task(RENAMED, {"clock": "2026-12-24T18:00:00Z"})
    given = await starts.of(renamed, no_browser)
    assert await starts.of(renamed, no_browser) == given
    assert notes == ["setting up tools for 'rope'"]

    async with pool.lease(["tools"], starts=given) as slot:
        (receipt,) = slot.receipts
        assert receipt.proven
        assert receipt.golden == given["tools"].digest != slot.replicas["tools"].golden
        assert await slot.query("tools", TITLE) == (("Rope walk",),)
        ((today,),) = await slot.query("tools", "SELECT LEFT(NOW(), 13)")
        assert today == "2026-12-24 18"
        assert await slot.changes("tools", IgnoredChanges()) == ()
        await starts.keep_proven(renamed)

    async with pool.lease(["tools"]) as slot:
        assert await slot.query("tools", TITLE) != (("Rope walk",),)

    later = Starts(engine, registry, pool, notes.append)
    assert await later.of(renamed, no_browser) == given
    assert len(notes) == 1


async def test_what_an_episode_changes_is_seen_against_its_start(
    engine: Engine, registry: SiteRegistry, pool: SlotPool
) -> None:
    starts = Starts(engine, registry, pool, print)
    given = await starts.of(
        task(RENAMED, {"sql": "CREATE TABLE extra (id INT PRIMARY KEY, word TEXT)"}), no_browser
    )
    async with pool.lease(["tools"], starts=given) as slot:
        slot.wrote("tools")
        for sql in (
            "UPDATE desk_note SET pinned = 1 - pinned WHERE id = 36",
            "INSERT INTO extra VALUES (1, 'new')",
        ):
            assert (await slot.run("tools", f'{CLIENT} "{sql}"', 10)).exit_code == 0
        changes = await slot.changes("tools", IgnoredChanges())
    found = {one.table: one for one in changes if isinstance(one, RowChange)}
    assert len(changes) == len(found) == 2
    assert set(found) == {"desk_note", "extra"}
    # Its title is as it began: neither the golden one nor a change.
    assert found["desk_note"].before is not None
    assert found["desk_note"].before["title"] == "Rope walk"
    assert found["extra"].before is None


async def test_an_episode_begins_in_a_saved_state(
    engine: Engine,
    registry: SiteRegistry,
    pool: SlotPool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "states_folder", lambda: tmp_path / "states")
    given = await Starts(engine, registry, pool, print).of(task(RENAMED), no_browser)
    store.keep("renamed", SavedState(datetime.now(UTC), given))
    async with Arena() as arena:
        async with arena.episode("arena-120/tools-label-the-dentist", state="renamed") as episode:
            await episode.reset()
            (receipt,) = episode.evidence().receipts
            assert receipt.proven
            assert receipt.golden == given["tools"].digest
        with pytest.raises(UsageError, match="holds tools, and 'wiki-samovar' visits wiki"):
            await arena.episode("demo/wiki-samovar", state="renamed").reset()
        with pytest.raises(UsageError, match="an episode online cannot begin there"):
            await arena.episode(
                "demo/wiki-samovar", world="online", staged=True, state="renamed"
            ).reset()
        with pytest.raises(UnknownNameError, match="no state is called 'none'"):
            await arena.episode("arena-120/tools-label-the-dentist", state="none").reset()


async def test_files_commands_and_refusals(
    engine: Engine, registry: SiteRegistry, pool: SlotPool
) -> None:
    starts = Starts(engine, registry, pool, print)
    big = "x" * 200_000
    given = await starts.of(
        task(
            {"file": {"path": "/srv/tools/state/files/new/big.txt", "text": big}},
            {"command": "echo made >/srv/tools/state/files/made.txt"},
            RENAMED,
        ),
        no_browser,
    )
    async with pool.lease(["tools"], starts=given) as slot:
        read = "cat /srv/tools/state/files/made.txt; wc -c </srv/tools/state/files/new/big.txt"
        ran = await slot.run("tools", read, 10)
        assert ran.output.split() == ["made", "200000"]
    refused: dict[str, object] = {
        "none_such' doesn't exist": {"sql": "DELETE FROM none_such"},
        "exit code 3: no": {"command": "echo no >&2; exit 3"},
        "is not in the site's state folder": {"file": {"path": "/etc/motd", "text": ""}},
        "the API answered 405": {"api": {"role": "emma", "path": "/api/account", "json": {}}},
        "has no `api` login": {"api": {"role": "guest", "path": "/api/account"}},
        "changes nothing of": {"sql": "UPDATE desk_note SET title = title WHERE id = 36"},
        "MAX_CONNECTIONS was set": {"sql": "SET GLOBAL max_connections = 19"},
    }
    for why, step in refused.items():
        with pytest.raises(GivenError) as raised:
            await starts.of(task(step), no_browser)
        assert why in raised.value.message
