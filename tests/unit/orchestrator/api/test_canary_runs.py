"""Runs with a canary: what does not hold before is not played, and what failed is looked at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.canary.plays import gave_up, make_task, right_play
from support.runs.make_evidence import make_evidence, stop_step
from support.runs.tiny_run import SUITE, make_lock

from arena_core.errors import ArenaError, EngineError, InterruptedRunError, UsageError
from arena_core.worlds import World
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.api.canary_runs import (
    look_settings,
    play_between,
    play_watched,
    references_of,
    way_to_play,
)
from orchestrator.api.opened import ArenaEvent, OpenArena, WarningNote
from orchestrator.api.playing import play
from orchestrator.authoring.canary.findings import CanaryStatus, TaskFinding, finding_of, not_played
from orchestrator.authoring.canary.history import Origins
from orchestrator.authoring.canary.kept_looks import LOOKS_FILE, KeptLook, When
from orchestrator.authoring.canary.looking import CanaryReport, LookedTask
from orchestrator.runs.agent_choice import choose_agent
from orchestrator.runs.attempts import AttemptResult, AttemptRunner, Progress
from orchestrator.runs.events import EpisodeEnded, ProgressNote
from orchestrator.runs.new_run import refuse_offline_origins
from orchestrator.runs.request import RunRequest
from orchestrator.runs.spec import RunSettings, RunSpec
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.lock import hash_suite
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Suite, Task

VALID = finding_of(right_play())
DRIFTED = finding_of(gave_up())
UNKNOWN = not_played(make_task(), World.ONLINE, "its machinery failed")
DOWN = TaskFinding(
    task="down", world=World.ONLINE, status=CanaryStatus.UNREACHABLE, because="no answer"
)


def test_references_are_played_online_as_the_agent_is() -> None:
    asked = RunSettings.of(
        worlds=("offline", "online"), staged=True, workers=3, canary=True, max_usd=1.0
    )
    found = look_settings(asked)
    assert (found.worlds, found.staged, found.workers) == ((World.ONLINE,), True, 3)
    assert (found.canary, found.budget.max_usd) == (False, None)


def request_of(suite: Suite, settings: RunSettings) -> RunRequest:
    oracle = choose_agent("oracle")
    return RunRequest(
        suite=suite,
        tasks=suite.tasks,
        agent=oracle.maker,
        agent_lock=oracle.lock,
        settings=settings,
    )


def test_references_are_played_in_the_browser_of_the_agent() -> None:
    shown = request_of(SUITE, RunSettings.of(worlds=("online",), canary=True))
    assert references_of(shown).browser.headless
    assert not references_of(replace(shown, headless=False)).browser.headless
    chosen = RunSettings.of(worlds=("online",), canary=True, browser="headless-shell")
    assert references_of(request_of(SUITE, chosen)).browser.only_shell


def test_a_canary_without_a_live_world_is_refused() -> None:
    with pytest.raises(UsageError, match="--canary"):
        refuse_offline_origins(RunSettings.of(canary=True))
    refuse_offline_origins(RunSettings.of(canary=True, worlds=("online",)))


def test_an_age_without_a_canary_or_out_of_bounds_is_refused() -> None:
    with pytest.raises(UsageError, match="--canary-age"):
        refuse_offline_origins(RunSettings.of(canary_age=5, worlds=("online",)))
    for age in (0, 31):
        with pytest.raises(UsageError, match="canary_age"):
            RunSettings.of(canary=True, canary_age=age, worlds=("online",))
    assert "canary_age" not in RunSettings.of(canary=True).model_dump()
    assert RunSettings.of(canary=True, canary_age=5).model_dump()["canary_age"] == 5


def test_only_a_run_that_asks_for_it_has_a_canary() -> None:
    assert way_to_play(RunSpec.of(canary=True)) is play_watched
    assert way_to_play(RunSpec.of()) is play


class Scene:
    """A run whose agent answers as it is told, and what each look at its tasks finds.

    Each episode takes a minute by a clock that nothing else moves.
    """

    def __init__(self, path: Path, answers: Mapping[str, str], repeats: int = 1) -> None:
        tasks = tuple(SUITE.tasks[0].model_copy(update={"id": name}) for name in answers)
        self.suite = SUITE.model_copy(update={"tasks": tasks})
        changes = {"suite_hash": hash_suite(self.suite), "tasks": tuple(answers)}
        lock = make_lock().model_copy(
            update=changes | {"worlds": (World.ONLINE,), "repeats": repeats}
        )
        self.folder = RunFolder.create(path / "run", lock, self.suite)
        self.answers, self.repeats = answers, repeats
        self.age: int | None = None
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.found: dict[str, TaskFinding] = {}
        self.looked: list[tuple[str, ...]] = []
        self.said: list[str] = []
        self.broken: ArenaError | None = None
        self.stops_after = 100
        self.during: Callable[[EpisodeKey], None] = lambda _: None
        self.done: list[tuple[int, int]] = []

    async def look(self, tasks: tuple[Task, ...]) -> CanaryReport:
        self.looked.append(tuple(task.id for task in tasks))
        if self.broken is not None:
            raise self.broken
        findings = [replace(self.found.get(task.id, VALID), task=task.id) for task in tasks]
        return CanaryReport(
            suite="tiny",
            origins=Origins.LIVE,
            browser="chromium",
            at="2026-01-01",
            tasks=tuple(LookedTask(finding=one, since="2026-01-01") for one in findings),
        )

    async def play_on(self, request: RunRequest) -> RunReport:
        with self.folder.writing() as ledger:
            tasks = {task.id: task for task in self.suite.tasks}
            known = {one.key for one in ledger.finished()}
            keys = [key for key in request.keys_in(World.ONLINE) if key not in known]
            runner = AttemptRunner(
                folder=self.folder,
                ledger=ledger,
                limit=1,
                progress=Progress(total=request.episodes, done=len(known)),
                on_event=self._note,
                watch=request.watch,
            )
            for key in keys[: self.stops_after]:
                await runner.play(key, tasks[key.task], self._plays(key))
            if len(keys) > self.stops_after:
                raise InterruptedRunError("stopped", hint="go on")
        return read_run(self.folder)

    def _plays(self, key: EpisodeKey) -> Callable[[int], Awaitable[AttemptResult]]:
        async def perform(number: int) -> AttemptResult:
            answer = self.answers[key.task]
            evidence = make_evidence(stop_step(0, answer), answer=answer, world=World.ONLINE)
            changes = {"started_at": self.now.isoformat(), "seconds": 60.0, "task": key.task}
            self.now += timedelta(minutes=1)
            self.during(key)
            made = evidence.model_copy(update=changes | {"repeat": key.repeat})
            told: Any = SimpleNamespace(files={}, interrupted=False, evidence=lambda: made)
            return cast("AttemptResult", told)

        return perform

    async def run(self) -> list[str]:
        settings = RunSettings.of(
            worlds=("online",), canary=True, canary_age=self.age, repeats=self.repeats
        )
        request = request_of(self.suite, settings)
        opened = OpenArena(sites=(), on_event=self._note)
        report = await play_between(
            request, self.folder, opened, self.look, self.play_on, clock=lambda: self.now
        )
        assert not report.edited  # what the canary changed is written down like any attempt
        return self.outcomes()

    def outcomes(self) -> list[str]:
        scored = sorted(rescore(self.folder), key=lambda one: (one.key.repeat, one.key.task))
        return [f"{one.key.task} {one.score.outcome}" for one in scored]

    def _note(self, event: ArenaEvent) -> None:
        if isinstance(event, WarningNote | ProgressNote):
            self.said.append(event.text)
        if isinstance(event, EpisodeEnded):
            self.done.append((event.done, event.total))

    def has_said(self, text: str) -> bool:
        return any(text in one for one in self.said)


RIGHT, WRONG = "1891", "1900"


async def test_what_drifted_before_is_unscored_whatever_the_agent_would_have_done(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, {"gone": RIGHT, "there": RIGHT})
    scene.found = {"gone": DRIFTED}
    assert await scene.run() == ["gone unscored: drifted", "there success"]
    assert scene.looked == [("gone",), ("there",)]
    assert scene.has_said("gone did not hold")
    [gone] = [one for one in rescore(scene.folder) if one.key.task == "gone"]
    assert gone.outline.fault is not None
    assert "reference action 1: expected click link 'Samovar'" in gone.outline.fault.message


async def test_what_does_not_answer_is_blocked(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"down": WRONG})
    scene.found = {"down": DOWN}
    assert await scene.run() == ["down unscored: blocked"]


async def test_a_deploy_while_the_agent_plays_unscores_its_failure_and_no_success(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, {"done": RIGHT, "gone": WRONG, "there": WRONG})

    def deploy(key: EpisodeKey) -> None:
        scene.found = {"there": VALID} if key.task == "there" else {key.task: DRIFTED}

    scene.during = deploy
    assert await scene.run() == ["done success", "gone unscored: drifted", "there failure"]
    assert scene.looked == [("done",), ("gone",), ("gone",), ("there",), ("there",)]
    assert scene.done == [(1, 3), (2, 3), (2, 3), (3, 3)]


async def test_a_failure_between_two_valid_looks_is_a_failure(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"there": WRONG})
    assert await scene.run() == ["there failure"]
    assert scene.looked == [("there",), ("there",)]
    assert scene.has_said("canary: 2 looks, 0 plays, 0 pages loaded")


async def test_looks_are_no_more_than_two_in_ten_minutes_and_one_at_the_end(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, {"there": WRONG}, repeats=25)
    assert await scene.run() == ["there failure"] * 25
    # Before minute 0, after minutes 1 and 11 and 21, and after the last failure.
    assert len(scene.looked) == 5


async def test_a_run_says_how_long_a_look_answers(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"there": WRONG}, repeats=25)
    scene.age = 30
    assert await scene.run() == ["there failure"] * 25
    assert len(scene.looked) == 3  # before minute 0, after minute 1, and after the last failure


async def test_failures_that_waited_for_a_look_are_undone_by_it_with_their_own_evidence(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, {"there": WRONG}, repeats=6)

    def deploy(key: EpisodeKey) -> None:
        if key.repeat == 3:
            scene.found = {"there": DRIFTED}

    scene.during = deploy
    # The look after the first one found that it holds; the others failed after that look.
    assert await scene.run() == ["there failure", *["there unscored: drifted"] * 5]
    assert len(scene.looked) == 3


async def test_a_task_of_which_nothing_is_known_counts_as_it_ends(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"dark": WRONG})
    scene.found = {"dark": UNKNOWN}
    assert await scene.run() == ["dark failure"]
    assert scene.has_said("nothing is known of dark after a failure")


async def test_a_look_that_cannot_be_made_changes_nothing_and_is_said(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"one": WRONG, "two": RIGHT})
    scene.broken = EngineError("the engine does not answer")
    assert await scene.run() == ["one failure", "two success"]
    assert scene.has_said("one: it could not be looked at: the engine does not answer")


async def test_a_failure_before_an_interruption_is_looked_at_when_the_run_goes_on(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, {"there": WRONG}, repeats=4)
    scene.stops_after = 2  # the second waits for a look
    with pytest.raises(InterruptedRunError):
        await scene.run()
    assert len(scene.looked) == 2
    scene.stops_after, scene.found = 100, {"there": DRIFTED}
    assert await scene.run() == ["there failure", *["there unscored: drifted"] * 3]


async def test_a_look_that_was_written_down_is_not_lost_with_the_process_that_took_it(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, {"there": WRONG}, repeats=2)
    scene.stops_after = 1
    with pytest.raises(InterruptedRunError):
        await scene.run()
    drift = KeptLook(
        task="there", began=scene.now, when=When.AFTER, status=CanaryStatus.DRIFTED, because="gone"
    )
    (scene.folder.path / LOOKS_FILE).write_text(f"{drift.model_dump_json()}\n{{torn", "utf-8")
    looks = len(scene.looked)
    assert await scene.run() == ["there unscored: drifted"] * 2
    assert len(scene.looked) == looks  # it is fresh


async def test_a_run_that_goes_on_days_later_does_not_wash_its_failures(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"there": WRONG}, repeats=3)
    scene.stops_after = 2
    with pytest.raises(InterruptedRunError):
        await scene.run()
    scene.now += timedelta(days=2)
    scene.found, scene.stops_after = {"there": DRIFTED}, 100
    assert await scene.run() == ["there failure", "there failure", "there unscored: drifted"]
    assert scene.has_said("no look came within an hour after it failed, so it counts")


async def test_a_run_that_is_done_is_not_looked_at_when_it_goes_on(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"there": WRONG})
    await scene.run()
    scene.looked, scene.found = [], {"there": DRIFTED}
    assert await scene.run() == ["there failure"]
    assert scene.looked == []
