"""Episodes whose task does not hold: never begun, or given one more end after they failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runs.make_evidence import make_evidence, stop_step
from support.runs.tiny_run import SUITE, make_lock

from arena_core.worlds import World
from evaluators.evidence import EpisodeFault, Evidence, UnscoredReason
from orchestrator.runs.after_all import failed_online, unscore
from orchestrator.runs.attempts import AttemptRunner, FailedEpisode, Progress, TaskWatch, Undone
from orchestrator.runs.events import EpisodeEnded, RunEvent
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder

TASK = SUITE.tasks[0]
DRIFT = EpisodeFault(reason=UnscoredReason.DRIFTED, message="the canary found: it drifted")
WALL = EpisodeFault(reason=UnscoredReason.BLOCKED, message="the canary found: a bot wall")


class Attempted:
    def __init__(self, evidence: Evidence, files: dict[str, bytes]) -> None:
        self.files, self.interrupted, self._evidence = files, False, evidence

    def evidence(self) -> Evidence:
        return self._evidence


class Drifting:
    """Finds that no task holds."""

    async def before(self, name: str) -> EpisodeFault | None:
        return DRIFT

    async def failed(self, episode: FailedEpisode) -> None:
        raise AssertionError(episode)

    def take_undone(self) -> tuple[Undone, ...]:
        return ()


def undone(one: EpisodeKey, fault: EpisodeFault) -> Undone:
    return Undone(key=one, task=TASK, fault=fault)


def key(world: World = World.ONLINE, repeat: int = 0) -> EpisodeKey:
    return EpisodeKey("one", world, repeat)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    lock = make_lock().model_copy(update={"worlds": tuple(World), "repeats": 2, "canary": True})
    return RunFolder.create(tmp_path / "run", lock, SUITE)


async def play(
    folder: RunFolder, one: EpisodeKey, answer: str, watch: TaskWatch | None = None
) -> list[int]:
    """Play an episode that answers so; return the numbers of the attempts that were made."""
    made: list[int] = []

    async def perform(number: int) -> Attempted:
        made.append(number)
        evidence = make_evidence(stop_step(0, answer), answer=answer, world=one.world)
        changes = {"task": "one", "repeat": one.repeat, "input_tokens": 7}
        return Attempted(evidence.model_copy(update=changes), {"step-000.webp": b"picture"})

    with folder.writing() as ledger:
        runner = AttemptRunner(
            folder=folder,
            ledger=ledger,
            limit=2,
            progress=Progress(total=4),
            on_event=lambda _: None,
            watch=watch,
        )
        assert await runner.play(one, TASK, perform)
    return made


def outcomes(folder: RunFolder) -> dict[str, str]:
    return {one.key.name: str(one.score.outcome) for one in rescore(folder)}


async def test_a_task_that_does_not_hold_is_not_played_online_and_is_offline(
    folder: RunFolder,
) -> None:
    assert await play(folder, key(), "1891", Drifting()) == []
    assert await play(folder, key(World.OFFLINE), "1891", Drifting()) == [1]
    assert outcomes(folder) == {
        "online-one-r0": "unscored: drifted",
        "offline-one-r0": "success",
    }


async def test_only_failures_online_are_looked_at_again(folder: RunFolder) -> None:
    await play(folder, key(), "1900")
    await play(folder, key(repeat=1), "1891")
    await play(folder, key(World.OFFLINE), "1900")
    assert [one.key for one in failed_online(folder)] == [key()]


@pytest.mark.parametrize("fault", [DRIFT, WALL])
async def test_a_failure_at_a_task_that_does_not_hold_is_unscored_and_kept(
    folder: RunFolder, fault: EpisodeFault
) -> None:
    events: list[RunEvent] = []
    await play(folder, key(), "1900")
    await play(folder, key(repeat=1), "1891")
    assert unscore(folder, [undone(key(), fault)], events.append) == (key(),)
    assert outcomes(folder) == {
        "online-one-r0": f"unscored: {fault.reason}",
        "online-one-r1": "success",
    }
    before, after = (folder.evidence(f"online-one-r0-a{number}") for number in (1, 2))
    assert (before.fault, after.fault) == (None, fault)
    assert (after.attempt, after.answer, after.input_tokens) == (2, "1900", 7)
    assert (folder.evidence_folder("online-one-r0-a2") / "step-000.webp").read_bytes() == b"picture"
    with folder.reading() as ledger:
        states = [(one.number, one.state) for one in ledger.attempts() if one.key == key()]
    assert states == [(1, AttemptState.RETRIED), (2, AttemptState.FINISHED)]
    [told] = events
    assert isinstance(told, EpisodeEnded)
    assert str(told.score.outcome) == f"unscored: {fault.reason}"


@pytest.mark.parametrize("fault", [DRIFT, WALL])
async def test_a_ledger_that_is_lost_does_not_make_it_a_failure_again(
    folder: RunFolder, fault: EpisodeFault
) -> None:
    await play(folder, key(), "1900")
    unscore(folder, [undone(key(), fault)], lambda _: None)
    folder.ledger_path.unlink()
    assert outcomes(folder) == {"online-one-r0": f"unscored: {fault.reason}"}


async def test_a_failure_at_a_task_that_holds_stays_a_failure(folder: RunFolder) -> None:
    await play(folder, key(), "1900")
    assert unscore(folder, [], lambda _: None) == ()
    assert outcomes(folder) == {"online-one-r0": "failure"}
