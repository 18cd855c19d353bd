"""What a run may spend on models: when it is spent, what is left, and who goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence

from arena_core.errors import ModelError
from arena_core.worlds import World
from evaluators.evidence import Evidence
from orchestrator.agents.model_exchange import Spent
from orchestrator.runs.attempts import AttemptRunner, Progress
from orchestrator.runs.run_budget import AttemptMeter, RunBudget
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey, Ledger
from orchestrator.runs.store.run_folder import RunFolder

KEY = EpisodeKey("one", World.OFFLINE)
DEAR = Spent.reported(100, 10, 0.5)


def budget(**limits: float) -> RunBudget:
    return RunBudget(limits=SpendingLimits.model_validate(limits))


def test_without_limits_nothing_is_ever_spent() -> None:
    free = budget()
    free.add(Spent.reported(10**9, 10**9, None))
    assert free.exhausted is None


@pytest.mark.parametrize(
    ("limit", "said"), [({"max_tokens": 220}, "tokens"), ({"max_usd": 1}, "$")]
)
def test_a_limit_that_is_reached_is_spent(limit: dict[str, float], said: str) -> None:
    asked = budget(**limit)
    asked.add(DEAR)
    assert asked.exhausted is None
    asked.add(DEAR)
    assert said in str(asked.exhausted)


def test_a_limit_that_cannot_be_held_ends_the_run() -> None:
    with pytest.raises(ModelError) as unpriced:
        budget(max_usd=1).add(Spent.reported(100, 10, None))
    assert unpriced.value.is_permanent
    with pytest.raises(ModelError, match="does not count"):
        budget(max_tokens=1).add(Spent(replies=1, uncounted=1, unpriced=1))
    budget(max_tokens=1).add(Spent.reported(100, 10, None))


def test_workers_share_it_and_the_ledger_keeps_each_attempt(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    other = EpisodeKey("two", World.ONLINE)
    shared = budget(max_usd=1.2)
    for key in (KEY, other):
        meter = AttemptMeter(budget=shared, ledger=ledger, key=key, number=ledger.start(key))
        meter.add(DEAR)
        assert meter.exhausted is None
        meter.add(DEAR) if key == other else meter.add(Spent())
    assert shared.exhausted is not None
    ledger.close()
    again = Ledger.open(tmp_path / "ledger.sqlite")
    # What was spent is there after a kill: an attempt needs no end for that.
    assert (again.spent().tokens, again.spent().usd) == (330, 1.5)
    again.close()


def test_a_cost_that_is_unknown_stands_in_the_ledger_as_none(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    number = ledger.start(KEY)
    ledger.spend(KEY, number, Spent.reported(100, 10, None))
    assert (ledger.spent().tokens, ledger.spent().usd) == (110, None)
    ledger.close()


TASK = SUITE.tasks[0]


@dataclass
class Played:
    """An attempt that ended well."""

    interrupted: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)

    def evidence(self) -> Evidence:
        return tiny_evidence(agent="chat", repeat=1, attempt=2)


def runner(folder: RunFolder, ledger: Ledger, limits: SpendingLimits) -> AttemptRunner:
    return AttemptRunner(
        folder=folder,
        ledger=ledger,
        limit=3,
        progress=Progress(total=1),
        on_event=lambda _: None,
        budget=RunBudget(limits=limits, spent=ledger.spent()),
    )


async def test_what_a_spent_budget_leaves_is_unscored_and_played_by_a_larger_one(
    tmp_path: Path,
) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    other = EpisodeKey("one", World.OFFLINE, repeat=1)
    small, large = SpendingLimits(max_tokens=100), SpendingLimits(max_tokens=1000)
    played: list[int] = []

    async def perform(number: int) -> Played:
        played.append(number)
        return Played()

    def outcomes(ledger: Ledger) -> dict[int, str | None]:
        return {one.key.repeat: one.outcome for one in ledger.finished()}

    with folder.writing() as ledger:
        ledger.spend(KEY, ledger.start(KEY), Spent.reported(90, 20, None))
        ledger.end(KEY, 1, AttemptState.ABANDONED, None)
        spent = runner(folder, ledger, small)
        assert await spent.play(other, TASK, perform)
        assert played == []
        assert outcomes(ledger) == {1: "unscored: budget"}
    fault = folder.evidence(other.folder(1)).fault
    assert fault is not None
    assert fault.message == "the run's budget is spent: 110 of 100 tokens"

    with folder.writing() as ledger:  # the same budget again opens nothing
        runner(folder, ledger, small).recover({TASK.id: TASK})
        assert outcomes(ledger) == {1: "unscored: budget"}
        more = runner(folder, ledger, large)
        more.recover({TASK.id: TASK})
        assert outcomes(ledger) == {}
        assert await more.play(other, TASK, perform)
        assert outcomes(ledger) == {1: "success"}
        assert played == [2]


def test_a_ledger_of_an_earlier_version_gets_its_columns_when_it_is_written(
    tmp_path: Path,
) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    with closing(sqlite3.connect(folder.ledger_path)) as old:
        old.execute(
            "CREATE TABLE attempt (task TEXT, world TEXT, repeat INTEGER, attempt INTEGER,"
            " state TEXT, outcome TEXT, started_at TEXT, ended_at TEXT)"
        )
        old.execute("INSERT INTO attempt VALUES ('one','offline',0,1,'finished','success','','')")
        old.commit()
    with folder.reading() as ledger:
        assert len(ledger.finished()) == 1
        assert ledger.spent() == Spent()
    with closing(sqlite3.connect(folder.ledger_path)) as read:
        assert len(read.execute("PRAGMA table_info(attempt)").fetchall()) == 8
    with folder.writing() as ledger:
        ledger.spend(KEY, 1, DEAR)
        assert ledger.spent().usd == 0.5
