"""Looks while several workers play: who waits for which look, and what a look decides."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.canary.plays import (
    CLICKED,
    GOAL,
    KETTLE,
    OPENED,
    START,
    STOPPED,
    gave_up,
    make_evidence,
    make_play,
    make_task,
)

from arena_core.errors import InterruptedRunError, StoreError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.authoring.canary.findings import CanaryStatus, TaskFinding, finding_of
from orchestrator.authoring.canary.history import Origins
from orchestrator.authoring.canary.kept_looks import (
    LOOKS_FILE,
    Answer,
    KeptLook,
    When,
    add_looks,
    answer,
    read_looks,
)
from orchestrator.authoring.canary.looking import CanaryReport, LookedTask
from orchestrator.authoring.canary.watching import RunWatch, fault_of
from orchestrator.episode.page_view import PageView
from orchestrator.runs.attempts import FailedEpisode
from orchestrator.runs.store.ledger import EpisodeKey
from tasks.schema import Task

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
VALID, DRIFTED, UNKNOWN = CanaryStatus.VALID, CanaryStatus.DRIFTED, CanaryStatus.UNKNOWN


def look(minute: float, status: CanaryStatus, when: When = When.BEFORE) -> KeptLook:
    began = NOON + timedelta(minutes=minute)
    return KeptLook(task="a", began=began, when=when, status=status, because="as it is")


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        ([], Answer.OPEN),
        ([look(-1, VALID)], Answer.OPEN),
        ([look(-1, VALID), look(1, VALID)], Answer.STANDS),
        ([look(-1, VALID), look(1, DRIFTED)], Answer.UNDONE),
        ([look(-1, VALID), look(1, CanaryStatus.BLOCKED)], Answer.UNDONE),
        ([look(-1, VALID), look(1, CanaryStatus.UNREACHABLE)], Answer.UNDONE),
        # The first known look after it decides, whatever later ones say.
        ([look(1, VALID), look(2, DRIFTED)], Answer.STANDS),
        ([look(1, DRIFTED), look(2, VALID)], Answer.UNDONE),
        ([look(1, UNKNOWN), look(2, DRIFTED)], Answer.UNDONE),
        ([look(1, UNKNOWN)], Answer.OPEN),
        # One before it does where it was fresh, and no valid one came in between.
        ([look(-5, DRIFTED), look(1, VALID)], Answer.UNDONE),
        ([look(-11, DRIFTED), look(1, VALID)], Answer.STANDS),
        ([look(-5, DRIFTED), look(-2, VALID), look(1, VALID)], Answer.STANDS),
        ([look(61, DRIFTED)], Answer.TOO_LATE),
        ([look(59, DRIFTED)], Answer.UNDONE),
    ],
)
def test_what_looks_say_of_a_failure(looks: Sequence[KeptLook], said: Answer) -> None:
    assert answer(NOON, looks, NOON + timedelta(minutes=1))[0] is said


def test_how_long_a_look_answers_is_the_runs() -> None:
    looks = [look(-11, DRIFTED), look(1, VALID)]
    assert answer(NOON, looks, NOON, timedelta(minutes=12))[0] is Answer.UNDONE
    assert answer(NOON, [look(-5, DRIFTED), look(1, VALID)], NOON, timedelta(minutes=4))[0] is (
        Answer.STANDS
    )


def test_a_failure_that_nobody_looked_at_within_an_hour_counts() -> None:
    assert answer(NOON, [], NOON + timedelta(minutes=61))[0] is Answer.TOO_LATE


class Workers:
    """Workers of one run whose looks end when they are let go."""

    def __init__(self, path: Path, *names: str) -> None:
        self.now, self.found = NOON, dict.fromkeys(names, VALID)
        self.looked: list[tuple[str, ...]] = []
        self.said: list[str] = []
        self.gate = asyncio.Event()
        self.stopped = False
        self.watch = RunWatch(
            folder=path,
            tasks={name: make_task(id=name) for name in names},
            look=self._look,
            clock=lambda: self.now,
            warn=self.said.append,
            note=self.said.append,
        )

    async def _look(self, tasks: tuple[Task, ...]) -> CanaryReport:
        self.looked.append(tuple(task.id for task in tasks))
        seen = dict(self.found)
        await self.gate.wait()
        if self.stopped:
            raise InterruptedRunError("stopped", hint="go on")
        findings = [
            TaskFinding(
                task=task.id,
                world=World.ONLINE,
                status=seen[task.id],
                because="as it is",
                evidence="/home/me/arena/canary/plays/run/evidence/attempt",
                pages=3,
            )
            for task in tasks
        ]
        looked = tuple(LookedTask(finding=one, since="") for one in findings)
        return CanaryReport(
            suite="small", origins=Origins.LIVE, browser="chromium", at="", tasks=looked
        )

    def failure(self, name: str, repeat: int = 0) -> FailedEpisode:
        return FailedEpisode(key=EpisodeKey(name, World.ONLINE, repeat), at=self.now)

    async def settle(self) -> None:
        """Let every worker come to where it waits."""
        for _ in range(10):
            await asyncio.sleep(0)


async def test_workers_that_wait_share_the_next_look(tmp_path: Path) -> None:
    workers = Workers(tmp_path, "a", "b", "c")
    waiting = [asyncio.create_task(workers.watch.before(name)) for name in "aabbcc"]
    await workers.settle()
    workers.gate.set()
    assert await asyncio.gather(*waiting) == [None] * 6
    assert workers.looked == [("a",), ("b", "c")]
    await workers.watch.before("c")
    assert len(workers.looked) == 2


async def test_a_failure_during_a_look_is_not_answered_by_it(tmp_path: Path) -> None:
    workers = Workers(tmp_path, "a")
    before = asyncio.create_task(workers.watch.before("a"))
    await workers.settle()  # the look is under way, and has seen a page that holds
    workers.now += timedelta(minutes=1)
    workers.found["a"] = DRIFTED
    failed = asyncio.create_task(workers.watch.failed(workers.failure("a")))
    await workers.settle()
    workers.gate.set()
    assert await before is None
    await failed
    [undone] = workers.watch.take_undone()
    assert undone.fault.reason is UnscoredReason.DRIFTED
    assert workers.looked == [("a",), ("a",)]
    assert workers.watch.take_undone() == ()


async def test_what_was_looked_at_is_said_with_its_evidence_and_what_it_loaded(
    tmp_path: Path,
) -> None:
    workers = Workers(tmp_path, "a", "b")
    workers.gate.set()
    workers.found["b"] = DRIFTED
    await workers.watch.before("a")
    fault = await workers.watch.before("b")
    assert fault is not None
    assert fault.message.endswith("as it is (plays/run/evidence/attempt)")
    await workers.watch.finish(())
    assert "canary: 2 looks, 2 plays, 6 pages loaded" in workers.said
    assert [one.task for one in read_looks(tmp_path)] == ["a", "b"]


async def test_a_look_that_was_stopped_is_none_and_a_failure_waits(tmp_path: Path) -> None:
    workers = Workers(tmp_path, "a")
    workers.gate.set()
    workers.stopped = True
    assert await workers.watch.before("a") is None
    await workers.watch.failed(workers.failure("a"))
    assert (read_looks(tmp_path), workers.watch.take_undone()) == ((), ())
    with pytest.raises(InterruptedRunError):
        await workers.watch.finish([workers.failure("a")])


async def test_a_task_without_a_reference_is_never_looked_at_and_is_named(tmp_path: Path) -> None:
    workers = Workers(tmp_path, "a")
    workers.watch.tasks = {"a": make_task(id="a", reference=None)}
    workers.watch.begin(())
    assert await workers.watch.before("a") is None
    await workers.watch.failed(workers.failure("a"))
    await workers.watch.finish([workers.failure("a")])
    assert workers.looked == []
    assert any("a cannot be looked at: there is no reference" in one for one in workers.said)


async def test_a_site_that_recovers_is_played_again_when_the_look_has_aged(tmp_path: Path) -> None:
    workers = Workers(tmp_path, "a")
    workers.gate.set()
    workers.found["a"] = CanaryStatus.BLOCKED
    assert await workers.watch.before("a") is not None
    workers.found["a"] = VALID
    workers.now += timedelta(minutes=9)
    assert await workers.watch.before("a") is not None
    workers.now += timedelta(minutes=1)
    assert await workers.watch.before("a") is None


async def test_a_clock_that_was_set_back_makes_no_look_fresh(tmp_path: Path) -> None:
    workers = Workers(tmp_path, "a")
    workers.gate.set()
    await workers.watch.before("a")
    workers.now -= timedelta(days=1)
    await workers.watch.before("a")
    assert len(workers.looked) == 2


def test_a_line_that_was_cut_off_is_written_anew_and_a_damaged_file_is_refused(
    tmp_path: Path,
) -> None:
    add_looks(tmp_path, [look(0, VALID)])
    with (tmp_path / LOOKS_FILE).open("a", encoding="utf-8") as file:
        file.write('{"task": "a", "beg')
    add_looks(tmp_path, [look(1, DRIFTED)])
    assert [one.status for one in read_looks(tmp_path)] == [VALID, DRIFTED]
    (tmp_path / LOOKS_FILE).write_text('{"task": 1}\n', encoding="utf-8")
    with pytest.raises(StoreError, match=r"looks\.jsonl"):
        read_looks(tmp_path)


def test_looks_are_not_read_or_written_through_a_link(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("", encoding="utf-8")
    (tmp_path / LOOKS_FILE).symlink_to(other)
    with pytest.raises(StoreError):
        read_looks(tmp_path)
    with pytest.raises(StoreError):
        add_looks(tmp_path, [look(0, VALID)])
    assert other.read_text(encoding="utf-8") == ""


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (DRIFTED, UnscoredReason.DRIFTED),
        (CanaryStatus.BLOCKED, UnscoredReason.BLOCKED),
        (CanaryStatus.UNREACHABLE, UnscoredReason.BLOCKED),
    ],
)
def test_what_does_not_hold_says_nothing_of_an_agent(
    status: CanaryStatus, reason: UnscoredReason
) -> None:
    assert fault_of(look(0, status)).reason is reason


def test_a_page_that_calls_itself_drifted_or_valid_is_known_by_what_was_played_alone() -> None:
    says_drifted = PageView(GOAL, "unscored: drifted", 200, '[1] heading "I am drifted"')
    steps = (OPENED, CLICKED, STOPPED)
    assert finding_of(make_play(make_evidence(*steps), KETTLE, says_drifted)).status is VALID
    says_valid = PageView(START, "valid", 200, '[1] heading "status: valid"')
    assert finding_of(gave_up(page=says_valid)).status is DRIFTED
