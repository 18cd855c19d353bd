"""Several workers: side by side, none waits for another, and none drags another down."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import ArenaProcess, await_end, descendants
from support.agents.scripted_model import ChatRequest, Script, ScriptedModel, ScriptedReply, Stalls
from support.runs.run_at import RunAt
from support.runs.tiny_run import make_lock
from support.tasks.small_suites import bells, solve_bells, write_suite

from arena_core.errors import ImageError
from orchestrator.runs.agent_choice import choose_agent
from orchestrator.runs.events import ProgressNote, RunEvent
from orchestrator.runs.pace import at_first
from orchestrator.runs.request import RunRequest
from orchestrator.runs.run import Run
from orchestrator.runs.spec import RunSettings
from orchestrator.runs.store.lock import hash_suite
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from sites.registry import SiteRegistry, load_registry
from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]
TASKS = ("one", "two", "three", "four")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Four tasks whose names the model is told."""
    intent = "How many bells does the carillon of Bruges have? Answer with the number only."
    return write_suite(tmp_path, *(bells(name, intent=f"{intent} ({name})") for name in TASKS))


def task_of(request: ChatRequest) -> str:
    return next(name for name in TASKS if f"({name})" in request.prompt)


def chat(model: ScriptedModel, *more: str) -> tuple[str, ...]:
    return ("--agent", "chat", "--model", "scripted", "--model-url", model.url, *more)


def test_an_episode_that_stalls_holds_up_no_other_and_the_report_keeps_the_tasks_order(
    run: RunAt, suite: Path, scripted_model: StartModel
) -> None:
    stalled: list[str] = []

    def stall_the_first(request: ChatRequest) -> ScriptedReply:
        if task_of(request) == "one" and not stalled:
            stalled.append("one")
            return Stalls()
        return solve_bells(request)

    model = scripted_model(stall_the_first)
    played = run.play(suite, *chat(model, "--model-deadline", "12", "--workers", "2", "--json"))
    assert played.code == 0, played.err
    ended = [line for line in played.err.splitlines() if line.startswith("[")]
    assert [line.split()[2] for line in ended] == ["two", "three", "four", "one"]
    assert [line.split()[0] for line in ended] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"]
    assert [task["task"] for task in played.document["tasks"]] == list(TASKS)
    assert sorted(run.ledger()) == [
        ("four", 1, "finished", "success"),
        ("one", 1, "retried", "infra"),
        ("one", 2, "finished", "success"),
        ("three", 1, "finished", "success"),
        ("two", 1, "finished", "success"),
    ]
    assert run.lock.workers == 2
    assert "offline: 2 workers; wiki shared, " in played.err
    assert run.containers() == ()


