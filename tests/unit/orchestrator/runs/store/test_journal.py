"""The journal of a ledger: every change of an attempt, chained to what stood before."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.runs.store.journal import Head, Journal
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey, Ledger

EPISODE = EpisodeKey("kettle", World.OFFLINE, 0)
KEY = ("kettle", "offline", 0, 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "ledger.sqlite"
    with closing(Ledger.open(made)) as ledger:
        ledger.keep_journal("r1", "digest of its lock")
        ledger.start(EPISODE)
        ledger.end(EPISODE, 1, AttemptState.FINISHED, "failure", "digest")
    return made


def read(path: Path) -> Journal:
    with closing(Ledger.open(path)) as ledger:
        found = ledger.read_journal()
        assert found is not None
        return found


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as ledger:
        ledger.execute(statement)
        ledger.commit()


def test_it_says_whose_it_is_and_each_state_in_order(path: Path) -> None:
    found = read(path)
    assert (found.run, found.lock, found.broken) == ("r1", "digest of its lock", None)
    assert [(one["state"], one["outcome"]) for one in found.rows[KEY]] == [
        ("started", None),
        ("finished", "failure"),
    ]
    with closing(Ledger.open(path)) as ledger:
        assert ledger.rows() == {KEY: found.rows[KEY][-1]}
        assert ledger.head() == found.head


def test_an_earlier_head_is_held_whatever_came_later(path: Path) -> None:
    early = read(path).head
    with closing(Ledger.open(path)) as ledger:
        ledger.start(EpisodeKey("kettle", World.OFFLINE, 1))
    later = read(path)
    assert (later.head.entries, later.holds(early), later.holds(later.head)) == (4, True, True)
    for foreign in (
        Head(entries=3, sha256=later.head.sha256),
        Head(entries=5, sha256=early.sha256),
        Head(entries=0, sha256=early.sha256),
    ):
        assert not later.holds(foreign)


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE entry SET content = replace(content, 'failure', 'success')", 3),
        ("DELETE FROM entry WHERE number = 2", 2),
        ("DELETE FROM entry WHERE number = 1", 1),
        ("UPDATE entry SET number = 9 WHERE number = 3", 3),
    ],
)
def test_what_was_changed_breaks_the_chain(path: Path, statement: str, broken: int) -> None:
    early = read(path).head
    change(path, statement)
    found = read(path)
    assert (found.broken, found.holds(early)) == (broken, statement.endswith("number = 3"))


def test_a_ledger_and_its_journal_are_written_together_or_not_at_all(path: Path) -> None:
    other = EpisodeKey("kettle", World.OFFLINE, 1)
    change(path, "DROP TABLE entry")
    with closing(Ledger.open(path)) as ledger:
        ledger.start(other)  # it keeps no journal
    change(path, "CREATE TABLE entry (number INTEGER, content TEXT)")
    with closing(Ledger.open(path)) as ledger:
        with pytest.raises(StoreError, match="cannot be written"):
            ledger.end(other, 1, AttemptState.FINISHED, "success")
        assert [one.state for one in ledger.attempts()] == ["finished", "started"]


def test_a_ledger_of_an_earlier_version_has_none_until_it_is_written(tmp_path: Path) -> None:
    old = tmp_path / "ledger.sqlite"
    with closing(Ledger.open(old)) as ledger:
        ledger.start(EPISODE)
        ledger.end(EPISODE, 1, AttemptState.FINISHED, "success")
        assert (ledger.read_journal(), ledger.head()) == (None, Head(entries=0, sha256=""))
        ledger.keep_journal("r1", "lock")
    found = read(old)
    assert [one["state"] for one in found.rows[KEY]] == ["finished"]  # not from its start


def test_what_is_no_entry_is_an_error_of_the_ledger(path: Path) -> None:
    change(path, "UPDATE entry SET content = '[]' WHERE number = 2")
    with closing(Ledger.open(path)) as ledger, pytest.raises(StoreError, match="cannot be read"):
        ledger.read_journal()
