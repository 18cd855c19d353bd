"""What breaks in the middle of an episode is the machine's fault: tried again, never a failure."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW, quick_first
from support.agents.arena_process import ArenaProcess, Ended, descendants
from support.agents.scripted_model import ChatRequest, Script, ScriptedModel, ScriptedReply
from support.runs.run_at import RunAt, on_engine
from support.tasks.small_suites import bells, profile, solve_bells, solve_profile, write_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]
Solve = Callable[[ChatRequest], ScriptedReply]
AGAIN = [("retried", "infra"), ("finished", "success")]


class Saboteur:
    """A model that solves tasks, and breaks something before it gives its n-th reply."""

    def __init__(self, at: int, solve: Solve) -> None:
        self._left = at
        self._solve = solve
        self.deed: Callable[[], None] | None = None

    def __call__(self, request: ChatRequest) -> ScriptedReply:
        self._left -= 1
        if self._left == 0 and self.deed is not None:
            self.deed()
        return self._solve(request)


Play = Callable[[Path, int, Solve, Callable[[ArenaProcess], None]], Ended]


@pytest.fixture
def play(run: RunAt, scripted_model: StartModel) -> Play:
    """Play a suite, and break something while the model is asked for the n-th time."""

    def played(suite: Path, at: int, solve: Solve, deed: Callable[[ArenaProcess], None]) -> Ended:
        saboteur = Saboteur(at, solve)
        options = ("--agent", "chat", "--model", "scripted", "--model-url")
        with run.start(suite, *options, scripted_model(saboteur).url) as process:
            saboteur.deed = lambda: deed(process)
            return process.wait()

    return played


def remove_containers(run: RunAt) -> None:
    owner = run.lock.run
    assert on_engine(lambda engine: engine.sweep(owner)) != ()


def test_a_shop_that_is_removed_in_an_episode_is_replaced(
    run: RunAt, play: Play, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, profile("profile"))
    played = play(suite, 1, solve_profile, lambda _: remove_containers(run))
    assert played.code == 0, played.err
    assert run.attempts() == AGAIN
    fault = run.evidence("profile", 1).fault
    assert fault is not None
    assert "shop" in fault.message
    assert fault.message in played.err
    assert run.evidence("profile", 2).fault is None
    assert run.containers() == ()


@SLOW
def test_a_container_that_dies_while_the_agent_asks_nothing_of_it_is_noticed(
    run: RunAt, play: Play, tmp_path: Path
) -> None:
    """The agent stops right after it: no request could have told."""
    played = play(
        write_suite(tmp_path, bells("bells")), 2, solve_bells, lambda _: remove_containers(run)
    )
    assert played.code == 0, played.err
    assert run.attempts() == AGAIN
    fault = run.evidence("bells", 1).fault
    assert fault is not None
    assert "was removed" in fault.message


def browser_of(process: ArenaProcess) -> int:
    [found] = [
        pid
        for pid, command in descendants(process.pid).items()
        if "chrom" in command.split()[0]
        and not any(other in command for other in ("--type=", "crashpad"))
    ]
    return found


def driver_of(process: ArenaProcess) -> int:
    family = descendants(process.pid)
    [found] = [pid for pid, command in family.items() if "run-driver" in command]
    return found


@pytest.mark.parametrize("victim", quick_first([browser_of, driver_of]))
def test_a_browser_that_is_killed_is_started_again(
    run: RunAt, play: Play, tmp_path: Path, victim: Callable[[ArenaProcess], int]
) -> None:
    suite = write_suite(tmp_path, bells("bells"), bells("after"))
    played = play(suite, 1, solve_bells, lambda process: os.kill(victim(process), signal.SIGKILL))
    assert played.code == 0, played.err
    assert run.attempts() == [*AGAIN, ("finished", "success")]
    fault = run.evidence("bells", 1).fault
    assert fault is not None
    assert "crashed" in fault.message


@SLOW
def test_a_container_that_freezes_is_no_hang_and_no_failure(
    run: RunAt, play: Play, tmp_path: Path
) -> None:
    def freeze(_: ArenaProcess) -> None:
        [container] = run.containers()
        subprocess.run(["docker", "pause", container.id], check=True, capture_output=True)

    suite = write_suite(tmp_path, bells("bells", limits={"seconds": 5}))
    played = play(suite, 1, solve_bells, freeze)
    assert played.code == 0, played.err
    assert run.attempts() == AGAIN
    fault = run.evidence("bells", 1).fault
    assert fault is not None
    assert "paused" in fault.message
    assert run.evidence("bells", 1).seconds < 60
    assert run.containers() == ()