@SLOW
def test_workers_that_follow_the_machine_play_everything_and_log_and_lock_say_how_many(
    run: RunAt, suite: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(solve_bells)
    played = run.play(suite, *chat(model, "--workers", "auto", "--repeats", "3"))
    assert played.code == 0, played.err
    assert {row[2:] for row in run.ledger()} == {("finished", "success")}
    lock = run.lock
    assert lock.workers == "auto"
    assert lock.workers_used is not None
    fewest, most = lock.workers_used
    assert 1 <= fewest <= at_first("auto") <= most <= len(run.ledger())
    said = [line["message"] for line in run.log() if "worker" in line["message"]]
    assert said[0].startswith(f"--workers auto begins with {at_first('auto')} workers")
    changes = [one for one in said if one.startswith("workers ")]
    assert bool(changes) == (fewest != most)
    assert run.containers() == ()


def browsers_of(process: ArenaProcess) -> list[int]:
    return [
        pid
        for pid, command in descendants(process.pid).items()
        if "chrom" in command.split()[0]
        and not any(other in command for other in ("--type=", "crashpad"))
    ]


@SLOW
def test_a_worker_whose_browser_dies_repeats_its_episode_and_the_other_plays_on(
    run: RunAt, suite: Path, scripted_model: StartModel
) -> None:
    asked: set[str] = set()

    def kill_one(request: ChatRequest) -> ScriptedReply:
        is_new = task_of(request) not in asked
        asked.add(task_of(request))
        if is_new and len(asked) == 2:
            browsers = browsers_of(process)
            assert len(browsers) == 2
            os.kill(browsers[0], signal.SIGKILL)
        return solve_bells(request)

    model = scripted_model(kill_one)
    with run.start(suite, *chat(model, "--workers", "2")) as process:
        played = process.wait()
    assert played.code == 0, played.err
    finished = [task for task, _, state, outcome in run.ledger() if outcome == "success"]
    assert sorted(finished) == sorted(TASKS)
    assert [state for _, _, state, _ in run.ledger()].count("retried") == 1
    assert len(run.ledger()) == 5


@SLOW
def test_the_first_interrupt_lets_every_worker_finish_its_step(
    run: RunAt, suite: Path, scripted_model: StartModel
) -> None:
    asked: set[str] = set()

    def interrupt_when_two_play(request: ChatRequest) -> ScriptedReply:
        is_new = task_of(request) not in asked
        asked.add(task_of(request))
        if is_new and len(asked) == 2:
            process.interrupt()
            process.hear("finishing the steps under way")
        return solve_bells(request)

    model = scripted_model(interrupt_when_two_play)
    with run.start(suite, *chat(model, "--workers", "2")) as process:
        stopped = process.wait()
    assert stopped.code == 130
    assert "Traceback" not in stopped.err
    states = [state for _, _, state, _ in run.ledger()]
    assert set(states) <= {"abandoned", "finished"}
    assert 1 <= states.count("abandoned") <= 2
    assert "four" not in {task for task, *_ in run.ledger()}
    assert run.containers() == ()


@SLOW
def test_a_killed_run_of_two_workers_goes_on_with_one(
    run: RunAt, suite: Path, scripted_model: StartModel
) -> None:
    asked: list[str] = []
    family: dict[int, str] = {}

    def kill(request: ChatRequest) -> ScriptedReply:
        asked.append(task_of(request))
        if len(set(asked)) == 3:
            family.update(descendants(process.pid))
            process.kill()
        return solve_bells(request)

    model = scripted_model(kill)
    with run.start(suite, *chat(model, "--workers", "2")) as process:
        assert process.wait().code == -9
    assert await_end(family) == {}
    kept = [line for line in run.ledger() if line[2] == "finished"]
    assert kept != []
    resumed = run.resume("--workers", "1")
    assert resumed.code == 0, resumed.err
    assert "offline: 1 worker; " in resumed.err
    finished = [line for line in run.ledger() if line[2] == "finished"]
    assert finished[: len(kept)] == kept
    assert sorted(task for task, *_ in finished) == sorted(TASKS)
    assert run.containers() == ()


def test_workers_that_do_not_fit_are_refused_before_there_is_a_run(run: RunAt, suite: Path) -> None:
    refused = run.play(suite, "--workers", "2", "--memory", "1MiB")
    assert refused.code == 2
    assert "2 workers need " in refused.err
    assert "wiki 1 × " in refused.err
    assert "and the budget is 1 MiB" in refused.err
    assert "  → --memory " in refused.err
    assert not run.path.exists()


@SLOW
async def test_a_worker_that_cannot_go_on_stops_and_the_others_results_are_kept(
    suite: Path, tmp_path: Path
) -> None:
    """The first task's site cannot be started: its image is gone since the run began."""
    wiki = load_registry().site("wiki")
    image = wiki.image.model_copy(update={"tag": "arena/never-built:1"})
    gone = wiki.model_copy(update={"name": "gone", "host": "gone.arena.test", "image": image})
    first = bells("zero", sites=["gone"], start=["gone:/"])
    tasks = load_suite(str(write_suite(tmp_path, first, *(bells(name) for name in TASKS))))
    request = RunRequest(
        suite=tasks,
        tasks=tasks.tasks,
        agent=choose_agent("oracle").maker,
        agent_lock=choose_agent("oracle").lock,
        settings=RunSettings(workers=2),
    )
    events: list[RunEvent] = []
    lock = make_lock().model_copy(update={"suite_hash": hash_suite(tasks)})
    folder = RunFolder.create(tmp_path / "run", lock, tasks)
    async with await Engine.connect() as engine:
        run = Run.of(
            request,
            folder,
            owner=f"test-workers-{os.getpid()}",
            registry=SiteRegistry({"wiki": wiki, "gone": gone}),
            engine=engine,
            on_event=events.append,
            interrupted=asyncio.Event(),
        )
        with pytest.raises(ImageError, match="arena/never-built:1"):
            await run.play()
        assert await engine.containers({Labels.OWNER: run.owner}) == ()
    with folder.reading() as ledger:
        assert sorted(one.key.task for one in ledger.finished()) == sorted(TASKS)
        assert {one.outcome for one in ledger.finished()} == {"success"}
    said = [event.text for event in events if isinstance(event, ProgressNote)]
    assert any(line.startswith("offline: a worker stopped: site 'gone': there is") for line in said)
