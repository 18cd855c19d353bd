"""What one turn of the event loop writes into a ledger goes to the disk together, or not at all."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.agents.model_exchange import Spent
from orchestrator.runs.store import ledger as ledger_module
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey, Ledger

KEYS = [EpisodeKey("one", World.OFFLINE, repeat) for repeat in range(50)]


def on_disk(path: Path) -> list[str]:
    """Return the states of all attempts that another process would find."""
    with closing(sqlite3.connect(path)) as other:
        return [state for (state,) in other.execute("SELECT state FROM attempt")]


def commits_of(ledger: Ledger) -> list[str]:
    found: list[str] = []
    ledger._connection.set_trace_callback(
        lambda statement: found.append(statement) if statement == "COMMIT" else None
    )
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    made = Ledger.open(path)
    made.keep_journal("run", "lock")
    made.gather()
    return made


@contextmanager
def never_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """Open a ledger that another process reads, whom no commit may overtake."""
    monkeypatch.setattr(ledger_module, "_BUSY_S", 0)
    ledger = Ledger.open(path)
    ledger.gather()
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM attempt").fetchall()
        yield ledger


async def play(ledger: Ledger, key: EpisodeKey) -> None:
    number = ledger.start(key)
    await ledger.saved()
    ledger.end(key, number, AttemptState.FINISHED, "success")
    await ledger.saved()


async def test_fifty_episodes_side_by_side_wait_for_the_disk_twice(
    ledger: Ledger, path: Path
) -> None:
    commits = commits_of(ledger)
    await asyncio.gather(*(play(ledger, key) for key in KEYS))
    assert len(commits) == 2
    assert on_disk(path) == ["finished"] * len(KEYS)
    journal = ledger.read_journal()
    assert journal is not None
    assert journal.broken is None
    assert len(journal.heads) == 1 + 2 * len(KEYS)


async def test_an_attempt_is_on_disk_before_it_goes_on(ledger: Ledger, path: Path) -> None:
    ledger.start(KEYS[0])
    assert on_disk(path) == []
    await ledger.saved()
    assert on_disk(path) == ["started"]


async def test_what_was_paid_for_waits_for_nothing(ledger: Ledger, path: Path) -> None:
    number = ledger.start(KEYS[0])
    ledger.spend(KEYS[0], number, Spent(replies=1, input_tokens=5, output_tokens=7))
    assert on_disk(path) == ["started"]
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT input_tokens FROM attempt").fetchall() == [(5,)]


async def test_a_write_that_is_refused_takes_no_other_with_it(ledger: Ledger, path: Path) -> None:
    first, second = ledger.start(KEYS[0]), ledger.start(KEYS[0])
    ledger.end(KEYS[0], first, AttemptState.FINISHED, "success")
    with pytest.raises(StoreError, match="UNIQUE"):
        ledger.end(KEYS[0], second, AttemptState.FINISHED, "success")
    await ledger.saved()
    assert sorted(on_disk(path)) == ["finished", "started"]


async def test_a_commit_that_fails_is_said_to_all_and_by_every_later_write(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody may have waited for what was lost."""
    with never_written(path, monkeypatch) as ledger:
        playing = [play(ledger, key) for key in KEYS[:3]]
        ended = await asyncio.gather(*playing, return_exceptions=True)
    assert [type(one) for one in ended] == [StoreError] * 3
    with pytest.raises(StoreError, match="locked"):
        ledger.start(KEYS[4])
    assert on_disk(path) == []


async def test_a_ledger_that_is_closed_has_written_all(ledger: Ledger, path: Path) -> None:
    ledger.start(KEYS[0])
    ledger.close()
    assert on_disk(path) == ["started"]


async def test_what_is_told_is_on_the_disk(ledger: Ledger, path: Path) -> None:
    """A process that is killed has announced nothing that its ledger does not know."""
    seen: list[list[str]] = []
    ledger.when_saved(lambda: seen.append(on_disk(path)))
    assert seen == [[]]  # there was nothing to wait for
    ledger.start(KEYS[0])
    ledger.when_saved(lambda: seen.append(on_disk(path)))
    assert len(seen) == 1
    await ledger.saved()
    assert seen == [[], ["started"]]


async def test_what_could_not_be_written_is_never_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    with never_written(path, monkeypatch) as ledger:
        ledger.start(KEYS[0])
        ledger.when_saved(lambda: told.append("started"))
        with pytest.raises(StoreError, match="locked"):
            await ledger.saved()
    with pytest.raises(StoreError, match="locked"):
        ledger.when_saved(lambda: told.append("later"))
    assert told == []


async def test_whoever_cannot_be_told_is_the_error_of_who_waits(ledger: Ledger, path: Path) -> None:
    def broken() -> None:
        raise BrokenPipeError(32, "Broken pipe")

    ledger.start(KEYS[0])
    ledger.when_saved(broken)
    with pytest.raises(BrokenPipeError):
        await ledger.saved()
    assert on_disk(path) == ["started"]
