"""A run that ends before its time, by `kill -9` or Ctrl-C, and goes on afterwards.

The scripted model is the clock: it is asked once per step, and ends the run while it is asked.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW, quick_first
from support.agents.arena_process import ArenaProcess, await_end, descendants
from support.agents.scripted_model import (
    ChatRequest,
    HangsUp,
    Script,
    ScriptedModel,
    ScriptedReply,
    Stalls,
)
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, solve_bells, write_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]
TASKS = ("one", "two", "three")


class Trap:
    """A model that solves every task, and springs when it is asked for the n-th time."""

    def __init__(self, at: int, spring: Callable[[], ScriptedReply | None]) -> None:
        self._left = at
        self._spring = spring

    def __call__(self, request: ChatRequest) -> ScriptedReply:
        self._left -= 1
        sprung = self._spring() if self._left == 0 else None
        return sprung or solve_bells(request)


class Runner:
    """A run of three tasks, two questions each, whose process the model can end."""

    def __init__(self, run: RunAt, suite: Path, start_model: StartModel) -> None:
        self._run = run
        self._suite = suite
        self._start_model = start_model
        self._process: ArenaProcess | None = None
        self.family: dict[int, str] = {}

    @property
    def process(self) -> ArenaProcess:
        assert self._process is not None
        return self._process

    def start(self, at: int, spring: Callable[[], ScriptedReply | None]) -> ArenaProcess:
        model = self._start_model(Trap(at, spring))
        options = ("--agent", "chat", "--model", "scripted", "--model-url", model.url)
        self._process = self._run.start(self._suite, *options)
        return self._process

    def kill(self) -> ScriptedReply:
        self.family = descendants(self.process.pid)
        self.process.kill()
        return HangsUp()


@pytest.fixture
def runner(run: RunAt, tmp_path: Path, scripted_model: StartModel) -> Runner:
    return Runner(run, write_suite(tmp_path, *(bells(task) for task in TASKS)), scripted_model)


@pytest.mark.parametrize(
    ("asked", "finished"), quick_first([(1, 0), (3, 1), (4, 1), (6, 2)]), ids=str
)
def test_a_killed_run_goes_on_where_it_was(
    run: RunAt, runner: Runner, asked: int, finished: int
) -> None:
    """Killed within the first, second (at either step) and third episode of three."""
    with runner.start(asked, runner.kill) as process:
        assert process.wait().code == -9
    assert len(run.containers()) == 1
    assert any("chrom" in command for command in runner.family.values())
    assert await_end(runner.family) == {}
    before = run.evidence_files()
    kept = [line for line in run.ledger() if line[2] == "finished"]
    assert [task for task, *_ in kept] == list(TASKS[:finished])

    resumed = run.resume()
    assert resumed.code == 0, resumed.err
    after = run.ledger()
    cut = TASKS[finished]
    assert after == [
        *kept,
        (cut, 1, "abandoned", None),
        (cut, 2, "finished", "success"),
        *((task, 1, "finished", "success") for task in TASKS[finished + 1 :]),
    ]
    files = run.evidence_files()
    assert {name: files.get(name) for name in before} == before
    assert run.containers() == ()
    log = run.log()
    assert {line["run"] for line in log if "run" in line} == {run.lock.run}
    said = [line["message"] for line in log]
    assert sum(line.startswith("the run begins") for line in said) == 2  # one process was killed
    assert said[-1] == "the run ends: done; 0 episodes left"
    said_by_model = [line for line in log if line["logger"] == "orchestrator.agents.model.client"]
    replies = [line for line in said_by_model if "episode" in line]
    assert len(replies) == asked - 1 + 2 * (3 - finished)
    assert all(line["prompt_chars"] > 1000 for line in replies)
    assert len(said_by_model) == len(replies) + 2  # each process asks whether the model is there
    assert "carillon" not in json.dumps(log)  # of a conversation only sizes are kept


@SLOW
def test_a_run_killed_before_its_first_episode_plays_all(run: RunAt, runner: Runner) -> None:
    with runner.start(0, lambda: None) as process:
        process.hear("starting wiki")
        runner.kill()
        assert process.wait().code == -9
    resumed = run.resume()
    assert resumed.code == 0, resumed.err
    finished = [line for line in run.ledger() if line[2] == "finished"]
    assert [task for task, *_ in finished] == list(TASKS)
    assert run.containers() == ()


@SLOW
def test_a_run_killed_in_two_worlds_goes_on_in_both(run: RunAt, tmp_path: Path) -> None:
    worlds = ["offline", "online"]
    suite = write_suite(tmp_path, bells("one", worlds=worlds), bells("two", worlds=worlds))
    with run.start(suite, "--offline", "--online", "--staged") as process:
        process.hear(r"\[1/4\]")
        process.kill()
        process.wait()
    before = run.evidence_files()
    kept = [line for line in run.ledger() if line[2] == "finished"]
    assert kept != []
    resumed = run.resume()
    assert resumed.code == 0, resumed.err
    assert run.containers() == ()
    finished = [line for line in run.ledger() if line[2] == "finished"]
    assert finished[: len(kept)] == kept
    assert sorted(task for task, *_ in finished) == ["one", "one", "two", "two"]
    assert {outcome for *_, outcome in finished} == {"success"}
    files = run.evidence_files()
    assert {name: files.get(name) for name in before} == before
    assert "Staged live origins" in (run.path / "report.html").read_text(encoding="utf-8")


@SLOW
def test_a_run_does_not_go_on_with_another_image(run: RunAt, runner: Runner) -> None:
    with runner.start(3, runner.kill) as process:
        process.wait()
    lock = run.path / "lock.json"
    began_with = run.lock.images["arena/wiki:1"]
    text = lock.read_text(encoding="utf-8")
    lock.write_text(text.replace(began_with, "sha256:" + "0" * 64), encoding="utf-8")
    before = run.ledger()
    refused = run.resume()
    assert refused.code == 20
    assert "arena/wiki:1" in refused.err
    assert run.ledger() == before


@SLOW
def test_the_first_interrupt_finishes_the_step_under_way(run: RunAt, runner: Runner) -> None:
    def interrupt() -> None:
        runner.process.interrupt()
        runner.process.hear("finishing the step")

    with runner.start(3, interrupt) as process:
        stopped = process.wait()
    assert stopped.code == 130
    assert "arena eval --resume run" in stopped.err
    assert stopped.out == ""
    assert run.ledger() == [("one", 1, "finished", "success"), ("two", 1, "abandoned", None)]
    evidence = run.evidence("two")
    assert [step.index for step in evidence.steps] == [0, 1]
    assert evidence.steps[1].logical == "wiki:/article/Bruges"
    assert evidence.ended is None
    assert run.log()[-1]["message"] == "the run ends: interrupted; 2 episodes left"
    assert "Not finished" in (run.path / "report.html").read_text(encoding="utf-8")
    assert run.containers() == ()
    assert run.resume().code == 0
    assert run.ledger()[2:] == [
        ("two", 2, "finished", "success"),
        ("three", 1, "finished", "success"),
    ]


@SLOW
def test_an_interrupt_before_the_first_step_starts_nothing(run: RunAt, runner: Runner) -> None:
    with runner.start(0, lambda: None) as process:
        process.hear("^run run: 3 episodes")
        process.interrupt()
        stopped = process.wait(30)
    assert stopped.code == 130
    assert "Traceback" not in stopped.err
    assert run.containers() == ()
    assert [line for line in run.ledger() if line[2] == "finished"] == []
    assert run.resume().code == 0


def test_the_second_interrupt_stops_at_once_and_leaves_no_container(
    run: RunAt, runner: Runner
) -> None:
    def interrupt_twice() -> ScriptedReply:
        runner.family = descendants(runner.process.pid)
        runner.process.interrupt()
        runner.process.hear("finishing the step")
        runner.process.interrupt()
        return Stalls()

    with runner.start(3, interrupt_twice) as process:
        stopped = process.wait(30)
    assert stopped.code == 130
    assert "Traceback" not in stopped.err
    assert "arena eval --resume run" in stopped.err
    assert run.containers() == ()
    assert await_end(runner.family) == {}
    assert run.ledger()[0] == ("one", 1, "finished", "success")
    assert len(run.ledger()) == 2
    assert run.resume().code == 0
    finished = [line for line in run.ledger() if line[2] == "finished"]
    assert [task for task, *_ in finished] == list(TASKS)


@SLOW
def test_term_ends_a_run_of_a_hundred_million_episodes_as_it_begins(
    run: RunAt, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, bells("one"))
    with run.start(suite, "--agent", "idle", "--repeats", "99999999", "--yes") as process:
        process.hear("99,999,999 episodes of idle")
        os.kill(process.pid, signal.SIGTERM)
        ended = process.wait(30)
    assert ended.code == 130
    assert run.containers() == ()


@SLOW
def test_term_stops_a_run_at_once_and_leaves_no_container(run: RunAt, runner: Runner) -> None:
    """It is what `timeout`, a service manager and a cluster send."""

    def terminate() -> ScriptedReply:
        runner.family = descendants(runner.process.pid)
        os.kill(runner.process.pid, signal.SIGTERM)
        return Stalls()

    with runner.start(3, terminate) as process:
        stopped = process.wait(30)
    assert stopped.code == 130
    assert "ended by TERM" in stopped.err
    assert "Traceback" not in stopped.err
    assert run.containers() == ()
    assert await_end(runner.family) == {}
    assert run.resume().code == 0
    finished = [line for line in run.ledger() if line[2] == "finished"]
    assert [task for task, *_ in finished] == list(TASKS)
