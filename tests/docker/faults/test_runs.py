"""`arena eval` killed with -9 while it swaps and resets: the next goes on, and nothing stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from quick_cases import SLOW, quick_first
from sabotage.engine_cli import (
    awaited_containers_of,
    containers_of,
    networks,
    remove_all,
    volumes_of,
)
from sabotage.relay import Relay
from support.agents.arena_process import arena, await_end, descendants
from support.runs.run_at import RunAt
from support.tasks.small_suites import profile, write_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

TASKS = ("one", "two", "three")
# Every episode's replica is rewound, the reader's too, behind the next one's.
SWAPPING = ("--strategy", "rewind", "--spares", "1")
USR1 = r"^POST \S+/kill\?signal=USR1"
CREATE = r"^POST \S+/containers/create"
START = r"^POST \S+/containers/\S+/start"
REMOVE = r"^DELETE \S+/containers/"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunAt]:
    """A run to be, seen from outside; at its end nothing of it may be left."""
    before = networks()
    cwd = tmp_path / "empty"
    cwd.mkdir()
    found = RunAt(cwd)
    yield found
    assert remove_all(found.lock.run) == []
    assert networks() - {"arena"} <= before


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, *(profile(task) for task in TASKS))


@pytest.fixture
def relay(monkeypatch: pytest.MonkeyPatch) -> Iterator[Relay]:
    with Relay() as between:
        monkeypatch.setenv("DOCKER_HOST", between.url)
        yield between


def kill_at(run: RunAt, relay: Relay, suite: Path, moment: str) -> None:
    """Start a run, and kill it when the engine has done something for it."""
    family: dict[int, str] = {}
    with run.start(suite, *SWAPPING) as process:

        def kill() -> None:
            family.update(descendants(process.pid))
            process.kill()

        relay.on(moment, after=kill)
        assert process.wait().code == -9
    assert await_end(family) == {}


@pytest.mark.parametrize("moment", quick_first([CREATE, USR1]), ids=["created", "rewound"])
def test_a_run_that_is_killed_while_it_resets_goes_on_with_golden_replicas(
    run: RunAt, relay: Relay, suite: Path, moment: str
) -> None:
    kill_at(run, relay, suite, moment)
    assert awaited_containers_of(run.lock.run) != []
    resumed = run.resume()
    assert resumed.code == 0, resumed.err
    finished = [line for line in run.ledger() if line[2] == "finished"]
    assert [task for task, *_ in finished] == list(TASKS)
    assert {outcome for *_, outcome in finished} == {"success"}
    for task, attempt, *_ in finished:
        [receipt] = run.evidence(task, attempt).receipts
        assert receipt.proven


@SLOW
def test_down_leaves_nothing_of_a_run_that_was_killed_while_it_reset(
    run: RunAt, relay: Relay, suite: Path
) -> None:
    kill_at(run, relay, suite, USR1)
    owner = run.lock.run
    assert len(containers_of(owner)) == len(volumes_of(owner)) == 2
    ended = arena("down", "--owner", owner, cwd=run.cwd)
    assert ended.code == 0, ended.err
    assert (containers_of(owner), volumes_of(owner)) == ([], [])


@SLOW
def test_a_container_that_the_engine_would_not_remove_is_removed_at_the_end_of_the_run(
    run: RunAt, relay: Relay, suite: Path
) -> None:
    """It starts none and removes none for once: nobody knows of what it had created."""
    relay.refuse(START)
    relay.refuse(REMOVE)
    played = run.play(suite)
    assert played.code == 0, played.err
    assert [state for state, _ in run.attempts()].count("finished") == len(TASKS)
