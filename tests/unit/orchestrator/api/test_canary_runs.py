"""Runs with a canary: what does not hold before is not played, and what failed is looked at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.canary.plays import gave_up, make_task, right_play
from support.runs.make_evidence import make_evidence, stop_step
from support.runs.tiny_run import SUITE, make_lock

from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.api.canary_runs import (
    faults_of,
    look_settings,
    play_between,
    play_watched,
    references_of,
    way_to_play,
)
from orchestrator.api.opened import ArenaEvent, OpenArena, WarningNote
from orchestrator.api.playing import play
from orchestrator.canary.findings import CanaryStatus, TaskFinding, finding_of, not_played
from orchestrator.canary.history import Origins
from orchestrator.canary.looking import CanaryReport, LookedTask
from orchestrator.runs.agent_choice import choose_agent
from orchestrator.runs.attempts import AttemptResult, AttemptRunner, Progress
from orchestrator.runs.new_run import refuse_offline_origins
from orchestrator.runs.request import RunRequest
from orchestrator.runs.spec import RunSettings, RunSpec
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.lock import hash_suite
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Suite, Task

VALID = finding_of(right_play())
DRIFTED = finding_of(gave_up())
UNKNOWN = not_played(make_task(), World.ONLINE, "it has no reference")


def down() -> TaskFinding:
    return TaskFinding(
        task="down", world=World.ONLINE, status=CanaryStatus.UNREACHABLE, because="no answer"
    )


def test_what_does_not_hold_says_nothing_of_an_agent_and_what_is_unknown_does() -> None:
    found = faults_of([VALID, down()], "before")
    assert {name: one.reason for name, one in found.items()} == {"down": UnscoredReason.BLOCKED}
    assert "no answer" in found["down"].message
    assert faults_of([DRIFTED], "before")["samovar"].reason is UnscoredReason.DRIFTED
    assert faults_of([VALID, UNKNOWN], "before") == {}


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


def test_only_a_run_that_asks_for_it_has_a_canary() -> None:
    assert way_to_play(RunSpec.of(canary=True)) is play_watched
    assert way_to_play(RunSpec.of()) is play


class Scene:
    """A run of two tasks, each with an agent's answer, and what each look at them finds."""

    def __init__(
        self, path: Path, answers: Mapping[str, str], *looks: Mapping[str, TaskFinding]
    ) -> None:
        tasks = tuple(SUITE.tasks[0].model_copy(update={"id": name}) for name in answers)
        self.suite = SUITE.model_copy(update={"tasks": tasks})
        lock = make_lock().model_copy(
            update={
                "suite_hash": hash_suite(self.suite),
                "tasks": tuple(answers),
                "worlds": (World.ONLINE,),
            }
        )
        self.folder = RunFolder.create(path / "run", lock, self.suite)
        self.answers, self.looks = answers, list(looks)
        self.looked: list[tuple[str, ...]] = []
        self.warned: list[str] = []
        self.is_done = False

    async def look(self, tasks: tuple[Task, ...]) -> CanaryReport:
        self.looked.append(tuple(task.id for task in tasks))
        found = self.looks.pop(0)
        findings = [replace(found.get(task.id, VALID), task=task.id) for task in tasks]
        return CanaryReport(
            suite="tiny",
            origins=Origins.LIVE,
            at="2026-01-01",
            tasks=tuple(LookedTask(finding=one, since="2026-01-01") for one in findings),
        )

    async def play_on(self, request: RunRequest) -> RunReport:
        if self.is_done:
            return read_run(self.folder)
        with self.folder.writing() as ledger:
            runner = AttemptRunner(
                folder=self.folder,
                ledger=ledger,
                limit=1,
                progress=Progress(total=2),
                on_event=lambda _: None,
                faults=request.faults,
            )
            for task in request.tasks:
                await runner.play(EpisodeKey(task.id, World.ONLINE), task, self._plays(task))
        return read_run(self.folder)

    def _plays(self, task: Task) -> Callable[[int], Awaitable[AttemptResult]]:
        async def perform(number: int) -> AttemptResult:
            answer = self.answers[task.id]
            evidence = make_evidence(stop_step(0, answer), answer=answer, world=World.ONLINE)
            told: Any = SimpleNamespace(
                files={},
                interrupted=False,
                evidence=lambda: evidence.model_copy(update={"task": task.id}),
            )
            return cast("AttemptResult", told)

        return perform

    async def run(self) -> dict[str, str]:
        request = request_of(self.suite, RunSettings.of(worlds=("online",), canary=True))
        opened = OpenArena(sites=(), on_event=self._note)
        report = await play_between(request, self.folder, opened, self.look, self.play_on)
        assert not report.edited  # what the canary changed is written down like any attempt
        episodes = [one for row in report.rows for one in row.episodes[World.ONLINE]]
        return {one.key.task: str(one.score.outcome) for one in episodes}

    def _note(self, event: ArenaEvent) -> None:
        if isinstance(event, WarningNote):
            self.warned.append(event.text)


RIGHT, WRONG = "1891", "1900"


async def test_what_drifted_before_is_unscored_whatever_the_agent_would_have_done(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, {"gone": RIGHT, "there": RIGHT}, {"gone": DRIFTED})
    assert await scene.run() == {"gone": "unscored: drifted", "there": "success"}
    assert scene.looked == [("gone", "there")]
    assert any("gone" in text for text in scene.warned)


async def test_a_failure_is_looked_at_again_and_is_drift_only_where_the_task_drifted(
    tmp_path: Path,
) -> None:
    answers = {"gone": WRONG, "there": WRONG, "done": RIGHT}
    scene = Scene(tmp_path, answers, {}, {"gone": DRIFTED, "done": DRIFTED})
    assert await scene.run() == {
        "gone": "unscored: drifted",
        "there": "failure",
        "done": "success",
    }
    assert scene.looked == [("gone", "there", "done"), ("gone", "there")]


async def test_a_task_of_which_nothing_is_known_counts_as_it_ends(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"dark": WRONG}, {"dark": UNKNOWN}, {"dark": UNKNOWN})
    assert await scene.run() == {"dark": "failure"}
    assert any("nothing is known of dark" in text for text in scene.warned)


async def test_failures_of_an_earlier_part_of_a_run_are_not_looked_at_again(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"there": WRONG}, {}, {})
    await scene.run()
    scene.looked, scene.looks = [], [{"there": DRIFTED}]
    with scene.folder.reading() as ledger:
        assert len(ledger.finished()) == 1
    scene.is_done = True
    assert await scene.run() == {"there": "failure"}
    assert scene.looked == []  # nor is anything that is not left to play
