import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.runs.store import ledger as ledger_module
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey, Ledger

KEY = EpisodeKey("kettle", World.OFFLINE, 0)


def test_an_attempt_is_on_disk_before_it_starts(tmp_path: Path) -> None:
    writer = Ledger.open(tmp_path / "ledger.sqlite")
    writer.start(KEY)
    reader = Ledger.open(tmp_path / "ledger.sqlite")
    assert [one.state for one in reader.attempts()] == [AttemptState.STARTED]
    reader.close()
    writer.close()


def test_attempts_of_a_episode_are_numbered_from_one(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    assert ledger.start(KEY) == 1
    ledger.end(KEY, 1, AttemptState.RETRIED, "unscored: infra")
    assert ledger.start(KEY) == 2
    assert ledger.start(EpisodeKey("kettle", World.ONLINE, 0)) == 1
    ledger.close()


def test_a_episode_finishes_once(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    for _ in range(2):
        ledger.start(KEY)
    ledger.end(KEY, 1, AttemptState.FINISHED, "success")
    with pytest.raises(StoreError, match="cannot be written"):
        ledger.end(KEY, 2, AttemptState.FINISHED, "failure")
    assert [one.outcome for one in ledger.finished()] == ["success"]
    ledger.close()


def test_a_file_that_is_no_ledger_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_text("this is not a database, but it is longer than a header of one" * 20)
    with pytest.raises(StoreError, match=r"ledger\.sqlite: cannot be opened"):
        Ledger.open(path)


class Clocks:
    """The machine's clocks: that of dates, which may be set, and that of time that passes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.date = "2026-03-02T10:00:00.000+00:00"
        self.passed = 100.0
        monkeypatch.setattr(ledger_module, "_now", lambda: self.date)
        monkeypatch.setattr("orchestrator.runs.store.ledger.time.monotonic", self._monotonic)

    def _monotonic(self) -> float:
        return self.passed


@pytest.mark.parametrize("date", ["2026-03-02T08:00:00.000+00:00", "2036-03-02T10:00:00.000+00:00"])
def test_a_clock_that_is_set_changes_no_duration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, date: str
) -> None:
    clocks = Clocks(monkeypatch)
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    number = ledger.start(KEY)
    clocks.date, clocks.passed = date, 107.5
    ledger.end(KEY, number, AttemptState.FINISHED, "success")
    assert [one.seconds for one in ledger.finished_episodes()] == [7.5]
    ledger.close()


@pytest.mark.parametrize(
    ("ended", "seconds"),
    [("2026-03-02T10:00:04.000+00:00", [4.0]), ("2026-03-02T09:00:00Z", [None])],
)
def test_a_ledger_of_an_earlier_version_has_dates_alone_and_none_that_run_backwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: str, seconds: list[float | None]
) -> None:
    path = tmp_path / "ledger.sqlite"
    clocks = Clocks(monkeypatch)
    ledger = Ledger.open(path)
    number = ledger.start(KEY)
    clocks.date = ended
    ledger.end(KEY, number, AttemptState.FINISHED, "success")
    ledger.close()
    with closing(sqlite3.connect(path)) as earlier:
        earlier.execute("ALTER TABLE attempt DROP COLUMN seconds")
        earlier.commit()
    again = Ledger.open(path)
    for keep in (list, again.keep_costs):
        keep()
        assert [one.seconds for one in again.finished_episodes()] == [
            one and pytest.approx(one, abs=0.01) for one in seconds
        ]
    again.close()


def test_an_episode_that_another_process_closes_took_as_long_as_it_was_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is judged, or entered after a kill, hours later."""
    clocks = Clocks(monkeypatch)
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    played, killed = KEY, EpisodeKey("killed", World.OFFLINE, 0)
    for key in (played, killed):
        ledger.start(key)
    clocks.passed += 2.0
    ledger.end(played, 1, AttemptState.FINISHED, "unscored: judge_unavailable")
    ledger.close()
    clocks.date, clocks.passed = "2026-03-02T15:00:00.000+00:00", 5.0  # started anew
    later = Ledger.open(tmp_path / "ledger.sqlite")
    for key in (played, killed):
        later.end(key, 1, AttemptState.FINISHED, "success")
    taken = {one.key: one.seconds for one in later.finished_episodes()}
    assert taken == {played: 2.0, killed: None}
    later.close()


@pytest.mark.parametrize(
    "change",
    ["world = 'mars'", "repeat = 'one'", "task = x'00'", "state = 'begun'", "outcome = x'07'"],
)
def test_a_row_that_no_run_has_written_is_refused_and_counts_as_damage(
    tmp_path: Path, change: str
) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.open(path)
    ledger.start(KEY)
    ledger.close()
    assert not ledger_module.is_damaged(path)
    with closing(sqlite3.connect(path)) as edited:  # in a table that takes anything
        edited.execute("CREATE TABLE loose AS SELECT * FROM attempt")
        edited.execute("DROP TABLE attempt")
        edited.execute("ALTER TABLE loose RENAME TO attempt")
        edited.execute(f"UPDATE attempt SET {change}")  # noqa: S608  of the cases above
        edited.commit()
    ledger = Ledger.open(path)
    with pytest.raises(StoreError, match="the ledger cannot be read"):
        ledger.attempts()
    ledger.close()
    assert ledger_module.is_damaged(path)
